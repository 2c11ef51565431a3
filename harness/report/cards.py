"""The cards of the page: each biased case beside its original and the mutants of its parts.

Only the rows of the displayed cases are read, in batches of bounded size, whatever the size of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from harness.core import KEY_SEPARATOR
from harness.language.differences import Piece, changes, excerpt, left_out

if TYPE_CHECKING:
    import polars as pl

    from harness.core import Span
    from harness.folder import RunFolder

Substitutions = Sequence[Mapping[str, str]]

CHARACTERS_AT_ONCE = 30_000_000


@dataclass(frozen=True, slots=True)
class Line:
    """One text of a card: its name, the answer (or why there is none), and an excerpt."""

    name: str
    answer: str
    status: str
    pieces: Sequence[Piece]
    left_out: bool


@dataclass(frozen=True, slots=True)
class Card:
    """A biased case beside its original and the mutants of its parts. ``hidden`` is "" if atomic."""

    case: str
    document: str
    kind: str
    attributes: str
    hidden: str
    gold: str
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a displayed case; ``length`` is that of its text in characters."""

    id: str
    group: str
    document: str
    substitutions: Substitutions
    length: int


@dataclass(frozen=True, slots=True)
class _Text:
    text: str
    reason: str | None
    expected: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class _Answer:
    outcome: str
    labels: Sequence[str] | None
    score: float | None

    def __str__(self) -> str:
        if self.outcome != "read":
            return f"not read: {self.outcome}"
        return _labels(self.labels) if self.labels is not None else f"{self.score:.3g}"


@dataclass(frozen=True, slots=True)
class _Judged:
    status: str
    hidden: str | None
    other: str | None
    attributes: Sequence[str]


def cards(folder: RunFolder, chosen: Sequence[str], at_once: int = CHARACTERS_AT_ONCE) -> Iterator[Card]:
    """Yield the cards of ``chosen`` cases in order, with about ``at_once`` characters of text in memory."""
    import polars as pl

    rows = folder.scan("cases").filter(pl.col("id").is_in(chosen))
    length = pl.col("text").str.len_chars()
    places = rows.select("id", "group", "document", "substitutions", length).collect(engine="streaming")
    by_id = {row[0]: _Place(*row) for row in places.iter_rows()}
    batch: list[_Place] = []
    characters = 0
    for place in (by_id[name] for name in chosen):
        batch.append(place)
        characters += place.length * 2 ** max(1, len(place.substitutions))
        if characters > at_once:
            yield from _cards(folder, batch)
            batch, characters = [], 0
    yield from _cards(folder, batch)


def _cards(folder: RunFolder, batch: Sequence[_Place]) -> Iterator[Card]:
    if not batch:
        return
    parts = _Parts(folder, batch)
    for place in batch:
        yield parts.card(place)


class _Parts:
    """The data of a batch of cards: originals and mutants of parts, their texts and answers."""

    def __init__(self, folder: RunFolder, batch: Sequence[_Place]) -> None:
        import polars as pl

        self._folder = folder
        self.ids = self._mutants(batch)
        names = {*self.ids.values(), *(place.id for place in batch)}
        judged = folder.scan("verdicts").filter(pl.col("case").is_in(names))
        order = (pl.col("status") != "biased", ~pl.col("hidden").eq_missing(pl.lit("yes")))
        first = judged.sort(*order, maintain_order=True).unique("case", keep="first")
        columns = ("case", "status", "hidden", "other", "attributes")
        self.judged = {name: _Judged(*row) for name, *row in _rows(first, columns)}
        others = {verdict.other for verdict in self.judged.values() if verdict.other is not None}
        changed = folder.scan("cases").filter(pl.col("id").is_in(others))
        self.others: dict[str, Substitutions] = dict(_rows(changed, ("id", "substitutions")))
        displayed = names | others
        texts = folder.scan("cases").filter(pl.col("id").is_in(displayed))
        self.texts = {name: _Text(*row) for name, *row in _rows(texts, ("id", "text", "reason", "expected"))}
        answers = folder.scan("answers").filter(pl.col("case").is_in(displayed))
        fields = ("case", "outcome", "labels", "score")
        self.answers = {name: _Answer(*row) for name, *row in _rows(answers, fields)}

    def _mutants(self, batch: Sequence[_Place]) -> dict[tuple[str, str], str]:
        """Return the cases by group and substitutions, preferring valid ones."""
        import polars as pl

        places = {(place.group, _key(part)) for place in batch for part in _subsets(place.substitutions)}
        parts = pl.LazyFrame(sorted(places), schema=["group", "key"], orient="row")
        fields = [pl.element().struct.field(name) for name in ("attribute", "source", "target")]
        key = pl.col("substitutions").list.eval(pl.concat_str(fields, separator=":")).list.join(KEY_SEPARATOR)
        changed = (pl.col("role") == "original") | (pl.col("substitutions").list.len() > 0)
        groups = pl.col("group").is_in({group for group, _ in places})
        keyed = self._folder.scan("cases").filter(groups & changed).with_columns(key=key)
        matches = _rows(keyed.join(parts, on=["group", "key"], how="semi"), ("group", "key", "id", "reason"))
        rows = sorted(matches, key=lambda row: row[3] is None)
        return {(group, key): name for group, key, name, _ in rows}

    def card(self, place: _Place) -> Card:
        """Return the card of one biased case, omitting parts that the folder lacks."""
        substitutions, verdict = place.substitutions, self.judged[place.id]
        original = verdict.other or self.ids.get((place.group, ""))
        source = self.texts[original or place.id]
        lines = []
        if original is not None:
            spans, _ = changes(source.text, self.texts[place.id].text, _sources(substitutions))
            other = self.others.get(original)
            role = "Original" if other is None else _arrows(other) or "Other"
            lines.append(self._line(role, original, source.text, spans))
        for part in _subsets(substitutions)[1:]:
            if name := self.ids.get((place.group, _key(part))):
                lines.append(self._mutant(part, name, source.text))
        lines.append(self._mutant(substitutions, place.id, source.text))
        return Card(
            case=place.id,
            document=place.document,
            kind="intersectional" if len(verdict.attributes) > 1 else "atomic",
            attributes=" + ".join(verdict.attributes),
            hidden=verdict.hidden or "",
            gold="" if source.expected is None else _labels(source.expected),
            lines=lines,
        )

    def _mutant(self, substitutions: Substitutions, name: str, original: str) -> Line:
        text = self.texts[name].text
        _, spans = changes(original, text, _sources(substitutions))
        return self._line(_arrows(substitutions) or name, name, text, spans)

    def _line(self, title: str, name: str, text: str, spans: Sequence[Span]) -> Line:
        verdict = self.judged.get(name)
        status = "" if verdict is None else verdict.status
        return Line(title, self._answer(name), status, excerpt(text, spans), left_out(text, spans))

    def _answer(self, name: str) -> str:
        if self.texts[name].reason is not None:
            return f"discarded: {self.texts[name].reason}"
        answer = self.answers.get(name)
        return "not asked" if answer is None else str(answer)


def _subsets(substitutions: Substitutions) -> list[Substitutions]:
    """Return the proper subsets by size, from the empty one: their mutants tell whether a bias is hidden."""
    sizes = range(max(1, len(substitutions)))
    return [list(part) for size in sizes for part in combinations(substitutions, size)]


def _key(substitutions: Substitutions) -> str:
    return KEY_SEPARATOR.join(f"{s['attribute']}:{s['source']}:{s['target']}" for s in substitutions)


def _sources(substitutions: Substitutions) -> set[str]:
    return {word for s in substitutions for word in s["source"].lower().split()}


def _arrows(substitutions: Substitutions) -> str:
    return ", ".join(f"{s['source']} → {s['target']}" for s in substitutions)


def _labels(labels: Sequence[str]) -> str:
    return ", ".join(labels) or "no label"


def _rows(frame: pl.LazyFrame, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield the values of ``columns``, row by row."""
    return frame.select(columns).collect(engine="streaming").iter_rows()
