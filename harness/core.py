"""The records that flow through an audit, in the order they flow.

``Document -> Case (of Substitutions) -> Request -> Reply | Failure -> Outcome -> Verdict``

All are frozen, slotted dataclasses; this module imports nothing of the project.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

Role = Literal["original", "atomic", "intersectional", "variant", "seed", "expansion"]
Status = Literal["biased", "benign", "undetermined"]
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
    """A source text; ``labels`` are gold labels, None where unknown."""

    id: str
    text: str
    labels: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Substitution:
    """One dictionary replacement, at all its ``spans`` (character offsets in the original)."""

    attribute: str
    source: str
    target: str
    spans: tuple[Span, ...] = ()

    @property
    def pair(self) -> tuple[str, str, str]:
        """What identifies the substitution within its document."""
        return (self.attribute, self.source, self.target)


@dataclass(frozen=True, slots=True)
class Case:
    """One text to ask about. ``reason`` is None where the case is valid, else why it was discarded.

    ``weight`` is how many cases it stands for, where cases were drawn from more.
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


def canonical(value: object) -> str:
    """Canonical JSON: sorted keys, no white space, so that equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, once.

    ``key`` is the SHA-256 of canonical JSON of all that can change the reply and of nothing else:
    who answers (``model``: endpoint, name, revision or digest), the messages, every sampling and
    decoding value, the repeat index. ``text`` is the case's bare text, for systems under test that
    are not chat models; the messages already contain it.
    """

    model: Mapping[str, Any]
    messages: tuple[Message, ...]
    sampling: Mapping[str, Any]
    choices: tuple[str, ...] = ()
    repeat: int = 0
    text: str = ""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(canonical(self.payload()).encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "key", digest)

    def payload(self) -> dict[str, Any]:
        """All that the key covers, as JSON values."""
        return {
            "model": dict(self.model),
            "messages": [[m.role, m.content] for m in self.messages],
            "sampling": dict(self.sampling),
            "choices": list(self.choices),
            "repeat": self.repeat,
        }


@dataclass(frozen=True, slots=True)
class Token:
    """A generated token with its log-probability (natural) and the likeliest alternatives there."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back, complete; ``latency`` in seconds, token counts as the server gave them.

    ``score``: from 0 to 1, of a system that gives one by itself.
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
    """No reply to be had, for good: never cached, never a label."""

    reason: Literal["filtered", "too-long", "failed"]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Margin:
    """By how much an answer was likelier than the nearest other one (natural log).

    ``is_bound``: the nearest other one is not known; ``value`` is then the least that the margin can be.
    """

    value: float
    is_bound: bool = False

    @property
    def near_tie(self) -> bool:
        """Whether the answer is known to hang on next to nothing, which a bound never says."""
        return not self.is_bound and self.value < NEAR_TIE

    @classmethod
    def smallest(cls, margins: Iterable[Margin]) -> Margin:
        """Return the smallest of ``margins``, of which there must be one.

        An exact near tie goes before smaller bounds: it shows that the smallest margin, whatever the others
        are, is a near tie.
        """
        every = list(margins)
        ties = [margin for margin in every if margin.near_tie]
        return min(ties or every, key=lambda margin: (margin.value, margin.is_bound))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reply says: ``labels`` (or a ``score``), or why it could not be read.

    ``margin``: how near another answer was, where that is known.
    ``probabilities`` of all labels, and ``beside``, the score from 0 to 1 that a system gave with its label,
    stand beside the answer where they are known: outcomes that differ in them alone are equal.
    """

    labels: frozenset[str] | None = None
    score: float | None = None
    reason: Unread | None = None
    margin: Margin | None = None
    probabilities: Mapping[str, float] | None = field(default=None, compare=False)
    beside: float | None = field(default=None, compare=False)

    @property
    def read(self) -> bool:
        return self.reason is None

    def differs(self, other: Outcome) -> bool:
        """Return whether both were read and do not say the same: label sets as sets, scores as numbers."""
        return self.read and other.read and (self.labels, self.score) != (other.labels, other.score)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case shows against ``other``, the case it is compared with (None: its group's original).

    ``hidden`` is None where the question does not arise; ``margin`` is the smaller one of the outcomes
    compared: near zero, the verdict hangs on a tie. ``shift``: by how much the log-odds of the other case's
    label changed, known even where the label did not; between scores, their difference."""

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
    """An original asked ``asked`` more times: how many answers were read, how many were not the first."""

    document: str
    asked: int
    read: int
    flips: int


@dataclass(frozen=True, slots=True)
class Examined:
    """A group with its outcomes, the words they were read from, and its verdicts. Texts are blanked.

    ``discarded``: verdicts on the cases that are not valid, where these were asked about, too.
    """

    cases: Sequence[Case]
    outcomes: dict[str, Outcome]
    words: dict[str, str]
    verdicts: Sequence[Verdict]
    noise: Noise | None = None
    discarded: Sequence[Verdict] = ()


class Tables(Protocol):
    """The tables of a run: ``cases``, ``answers``, ``verdicts``, ``noise``, as polars lazy frames."""

    def scan(self, name: str) -> Any: ...


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a system under test can do, so that requests are shaped to it.

    ``chat``: it reads the messages, not the bare text.
    """

    choices: bool = False
    logprobs: bool = False
    chat: bool = True


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Where documents come from: keys of ``[documents]`` in a configuration.

    A ``path``, or a ``dataset`` of the Hugging Face hub (or of a local folder) with its configuration's
    ``name``, its ``split`` and its ``revision``.
    """

    path: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    limit: int | None = None
    dataset: str | None = None
    name: str | None = None
    split: str | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Hub:
    """Where a task's data set is on the Hugging Face hub; ``revision`` is a commit, None where unknown."""

    dataset: str
    split: str = "test"
    name: str | None = None
    revision: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What the model is asked to do with a text: data and functions, nothing to subclass.

    ``prompt`` names a TOML of ``prompts/`` and ``question`` stands in for the question in it; ``parse`` None
    stands for the reader of labels. ``sample`` is a file of a few texts, used where no others are given.
    ``rates``: what a text is rated for ("valence"), in place of a label; ``labels`` are then the steps of the
    scale, numbers from 0 up, and an outcome is a score from 0 to 1.
    A task that takes ``[task_options]`` names them in ``options``; ``configure`` makes the task that they
    describe, or raises a ``ValueError`` that begins with the key at fault.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    documents: Callable[[DocumentOptions], Iterator[Document]]
    prompt: str
    parse: Callable[[Reply], Outcome] | None = None
    multi_label: bool = False
    rates: str | None = None
    source: str = ""
    licence: str = ""
    sample: str | None = None
    hub: Hub | None = None
    question: str | None = None
    options: tuple[str, ...] = ()
    configure: Callable[[Mapping[str, Any]], Task] | None = None
