"""Find biases of language models that accuracy hides.

``await harness.run(config)`` runs the audit that ``config`` describes and returns its summary;
``harness.run_sync`` does the same from synchronous code, even inside a running event loop (a notebook).
``config`` is a ``harness.config.RunConfig``, the path of a TOML file, or a dictionary of dotted keys::

    figures = harness.run_sync({"documents.path": "reviews.csv", "model.name": "local:vader"})
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.config import RunConfig

__version__ = "0.1.0"


async def run(
    config: RunConfig | str | Path | Mapping[str, object], overwrite: bool = False, buy_again: bool = False
) -> dict[str, Any]:
    """Run the audit that ``config`` describes and return its summary, with the run folder under ``folder``.

    Raises ``harness.errors.HarnessError`` for a fault in the configuration, the input or the endpoint;
    failures of single requests are counted in the summary. If cancelled, nothing more is asked, the results
    so far are written to the run folder, and then ``asyncio.CancelledError`` is raised.
    """
    from harness import config as configuration
    from harness.audit import pipeline

    config = configuration.given(config)
    return await pipeline.run(config, overwrite=overwrite, buy_again=buy_again)


def run_sync(
    config: RunConfig | str | Path | Mapping[str, object], overwrite: bool = False, buy_again: bool = False
) -> dict[str, Any]:
    """Call ``run`` from synchronous code, in its own thread so that a running event loop is no obstacle.

    At Ctrl-C the run is cancelled, and ``KeyboardInterrupt`` raised once its results are written; at a second
    one, at once.
    """
    from harness.interruption import blocking

    return blocking(lambda: run(config, overwrite, buy_again))
