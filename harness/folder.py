"""A run folder: cases, answers, verdicts and summary, in files that any tool reads.

Cases are written in parts as they are made, and a complete set of parts is read back instead of being made
again. Answers and verdicts are derived from the cases and the response cache, so each run rewrites them.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from harness import files, tables
from harness.core import Case, Examined, JsonObject, canonical
from harness.errors import RunError

if TYPE_CHECKING:
    import polars as pl

COMPLETE = "complete"
DERIVED = ("answers", "verdicts", "discarded", "controls", "noise")
"""``discarded`` has the verdicts on discarded mutants, if these were asked about, too; ``controls`` those on
control mutants, which earlier versions did not make."""
ADDED = ("controls",)
"""The tables that a run of an earlier version lacks."""


class RunFolder:
    """The run folder at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def ended(cls, path: Path) -> RunFolder:
        """Return the folder of a run that has ended. Raises ``RunError`` if ``path`` is not one."""
        folder = cls(path)
        if not folder.summary.is_file():
            raise RunError(f"{path} has no summary.json: give the folder of a run that has ended")
        return folder

    @classmethod
    def with_cases(cls, path: Path) -> RunFolder:
        """Return the folder of a run whose cases are complete. Raises ``RunError`` if they are not."""
        folder = cls(path)
        if not folder.complete:
            raise RunError(f"{path} has no complete cases: give the folder of hinter run or hinter generate")
        return folder

    @property
    def summary(self) -> Path:
        """The path of ``summary.json``."""
        return self.path / "summary.json"

    @property
    def cases(self) -> Path:
        """The folder of the cases."""
        return self.path / "cases"

    def open(self, resolved: str, identity: JsonObject, overwrite: bool = False) -> None:
        """Create the folder, or open it again, for a run whose results ``identity`` determines.

        ``resolved`` is the configuration as TOML. A run with another identity is replaced if ``overwrite``.
        Raises ``RunError`` if the folder holds something else or cannot be written.
        """
        try:
            self._open(resolved, identity, overwrite)
        except OSError as error:
            raise RunError(
                f"{self.path} cannot be a run folder ({error.strerror or error}): use another --out"
            ) from error

    def _open(self, resolved: str, identity: JsonObject, overwrite: bool) -> None:
        mark = self.path / "identity.json"
        if self.path.exists() and any(self.path.iterdir()):
            if not mark.exists():
                raise RunError(f"{self.path} is not empty and not a run folder: use another --out")
            earlier = _identity(mark)
            if earlier != json.loads(canonical(identity)):
                if not overwrite:
                    raise RunError(
                        f"{self.path} holds a run with other settings ({_difference(earlier, identity)}): "
                        "use another --out, or --overwrite to replace it"
                    )
                shutil.rmtree(self.path)
        files.private_folder(self.cases)
        files.write(mark, canonical(identity))
        files.write(self.path / "run.toml", resolved)
        for name in DERIVED:
            shutil.rmtree(self.path / f"{name}.parts", ignore_errors=True)

    @property
    def complete(self) -> bool:
        """Whether all cases are on disk."""
        return (self.cases / COMPLETE).exists()

    def finish(self) -> None:
        """Mark the cases as complete."""
        files.private_file(self.cases / COMPLETE)

    def read_cases(self) -> Iterator[Case]:
        """Yield the cases on disk, in order."""
        return tables.read_cases(sorted(self.cases.glob("part-*.parquet")))

    def has_chunk(self, number: int) -> bool:
        """Return whether the chunk ``number`` of the cases is on disk, complete."""
        return self._mark(number).exists()

    def read_chunk(self, number: int) -> Iterator[Case]:
        """Yield the cases of one chunk."""
        return tables.read_cases(self.chunk_files(number))

    def chunk_files(self, number: int) -> list[Path]:
        """Return the files of one chunk, in order."""
        return sorted(self.cases.glob(f"part-{number:05d}-*.parquet"))

    def keep_chunk(self, number: int, cases: Iterable[Case]) -> Generator[Case, None, None]:
        """Write the cases of one chunk while yielding them; remains of an earlier attempt are replaced."""
        self._clear(number)
        with tables.Parts(self.cases, "cases", f"part-{number:05d}-") as parts:
            for case in cases:
                parts.add(tables.case_row(case), len(case.text))
                yield case
        files.private_file(self._mark(number))

    def write_chunk(self, number: int, contents: Iterable[bytes]) -> None:
        """Write one chunk that was made elsewhere: the bytes of its files, in order."""
        self._clear(number)
        for part, data in enumerate(contents):
            files.write(self.cases / f"part-{number:05d}-{part:05d}.parquet", data)
        files.private_file(self._mark(number))

    def _clear(self, number: int) -> None:
        for old in self.cases.glob(f"part-{number:05d}-*"):
            old.unlink()

    def _mark(self, number: int) -> Path:
        return self.cases / f"part-{number:05d}.whole"

    def take(self, rows: Sequence[int]) -> list[Case]:
        """Return the cases at ``rows``, indexes among all of them, in that order."""
        import polars as pl

        paths = sorted(self.cases.glob("part-*.parquet"))
        ends = list(accumulate(int(tables.scan([p]).select(pl.len()).collect().item()) for p in paths))
        by_part: dict[int, list[int]] = {}
        for row in rows:
            by_part.setdefault(bisect_right(ends, row), []).append(row)
        by_row: dict[int, Case] = {}
        for number, places in by_part.items():
            start = ends[number - 1] if number else 0
            part = tables.read(paths[number])[[row - start for row in places]]
            by_row |= zip(places, map(tables.case_of, part.iter_rows(named=True)), strict=True)
        return [by_row[row] for row in rows]

    def parts(self, name: str) -> tables.Parts:
        """Return a writer of one of the tables ``DERIVED`` from cases and replies."""
        return tables.Parts(self.path / f"{name}.parts", name)

    def derived(self) -> Derived:
        """Return a writer of all the tables ``DERIVED`` from cases and replies."""
        return Derived(self)

    def merge(self, name: str) -> None:
        """Merge the parts of one of the tables ``DERIVED`` into one file. Raises ``RunError``."""
        parts = self.path / f"{name}.parts"
        target = self.path / f"{name}.parquet"
        if paths := sorted(parts.glob("*.parquet")):
            tables.merge(paths, target)
        else:
            tables.write(target, tables.frame(name))
        shutil.rmtree(parts, ignore_errors=True)

    def scan(self, name: str) -> pl.LazyFrame:
        """Return ``cases``, or one of the tables ``DERIVED`` from them, as a lazy table.

        Columns that an earlier version did not write are null. Raises ``RunError`` for a damaged file.
        """
        if name == "cases":
            paths = sorted(self.cases.glob("*.parquet"))
            return tables.scan(paths) if paths else tables.frame("cases").lazy()
        file = self.path / f"{name}.parquet"
        if name in ADDED and not file.exists():
            return tables.frame(name).lazy()
        return tables.complete(name, tables.scan([file]))


class Derived:
    """A writer of the tables ``DERIVED``, group by group: ``with folder.derived() as tables: …``."""

    def __init__(self, folder: RunFolder) -> None:
        self._parts = {name: folder.parts(name) for name in DERIVED}
        self._stack = ExitStack()

    def __enter__(self) -> Derived:
        for parts in self._parts.values():
            self._stack.enter_context(parts)
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def add(self, group: Examined) -> None:
        """Write the answers, verdicts and noise of one group."""
        by_id = {case.id: case for case in group.cases}
        for case in group.cases:
            self._parts["answers"].add(tables.answer_row(case, group.outcomes[case.id], group.words[case.id]))
        for name, verdicts in (
            ("verdicts", group.verdicts),
            ("discarded", group.discarded),
            ("controls", group.controls),
        ):
            for verdict in verdicts:
                self._parts[name].add(tables.verdict_row(verdict, by_id[verdict.case]))
        if group.noise is not None:
            self._parts["noise"].add(tables.noise_row(group.noise))


def _identity(mark: Path) -> JsonObject:
    try:
        identity = json.loads(mark.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{mark}: damaged ({error}): use another --out, or delete the folder") from error
    if not isinstance(identity, dict):
        raise RunError(f"{mark}: damaged (not a JSON object): use another --out, or delete the folder")
    return identity


def _difference(earlier: JsonObject, identity: JsonObject, prefix: str = "") -> str:
    for key in sorted({*earlier, *identity}):
        old, new = earlier.get(key), json.loads(canonical(identity.get(key)))
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            return _difference(old, new, f"{prefix}{key}.")
        return f"{prefix}{key}: {_short(old)} there, {_short(new)} here"
    return "nothing"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "…"
