"""The runs of a folder, each with its figures in a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from harness.errors import HarnessError
from harness.report import summary as summaries
from harness.report import wording
from harness.report.summary import Summary

DEPTH = 3
MOST = 500
"""How deep in the folder runs are looked for, and how many are shown, the newest first."""
LOG = "guard.jsonl"
"""How the name of a guard's log ends."""
PAGES = ("report.html", "coverage.html", "compare.html", "summary.json", "junit.xml")
"""What is shown of a run folder."""


@dataclass(frozen=True)
class Listed:
    """A run of the folder: its ``name`` is its path in it; ``fault`` says why it has no ``summary``."""

    name: str
    path: Path
    ended: datetime
    summary: Summary | None
    fault: str = ""

    @property
    def headline(self) -> str:
        """The finding in a sentence or two."""
        return wording.headline(self.summary) if self.summary else self.fault


class Runs:
    """The runs in ``folder``, which may be a run itself. Each look finds what is there now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Path, tuple[int, Listed]] = {}

    def paths(self) -> Mapping[str, Path]:
        """Return the folders of runs that have ended by name, the newest first."""
        found = [path.parent for path in _summaries(self.folder, DEPTH)]
        found.sort(key=lambda path: _time(path / "summary.json"), reverse=True)
        return {self._name(path): path for path in found[:MOST]}

    def listed(self) -> list[Listed]:
        """Return the runs, the newest first; a summary that has not changed is read once."""
        return [self._listed(name, path) for name, path in self.paths().items()]

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix() if path != self.folder else path.resolve().name

    def _listed(self, name: str, path: Path) -> Listed:
        time = _time(path / "summary.json")
        if path in self._read and self._read[path][0] == time:
            return self._read[path][1]
        ended = datetime.fromtimestamp(time / 1e9)
        try:
            listed = Listed(name, path, ended, summaries.read(path / "summary.json"))
        except HarnessError as error:
            listed = Listed(name, path, ended, None, str(error))
        self._read[path] = (time, listed)
        return listed


def logs(folder: Path) -> Mapping[str, Path]:
    """Return the logs of guards in ``folder`` by name, the newest first."""
    found = sorted(_logs(folder, DEPTH), key=_time, reverse=True)
    return {path.relative_to(folder).as_posix(): path for path in found[:MOST]}


def _logs(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the logs in ``folder``; links are not followed."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for path in inside:
        if path.is_symlink() or path.name.startswith("."):
            continue
        if path.is_file() and path.name.endswith(LOG):
            yield path
        elif path.is_dir() and depth:
            yield from _logs(path, depth - 1)


def _summaries(folder: Path, depth: int) -> Iterator[Path]:
    """Yield the summaries in ``folder``; links are not followed, and a run has no runs within."""
    own = folder / "summary.json"
    if own.is_file():
        yield own
        return
    if not depth:
        return
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    for path in inside:
        if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
            yield from _summaries(path, depth - 1)


def _time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
