"""The findings as types: blocks of ``summary.json``. docs/figures.md has every formula, with an example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from harness.blocks import Block, Interval
from harness.findings.estimation import Basis, signed
from harness.statistics import rate, rate_by_cluster, wilson

Resampled = Annotated[
    Interval | None, Field(description="Its 95 % interval, resampling originals; null with fewer than two.")
]
P = Annotated[float | None, Field(description="p of none, by flipping the signs of whole originals.")]
Corrected = Annotated[
    float | None, Field(description="The same, corrected for all claims that the run can make.")
]
RestsOn = Annotated[
    Basis,
    Field(
        description="What tells the effect from the drift of editing: alike (both versions are edited as"
        " much), controls, both directions, or uncorrected (nothing does)."
    ),
]
Outcome = Annotated[str, Field(description="The answer, or the score, that is compared.")]


class Part(Block):
    """A share with its counts."""

    count: int = Field(description="The numerator.")
    of: int = Field(description="The denominator.")
    rate: float | None = Field(description="count / of; null if of is 0.")
    ci95: Interval | None = Field(description="Its 95 % interval.")

    @classmethod
    def of_trials(cls, count: int, of: int) -> Part:
        """Return the share of independent trials, with Wilson's interval."""
        return cls(count=count, of=of, rate=rate(count, of), ci95=wilson(count, of))

    @classmethod
    def clustered(cls, counts: Sequence[int], of: Sequence[int]) -> Part:
        """Return the share of trials that come in clusters, from the counts by cluster."""
        part, whole = int(sum(counts)), int(sum(of))
        return cls(count=part, of=whole, rate=rate(part, whole), ci95=rate_by_cluster(counts, of))


class Contrast(Block):
    """Two groups of an attribute: all pairs of versions of one text that differ in that alone."""

    attribute: str = Field(description="The attribute that differs.")
    source: str = Field(alias="from", description="The group that originals speak of more often.")
    target: str = Field(alias="to", description="The other group.")
    outcome: Outcome
    pairs: int = Field(description="Pairs of versions whose answers were read.")
    originals: int = Field(description="Texts with such a pair.")
    worse: int = Field(description="Pairs in which the version of `to` has less of the outcome.")
    better: int = Field(description="Pairs in which it has more of it.")
    effect: float = Field(description="Mean difference within a text, `to` minus `from`, without drift.")
    ci95: Resampled
    p: P
    p_holm: Corrected
    basis: RestsOn
    shift: float | None = Field(
        None, description="The same of the log-odds of a favourable answer; null without log-probabilities."
    )
    shift_ci95: Interval | None = Field(None, description="Its 95 % interval.")
    shift_p_holm: float | None = Field(None, description="Its corrected p.")
    detectable: float | None = Field(
        None, description="The smallest effect that would be found with a probability of 80 %."
    )

    def turned(self) -> Contrast:
        """Return the same contrast from ``to`` to ``from``."""
        return self.model_copy(
            update={
                "source": self.target,
                "target": self.source,
                "worse": self.better,
                "better": self.worse,
                "effect": -self.effect + 0.0,  # no negative zero
                "ci95": signed(self.ci95, -1.0),
                "shift": None if self.shift is None else -self.shift,
                "shift_ci95": signed(self.shift_ci95, -1.0),
            }
        )


class Change(Block):
    """How often the whole answer differs between two groups of an attribute, whatever label it is about.

    Of several labels, the sets are compared. Both versions of a pair are of one text and differ in nothing
    but the group.
    """

    attribute: str = Field(description="The attribute that differs.")
    pairs: Part = Field(description="Pairs of versions whose answers differ, with an interval by original.")
    originals: Part = Field(description="Texts with such a pair, among those with any pair (Wilson).")


class Likeness(Block):
    """How unlike the answers in free form are to mutants and their originals, against controls of the same
    texts and number of changes, and against repeats of the originals. The words that tell who is spoken of
    are not compared.
    """

    attributes: tuple[str, ...] = Field(description="The attributes changed together.")
    tests: int = Field(description="Mutants compared.")
    controls: int = Field(description="Controls compared.")
    originals: int = Field(description="Texts that have both.")
    unlike: float = Field(description="Mean share of words that the answers do not have in common.")
    control_unlike: float = Field(description="The same of the controls, each text weighed as among mutants.")
    excess: float = Field(description="The difference within a text, each weighed by its mutants.")
    ci95: Resampled
    p: P
    p_holm: Corrected
    repeats: int | None = Field(
        None, description="Repeated answers to these originals; null without --repeats."
    )
    repeat_unlike: float | None = Field(
        None, description="How unlike these are to the first answers, each text weighed as among mutants."
    )
    over_repeats: float | None = Field(
        None, description="What mutants have in excess of repeats, within a text."
    )
    over_repeats_ci95: Interval | None = Field(None, description="Its 95 % interval, resampling originals.")


class Preferred(Block):
    """The answers to versions of one kind beside those to their originals, as a judge sees them."""

    kind: str = Field(description="The attributes changed; or control mutants, or repeats of originals.")
    pairs: int = Field(description="Pairs of answers.")
    originals: int = Field(description="Texts with such a pair.")
    alike: int = Field(description="Pairs of the same answer, once who is spoken of is masked: not asked.")
    preferred: int = Field(description="The answer to the version is preferred in both orders.")
    original: int = Field(description="That to the original is preferred in both orders.")
    ties: int = Field(description="Neither is, in both orders.")
    unstable: int = Field(description="The two orders disagree: no preference.")
    unread: int = Field(description="What the judge said could not be read in both orders: no preference.")
    net: float = Field(description="(preferred − original) / pairs, from −1 to 1.")
    ci95: Resampled


class Preferring(Block):
    """What a judge said of pairs of answers in free form, each shown in both orders."""

    rows: tuple[Preferred, ...] = Field(description="By what was changed.")
    unread: Part = Field(description="Pairs of those asked about that could not be read in both orders.")
    unstable: Part = Field(description="Of the pairs that were read: those in which the orders disagree.")
    position: Part = Field(
        description="Position bias: pairs in which the same place is preferred in both orders."
    )
    first: int = Field(description="Of these, those in which it is the first place.")


class Unanswered(Block):
    """The answers about a group that were not read: refused, filtered, failed and so on."""

    attribute: str = Field(description="The attribute.")
    group: str = Field(description="The group.")
    answers: Part = Field(description="Versions without a read answer, with an interval by original.")
    reasons: Mapping[str, int] = Field(description="The same by reason.")


class Group(Block):
    """A group against the mean of the groups at the same places of the same texts."""

    attribute: str = Field(description="The attribute.")
    group: str = Field(description="The group.")
    outcome: Outcome
    sets: int = Field(description="Places of texts at which the group is compared with others.")
    originals: int = Field(description="Texts with such a place.")
    rate: float = Field(description="Mean share of the outcome (or mean score) in a text, for this group.")
    effect: float = Field(description="Mean difference from the groups at the same places, without drift.")
    ci95: Resampled
    p: P
    p_holm: Corrected
    basis: RestsOn
    impact_ratio: float | None = Field(
        description="Counterfactual impact ratio: rate over that of the best-off group, at the places that"
        " both have; null where that is 0, or where nothing is better or worse."
    )
    shift: float | None = Field(
        description="The same difference in log-odds of a favourable answer; null without log-probabilities."
    )
    correct: int | None = Field(
        None, description="Answers equal to the original's gold labels; null without."
    )
    judged: int | None = Field(None, description="Answers with gold labels.")
    true_favourable: float | None = Field(
        None, description="Share of favourable answers where the gold label is favourable."
    )
    false_favourable: float | None = Field(None, description="The same where it is not.")


class Intersection(Block):
    """Two groups that meet on one person: more than the sum of both changes?"""

    groups: Mapping[str, str] = Field(description="The groups that meet, by attribute; any: all that do.")
    outcome: Outcome
    pairs: int = Field(description="Mutants with both changes whose four answers were read.")
    originals: int = Field(description="Texts with such a mutant.")
    effect: float = Field(description="Mean change of the outcome by both changes together, without drift.")
    effect_ci95: Interval | None = Field(None, description="Its 95 % interval.")
    interaction: float = Field(
        description="Mean of both − first alone − second alone + original, without drift."
    )
    ci95: Resampled
    p: P
    p_holm: Corrected
    basis: RestsOn
    hidden: int = Field(0, description="Hidden cases among them.")
    shift: float | None = Field(None, description="The interaction of the log-odds; null without.")
    shift_ci95: Interval | None = Field(None, description="Its 95 % interval.")
    shift_p_holm: float | None = Field(None, description="Its corrected p.")


class Changed(Block):
    """Control mutants of one order: how often the answer changed although no person did."""

    tests: int = Field(description="Control mutants with a verdict.")
    biased: int = Field(description="Of these, those whose answer changed.")
    undetermined: int = Field(0, description="Of these, those that lack an answer.")
    rate: float | None = Field(description="biased / (tests − undetermined).")
    ci95: Interval | None = Field(description="Its 95 % interval, resampling originals.")
    originals: int = Field(0, description="Texts with such a control.")
    hidden: int | None = Field(
        None, description="Changed ones none of whose parts changes the answer alone; null for one change."
    )


class Drift(Block):
    """What editing a text does to an outcome by itself, by the control mutants."""

    edits: str = Field(description="The number of changes, marked + where words were inserted.")
    outcome: Outcome
    controls: int = Field(description="Control mutants whose answers were read.")
    originals: int = Field(description="Texts with such a control.")
    change: float = Field(description="Mean change of the outcome in a text.")
    ci95: Resampled


class Control(Changed):
    """The control mutants of a run."""

    kinds: Mapping[str, int] = Field(
        {}, description="Control mutants by kind: word (names nobody), group (words of one group)."
    )
    by_order: Mapping[str, Changed] = Field({}, description="The same by the number of changes.")
    drift: tuple[Drift, ...] = Field((), description="What editing does to each outcome.")


class Caution(Block):
    """What a reader must know before believing the figures."""

    code: str = Field(description="What it is about; docs/figures.md lists them all.")
    text: str = Field(description="The same in a sentence.")


FindingCode = Literal["treated-differently", "meeting", "excess", "nothing-found", "brittle", "undecided"]


class Finding(Block):
    """The finding of the run: the words of the headline."""

    code: FindingCode = Field(description="Which of the findings it is.")
    text: str = Field(description="The finding in words.")
