"""A run folder: cases, answers, verdicts and summary, in files that any tool reads.

Cases are written in parts as they are made, and a complete set of parts is read back instead of being made
again; what is missing of it is made again. Answers and verdicts are derived from the cases and the response
cache, so each run rewrites them. One process at a time works in a folder.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from harness import files, identities, locking, marks, tables
from harness.core import Case, Examined, JsonObject, canonical
from harness.errors import RunError

if TYPE_CHECKING:
    import polars as pl

COMPLETE = "complete"
JUDGED = "judged.parquet"
"""The mutants that a model found wrong, or did not judge: they count as discarded."""
DERIVED = ("answers", "verdicts", "discarded", "controls", "noise", "repeats", "preferences")
"""``discarded`` has the verdicts on discarded mutants, if these were asked about, too; ``controls`` those on
control mutants; ``repeats`` the answers that measure noise, ``preferences`` what a judge said of answers."""
ADDED = ("controls", "repeats", "preferences")
"""The tables that a run of an earlier version lacks."""
PRODUCTS = (
    *("identity.json", "run.toml", "run.log", "summary.json", "report.html", "junit.xml", "batch.json"),
    *("templates.parquet", "fluency.json", "fluency.parquet", "coverage.json", "coverage.html"),
    *("explanations.json", "review.json", "flips.parquet", JUDGED, "judged.json"),
)
"""The files of a run folder beside its tables."""


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

    @contextmanager
    def held(self) -> Iterator[None]:
        """Create the folder where there is none, and lock it for this process while the block runs.

        Raises ``RunError`` if another process works in it, or if it is not a run folder.
        """
        with self._usable():
            self._must_be_ours()
            files.private_folder(self.path)
        with locking.locked(self.path):
            yield

    @contextmanager
    def extended(self) -> Iterator[None]:
        """Lock the folder while something is added to the run in it; a folder without a run needs no lock.

        Raises ``RunError`` if another process works in it.
        """
        if not (self.path / "identity.json").exists():
            yield
            return
        with locking.locked(self.path, instead=""):
            yield

    def open(self, resolved: str, identity: JsonObject, overwrite: bool = False) -> None:
        """Create the folder, or open it again, for a run whose results ``identity`` determines.

        ``resolved`` is the configuration as TOML. With ``overwrite``, the files of a run with another
        identity are deleted, and nothing else. Raises ``RunError`` if the folder holds something else or
        cannot be written.
        """
        with self._usable():
            self._open(resolved, identity, overwrite)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise RunError(
                f"{self.path} cannot be a run folder ({error.strerror or error}): use another --out"
            ) from error

    def _must_be_ours(self) -> None:
        """Raise ``RunError`` if the folder has content that is not of a run."""
        if not self.path.exists() or (self.path / "identity.json").exists():
            return
        if any(file.name not in locking.NAMES for file in self.path.iterdir()):
            raise RunError(f"{self.path} is not empty and not a run folder: use another --out")

    def _open(self, resolved: str, identity: JsonObject, overwrite: bool) -> None:
        self._must_be_ours()
        mark = self.path / "identity.json"
        if mark.exists() and (difference := self._other(mark, identity, overwrite)) is not None:
            if not overwrite:
                raise RunError(
                    f"{self.path} holds a run with other settings ({difference}): "
                    "use another --out, or --overwrite to replace it"
                )
            self._delete()
        files.private_folder(self.cases)
        files.write(mark, canonical(identity))
        files.write(self.path / "run.toml", resolved)
        for name in DERIVED:
            shutil.rmtree(self.path / f"{name}.parts", ignore_errors=True)

    def _other(self, mark: Path, identity: JsonObject, overwrite: bool) -> str | None:
        """Return how the run in the folder differs from one with ``identity``; None where it does not."""
        try:
            earlier = identities.read(mark)
        except RunError:
            if overwrite:
                return "unknown"
            raise
        return (
            None if earlier == json.loads(canonical(identity)) else identities.difference(earlier, identity)
        )

    def _delete(self) -> None:
        """Delete the files of the run, and no other. Raises ``RunError`` if it has unfinished batch jobs."""
        batch = self.path / "batch.json"
        if batch.exists() and (unfinished := _unfinished(batch)):
            raise RunError(
                f"{self.path} has {unfinished} requests in batch jobs that are paid for and not imported:"
                " finish them with the settings in its run.toml, or use another --out"
            )
        for name in (*PRODUCTS, *(f"{name}.parquet" for name in DERIVED)):
            (self.path / name).unlink(missing_ok=True)
        for name in DERIVED:
            shutil.rmtree(self.path / f"{name}.parts", ignore_errors=True)
        for pattern in ("cases/part-*.parquet", "cases/part-*.whole", f"cases/{COMPLETE}", "batch/*.jsonl"):
            for file in self.path.glob(pattern):
                file.unlink()

    @property
    def complete(self) -> bool:
        """Whether all cases are on disk."""
        chunks = marks.number(self.cases / COMPLETE)
        return chunks is not None and all(map(self.has_chunk, range(chunks)))

    def finish(self) -> None:
        """Mark the cases as complete, with the number of their chunks."""
        marks.write_number(self.cases / COMPLETE, len(list(self.cases.glob("part-*.whole"))))

    def read_cases(self) -> Iterator[Case]:
        """Yield the cases on disk, in order; those that a model judged wrong are discarded."""
        return self._judged(self.made_cases())

    def made_cases(self) -> Iterator[Case]:
        """Yield the cases on disk as they were made, whatever a model judged."""
        return tables.read_cases(sorted(self.cases.glob("part-*.parquet")))

    def _judged(self, cases: Iterable[Case]) -> Iterator[Case]:
        file = self.path / JUDGED
        wrong = dict(tables.read(file).iter_rows()) if file.exists() else {}
        return (replace(c, reason=wrong[c.id]) if c.valid and c.id in wrong else c for c in cases)

    def has_chunk(self, number: int) -> bool:
        """Return whether the chunk ``number`` of the cases is on disk, complete."""
        return marks.hold(self._mark(number), self.chunk_files(number))

    def read_chunk(self, number: int) -> Iterator[Case]:
        """Yield the cases of one chunk."""
        return self._judged(tables.read_cases(self.chunk_files(number)))

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
        marks.write(self._mark(number), self.chunk_files(number))

    def write_chunk(self, number: int, contents: Iterable[bytes]) -> None:
        """Write one chunk that was made elsewhere: the bytes of its files, in order."""
        self._clear(number)
        for part, data in enumerate(contents):
            files.write(self.cases / f"part-{number:05d}-{part:05d}.parquet", data)
        marks.write(self._mark(number), self.chunk_files(number))

    def _clear(self, number: int) -> None:
        for old in self.cases.glob(f"part-{number:05d}[-.]*"):
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
        return list(self._judged(by_row[row] for row in rows))

    def _scan_judged(self, cases: pl.LazyFrame) -> pl.LazyFrame:
        import polars as pl

        file = self.path / JUDGED
        if not file.exists():
            return cases
        wrong = tables.scan([file]).rename({"case": "id", "reason": "judged"})
        joined = cases.join(wrong, on="id", how="left", maintain_order="left")
        reason = pl.coalesce("reason", "judged")
        return joined.with_columns(valid=reason.is_null(), reason=reason).drop("judged")

    def parts(self, name: str) -> tables.Parts:
        """Return a writer of one of the tables ``DERIVED`` from cases and replies."""
        return tables.Parts(self.path / f"{name}.parts", name)

    def derived(self) -> Derived:
        """Return a writer of all the tables ``DERIVED`` from cases and replies."""
        return Derived(self)

    def merge(self, name: str, rows: int | None = None) -> None:
        """Merge the parts of one of the tables ``DERIVED``, of so many rows if given, into one file.

        Raises ``RunError``, also if rows are missing.
        """
        parts = self.path / f"{name}.parts"
        target = self.path / f"{name}.parquet"
        if paths := sorted(parts.glob("*.parquet")):
            tables.merge(paths, target)
        else:
            tables.write(target, tables.frame(name))
        if rows is not None and (there := tables.height(target)) != rows:
            raise RunError(
                f"{target} has {there} rows, not the {rows} of this run: something else changed the folder;"
                " run the same command again"
            )
        shutil.rmtree(parts, ignore_errors=True)

    def scan(self, name: str) -> pl.LazyFrame:
        """Return ``cases``, or one of the tables ``DERIVED`` from them, as a lazy table.

        Columns that an earlier version did not write are null. Raises ``RunError`` for a damaged file.
        """
        if name == "cases":
            paths = sorted(self.cases.glob("*.parquet"))
            return self._scan_judged(tables.scan(paths)) if paths else tables.frame("cases").lazy()
        file = self.path / f"{name}.parquet"
        if name in ADDED and not file.exists():
            return tables.frame(name).lazy()
        return tables.complete(name, tables.scan([file]))


class Derived:
    """A writer of the tables ``DERIVED``, group by group: ``with folder.derived() as tables: …``.

    ``rows`` counts what was added to each.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.rows: Counter[str] = Counter()
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
            self._add("answers", tables.answer_row(case, group.outcomes[case.id], group.words[case.id]))
        for name, verdicts in (
            ("verdicts", group.verdicts),
            ("discarded", group.discarded),
            ("controls", group.controls),
        ):
            for verdict in verdicts:
                self._add(name, tables.verdict_row(verdict, by_id[verdict.case]))
        if group.noise is not None:
            self._add("noise", tables.noise_row(group.noise))
        for again in group.repeated:
            self._add("repeats", tables.repeat_row(again))
        for preference in group.preferences:
            self._add("preferences", tables.preference_row(preference))

    def _add(self, name: str, row: tables.Row) -> None:
        self._parts[name].add(row)
        self.rows[name] += 1


def _unfinished(batch: Path) -> int:
    """Return the number of requests in jobs whose answers are not imported; one if that cannot be read."""
    try:
        jobs = json.loads(batch.read_text(encoding="utf-8"))["jobs"]
        return sum(job["requests"] for job in jobs if not job["done"])
    except (ValueError, KeyError, TypeError):
        return 1
