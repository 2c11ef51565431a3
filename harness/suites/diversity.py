"""Measure how diverse the texts of a suite are: distinct texts, sequences of parts of speech, and trees.

S²LCT compares its cases with CheckList's by the neurons that they activate (section 5.1); these figures
compare their syntax, which needs no access to the model. Such a count grows with the number of texts, so each
is also given as the number expected in a sample as large as the smallest kind (rarefaction, Hurlbert 1971).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import exp, lgamma
from typing import Protocol

from harness.core import JsonObject, Tables
from harness.language.parse import Parser
from harness.language.trees import Tree
from harness.sections import Figures, Section, Table

AT_ONCE = 256


class Trees(Protocol):
    """Parses texts into constituency trees, one tree per sentence."""

    def trees(self, texts: Sequence[str]) -> list[tuple[Tree, ...]]:
        """Return the trees of each text."""


@dataclass(frozen=True, slots=True)
class Diversity:
    """The ``kind`` of cases, how many valid ones there are, and how many of them differ.

    ``tags`` and ``trees`` count sequences of parts of speech, and trees without their words; the ``expected``
    ones are for a sample of ``of`` texts. None if there is no parser of trees.
    """

    kind: str
    texts: int
    distinct: int
    tags: int
    trees: int | None
    of: int
    tags_expected: float
    trees_expected: float | None

    def plain(self) -> JsonObject:
        """Return the figures as JSON values."""
        return asdict(self)


def texts(tables: Tables, kind: str | None = None) -> dict[str, list[str]]:
    """Return the texts of the valid cases by their role, or all as one ``kind``."""
    import polars as pl

    asked = pl.col("reason").is_null() & (pl.col("role") != "control")
    rows = tables.scan("cases").filter(asked).select("role", "text").collect().rows()
    by_kind: dict[str, list[str]] = {}
    for role, text in rows:
        by_kind.setdefault(kind or role, []).append(text)
    return by_kind


def measure(
    kinds: Mapping[str, Sequence[str]], parser: Parser, trees: Trees | None = None
) -> list[Diversity]:
    """Measure how diverse the texts of each kind are."""
    least = min(map(len, kinds.values()), default=0)
    return [_measured(kind, of_kind, parser, trees, least) for kind, of_kind in kinds.items()]


def rarefied(counts: Iterable[int], size: int) -> float:
    """Return how many distinct things to expect in a sample of ``size`` (rarefaction, Hurlbert 1971).

    ``counts`` are the numbers of occurrences of each thing.
    """
    numbers = list(counts)
    whole = sum(numbers)
    return sum(1 - _none_of(count, whole, size) for count in numbers)


def added(figures: Figures, block: str, diversities: Sequence[Diversity]) -> Figures:
    """Return ``figures`` with the diversity in the block called ``block`` and in a section of its own."""
    rows = [row.plain() for row in diversities]
    blocks = {**figures.blocks, block: {**figures.blocks[block], "diversity": rows}}
    return replace(figures, blocks=blocks, sections=[*figures.sections, *sections(diversities)])


def sections(diversities: Sequence[Diversity]) -> list[Section]:
    """Return the section of the report: a table."""
    if not diversities:
        return []
    of = diversities[0].of
    columns = [
        "cases",
        "texts",
        "different texts",
        "POS sequences",
        f"of {of:,}",
        "trees",
        f"trees of {of:,}",
    ]
    rows = [
        [row.kind, row.texts, row.distinct, row.tags, _rounded(row.tags_expected), row.trees,
         _rounded(row.trees_expected)]
        for row in diversities
    ]  # fmt: skip
    notes = [f"Of {of:,}: how many different ones to expect among {of:,} texts drawn from these."]
    return [Section("Syntactic diversity", table=Table(columns, rows), notes=notes)]


def _measured(kind: str, texts: Sequence[str], parser: Parser, trees: Trees | None, least: int) -> Diversity:
    tags, shapes = Counter[Hashable](), Counter[Hashable]()
    for start in range(0, len(texts), AT_ONCE):
        batch = texts[start : start + AT_ONCE]
        tags.update(_tags(batch, parser))
        if trees is not None:
            shapes.update(" ".join(map(str, of_text)) for of_text in trees.trees(batch))
    return Diversity(
        kind,
        len(texts),
        len(set(texts)),
        len(tags),
        len(shapes) if trees else None,
        least,
        rarefied(tags.values(), least),
        rarefied(shapes.values(), least) if trees else None,
    )


def _tags(texts: Sequence[str], parser: Parser) -> list[tuple[str, ...]]:
    """Return the parts of speech of each text, sentence by sentence."""
    sentences = [[text[start:end] for start, end in parser.split(text).spans] for text in texts]
    parses = iter(parser.parse([sentence for of_text in sentences for sentence in of_text]))
    return [tuple(tag for _ in of_text for tag in next(parses).pos) for of_text in sentences]


def _none_of(count: int, whole: int, size: int) -> float:
    """Return the chance that a sample of ``size`` from ``whole`` has none of ``count`` things."""
    if size > whole - count:
        return 0.0
    return exp(_choose(whole - count, size) - _choose(whole, size))


def _choose(whole: int, part: int) -> float:
    return lgamma(whole + 1) - lgamma(part + 1) - lgamma(whole - part + 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
