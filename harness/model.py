"""The contract of systems under test, and how packages add them; re-exported by ``harness.plugins``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from harness.core import Capabilities, Failure, JsonObject, Reply, Request
from harness.dialect import Dialect
from harness.settings import ModelSettings, Options

if TYPE_CHECKING:
    import openai

Measure = Literal["log_likelihood", "matches_per_100_words"]
ModelOptions = TypeVar("ModelOptions", bound=Options)


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Counts the prompt tokens of a request.

    ``name`` and ``unit`` tell in a plan who counts and what is counted; ``count`` returns None for a request
    that cannot be counted.
    """

    name: str
    count: Callable[[Request], Awaitable[int | None]]
    unit: str = "requests"


@dataclass(frozen=True, slots=True)
class BatchAccess:
    """How to write requests to a model into batch files, as chat completions.

    ``model`` is its name on the server. ``connect`` opens the client of its batch API, and is None where the
    files are for another tool, which ``command``, of a file of requests and one for the replies, then runs.
    """

    model: str
    dialect: Dialect
    connect: Callable[[], openai.AsyncOpenAI] | None = None
    command: Callable[[str, str], str] | None = None


class Model(ABC):
    """A system under test.

    ``identity`` is the part of the cache key that identifies who answers; ``concurrency`` is the number of
    requests it takes at a time; ``rates`` lists what it can rate a text for, None for anything.
    """

    name: str
    identity: JsonObject
    capabilities: Capabilities = Capabilities()
    concurrency: int = 1
    rates: tuple[str, ...] | None = None

    @abstractmethod
    async def answer(self, request: Request) -> Reply | Failure:
        """Make one attempt.

        Returns a ``Failure`` for what cannot succeed for this request; raises ``EndpointError`` for what
        cannot succeed for any (a bad key), and ``Transient`` for what may succeed later.
        """

    @property
    def context(self) -> int | None:
        """The maximum number of tokens of prompt and answer together; None where unknown."""
        return None

    @property
    def facts(self) -> JsonObject:
        """What the run records beside the identity: a server's version, the negotiated dialect."""
        return {}

    def bind(self, labels: Sequence[str], multi_label: bool) -> None:  # noqa: B027
        """Adopt a task's labels. Raises ``ModelError`` where the model's own labels differ."""

    def count_tokens(self, text: str) -> int | None:
        """Count the tokens of ``text`` with a tokenizer in this process; None where there is none."""
        return None

    async def tokenizer(self) -> Tokenizer | None:
        """Return the tokenizer of whole prompts; None where tokens can only be estimated.

        Sends no request for an answer. The default serves models that read the bare text.
        """
        if self.capabilities.chat or self.count_tokens("") is None:
            return None

        async def count(request: Request) -> int | None:
            """Count the tokens of the bare text."""
            return self.count_tokens(request.text)

        return Tokenizer("the model's tokenizer", count, unit="texts")

    @property
    def batch(self) -> BatchAccess | None:
        """Access to batch files; None for a model without them."""
        return None

    async def prepare(self, known: JsonObject | None) -> JsonObject | None:
        """Prepare for the first request.

        ``known`` is what an earlier run returned; returns what the next run should know, None for nothing
        new.
        """
        return None

    def recall(self, known: JsonObject) -> None:  # noqa: B027
        """Adopt for ``facts`` what ``prepare`` returned in an earlier run, in case nothing is asked now."""

    @property
    def waiting(self) -> str:
        """What the model waits for before it can answer, and since when; "" for nothing."""
        return ""

    async def close(self) -> None:  # noqa: B027
        """Release all resources."""


@dataclass(frozen=True, slots=True)
class Score:
    """The fluency of a text, ``total`` over ``units``: nats over tokens, or 100 x matches over words."""

    total: float
    units: int

    @property
    def mean(self) -> float:
        """The total per unit."""
        return self.total / self.units


class Scorer(Protocol):
    """Measures the fluency of texts.

    ``identity`` holds everything that can change a score, and is complete after ``prepare``.
    """

    @property
    def name(self) -> str:
        """The name of the scorer, for people and files."""

    @property
    def measure(self) -> Measure:
        """What the scores measure."""

    @property
    def identity(self) -> JsonObject:
        """Everything that can change a score."""

    @property
    def concurrency(self) -> int:
        """The number of texts that may be scored at a time."""

    async def prepare(self) -> None:
        """Prepare to score. Raises ``EndpointError`` or ``ModelError`` where no text can be scored."""

    async def score(self, text: str) -> Score | Failure:
        """Return the score of ``text``; a ``Failure`` where it has none.

        Raises ``Transient`` where a later attempt may succeed.
        """

    async def close(self) -> None:
        """Release all resources."""


@dataclass(frozen=True)
class ModelKit:
    """What a model is made from, beside its options.

    ``name`` is the part after the prefix (``NAME`` in ``kind:NAME``), ``settings`` the section ``[model]``.
    """

    name: str
    settings: ModelSettings


@dataclass(frozen=True)
class ModelPlugin(Generic[ModelOptions]):
    """Adds a kind of model: ``name`` is the prefix in ``--model name:…``, ``[model.name]`` its section.

    ``lists`` is what ``hinter models`` prints in place of ``name:NAME`` and ``about``. ``scorer`` makes the
    fluency scorer of the same name, and returns None for a model without likelihoods.
    """

    name: str
    about: str
    options: type[ModelOptions]
    make: Callable[[ModelOptions, ModelKit], Model]
    lists: Mapping[str, str] = field(default_factory=dict)
    scorer: Callable[[ModelOptions, ModelKit], Scorer | None] = lambda options, kit: None
