"""Whose answers were not read: who is refused, or filtered, more often may be a finding by itself."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from harness.core import Case, Tables
from harness.findings.build import grouped
from harness.findings.places import places
from harness.findings.records import Part, Unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

Named = tuple[str, str]
"""An attribute and one of its groups."""


def unread(tables: Tables) -> tuple[Unanswered, ...]:
    """Return, for each group that versions speak of, the answers that were not read; empty if all were.

    A version counts once for a group, at whatever places it is compared with versions of other groups.
    """
    outcomes = _outcomes(tables.scan("answers"))
    if all(outcome == "read" for outcome in outcomes.values()):
        return ()
    asked: defaultdict[Named, Counter[str]] = defaultdict(Counter)
    silent: defaultdict[Named, Counter[str]] = defaultdict(Counter)
    reasons: defaultdict[Named, Counter[str]] = defaultdict(Counter)
    for members in grouped(tables):
        text = members[0].document
        for named, case in _versions(members):
            if (outcome := outcomes.get(case)) is None:
                continue
            asked[named][text] += 1
            if outcome != "read":
                silent[named][text] += 1
                reasons[named][outcome] += 1
    return tuple(_row(named, asked[named], silent[named], reasons[named]) for named in sorted(asked))


def _outcomes(answers: pl.LazyFrame) -> dict[str, str]:
    return dict(answers.select("case", "outcome").collect().iter_rows())


def _versions(members: Sequence[Case]) -> Iterator[tuple[Named, str]]:
    """Yield each group that versions of one text speak of with each of these versions."""
    found = {
        ((place.attribute, version.group), version.case)
        for place in places(members)
        for version in place.versions
    }
    yield from found


def _row(named: Named, asked: Counter[str], silent: Counter[str], reasons: Mapping[str, int]) -> Unanswered:
    attribute, group = named
    texts = list(asked)
    part = Part.clustered([silent[text] for text in texts], [asked[text] for text in texts])
    return Unanswered(attribute=attribute, group=group, answers=part, reasons=dict(sorted(reasons.items())))
