"""Make the findings of a run from its tables: groups, contrasts, intersections, and what they rest on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from harness import tables as rows_of
from harness.core import Case, Tables
from harness.findings.estimation import (
    Contributions,
    Differences,
    chances,
    estimates,
    intervals,
    signed,
    within,
)
from harness.findings.outcomes import Outcomes
from harness.findings.records import Change, Contrast, Drift, Group, Intersection, Part
from harness.findings.tally import LOG_ODDS, Answer, Compared, Tally, Two

if TYPE_CHECKING:
    from harness.blocks import Interval

WITHOUT_TEXT = ("id", "group", "document", "role", "valid", "reason", "substitutions", "traits", "expected")
ALPHA = 0.05
COMPARABLE = 0.5
"""The share of a group's texts that another group must share to be the measure of its impact ratio."""
Measures = Mapping[str, float]
Reply = tuple[Sequence[str] | None, float | None, float | None, Measures | None]
"""Labels, score, log-odds and measures of an answer that was read."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An estimate with all that is said of it: its interval, its p, and its p corrected for all claims.

    ``detectable`` is the effect that would be found with a probability of 80 %.
    """

    estimate: Contributions
    interval: Interval | None
    p: float
    p_holm: float
    detectable: float | None


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a run; ``families`` are those of claims among them."""

    groups: tuple[Group, ...] = ()
    changes: tuple[Change, ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    intersections: tuple[Intersection, ...] = ()
    drift: tuple[Drift, ...] = ()
    families: int = 0


def tally(tables: Tables, outcomes: Outcomes) -> Tally:
    """Return every difference within a text, from the tables of a run."""
    counted = Tally()
    for group, answers, hidden in _groups(tables, outcomes):
        counted.add(group, answers, hidden)
    counted.units = {name: largest for name in outcomes.scores if (largest := counted.largest(name))}
    return counted


def _groups(
    tables: Tables, outcomes: Outcomes
) -> Iterator[tuple[Sequence[Case], Mapping[str, Answer], set[str]]]:
    """Yield the valid cases of each group without their texts, their answers, and which are hidden."""
    import polars as pl

    read = replies(tables)
    concealed = tables.scan("verdicts").filter(pl.col("hidden") == "yes").select("case").collect()
    hidden = set(concealed["case"].to_list())
    for members in grouped(tables):
        gold = next((case.expected for case in members if case.role == "original"), None)
        answers = {
            case.id: answer
            for case in members
            if case.id in read and (answer := answer_of(read[case.id], outcomes, gold)) is not None
        }
        yield members, answers, hidden


def grouped(tables: Tables, texts: bool = False) -> Iterator[Sequence[Case]]:
    """Yield the valid cases of each group, without their texts unless ``texts``."""
    columns = (*WITHOUT_TEXT, "text") if texts else WITHOUT_TEXT
    cases = tables.scan("cases").filter("valid").select(columns).collect()
    found = (rows_of.case_of({"text": "", **row}) for row in cases.iter_rows(named=True))
    for _, group in groupby(found, key=lambda case: case.group):
        yield list(group)


def replies(tables: Tables) -> dict[str, Reply]:
    """Return the answers that were read, by case."""
    import polars as pl

    read = tables.scan("answers").filter(pl.col("outcome") == "read")
    rows = read.select("case", "labels", "score", "log_odds", "measures").collect().iter_rows()
    return {
        case: (labels, score, odds, None if measures is None else json.loads(measures))
        for case, labels, score, odds, measures in rows
    }


def answer_of(reply: Reply, outcomes: Outcomes, gold: frozenset[str] | None = None) -> Answer | None:
    """Return an answer that was read; only the outcomes that it has are kept."""
    labels, score, log_odds, measures = reply
    values = outcomes.values(labels, score, measures)
    if values is None:
        return None
    had = {name: value for name, value in zip(outcomes.names, values, strict=True) if value}
    whole = None if labels is None else frozenset(labels)
    compared = whole if outcomes.partial else None
    if gold is None or whole is None:
        return Answer(had, log_odds, labels=compared)
    good = outcomes.favourable
    return Answer(had, log_odds, whole == gold, bool(gold & set(good)) if good else None, compared)


def find(counted: Tally, outcomes: Outcomes, others: int = 0) -> Findings:
    """Return the findings of a tally.

    The claims about one attribute are a family, those about intersections another; ``others`` is the number
    of families outside. Within a family, p is corrected by the largest of all statistics; between families,
    by Bonferroni.
    """
    attributes = sorted({attribute for attribute, *_ in counted.contrasts})
    families = len(attributes) + bool(counted.interactions) + others
    names = _varying(counted, outcomes)
    groups: list[Group] = []
    contrasts: list[Contrast] = []
    for attribute in attributes:
        of_attribute = _Attribute(counted, attribute, names, outcomes.directed)
        made = of_attribute.findings(families)
        groups += made[0]
        contrasts += made[1]
    meeting = tuple(_intersections(counted, names, families))
    drift = tuple(_drift(counted, names))
    changes = tuple(_changes(counted))
    return Findings(tuple(groups), changes, tuple(contrasts), meeting, drift, families - others)


def _changes(counted: Tally) -> Iterator[Change]:
    """Yield how often the whole answer differs between groups, by attribute."""
    for attribute, of_attribute in sorted(counted.changes.items()):
        texts = list(of_attribute.pairs)
        changed = [of_attribute.changed[text] for text in texts]
        yield Change(
            attribute=attribute,
            pairs=Part.clustered(changed, [of_attribute.pairs[text] for text in texts]),
            originals=Part.of_trials(sum(map(bool, changed)), len(texts)),
        )


def _varying(counted: Tally, outcomes: Outcomes) -> tuple[str, ...]:
    """Return the outcomes that differ anywhere; all of them if there are few."""
    if len(outcomes.names) <= 1 or outcomes.directed:
        return outcomes.names
    differing = {
        name
        for compared in (*counted.contrasts.values(), *counted.interactions.values())
        for name in compared.outcomes.values
    }
    return tuple(name for name in outcomes.names if name in differing)


def claims_of(every: Sequence[Contributions], families: int) -> list[Claim]:
    """Return the claims of one family."""
    if not every:
        return []
    tested = chances(every, ALPHA / families)
    rows = zip(every, intervals(every), tested.alone, tested.joint, strict=True)
    return [
        Claim(estimate, interval, p, min(1.0, joint * families), estimate.detectable(tested.critical))
        for estimate, interval, p, joint in rows
    ]


def _estimates(
    differences: Differences, names: Sequence[str], controls: Mapping[str, Differences], counted: Tally
) -> list[Contributions]:
    """Return the estimate of each outcome, by the difference that a single text could make in it."""
    found = estimates(differences, names, controls, counted.texts)
    return [
        replace(each, unit=counted.units.get(name, each.unit))
        for name, each in zip(names, found, strict=True)
    ]


def estimates_of(compared: Compared, names: Sequence[str], counted: Tally) -> dict[str, Contributions]:
    """Return the estimate of each outcome, and of the log-odds where they are known."""
    outcomes = {kind: each.outcomes for kind, each in counted.controls.items()}
    odds = {kind: each.log_odds for kind, each in counted.controls.items() if each.log_odds.counts}
    found = dict(zip(names, _estimates(compared.outcomes, names, outcomes, counted), strict=True))
    if compared.log_odds.counts:
        [found[LOG_ODDS]] = estimates(compared.log_odds, [LOG_ODDS], odds, counted.texts)
    return found


class _Attribute:
    """The findings about one attribute, which are one family of claims."""

    def __init__(self, counted: Tally, attribute: str, names: Sequence[str], directed: bool) -> None:
        self._counted = counted
        self._attribute = attribute
        self._names = names
        self._directed = directed
        self._twos = [two for two in counted.contrasts if two[0] == attribute]
        self._groups = [key for key in counted.groups if key[0] == attribute]

    def findings(self, families: int) -> tuple[list[Group], list[Contrast]]:
        """Return a row for each group and each two groups, and outcome."""
        counted = self._counted
        of_twos = [estimates_of(counted.contrasts[two], self._names, counted) for two in self._twos]
        of_groups = [estimates_of(counted.groups[key], self._names, counted) for key in self._groups]
        every = [estimate for found in (*of_twos, *of_groups) for estimate in found.values()]
        claims = iter(claims_of(every, families))
        claimed = [{name: next(claims) for name in found} for found in (*of_twos, *of_groups)]
        ahead, behind = claimed[: len(of_twos)], claimed[len(of_twos) :]
        contrasts = [
            self._contrast(two, name, found)
            for two, found in zip(self._twos, ahead, strict=True)
            for name in self._names
        ]
        groups = [
            self._group(key, name, found)
            for key, found in zip(self._groups, behind, strict=True)
            for name in self._names
        ]
        return groups, contrasts

    def _contrast(self, two: Two, name: str, claims: Mapping[str, Claim]) -> Contrast:
        attribute, first, second = two
        pairs, claim, odds = self._counted.pairs[two], claims[name], claims.get(LOG_ODDS)
        more, less = pairs.more[name], pairs.less[name]
        spoken = self._counted.spoken
        forward = spoken[attribute, first] >= spoken[attribute, second]
        source, target, sign = (first, second, 1.0) if forward else (second, first, -1.0)
        better, worse = (more, less) if forward else (less, more)
        return Contrast(
            attribute=attribute,
            **{"from": source, "to": target},
            outcome=name,
            pairs=pairs.number,
            originals=claim.estimate.texts,
            worse=worse,
            better=better,
            effect=sign * claim.estimate.value + 0.0,  # no negative zero
            ci95=within(signed(claim.interval, sign), 1.0),
            p=claim.p,
            p_holm=claim.p_holm,
            basis=claim.estimate.basis,
            shift=sign * odds.estimate.value if odds else None,
            shift_ci95=signed(odds.interval, sign) if odds else None,
            shift_p_holm=odds.p_holm if odds else None,
            detectable=claim.detectable,
        )

    def _group(self, key: tuple[str, str], name: str, claims: Mapping[str, Claim]) -> Group:
        counted, claim, odds = self._counted, claims[name], claims.get(LOG_ODDS)
        rates, quality = counted.rates[key], counted.quality[key]
        attribute, group = key
        judged = quality.judged or None
        return Group(
            attribute=attribute,
            group=group,
            outcome=name,
            sets=sum(rates.counts.values()),
            originals=claim.estimate.texts,
            rate=_mean(rates, name),
            effect=claim.estimate.value,
            ci95=within(claim.interval, 1.0),
            p=claim.p,
            p_holm=claim.p_holm,
            basis=claim.estimate.basis,
            impact_ratio=self._impact(group, name) if self._directed else None,
            shift=odds.estimate.value if odds else None,
            correct=quality.correct if judged else None,
            judged=judged,
            true_favourable=_share(quality.favoured[True], quality.expected[True]),
            false_favourable=_share(quality.favoured[False], quality.expected[False]),
        )

    def _impact(self, group: str, name: str) -> float | None:
        """Return the rate of ``group`` over that of the best-off group, at the places that both have."""
        own = len(self._counted.groups[self._attribute, group].outcomes.counts)
        ratios = [1.0] if _mean(self._counted.rates[self._attribute, group], name) > 0 else []
        for two, sides in self._counted.shared.items():
            if two[0] == self._attribute and group in two[1:]:
                mine, other = sides if two[1] == group else reversed(sides)
                best = _mean(other, name)
                if len(mine.counts) >= COMPARABLE * own and best > 0:
                    ratios.append(_mean(mine, name) / best)
        return min(ratios, default=None)


def _mean(rates: Differences, name: str) -> float:
    means = rates.means(name)
    return sum(means) / len(means)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _intersections(counted: Tally, names: Sequence[str], families: int) -> Iterator[Intersection]:
    """Yield a row for each two groups that meet, and outcome."""
    met = counted.met
    found = [estimates_of(counted.interactions[key], names, counted) for key in met]
    together = [estimates_of(counted.both[key], names, counted) for key in met]
    claims = iter(claims_of([estimate for each in found for estimate in each.values()], families))
    every = [estimate for each in together for estimate in each.values()]
    effects = iter(zip(every, intervals(every), strict=True))
    for key, each, both in zip(met, found, together, strict=True):
        claimed = {name: next(claims) for name in each}
        effect = {name: next(effects) for name in both}
        odds = claimed.get(LOG_ODDS)
        for name in names:
            claim = claimed[name]
            yield Intersection(
                groups=dict(key),
                outcome=name,
                pairs=counted.quadruples[key],
                originals=claim.estimate.texts,
                effect=effect[name][0].value,
                effect_ci95=within(effect[name][1], 1.0),
                interaction=claim.estimate.value,
                ci95=within(claim.interval, 2.0),
                p=claim.p,
                p_holm=claim.p_holm,
                basis=claim.estimate.basis,
                hidden=counted.hidden[key],
                shift=odds.estimate.value if odds else None,
                shift_ci95=odds.interval if odds else None,
                shift_p_holm=odds.p_holm if odds else None,
            )


def _drift(counted: Tally, names: Sequence[str]) -> Iterator[Drift]:
    """Yield what the controls say of each kind of edit, by outcome."""
    for kind, changes in sorted(counted.controls.items()):
        found = _estimates(changes.outcomes, names, {}, counted)
        for name, each, interval in zip(names, found, intervals(found), strict=True):
            yield Drift(
                edits=kind,
                outcome=name,
                controls=sum(changes.outcomes.counts.values()),
                originals=each.texts,
                change=each.value,
                ci95=within(interval, 1.0),
            )
