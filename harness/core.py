"""The records that flow through an audit, in the order they flow.

``Document -> Case (of Substitutions) -> Request -> Reply | Failure -> Outcome -> Verdict``

All are frozen, slotted dataclasses; this module imports nothing from the project.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import polars as pl

Role = Literal["original", "atomic", "intersectional", "variant", "seed", "expansion", "control"]
Status = Literal["biased", "benign", "undetermined"]
Operation = Literal["exchange", "insertion", "removal"]
Ternary = Literal["yes", "no", "undetermined"]
Unread = Literal["refused", "filtered", "unparsed", "truncated", "too-long", "failed"]
Span = tuple[int, int]
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

UNREAD: tuple[Unread, ...] = ("refused", "filtered", "unparsed", "truncated", "too-long", "failed")
DUPLICATE = "duplicate"
"""The reason of a case that was discarded because another one of its group has the same text."""
KEY_SEPARATOR = "\x1f"
"""Joins the names of attributes to one key: no name has it."""
NEAR_TIE = 0.1
"""Natural-log units: of two labels with a smaller margin the rarer one has more than 47 %."""


@dataclass(frozen=True, slots=True)
class Document:
    """A source text; ``labels`` are its gold labels, None if unknown."""

    id: str
    text: str
    labels: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Substitution:
    """One dictionary replacement at all its ``spans`` (character offsets in the original).

    ``source_group`` and ``target_group`` are the groups of the dictionary that it leaves and enters. An
    insertion adds words to the source, a removal takes them away.
    """

    attribute: str
    source: str
    target: str
    spans: tuple[Span, ...] = ()
    operation: Operation = "exchange"
    source_group: str = ""
    target_group: str = ""

    @property
    def pair(self) -> tuple[str, str, str]:
        """The key that identifies the substitution within its document."""
        return (self.attribute, self.source, self.target)


SAME_PERSON = "same_person"
"""The trait of a case that tells whether its attributes meet on one person: yes or no."""
CONTROL = "control"
"""The attribute of a substitution in a control mutant, and the trait that tells its kind.

A control mutant changes as much as the mutant that it mirrors and no person's attribute: ``word`` exchanges
or inserts words that describe nobody, ``group`` exchanges words of one group.
"""
MIRRORS = "mirrors"
"""The trait of a control mutant with the id of the mutant that it mirrors."""


@dataclass(frozen=True, slots=True)
class Case:
    """A text to ask the model about.

    ``reason`` is None for a valid case, else why it was discarded. ``weight`` is the number of cases that it
    represents where cases were sampled.
    """

    id: str
    group: str
    document: str
    role: Role
    text: str
    substitutions: tuple[Substitution, ...] = ()
    traits: Mapping[str, str] = field(default_factory=dict)
    expected: frozenset[str] | None = None
    reason: str | None = None
    weight: float = 1.0

    @property
    def valid(self) -> bool:
        """Whether the case was not discarded."""
        return self.reason is None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes changed, in the order of the substitutions."""
        return tuple(s.attribute for s in self.substitutions)


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: object) -> str:
    """Return canonical JSON: sorted keys and no white space, so that equal values give equal text."""
    return _CANONICAL.encode(value)


@dataclass(frozen=True, slots=True)
class Request:
    """A request, sent once.

    ``key`` is the SHA-256 of canonical JSON of everything that can change the reply, and nothing else: the
    answering ``model`` (endpoint, name, revision or digest), the messages, every sampling and decoding value,
    the repeat index. ``text`` is the bare text of the case, for systems under test that are not chat models;
    the messages already contain it.
    """

    model: JsonObject
    messages: tuple[Message, ...]
    sampling: JsonObject
    choices: tuple[str, ...] = ()
    repeat: int = 0
    text: str = ""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(canonical(self.payload()).encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "key", digest)

    @property
    def token_limit(self) -> int:
        """The most tokens that the answer may have; 0 where the request does not say."""
        limit = self.sampling.get("max_tokens")
        return limit if isinstance(limit, int) else 0

    def payload(self) -> dict[str, Json]:
        """Return everything that the key covers, as JSON values."""
        return {
            "model": dict(self.model),
            "messages": [[m.role, m.content] for m in self.messages],
            "sampling": dict(self.sampling),
            "choices": list(self.choices),
            "repeat": self.repeat,
        }


@dataclass(frozen=True, slots=True)
class Token:
    """A generated token with its natural log-probability and the likeliest alternatives at its position."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply: ``latency`` in seconds, token counts as reported by the server.

    ``score``, from 0 to 1, is set by systems that return one themselves.
    """

    text: str
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    logprobs: tuple[Token, ...] | None = None
    score: float | None = None
    model: str = ""
    fingerprint: str | None = None
    latency: float = 0.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A permanent failure of this one request. Never cached; never read as a label."""

    reason: Literal["filtered", "too-long", "failed"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Margin:
    """How much likelier an answer was than the nearest other one (natural logarithm).

    With ``is_bound``, the nearest other answer is unknown, and ``value`` is a lower bound of the margin.
    """

    value: float
    is_bound: bool = False

    @property
    def near_tie(self) -> bool:
        """Whether the answer is known to be almost a tie, which a bound cannot show."""
        return not self.is_bound and self.value < NEAR_TIE

    @classmethod
    def smallest(cls, margins: Iterable[Margin]) -> Margin:
        """Return the smallest of ``margins``, which must not be empty.

        An exact near tie takes precedence over smaller bounds: it shows that the smallest margin, whatever
        the others are, is a near tie.
        """
        every = list(margins)
        ties = [margin for margin in every if margin.near_tie]
        return min(ties or every, key=lambda margin: (margin.value, margin.is_bound))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reply says: ``labels`` (or a ``score``), or the reason it could not be read.

    ``margin`` tells how close another answer was, where that is known. ``probabilities`` of all labels, and
    ``beside``, the score from 0 to 1 that a system returned with its label, the ``log_odds`` of a
    favourable answer, and the ``mass``, the probability of all labels together, accompany the answer where
    known, as do the ``measures`` of an answer in free form by name, the first of which is its score: outcomes
    that differ only in them are equal.
    """

    labels: frozenset[str] | None = None
    score: float | None = None
    reason: Unread | None = None
    margin: Margin | None = None
    probabilities: Mapping[str, float] | None = field(default=None, compare=False)
    beside: float | None = field(default=None, compare=False)
    log_odds: float | None = field(default=None, compare=False)
    mass: float | None = field(default=None, compare=False)
    measures: Mapping[str, float] | None = field(default=None, compare=False)

    @property
    def read(self) -> bool:
        """Whether the reply could be read."""
        return self.reason is None

    def differs(self, other: Outcome) -> bool:
        """Return whether both were read and disagree: label sets as sets, scores as numbers."""
        return self.read and other.read and (self.labels, self.score) != (other.labels, other.score)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case shows against ``other``, the case it is compared with (None: the original of its group).

    ``hidden`` is None where the question does not arise. ``margin`` is the smaller of the two outcomes'
    margins: near zero, the verdict depends on a tie. ``shift`` is the change in the log-odds of the other
    case's label, known even where the label did not change; between scores, it is their difference.
    """

    case: str
    relation: str
    status: Status
    hidden: Ternary | None = None
    attributes: tuple[str, ...] = ()
    margin: Margin | None = None
    shift: float | None = None
    confirmed: bool | None = None
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of an original: of ``asked`` repeats, how many were read and how many changed the answer."""

    document: str
    asked: int
    read: int
    flips: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """What was answered when ``case`` was asked about again, for the ``repeat``-th time."""

    case: str
    repeat: int
    outcome: Outcome
    words: str


PLACES = ("First", "Second", "Tie")
"""What a judge can say of two answers."""


@dataclass(frozen=True, slots=True)
class Preference:
    """What a judge says of the answer to ``case`` and of that to its original, once in each order.

    ``forwards``: the original's answer stands first; ``backwards``: it stands second. Either is one of
    ``PLACES``, or the reason why what the judge said could not be read; both are None where the answers are
    alike, and nobody was asked. A ``repeat`` other than 0 is of that repeated answer and the first one.
    """

    case: str
    forwards: str | None
    backwards: str | None
    repeat: int = 0

    @property
    def value(self) -> int:
        """1 if the answer is preferred in both orders, -1 if the original's is, else 0."""
        first, second, _ = PLACES
        said = (self.forwards, self.backwards)
        return (said == (second, first)) - (said == (first, second))


@dataclass(frozen=True, slots=True)
class Examined:
    """A group with its outcomes, the wordings they were read from, and its verdicts; texts are blanked.

    ``discarded`` holds verdicts on discarded cases, where those were asked about; ``controls`` those on
    control mutants. ``repeated`` are the answers that measure noise, ``preferences`` what a judge said.
    """

    cases: Sequence[Case]
    outcomes: dict[str, Outcome]
    words: dict[str, str]
    verdicts: Sequence[Verdict]
    noise: Noise | None = None
    discarded: Sequence[Verdict] = ()
    controls: Sequence[Verdict] = ()
    repeated: Sequence[Repeated] = ()
    preferences: Sequence[Preference] = ()


class Tables(Protocol):
    """The tables of a run as polars lazy frames: ``cases``, ``answers``, ``verdicts``, ``controls``, …"""

    def scan(self, name: str) -> pl.LazyFrame:
        """Return the table called ``name``."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a system under test can do, so that requests are shaped accordingly.

    ``choices``: it can be restricted to a set of answers. ``logprobs``: it returns log-probabilities.
    ``chat``: it reads the messages, not the bare text.
    """

    choices: bool = False
    logprobs: bool = False
    chat: bool = True


@dataclass
class Intake:
    """What was noticed while texts were read: how many rows a task left out, and ``notes`` for the user."""

    left_out: int = 0
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Add a note, once."""
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """The source of documents: keys of ``[documents]`` in a configuration.

    Either a ``path``, or a ``dataset`` on the Hugging Face hub (or in a local folder) with the ``name`` of
    its configuration, its ``split`` and its ``revision``. Gold labels are read where ``labelled``. ``intake``
    hears what is noticed on reading.
    """

    path: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    limit: int | None = None
    dataset: str | None = None
    name: str | None = None
    split: str | None = None
    revision: str | None = None
    labelled: bool = True
    intake: Intake = field(default_factory=Intake, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Hub:
    """A task's data set on the Hugging Face hub; ``revision`` is a commit, None if not pinned."""

    dataset: str
    split: str = "test"
    name: str | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What the model is asked to do with a text: data and functions, with nothing to subclass.

    ``prompt`` names a TOML file of ``prompts/``, and ``question`` overrides the question in it. With
    ``parse`` None, replies are read as labels. ``sample`` is a file of a few texts, used where no others are
    supplied. ``rates`` names what a text is rated for ("valence") instead of being labelled: ``labels`` are
    then the steps of the scale, numbers from 0 up, and an outcome is a score from 0 to 1. ``measures`` name
    what an answer in free form is measured by: the first is what it is rated for. ``answer_tokens`` are the
    most of an answer, where the labels do not tell. ``favourable`` are the labels that are good for the
    person spoken of, where the task has such.

    A task that takes ``[task_options]`` lists them in ``options``; ``configure`` returns the task they
    describe, or raises a ``ValueError`` whose message begins with the key at fault.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    documents: Callable[[DocumentOptions], Iterator[Document]]
    prompt: str
    parse: Callable[[Reply], Outcome] | None = None
    multi_label: bool = False
    rates: str | None = None
    measures: tuple[str, ...] = ()
    answer_tokens: int | None = None
    source: str = ""
    licence: str = ""
    sample: str | None = None
    hub: Hub | None = None
    question: str | None = None
    options: tuple[str, ...] = ()
    favourable: tuple[str, ...] = ()
    configure: Callable[[Mapping[str, object]], Task] | None = None
