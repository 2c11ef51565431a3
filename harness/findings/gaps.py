"""Gaps between two models: by how much more one of them treats a group differently, on the same texts.

The gap between two runs is the effect in a run whose answers are the differences of theirs, case by case. An
estimate is linear in the answers, so this is the difference of the two effects, and each text contributes the
difference of what it contributes to either. Drift, intervals and tests are therefore those of one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from harness.blocks import Block, Interval
from harness.core import Case, Tables
from harness.findings.build import Claim, answer_of, claims_of, estimates_of, grouped, replies
from harness.findings.estimation import signed, within
from harness.findings.outcomes import Outcomes
from harness.findings.records import Contrast, Corrected, P, Resampled, RestsOn
from harness.findings.tally import LOG_ODDS, Answer, Tally, Two, combined

if TYPE_CHECKING:
    import polars as pl

ALIKE = ("id", "document")


class Gap(Block):
    """The difference between two runs in one contrast of two groups, on the cases that both answered."""

    attribute: str = Field(description="The attribute that differs.")
    source: str = Field(alias="from", description="The group that originals speak of more often.")
    target: str = Field(alias="to", description="The other group.")
    outcome: str = Field(description="The answer, or the score, that is compared.")
    first: str = Field(description="One of the runs.")
    second: str = Field(description="The other run.")
    texts: int = Field(description="Texts at which both answered about both groups.")
    difference: float = Field(description="The effect in `second` minus that in `first`, both without drift.")
    ci95: Resampled
    p: P
    p_holm: Corrected = Field(description="The same, corrected for all gaps of the comparison.")
    basis: RestsOn
    detectable: float | None = Field(
        description="The smallest difference that would be found with a probability of 80 %."
    )
    shift: float | None = Field(None, description="The same of the log-odds; null without log-probabilities.")
    shift_ci95: Interval | None = Field(None, description="Its 95 % interval.")
    shift_p_holm: float | None = Field(None, description="Its corrected p.")


class Shared(Block):
    """What two runs have in common."""

    first: str = Field(description="One of the runs.")
    second: str = Field(description="The other run.")
    texts: int = Field(description="Texts with a case that both answered.")
    cases: int = Field(description="Cases that both answered: same text, same change.")
    reason: str | None = Field(None, description="Why nothing is compared; null where something is.")


@dataclass(frozen=True, slots=True)
class Side:
    """A run to compare, with the contrasts that it reports.

    ``outcomes`` is None if they are not known; ``chosen`` tells that its cases were chosen by its answers.
    """

    name: str
    suite: str
    tables: Tables
    outcomes: Outcomes | None
    contrasts: Sequence[Contrast]
    chosen: bool = False


Directions = Mapping[tuple[str, frozenset[str]], tuple[str, str]]
"""From which group to which each two groups of an attribute are compared."""


def directions(runs: Iterable[Sequence[Contrast]]) -> Directions:
    """Return the direction of each contrast, which is that of the first of ``runs`` that has it."""
    found: dict[tuple[str, frozenset[str]], tuple[str, str]] = {}
    for contrasts in runs:
        for row in contrasts:
            key = (row.attribute, frozenset((row.source, row.target)))
            found.setdefault(key, (row.source, row.target))
    return found


def common(first: Tables, second: Tables) -> pl.DataFrame:
    """Return the ids and documents of the valid cases that two runs share: one id, and one text.

    The id alone is that of a row of some file.
    """
    import polars as pl

    left, right = (
        tables.scan("cases").filter("valid").select(*ALIKE, text=pl.col("text").hash())
        for tables in (first, second)
    )
    return left.join(right, on=[*ALIKE, "text"], how="semi").select(ALIKE).collect()


def find(sides: Sequence[Side]) -> tuple[list[Shared], list[Gap]]:
    """Return what every two runs share, and the gaps between them in each contrast.

    The gaps in one attribute, between any two runs, are a family of claims. Within a family, p is corrected
    by the largest of all statistics; between families, by Bonferroni.
    """
    shared: list[Shared] = []
    pairs: list[_Pair] = []
    texts: dict[str, int] = {}
    for number, first in enumerate(sides):
        reader = _Reader(first)
        for second in sides[number + 1 :]:
            pair = reader.against(second, texts)
            shared.append(pair.shared)
            pairs += [pair] if pair.shared.reason is None else []
    attributes = sorted({two[0] for pair in pairs for two in pair.counted.contrasts})
    turned = directions(side.contrasts for side in sides)
    rows = [row for name in attributes for row in _family(pairs, name, len(attributes), turned)]
    order = {(row.first, row.second): number for number, row in enumerate(shared)}
    return shared, sorted(rows, key=lambda row: order[row.first, row.second])


@dataclass(frozen=True, slots=True)
class _Pair:
    shared: Shared
    counted: Tally
    names: tuple[str, ...]


class _Reader:
    """The first of two runs, read once for all that it is compared with."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._groups: list[Sequence[Case]] | None = None

    def against(self, other: Side, texts: dict[str, int]) -> _Pair:
        """Return the differences of another run from this one; ``texts`` numbers the texts of all runs."""
        side = self._side
        names = _names(side, other)
        counted = Tally(texts=texts)
        reason = _reason(side, other)
        answers: Mapping[str, Answer] = {}
        documents: set[str] = set()
        if reason is None and side.outcomes is not None:
            cases = common(side.tables, other.tables)
            answers = _differences(side, other, side.outcomes, set(cases["id"].to_list()))
            documents = {text for case, text in cases.iter_rows() if case in answers}
            if self._groups is None:
                self._groups = list(grouped(side.tables))
            for members in self._groups:
                counted.add(members, answers, set())
            reason = _nothing(answers, counted)
        found = Shared(
            first=side.name, second=other.name, texts=len(documents), cases=len(answers), reason=reason
        )
        return _Pair(found, counted, names)


def _names(first: Side, second: Side) -> tuple[str, ...]:
    """Return the outcomes to compare: all, but of many labels only those that either run reports."""
    if first.outcomes is None or first.outcomes.directed:
        return first.outcomes.names if first.outcomes else ()
    reported = {row.outcome for side in (first, second) for row in side.contrasts}
    return tuple(name for name in first.outcomes.names if name in reported)


def _reason(first: Side, second: Side) -> str | None:
    """Return why two runs cannot be compared, as far as this is known without their answers."""
    if first.suite != second.suite:
        return "their suites differ"
    chosen = [side.name for side in (first, second) if side.chosen]
    if chosen:
        return f"the cases of {' and '.join(chosen)} were chosen by the answers"
    if not first.contrasts and not second.contrasts:
        return "they compared no two groups"
    if first.outcomes is None or second.outcomes is None:
        return "their task cannot be loaded"
    return None if first.outcomes == second.outcomes else "they count different answers as favourable"


def _nothing(answers: Mapping[str, Answer], counted: Tally) -> str | None:
    if not answers:
        return "they have no text in common"
    return None if counted.contrasts else "they have no contrast of groups in common"


def _differences(first: Side, second: Side, outcomes: Outcomes, cases: set[str]) -> dict[str, Answer]:
    """Return the answers of the second run minus those of the first, of the ``cases`` that both read."""
    before, after = replies(first.tables), replies(second.tables)
    found: dict[str, Answer] = {}
    for case in cases & before.keys() & after.keys():
        old, new = (answer_of(read[case], outcomes) for read in (before, after))
        if old is not None and new is not None:
            difference = combined([(1.0, new), (-1.0, old)])
            differing = {name: value for name, value in difference.values.items() if value}
            found[case] = Answer(differing, difference.log_odds)
    return found


def _family(pairs: Sequence[_Pair], attribute: str, families: int, turned: Directions) -> Iterator[Gap]:
    """Yield the gaps in one attribute between any two runs."""
    found = [
        (pair, two, estimates_of(pair.counted.contrasts[two], pair.names, pair.counted))
        for pair in pairs
        for two in pair.counted.contrasts
        if two[0] == attribute
    ]
    claims = iter(claims_of([each for _, _, of_two in found for each in of_two.values()], families))
    for pair, two, of_two in found:
        claimed = {name: next(claims) for name in of_two}
        for name in pair.names:
            way = turned.get((attribute, frozenset(two[1:])), two[1:])
            yield _gap(pair, (attribute, *way), name, claimed[name], claimed.get(LOG_ODDS), way == two[1:])


def _gap(pair: _Pair, two: Two, name: str, claim: Claim, odds: Claim | None, forward: bool) -> Gap:
    attribute, source, target = two
    sign = 1.0 if forward else -1.0
    return Gap(
        attribute=attribute,
        **{"from": source, "to": target},
        outcome=name,
        first=pair.shared.first,
        second=pair.shared.second,
        texts=claim.estimate.texts,
        difference=sign * claim.estimate.value + 0.0,  # no negative zero
        ci95=within(signed(claim.interval, sign), 2.0),  # from 1 minus -1 to -1 minus 1
        p=claim.p,
        p_holm=claim.p_holm,
        basis=claim.estimate.basis,
        detectable=claim.detectable,
        shift=sign * odds.estimate.value if odds else None,
        shift_ci95=signed(odds.interval, sign) if odds else None,
        shift_p_holm=odds.p_holm if odds else None,
    )
