"""The plug-in of pytest: the fixture ``hinter`` audits a model within a test.

::

    def test_reviews_are_judged_alike(hinter):
        run = hinter("configs/reviews.toml")
        assert not run.faults("excess=0.02, effect=0.05")

A line about each run stands at the end of pytest's output. Replies are kept in pytest's own cache folder
unless the configuration names another, so that no session asks again for what an earlier one has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from harness.report.summary import Summary

PROPERTY = "hinter"


@dataclass(frozen=True)
class Audited:
    """A run that has ended: its ``summary``, as in ``summary.json``, and the ``folder`` of its files."""

    summary: Summary
    folder: Path

    @property
    def headline(self) -> str:
        """The finding in a sentence or two."""
        from harness.report import wording

        return wording.headline(self.summary)

    def faults(self, limits: str = "") -> Sequence[str]:
        """Return a line for each limit that is crossed or cannot be decided, and if the run is not whole.

        ``limits`` is what ``--fail-above`` takes, such as ``rate=0.05, excess=0.02, effect=0.05``. Raises
        ``ValueError`` if it is something else.
        """
        from harness import settings
        from harness.folder import RunFolder
        from harness.report import gate, incomplete

        limited = settings.limits(limits) if limits else {}
        found = gate.gated(RunFolder(self.folder), self.summary, limited)
        return [*incomplete.missing(self.summary), *found.lines]


Audit = Callable[..., Audited]
"""Takes the path of a configuration, or none, and settings by dotted key that win over it."""


@pytest.fixture
def hinter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Audit a model: ``hinter("reviews.toml")``, ``hinter({"model.name": "local:vader", …})``, or both."""
    import asyncio

    from harness import config
    from harness.audit import pipeline

    def audit(
        source: str | Path | Mapping[str, object] | None = None, settings: Mapping[str, object] | None = None
    ) -> Audited:
        given = {**source, **(settings or {})} if isinstance(source, Mapping) else dict(settings or {})
        loaded = config.load(None if isinstance(source, Mapping) else source, given)
        kept = request.config.cache.mkdir("hinter") if request.config.cache is not None else None
        made = loaded.model_copy(
            update={
                "out": loaded.out or str(tmp_path_factory.mktemp("hinter") / "run"),
                "cache": loaded.cache
                or str((kept or tmp_path_factory.mktemp("hinter")) / "responses.sqlite"),
            }
        )
        finished = asyncio.run(pipeline.audit(made))
        audited = Audited(finished.summary, finished.folder)
        request.node.user_properties.append((PROPERTY, f"{audited.headline} ({audited.folder})"))
        return audited

    return audit


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write a line about each run, also of those in other processes."""
    lines = [
        f"{report.nodeid}: {text}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, text in report.user_properties
        if name == PROPERTY
    ]
    if lines:
        terminalreporter.section("hinter")
        for line in lines:
            terminalreporter.write_line(line)
