"""One pass over the answers of a run: every difference within a text that a finding rests on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

from harness.core import Case
from harness.findings.estimation import Differences
from harness.findings.places import UNEDITED, Meeting, Place, Version, edits_of, meetings, places

LOG_ODDS = "log-odds"
"""The outcome under which differences of log-odds are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was read: the value of each outcome, and the log-odds of a favourable one if known.

    ``labels`` is the whole answer, None where one outcome tells it. ``right`` tells whether it equals the
    gold labels of its original, ``expected`` whether these are favourable; None without gold labels.
    """

    values: Mapping[str, float]
    log_odds: float | None = None
    right: bool | None = None
    expected: bool | None = None
    labels: frozenset[str] | None = None


@dataclass(slots=True)
class Compared:
    """What is compared between versions: the outcomes, and the log-odds where both sides have them."""

    outcomes: Differences = field(default_factory=Differences)
    log_odds: Differences = field(default_factory=lambda: Differences(unit=None))

    def add(self, text: str, difference: Mean, edits: Mapping[str, float]) -> None:
        """Add a difference of two means, whose sides differ by ``edits``."""
        self.outcomes.add(text, difference.values, edits)
        if difference.log_odds is not None:
            self.log_odds.add(text, {LOG_ODDS: difference.log_odds}, edits)


@dataclass(slots=True)
class Pairs:
    """The pairs of versions of two groups: how many, and in how many the second has more or less."""

    number: int = 0
    more: Counter[str] = field(default_factory=Counter)
    less: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Changes:
    """The pairs of versions of an attribute by text, and those of them whose answers differ."""

    pairs: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Quality:
    """The answers about a group with gold labels: right ones, and favourable ones by what is expected."""

    judged: int = 0
    correct: int = 0
    expected: Counter[bool] = field(default_factory=Counter)
    favoured: Counter[bool] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of some answers, or a difference of two such means."""

    values: Mapping[str, float]
    log_odds: float | None

    @classmethod
    def of(cls, answers: Sequence[Answer | Mean]) -> Mean:
        """Return the mean of ``answers``, which must not be empty; log-odds only if all have them."""
        size = len(answers)
        if size == 1:
            return cls(answers[0].values, answers[0].log_odds)
        odds = [answer.log_odds for answer in answers if answer.log_odds is not None]
        values = {
            name: sum(answer.values.get(name, 0.0) for answer in answers) / size for name in _names(answers)
        }
        return cls(values, sum(odds) / size if len(odds) == size else None)

    def minus(self, other: Mean) -> Mean:
        """Return the difference of two means; outcomes that do not differ may be left out."""
        odds = None
        if self.log_odds is not None and other.log_odds is not None:
            odds = self.log_odds - other.log_odds
        if self.values == other.values:
            return Mean({}, odds)
        names = {**self.values, **other.values}
        return Mean({n: self.values.get(n, 0.0) - other.values.get(n, 0.0) for n in names}, odds)


def combined(parts: Sequence[tuple[float, Mean | Answer]]) -> Mean:
    """Return the sum of ``parts``, each with its factor; log-odds only if all have them."""
    answers = [answer for _, answer in parts]
    values = {name: sum(f * answer.values.get(name, 0.0) for f, answer in parts) for name in _names(answers)}
    odds = [factor * a.log_odds for factor, a in parts if a.log_odds is not None]
    return Mean(values, sum(odds) if len(odds) == len(parts) else None)


def _names(answers: Iterable[Answer | Mean]) -> Iterable[str]:
    return dict.fromkeys(name for answer in answers for name in answer.values)


Two = tuple[str, str, str]
"""An attribute and two of its groups."""
Met = tuple[tuple[str, str], ...]
"""The groups that meet, by attribute; ``ANY`` stands for all that do."""
ANY = "any"


@dataclass(slots=True)
class Tally:
    """All differences of a run, by what they compare.

    ``texts`` numbers the texts. ``contrasts`` are between two groups, in the order of their names; ``groups``
    between a group and the mean of the groups at its places; ``controls`` between control mutants and their
    originals, by kind of edit. ``shared`` holds, for two groups, the sums of each one's rate by text.
    ``units`` are the differences that a single text could make in an outcome, where that is not 1.
    """

    texts: dict[str, int] = field(default_factory=dict)
    units: dict[str, float] = field(default_factory=dict)
    contrasts: defaultdict[Two, Compared] = field(default_factory=lambda: defaultdict(Compared))
    pairs: defaultdict[Two, Pairs] = field(default_factory=lambda: defaultdict(Pairs))
    changes: defaultdict[str, Changes] = field(default_factory=lambda: defaultdict(Changes))
    spoken: Counter[tuple[str, str]] = field(default_factory=Counter)
    groups: defaultdict[tuple[str, str], Compared] = field(default_factory=lambda: defaultdict(Compared))
    rates: defaultdict[tuple[str, str], Differences] = field(default_factory=lambda: defaultdict(Differences))
    shared: defaultdict[Two, list[Differences]] = field(
        default_factory=lambda: defaultdict(lambda: [Differences(), Differences()])
    )
    quality: defaultdict[tuple[str, str], Quality] = field(default_factory=lambda: defaultdict(Quality))
    both: defaultdict[Met, Compared] = field(default_factory=lambda: defaultdict(Compared))
    interactions: defaultdict[Met, Compared] = field(default_factory=lambda: defaultdict(Compared))
    hidden: Counter[Met] = field(default_factory=Counter)
    quadruples: Counter[Met] = field(default_factory=Counter)
    controls: defaultdict[str, Compared] = field(default_factory=lambda: defaultdict(Compared))

    def add(self, group: Sequence[Case], answers: Mapping[str, Answer], hidden: set[str]) -> None:
        """Add the cases of one original, with the answers that were read and the ids of hidden cases."""
        for place in places(group):
            self._number(place.document)
            self._place(place, answers)
        for meeting in meetings(group):
            self._number(meeting.document)
            self._meeting(meeting, answers, meeting.both in hidden)
        original = next((case.id for case in group if case.role == "original"), "")
        if original in answers:
            for case in group:
                if case.role == "control" and case.id in answers:
                    self._number(case.document)
                    kind = edits_of(case.substitutions)
                    change = combined([(1.0, answers[case.id]), (-1.0, answers[original])])
                    self.controls[kind].add(case.document, change, {})

    def largest(self, outcome: str) -> float:
        """Return the largest mean difference of a text in ``outcome``; 0 where none differs."""
        every = (*self.contrasts.values(), *self.controls.values())
        return max((abs(mean) for each in every for mean in each.outcomes.means(outcome)), default=0.0)

    def _number(self, text: str) -> None:
        self.texts.setdefault(text, len(self.texts))

    def _place(self, place: Place, answers: Mapping[str, Answer]) -> None:
        by_group: dict[str, list[Version]] = {}
        for version in place.versions:
            if version.case in answers:
                by_group.setdefault(version.group, []).append(version)
        if len(by_group) < 2:
            return
        if place.spoken is not None:
            self.spoken[place.attribute, place.spoken] += 1
        read = {name: [answers[v.case] for v in versions] for name, versions in by_group.items()}
        means = {name: Mean.of(of_group) for name, of_group in read.items()}
        edits = {name: _edits(versions) for name, versions in by_group.items()}
        for first, second in combinations(sorted(by_group), 2):
            two = (place.attribute, first, second)
            difference = means[second].minus(means[first])
            self.contrasts[two].add(place.document, difference, _less(edits[second], edits[first]))
            for side, name in zip(self.shared[two], (first, second), strict=True):
                side.add(place.document, means[name].values, {})
            self._pairs(two, read[first], read[second])
            self._change(place, read[first], read[second])
        every, all_edits = Mean.of(list(means.values())), _mean_edits(list(edits.values()))
        for name, mean in means.items():
            key = (place.attribute, name)
            self.groups[key].add(place.document, mean.minus(every), _less(edits[name], all_edits))
            self.rates[key].add(place.document, mean.values, {})
            self._judge(key, read[name])

    def _pairs(self, two: Two, first: Sequence[Answer], second: Sequence[Answer]) -> None:
        pairs = self.pairs[two]
        for left in first:
            for right in second:
                pairs.number += 1
                if left.values == right.values:
                    continue
                for name in _names((left, right)):
                    before, after = left.values.get(name, 0.0), right.values.get(name, 0.0)
                    if before != after:
                        (pairs.more if after > before else pairs.less)[name] += 1

    def _change(self, place: Place, first: Sequence[Answer], second: Sequence[Answer]) -> None:
        if first[0].labels is None:  # a score, or an answer that one outcome tells wholly
            return
        changes = self.changes[place.attribute]
        changes.pairs[place.document] += len(first) * len(second)
        for left in first:
            for right in second:
                if left.labels != right.labels:
                    changes.changed[place.document] += 1

    def _judge(self, key: tuple[str, str], answers: Sequence[Answer]) -> None:
        quality = self.quality[key]
        for answer in answers:
            if answer.right is None:
                continue
            quality.judged += 1
            quality.correct += answer.right
            if answer.expected is not None:
                quality.expected[answer.expected] += 1
                quality.favoured[answer.expected] += any(answer.values.values())

    def _meeting(self, meeting: Meeting, answers: Mapping[str, Answer], hidden: bool) -> None:
        ids = (meeting.both, meeting.first, meeting.second, meeting.original)
        if not all(name in answers for name in ids):
            return
        both, first, second, original = (answers[name] for name in ids)
        of_both, *alone = meeting.edits
        effect = combined([(1.0, both), (-1.0, original)])
        interaction = combined([(1.0, both), (-1.0, first), (-1.0, second), (1.0, original)])
        edits = _counted([(1.0, of_both), *((-1.0, kind) for kind in alone)])
        groups = tuple(sorted(meeting.groups))
        for met in (groups, *_wider(groups)):
            self.quadruples[met] += 1
            self.hidden[met] += hidden
            self.both[met].add(meeting.document, effect, _counted([(1.0, of_both)]))
            self.interactions[met].add(meeting.document, interaction, edits)

    @property
    def met(self) -> list[Met]:
        """The groups that meet, and those taken together where that adds to each of them."""
        largest: Counter[Met] = Counter()
        for key, number in self.quadruples.items():
            for wider in _wider(key):
                largest[wider] = max(largest[wider], number)
        return [key for key in self.interactions if self.quadruples[key] > largest[key]]


def _wider(key: Met) -> Iterator[Met]:
    """Yield the keys that take more groups together."""
    for wider in product(*(dict.fromkeys((each, (each[0], ANY))) for each in key)):
        if wider != key:
            yield wider


def _counted(parts: Iterable[tuple[float, str]]) -> dict[str, float]:
    """Return how often each kind of edit occurs; not to edit is none."""
    counts: dict[str, float] = {}
    for number, kind in parts:
        if kind != UNEDITED:
            counts[kind] = counts.get(kind, 0.0) + number
    return counts


def _edits(versions: Sequence[Version]) -> dict[str, float]:
    return _counted((1 / len(versions), version.edits) for version in versions)


def _mean_edits(every: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return _counted((number / len(every), kind) for edits in every for kind, number in edits.items())


def _less(edits: Mapping[str, float], others: Mapping[str, float]) -> dict[str, float]:
    if edits == others:
        return {}
    return _counted([*((n, kind) for kind, n in edits.items()), *((-n, kind) for kind, n in others.items())])
