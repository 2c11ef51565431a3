"""A run folder: what was asked, answered and found, in files that any tool reads.

Cases are written in parts as they are made, and a complete set of parts is read back instead of being
made again. Answers and verdicts are derived from them (and from the response cache), so they are
written anew by each run.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.core import Case, Examined, Margin, Noise, Outcome, Substitution, Verdict, canonical
from harness.errors import RunError

if TYPE_CHECKING:
    import polars as pl

ROWS_A_PART = 10_000
CHARACTERS_A_PART = 8_000_000
COMPLETE = "complete"
DERIVED = ("answers", "verdicts", "discarded", "noise")
"""``discarded`` has the verdicts on mutants that are not valid, where these were asked about, too."""


class RunFolder:
    """The folder at ``path``; ``identity`` is what decides a run's results."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def existing(cls, path: Path) -> RunFolder:
        """The folder of an earlier run. Raises ``RunError`` where ``path`` is none."""
        if not (path / "summary.json").is_file():
            raise RunError(f"{path} has no summary.json: give the folder of a run that has ended")
        return cls(path)

    @property
    def summary(self) -> Path:
        return self.path / "summary.json"

    @property
    def cases(self) -> Path:
        return self.path / "cases"

    def open(self, resolved: str, identity: Mapping[str, Any], overwrite: bool = False) -> None:
        """Make the folder, or take it up again. Raises ``RunError`` where it holds something else or cannot
        be written."""
        try:
            self._open(resolved, identity, overwrite)
        except OSError as error:
            raise RunError(
                f"{self.path} cannot be a run folder ({error.strerror or error}): use another --out"
            ) from error

    def _open(self, resolved: str, identity: Mapping[str, Any], overwrite: bool) -> None:
        mark = self.path / "identity.json"
        if self.path.exists() and any(self.path.iterdir()):
            if not mark.exists():
                raise RunError(f"{self.path} is not empty and not a run folder: use another --out")
            earlier = json.loads(mark.read_text(encoding="utf-8"))
            if earlier != json.loads(canonical(identity)):
                if not overwrite:
                    raise RunError(
                        f"{self.path} holds a run with other settings ({_difference(earlier, identity)}): "
                        "use another --out, or --overwrite to replace it"
                    )
                shutil.rmtree(self.path)
        self.cases.mkdir(parents=True, exist_ok=True)
        mark.write_text(canonical(identity), encoding="utf-8")
        (self.path / "run.toml").write_text(resolved, encoding="utf-8")
        for name in DERIVED:
            shutil.rmtree(self.path / f"{name}.parts", ignore_errors=True)

    @property
    def complete(self) -> bool:
        """Whether all cases are on disk."""
        return (self.cases / COMPLETE).exists()

    def finish(self) -> None:
        """Say that all cases are on disk."""
        (self.cases / COMPLETE).touch()

    def read_cases(self) -> Iterator[Case]:
        """The cases on disk, in order."""
        return _read(sorted(self.cases.glob("part-*.parquet")))

    def has_chunk(self, number: int) -> bool:
        """Whether the chunk ``number`` of the cases is on disk, whole."""
        return self._mark(number).exists()

    def read_chunk(self, number: int) -> Iterator[Case]:
        """The cases of one chunk."""
        return _read(self.chunk_files(number))

    def chunk_files(self, number: int) -> list[Path]:
        """The files of one chunk, in order."""
        return sorted(self.cases.glob(f"part-{number:05d}-*.parquet"))

    def keep_chunk(self, number: int, cases: Iterable[Case]) -> Generator[Case, None, None]:
        """Pass the cases of one chunk through, writing them; what is left of an earlier try is replaced."""
        self._clear(number)
        with Parts(self.cases, CASE_SCHEMA, _case_row, f"part-{number:05d}-") as parts:
            for case in cases:
                parts.add(case, len(case.text))
                yield case
        self._mark(number).touch()

    def write_chunk(self, number: int, files: Iterable[bytes]) -> None:
        """Write one chunk made elsewhere: its files' bytes, in order."""
        self._clear(number)
        for part, data in enumerate(files):
            (self.cases / f"part-{number:05d}-{part:05d}.parquet").write_bytes(data)
        self._mark(number).touch()

    def _clear(self, number: int) -> None:
        for old in self.cases.glob(f"part-{number:05d}-*"):
            old.unlink()

    def keep_cases(self, cases: Iterable[Case]) -> Generator[Case, None, None]:
        """Pass all cases through as one chunk; or, where they are on disk, read those instead."""
        if self.complete:
            yield from self.read_cases()
            return
        yield from self.keep_chunk(0, cases)
        self.finish()

    def _mark(self, number: int) -> Path:
        return self.cases / f"part-{number:05d}.whole"

    def take(self, rows: Sequence[int]) -> list[Case]:
        """The cases at ``rows`` (places among all of them), in that order."""
        import polars as pl

        files = sorted(self.cases.glob("part-*.parquet"))
        ends = list(accumulate(int(pl.scan_parquet(f).select(pl.len()).collect().item()) for f in files))
        wanted: dict[int, list[int]] = {}
        for row in rows:
            wanted.setdefault(bisect_right(ends, row), []).append(row)
        found: dict[int, Case] = {}
        for number, some in wanted.items():
            start = ends[number - 1] if number else 0
            part = pl.read_parquet(files[number])[[row - start for row in some]]
            found |= zip(some, map(_case, part.iter_rows(named=True)), strict=True)
        return [found[row] for row in rows]

    def parts(self, name: str) -> Parts:
        """Where the rows of one of the tables ``DERIVED`` from cases and replies go."""
        rows = {
            "answers": _answer_row,
            "verdicts": _verdict_row,
            "discarded": _verdict_row,
            "noise": _noise_row,
        }
        return Parts(self.path / f"{name}.parts", SCHEMAS[name], rows[name])

    def derived(self) -> Derived:
        """Where examined groups go."""
        return Derived(self)

    def merge(self, name: str) -> None:
        """Make one file of the parts of one of the tables ``DERIVED``."""
        import polars as pl

        parts = self.path / f"{name}.parts"
        target = self.path / f"{name}.parquet"
        files = sorted(parts.glob("*.parquet"))
        if files:
            pl.scan_parquet(files, glob=False).sink_parquet(target)
        else:
            pl.DataFrame(schema=schema_of(SCHEMAS[name])).write_parquet(target)
        shutil.rmtree(parts, ignore_errors=True)

    def scan(self, name: str) -> pl.LazyFrame:
        """``cases``, or one of the tables ``DERIVED`` from them, as a lazy table.

        Columns that an earlier version did not write are there, null.
        """
        import polars as pl

        if name == "cases":
            files = sorted(self.cases.glob("*.parquet"))
            if not files:
                return pl.LazyFrame(schema=schema_of(CASE_SCHEMA))
            return pl.scan_parquet(files, glob=False)
        table = pl.scan_parquet(self.path / f"{name}.parquet", glob=False)
        there = table.collect_schema().names()
        absent = {column: kind for column, kind in schema_of(SCHEMAS[name]).items() if column not in there}
        return table.with_columns(pl.lit(None, kind).alias(column) for column, kind in absent.items())


class Derived:
    """The tables ``DERIVED``, filled a group at a time: ``with folder.derived() as tables: …``."""

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
        by_id = {case.id: case for case in group.cases}
        for case in group.cases:
            self._parts["answers"].add((case, group.outcomes[case.id], group.words[case.id]))
        for verdict in group.verdicts:
            self._parts["verdicts"].add((verdict, by_id[verdict.case]))
        for verdict in group.discarded:
            self._parts["discarded"].add((verdict, by_id[verdict.case]))
        if group.noise is not None:
            self._parts["noise"].add(group.noise)


class Parts:
    """Rows written to numbered Parquet files of bounded size: ``with Parts(…) as parts: parts.add(…)``."""

    def __init__(self, folder: Path, schema: Mapping[str, Any], row: Any, prefix: str = "part-") -> None:
        self._prefix = prefix
        self._folder = folder
        self._schema = schema
        self._row = row
        self._rows: list[Mapping[str, Any]] = []
        self._characters = 0
        self._number = 0

    def __enter__(self) -> Parts:
        self._folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *exception: object) -> None:
        self.flush()

    def add(self, item: Any, characters: int = 0) -> None:
        self._rows.append(self._row(item))
        self._characters += characters
        if len(self._rows) >= ROWS_A_PART or self._characters >= CHARACTERS_A_PART:
            self.flush()

    def flush(self) -> None:
        """Write what is held, under a name that appears only when the file is whole."""
        import polars as pl

        if not self._rows:
            return
        final = self._folder / f"{self._prefix}{self._number:05d}.parquet"
        unfinished = final.with_suffix(".tmp")
        pl.DataFrame(self._rows, schema=schema_of(self._schema), orient="row").write_parquet(unfinished)
        unfinished.replace(final)
        self._rows, self._characters = [], 0
        self._number += 1


CASE_SCHEMA = {
    "id": "str",
    "group": "str",
    "document": "str",
    "role": "str",
    "text": "str",
    "valid": "bool",
    "reason": "str",
    "substitutions": "substitutions",
    "traits": "str",
    "expected": "list",
    "weight": "float",
}
ANSWER_SCHEMA = {
    "case": "str",
    "outcome": "str",
    "labels": "list",
    "score": "float",
    "reply": "str",
    "margin": "float",
    "margin_is_bound": "bool",
}
VERDICT_SCHEMA = {
    "case": "str",
    "relation": "str",
    "status": "str",
    "hidden": "str",
    "attributes": "list",
    "document": "str",
    "confirmed": "bool",
    "margin": "float",
    "margin_is_bound": "bool",
    "shift": "float",
    "other": "str",
    "weight": "float",
}
NOISE_SCHEMA = {"document": "str", "asked": "int", "read": "int", "flips": "int"}
SCHEMAS = {
    "cases": CASE_SCHEMA,
    "answers": ANSWER_SCHEMA,
    "verdicts": VERDICT_SCHEMA,
    "discarded": VERDICT_SCHEMA,
    "noise": NOISE_SCHEMA,
}


def schema_of(columns: Mapping[str, str]) -> dict[str, Any]:
    """A polars schema from our column kinds."""
    import polars as pl

    kinds: dict[str, Any] = {
        "str": pl.String,
        "bool": pl.Boolean,
        "float": pl.Float64,
        "int": pl.Int64,
        "list": pl.List(pl.String),
        "substitutions": pl.List(
            pl.Struct({"attribute": pl.String, "source": pl.String, "target": pl.String})
        ),
    }
    return {name: kinds[kind] for name, kind in columns.items()}


def _read(files: Iterable[Path]) -> Iterator[Case]:
    """The cases of ``files``, one file in memory at a time."""
    import polars as pl

    for file in files:
        yield from map(_case, pl.read_parquet(file, glob=False).iter_rows(named=True))


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        id=row["id"],
        group=row["group"],
        document=row["document"],
        role=row["role"],
        text=row["text"],
        substitutions=tuple(Substitution(**s) for s in row["substitutions"]),
        traits=json.loads(row["traits"]),
        expected=None if row["expected"] is None else frozenset(row["expected"]),
        reason=row["reason"],
        weight=row.get("weight", 1.0),
    )


def _case_row(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        "group": case.group,
        "document": case.document,
        "role": case.role,
        "text": case.text,
        "valid": case.valid,
        "reason": case.reason,
        "substitutions": [
            {"attribute": s.attribute, "source": s.source, "target": s.target} for s in case.substitutions
        ],
        "traits": canonical(dict(case.traits)),
        "expected": _listed(case.expected),
        "weight": case.weight,
    }


def _answer_row(item: tuple[Case, Outcome, str]) -> dict[str, Any]:
    case, outcome, reply = item
    return {
        "case": case.id,
        "outcome": outcome.reason or "read",
        "labels": _listed(outcome.labels),
        "score": outcome.score,
        "reply": reply,
        **_margin_columns(outcome.margin),
    }


def _verdict_row(item: tuple[Verdict, Case]) -> dict[str, Any]:
    verdict, case = item
    return {
        "case": verdict.case,
        "relation": verdict.relation,
        "status": verdict.status,
        "hidden": verdict.hidden,
        "attributes": list(verdict.attributes),
        "document": case.document,
        "confirmed": verdict.confirmed,
        **_margin_columns(verdict.margin),
        "shift": verdict.shift,
        "other": verdict.other,
        "weight": case.weight,
    }


def _margin_columns(margin: Margin | None) -> dict[str, Any]:
    return {
        "margin": None if margin is None else margin.value,
        "margin_is_bound": None if margin is None else margin.is_bound,
    }


def _noise_row(noise: Noise) -> dict[str, Any]:
    return {"document": noise.document, "asked": noise.asked, "read": noise.read, "flips": noise.flips}


def _listed(labels: frozenset[str] | None) -> list[str] | None:
    return None if labels is None else sorted(labels)


def _difference(earlier: Mapping[str, Any], identity: Mapping[str, Any], prefix: str = "") -> str:
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
