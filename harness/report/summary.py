"""``summary.json``, schema 1, as types: the findings of a run, for renderers, gates and users.

Rates and the ends of 95 % intervals are shares from 0 to 1, None if unavailable. Keys that are not named here
(a suite's own blocks and settings, keys of later versions) are preserved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import Field, SerializationInfo, ValidationError, field_serializer

from harness import files
from harness.blocks import Block, Interval
from harness.core import UNREAD, JsonObject
from harness.errors import RunError
from harness.findings.orders import Orders
from harness.findings.records import (
    Caution,
    Change,
    Contrast,
    Control,
    Finding,
    Group,
    Intersection,
    Likeness,
    Preferring,
    Unanswered,
)
from harness.plugins import Nouns
from harness.sections import Section, plain

SCHEMA = 1

Rate = Annotated[float | None, Field(description="biased / (biased + benign); null if there are none.")]
Wilson = Annotated[Interval | None, Field(description="Its 95 % interval: Wilson's; for pairs by template.")]


class Plain(Block):
    """A block with sections, whose JSON form is that of ``harness.sections.plain``."""

    sections: tuple[Section, ...] = Field((), description="Tables and plots, in the order they are shown.")

    @field_serializer("sections")
    def _plain(self, sections: Sequence[Section], _: SerializationInfo) -> list[dict[str, object]]:
        return cast("list[dict[str, object]]", plain(sections))


class Documents(Block):
    """The source texts."""

    read: int = Field(description="Texts read; 0 if the suite makes its own.")
    eligible: int = Field(description="Texts, or groups of a suite's own, with at least one case.")
    judged: int | None = Field(
        None, description="Of these, those whose answers were judged; fewer if the run ended early."
    )
    shortened: int = Field(0, description="Texts shortened at a sentence end to fit the model.")
    left_out: int = Field(0, description="Rows read that are no part of the task.")
    notes: tuple[str, ...] = Field((), description="What was noticed on reading, such as files left out.")


class Cases(Block):
    """Cases generated, without the originals."""

    generated: int = Field(description="All cases: valid, discarded and duplicate.")
    valid: int = Field(description="Cases the model is asked about.")
    discarded: int = Field(description="Left out because they are not valid.")
    discarded_by_reason: Mapping[str, int] = Field(description="Discarded cases by reason.")
    duplicate: int = Field(description="Left out because another case of the group has the same text.")


class Requests(Block):
    """Requests to the model."""

    unique: int = Field(description="Distinct requests that the run needs.")
    cached: int = Field(description="Answered from the response cache.")
    sent: int = Field(description="Sent to the model.")
    retried: int = Field(description="Attempts beyond the first of each request.")
    failed: int = Field(description="Failed permanently.")
    unfinished: int = Field(0, description="Under way when the run was stopped.")
    kept: int | None = Field(None, description="Their replies in the response cache, old and new.")
    probes: int = Field(
        0, description="Posted besides, to find out how the endpoint takes requests; their cost is counted."
    )


class Answers(Block):
    """Cases by the outcome of their answer."""

    read: int = Field(description="Read as labels or as a score.")
    refused: int = Field(description="The model refused to answer.")
    filtered: int = Field(description="Stopped by a content filter.")
    unparsed: int = Field(description="Not recognized as a label.")
    truncated: int = Field(description="Cut off before the answer.")
    too_long: int = Field(alias="too-long", description="The text does not fit the model.")
    failed: int = Field(description="The request failed permanently.")

    @property
    def unread(self) -> dict[str, int]:
        """The answers that could not be read, by reason."""
        counts = self.model_dump(by_alias=True)
        return {reason: counts[reason] for reason in UNREAD}

    @property
    def total(self) -> int:
        """All answers, read or not."""
        return self.read + sum(self.unread.values())


class Failed(Block):
    """A reason why requests failed permanently."""

    reason: str = Field(description="The message; # and … stand for numbers and quoted parts that differ.")
    count: int = Field(description="Cases whose answer failed for this reason.")


class Accuracy(Block):
    """The accuracy on originals with gold labels (HINTER, Table 5)."""

    originals: int = Field(description="Originals with gold labels whose answer was read.")
    correct: int = Field(description="Of these, those whose answer equals the gold set exactly.")
    rate: float | None = Field(description="correct / originals.")
    ci95: Interval | None = Field(description="Wilson's 95 % interval of the rate.")
    micro_f1: float | None = Field(None, description="F1 over all labels together.")
    macro_f1_all: float | None = Field(
        None,
        description="Mean F1 over all labels of the task, as in LexGLUE: 0 for one that never occurs.",
    )
    macro_f1: float | None = Field(
        None, description="Mean F1 over the labels that occur in gold labels or answers."
    )
    labels: int | None = Field(None, description="Labels of the task.")
    occurring: int | None = Field(None, description="Of these, those that occur.")


ONE_PERSON = "one person"
"""The scope of a row about the mutants whose attributes meet on one person."""


class ResultRow(Block):
    """The tests of one set of attributes changed together (HINTER, RQ1)."""

    kind: Literal["atomic", "intersectional"] = Field(description="One attribute, or several at once.")
    relation: str | None = Field(None, description="What was compared: star, pairs, expected …")
    attributes: tuple[str, ...] = Field(description="The attributes changed together.")
    tests: int = Field(description="Verdicts: biased, benign and undetermined.")
    biased: int = Field(description="Tests whose answer changed although it must not.")
    benign: int | None = Field(None, description="Tests whose answer did not change.")
    undetermined: int = Field(description="Tests that lack an answer; excluded from every rate.")
    rate: Rate
    ci95: Wilson
    ci95_by_original: Interval | None = Field(
        None, description="95 % interval of the rate, resampling whole originals (cluster bootstrap)."
    )
    estimated_rate: float | None = Field(
        None,
        description="Rate of all mutants, estimated from a sample; null if all were asked about.",
    )
    estimated_ci95: Interval | None = Field(None, description="Its 95 % interval, by original.")
    excess: float | None = Field(
        None, description="Rate minus the self-flip rate of the same originals; null without --repeats."
    )
    excess_ci95: Interval | None = Field(None, description="Its 95 % interval.")
    p: float | None = Field(None, description="p of no excess, by flipping the signs of whole originals.")
    p_holm: float | None = Field(None, description="p after Holm's correction over the rows.")
    hidden: int = Field(description="Biased tests none of whose parts changes the answer alone.")
    not_hidden: int | None = Field(
        None, description="Biased tests with a part that changes the answer alone."
    )
    hidden_rate: float | None = Field(description="hidden / (hidden + not hidden).")
    hidden_ci95: Interval | None = Field(None, description="Wilson's 95 % interval of hidden_rate.")
    hidden_undetermined: int = Field(description="Biased tests that lack the answer to a part.")
    hidden_ci95_by_original: Interval | None = Field(
        None, description="95 % interval of hidden_rate, resampling whole originals."
    )
    controls: int | None = Field(
        None,
        description="Control mutants with as many changes of the same kind, on texts that have tests of this"
        " row; null where none is to be had.",
    )
    control_rate: float | None = Field(
        None, description="Share of them whose answer changed, each text weighed as among the tests."
    )
    controlled: int | None = Field(None, description="Tests on the same texts as these controls.")
    controlled_rate: float | None = Field(None, description="Share of these tests that are biased.")
    excess_over_control: float | None = Field(None, description="controlled_rate minus control_rate.")
    excess_over_control_ci95: Interval | None = Field(
        None, description="Its 95 % interval, resampling originals."
    )
    excess_over_control_p: float | None = Field(
        None,
        description="p of no excess: the larger of that by flipping the signs of whole originals, and that by"
        " exchanging tests and controls within each.",
    )
    excess_over_control_p_holm: float | None = Field(
        None, description="The same, corrected for all claims that the run can make."
    )
    hidden_excess: float | None = Field(
        None, description="Share of tests that are biased and hidden, minus the same share of the controls."
    )
    hidden_excess_ci95: Interval | None = Field(None, description="Its 95 % interval, by original.")
    hidden_excess_p_holm: float | None = Field(None, description="Its p, corrected for all claims.")
    confirmed: int | None = Field(
        None, description="Biased tests confirmed by asking again; null without --confirm."
    )
    near_ties: int | None = Field(
        None, description="Biased tests with a nearly tied answer; null without log-probabilities."
    )
    originals: int = Field(description="Texts that the tests come from.")
    biased_originals: int = Field(description="Of these, those with at least one biased test.")
    scope: str | None = Field(default=None, description="What the row is restricted to; null: all mutants.")

    @property
    def name(self) -> str:
        """The attributes as people read them: ``race + gender``; the scope of a row below them."""
        return f"· on {self.scope}" if self.scope else " + ".join(self.attributes)

    @property
    def together(self) -> bool:
        """Whether several attributes were changed at once."""
        return self.kind == "intersectional"

    @property
    def decided(self) -> int:
        """The denominator of the rate: tests that are biased or benign."""
        return self.tests - self.undetermined

    @property
    def determined(self) -> int:
        """The denominator of the hidden rate: biased tests known to be hidden or not."""
        return self.biased - self.hidden_undetermined


class Meeting(Block):
    """Where the biases of two attributes meet (HINTER, RQ4.2)."""

    attributes: tuple[str, ...] = Field(description="The two attributes.")
    regions: Mapping[str, int] = Field(
        description="Originals by the kinds they are biased on, joined by ' & ': race, gender, race+gender."
    )


class Flips(Block):
    """Verdicts on discarded mutants."""

    tests: int = Field(description="Discarded mutants asked about.")
    biased: int = Field(description="Of these, those whose answer changed.")
    undetermined: int = Field(description="Of these, those that lack an answer.")
    rate: Rate
    ci95: Wilson


class Discarded(Flips):
    """The verdicts on discarded mutants, had they counted (HINTER, RQ3)."""

    by_reason: Mapping[str, Flips] = Field(description="The same by the reason for discarding.")


class Noise(Block):
    """How often an original's answer differs from the first when asked again."""

    repeats: int = Field(description="Repeated requests per original.")
    originals: int = Field(description="Originals with at least one repeated answer that was read.")
    answers: int = Field(description="Repeated answers that were read.")
    flips: int = Field(description="Of these, those that differ from the first.")
    rate: float | None = Field(description="flips / answers.")
    ci95: Interval | None = Field(description="Wilson's 95 % interval of the rate.")


class Tokens(Block):
    """Tokens of all distinct replies, cached ones too, as the endpoint counts them."""

    prompt: int = Field(description="Tokens sent.")
    completion: int = Field(description="Tokens received.")
    cached: int = Field(description="Prompt tokens that the server had cached.")


class Judge(Block):
    """The model that compared answers in free form, and what was asked of it."""

    model: str = Field(description="The judge.")
    question: str = Field(description="What it was asked of each two answers.")
    system: str = Field(description="The system message.")
    prompt_sha256: str = Field(description="SHA-256 of the whole prompt.")
    requests: Requests = Field(description="The requests to it: two for each pair of answers that differ.")
    tokens: Tokens = Field(description="Tokens of its replies.")
    cost_usd: float | None = Field(description="Their price in US dollars; null without prices.")
    facts: Mapping[str, object] = Field({}, description="Facts recorded by its back-end.")


class Seconds(Block):
    """The duration of the last invocation of the command."""

    total: float | None = Field(None, description="Seconds from start to end.")


class EstimatedRate(Block):
    """The share of biased cases among all of a set, had all been asked, estimated from those chosen."""

    attributes: tuple[str, ...] = Field(description="Changed together; empty: all sets.")
    cases: int = Field(description="Cases of the run that the estimate is of.")
    rate: float = Field(description="Estimated share of biased cases.")
    ci95: Interval = Field(description="95 % interval of the rate among all cases of this run.")
    effective: float | None = Field(
        description="Cases, drawn with equal chances, that would be as precise; null without a variance."
    )


class EstimatedEffect(Block):
    """The effect between two groups in all versions of the texts, estimated from those chosen."""

    attribute: str = Field(description="What differs.")
    source: str = Field(alias="from", description="The group compared with.")
    target: str = Field(alias="to", description="The group compared.")
    outcome: str = Field(description="The favourable outcome.")
    originals: int = Field(description="Texts of the run with versions of both, edited alike.")
    effect: float = Field(description="Estimated difference of the outcome's share, mean of texts.")
    ci95: Interval = Field(description="95 % interval of the effect among all cases of this run.")
    together: Interval | None = Field(
        None, description="The interval such that those of all rows hold at once; null where `ci95` is that."
    )


class EstimatedInteraction(Block):
    """What two groups that meet do beyond the sum of both, estimated from the cases chosen.

    The drift of editing is a part of it.
    """

    groups: Mapping[str, str] = Field(description="The groups that meet, by attribute.")
    outcome: str = Field(description="The favourable outcome.")
    originals: int = Field(description="Texts of the run in which they meet.")
    interaction: float = Field(description="Mean of both − first alone − second alone + original.")
    ci95: Interval = Field(description="95 % interval of the interaction among all cases of this run.")


class EstimatedExcess(Block):
    """By how much more often the mutants of a set change the answer than controls, had all been asked about.

    Of the same texts and, where there are enough, kinds of edits; each text counts by its mutants.
    """

    attributes: tuple[str, ...] = Field(description="Changed together.")
    tests: int = Field(description="Mutants of the run that have controls of the same text.")
    controls: int = Field(description="Control mutants of the run that these are compared with.")
    originals: int = Field(description="Texts of the run with both.")
    rate: float = Field(description="Estimated share of these mutants that are biased.")
    control_rate: float = Field(description="Estimated share of controls whose answer changes.")
    excess: float = Field(description="The difference.")
    ci95: Interval = Field(description="95 % interval of the excess among all cases of this run.")
    together: Interval = Field(description="The interval such that those of all sets hold at once.")

    @property
    def shown(self) -> bool:
        """Whether the mutants are shown to change the answer more often than controls do."""
        return self.together[0] > 0


class Estimates(Block):
    """Estimates of the figures that asking about all cases of this run would give."""

    method: str = Field(description="How cases were chosen and weighted.")
    originals: int = Field(description="Originals chosen, with known probabilities.")
    of_originals: int = Field(description="Originals of the run.")
    drawn: int = Field(description="Cases drawn with known probabilities; the others were certain.")
    rates: tuple[EstimatedRate, ...] = Field(description="By attribute set, all sets first.")
    effects: tuple[EstimatedEffect, ...] = Field((), description="Between each two groups edited alike.")
    interactions: tuple[EstimatedInteraction, ...] = Field((), description="Of each two groups that meet.")
    excesses: tuple[EstimatedExcess, ...] = Field(
        (), description="Over control mutants, by attribute set; none where there are no controls."
    )


class Adaptive(Block):
    """An adaptive budget; counts and rates of results then cover only the mutants that it chose."""

    budget: int = Field(description="Requests available.")
    asked: int = Field(description="Requests spent.")
    rounds: int = Field(description="Rounds of choosing and asking.")
    estimates: Estimates | None = Field(
        None, description="Of all cases of the run; null if the run ended before any could be made."
    )


class Decided(Block):
    """On which side of a limit a figure is."""

    figure: Literal["rate", "effect"] = Field(description="The figure.")
    limit: float = Field(description="The limit.")
    decision: Literal["above", "below", "undecided"] = Field(
        description="Where the whole interval is; of effects, above if any is, below if all are."
    )


class Stopping(Block):
    """What a run was to find out before it stopped asking, and what it knows of it.

    The intervals hold at all looks together, so also at the one at which it stopped.
    """

    precision: float | None = Field(description="The half width of the rate's interval to reach.")
    decisions: tuple[Decided, ...] = Field(description="What was to be decided.")
    reached: bool = Field(description="Whether all of it is known.")
    rate: float | None = Field(description="Share of biased cases; null if none is decided.")
    ci95: Interval | None = Field(
        description="95 % interval of the rate among all cases of this run; null where effects are decided."
    )
    effects: tuple[EstimatedEffect, ...] = Field(
        (), description="Between two groups, with intervals that hold for all of them together."
    )
    looks: int = Field(description="Looks that were taken.")
    of_looks: int = Field(description="Looks that were planned; the intervals are corrected for these.")
    asked: int = Field(description="Cases asked about, originals included.")
    of: int = Field(description="Cases that could have been asked about, originals included.")


class Summary(Plain):
    """The content of ``summary.json``."""

    schema_: int = Field(alias="schema", description="The version of this format.")
    version: str = Field("", description="The version of hinter that made it.")
    status: Literal["complete", "partial", "interrupted"] = Field(
        description="partial: requests failed or a limit was reached; interrupted: stopped by the user."
    )
    stopped: str | None = Field(None, description="Why the run ended early, unless the user stopped it.")
    suite: str = Field(description="The test method.")
    task: str = Field(description="What the model was asked to do.")
    model: str = Field(description="The system under test.")
    parser: str | None = Field(description="What parsed the texts.")
    second_parser: str | None = Field(
        None, description="The parser that must pass a mutant, too; null if one decides."
    )
    nouns: Nouns = Field(Nouns(), description="What the suite's cases and groups are called.")
    attributes: tuple[str, ...] | None = Field(None, description="The attributes that were varied.")
    order: int | None = Field(None, description="The maximum number of attributes changed at once.")
    invariant: str | None = Field(None, description="What a mutant must have in common with its original.")
    consistency: str | None = Field(
        None, description="What changes together: all words for one person, or one word pair."
    )
    meaning: str | None = Field(None, description="person: only words that describe a person changed.")
    max_pairs: int | None = Field(
        None, description="Maximum number of word pairs per attribute and document; null: all."
    )
    max_mutants_per_document: int | None = Field(
        None, description="Maximum number of mutants per document; null: all."
    )
    adaptive: Adaptive | None = Field(None, description="What an adaptive budget spent.")
    stopping: Stopping | None = Field(
        None, description="What the run was to find out; null if all cases were to be asked about."
    )
    documents: Documents = Field(description="The source texts.")
    cases: Cases = Field(description="The cases generated.")
    requests: Requests = Field(description="The requests to the model.")
    answers: Answers = Field(description="Cases by the outcome of their answer.")
    failures: tuple[Failed, ...] = Field((), description="The commonest reasons of failed answers.")
    accuracy: Accuracy | None = Field(None, description="On the originals; null without gold labels.")
    results: tuple[ResultRow, ...] = Field(description="A row for each set of attributes, atomic first.")
    one_person: tuple[ResultRow, ...] = Field(
        (), description="The same for the mutants whose attributes meet on one person."
    )
    venn: tuple[Meeting, ...] = Field((), description="Where two attributes meet.")
    discarded: Discarded | None = Field(
        None, description="Verdicts on discarded mutants; null if they were not asked about."
    )
    groups: tuple[Group, ...] = Field((), description="Each group against those at the same places.")
    changes: tuple[Change, ...] = Field(
        (), description="How often the whole answer differs, by attribute, where labels are compared singly."
    )
    scores: tuple[str, ...] = Field(
        (), description="The outcomes that are scores from 0 to 1, such as measures of free answers."
    )
    likeness: tuple[Likeness, ...] = Field(
        (), description="How unlike answers in free form are, by the attributes changed."
    )
    judge: Judge | None = Field(None, description="The judge of the measure preference; null without one.")
    preference: Preferring | None = Field(
        None, description="What the judge said of the answers; null without one."
    )
    unread: tuple[Unanswered, ...] = Field(
        (), description="The answers that were not read, by the group that a version speaks of."
    )
    contrasts: tuple[Contrast, ...] = Field((), description="Each two groups, in versions of one text.")
    intersections: tuple[Intersection, ...] = Field((), description="Two groups that meet on one person.")
    orders: Orders | None = Field(
        None, description="Atomic against intersectional mutants; null where there are none."
    )
    control: Control | None = Field(
        None, description="Mutants that change as much and name nobody; null where there are none."
    )
    favourable: tuple[str, ...] = Field(
        (), description="The answers that are good for the person spoken of; empty where none is."
    )
    cautions: tuple[Caution, ...] = Field((), description="What to know before believing the figures.")
    finding: Finding | None = Field(None, description="The finding; null where the suite states its own.")
    noise: Noise = Field(description="The self-flips.")
    tokens: Tokens = Field(description="Tokens of all distinct replies.")
    cost_usd: float | None = Field(
        description="US dollars of all distinct replies and of those to this run's probes, at most if the"
        " caution `cost-not-known` is there; null without prices."
    )
    # Each back-end decides what it records: a server's version, negotiated settings.
    model_facts: Mapping[str, object] = Field({}, description="Facts recorded by the model's back-end.")
    answer_tokens: int | None = Field(None, description="The most tokens that an answer could have.")
    seconds: Seconds = Field(description="Time taken.")
    headline: str | None = Field(
        None, description="The suite's finding in words; null if the results speak for themselves."
    )

    def block(self, name: str) -> JsonObject:
        """Return the mapping that a suite keeps under ``name``, or an empty one."""
        value = (self.model_extra or {}).get(name)
        return cast("JsonObject", value) if isinstance(value, Mapping) else {}

    @property
    def rows(self) -> tuple[ResultRow, ...]:
        """The rows of the results table: each set of attributes, and below it the same on one person."""
        meeting = {row.attributes: row for row in self.one_person}
        return tuple(
            part for row in self.results for part in (row, meeting.get(row.attributes)) if part is not None
        )

    @property
    def estimates(self) -> Estimates | None:
        """The estimates of an adaptive budget; None where there are none."""
        return None if self.adaptive is None else self.adaptive.estimates

    @property
    def estimated_excesses(self) -> Mapping[frozenset[str], EstimatedExcess]:
        """The estimated excesses over controls, by attribute set."""
        rows = self.estimates.excesses if self.estimates is not None else ()
        return {frozenset(row.attributes): row for row in rows}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values of the keys that were set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def write(summary: Summary, file: Path) -> None:
    """Write ``summary`` as JSON to ``file``."""
    files.write(file, json.dumps(summary.to_json(), indent=1, ensure_ascii=False))


def read(file: Path) -> Summary:
    """Read the summary in ``file``. Raises ``RunError``, naming the file and the faulty key."""
    try:
        return Summary.model_validate_json(file.read_bytes(), strict=True)
    except OSError as error:
        raise RunError(f"{file}: {error.strerror or error}") from error
    except ValidationError as error:
        raise RunError(f"{file}: {_fault(error)}") from None


def parsed(values: Mapping[str, object], source: str) -> Summary:
    """Return the summary of ``values``. Raises ``RunError``, naming ``source`` and the faulty key."""
    try:
        return Summary.model_validate(values)
    except ValidationError as error:
        raise RunError(f"{source}: {_fault(error)}") from None


def _fault(error: ValidationError) -> str:
    """Return the first fault as one line."""
    first = error.errors(include_url=False)[0]
    key = ".".join(map(str, first["loc"]))
    if first["type"] == "json_invalid":
        return f"not valid JSON: {first['msg']}"
    if first["type"] == "missing":
        return f"{key!r} is missing: not the summary of a run"
    where = f"{key!r}: " if key else ""
    return f"{where}{first['msg'][:1].lower()}{first['msg'][1:]}: not the summary of a run"
