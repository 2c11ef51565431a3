"""Finds the biases of language models that accuracy hides.

``await harness.run(config)`` audits as ``config`` says and gives the summary; ``harness.run_sync`` does the
same from code that is not async, also inside a running event loop (a notebook). ``config`` is a
``harness.config.RunConfig``, a path to a TOML, or a dictionary of dotted keys::

    figures = harness.run_sync({"documents.path": "reviews.csv", "model.name": "local:vader"})
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.config import RunConfig

__version__ = "0.1.0"


async def run(config: RunConfig | str | Path | Mapping[str, Any], overwrite: bool = False) -> dict[str, Any]:
    """The summary of the audit that ``config`` describes, and under ``folder`` where its files are.

    Raises ``harness.errors.HarnessError`` for what is wrong with the configuration, the input or the
    endpoint; what went wrong with single requests is in the summary.
    """
    from harness import config as configuration
    from harness.audit import pipeline

    if isinstance(config, Mapping):
        config = configuration.load(None, config)
    elif isinstance(config, str | Path):
        config = configuration.load(config)
    return await pipeline.run(config, overwrite=overwrite)


def run_sync(config: RunConfig | str | Path | Mapping[str, Any], overwrite: bool = False) -> dict[str, Any]:
    """``run`` for code that is not async; in a thread of its own, so a running loop does not matter."""
    import asyncio
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(run(config, overwrite))).result()
