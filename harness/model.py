"""What a system under test is, and how one comes in; ``harness.plugins`` passes it on to packages."""

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
    """Counts the prompt tokens of a request. ``name`` says in the plan what counts, ``unit`` what is counted;
    ``count`` returns None where a request cannot be counted."""

    name: str
    count: Callable[[Request], Awaitable[int | None]]
    unit: str = "requests"


@dataclass(frozen=True, slots=True)
class BatchAccess:
    """How requests to a model are written into batch files, as chat completions.

    ``model`` is its name on the server; ``connect`` opens the client of its batch API, None where there is
    none and the files are for another tool.
    """

    model: str
    dialect: Dialect
    connect: Callable[[], openai.AsyncOpenAI] | None = None


class Model(ABC):
    """A system under test.

    ``identity`` is the part of the cache key that says who answers; ``concurrency`` how many requests it
    takes at a time; ``rates`` what it can rate a text for, None where it can rate anything.
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
        """How many tokens prompt and answer may have together; None where that is not known."""
        return None

    @property
    def facts(self) -> JsonObject:
        """What the run records beside the identity: a server's version, what was negotiated."""
        return {}

    def bind(self, labels: Sequence[str], multi_label: bool) -> None:  # noqa: B027
        """Take a task's labels. Raises ``ModelError`` where the model's own differ."""

    def count_tokens(self, text: str) -> int | None:
        """Count the tokens of ``text`` by a tokenizer in this process; None where there is none."""
        return None

    async def tokenizer(self) -> Tokenizer | None:
        """Return what counts the tokens of a whole prompt; None where they can only be estimated.

        Sends no request for an answer. The default serves models that read the bare text.
        """
        if self.capabilities.chat or self.count_tokens("") is None:
            return None

        async def count(request: Request) -> int | None:
            return self.count_tokens(request.text)

        return Tokenizer("the model's tokenizer", count, unit="texts")

    @property
    def batch(self) -> BatchAccess | None:
        """How requests go into batch files; None for a model that batch files are not for."""
        return None

    async def prepare(self, known: JsonObject | None) -> JsonObject | None:
        """Get ready for the first request, knowing what an earlier run found out; return what to remember."""
        return None

    async def close(self) -> None:  # noqa: B027
        """Release what is held."""


@dataclass(frozen=True, slots=True)
class Score:
    """How fluent a text is: ``total`` over ``units``, nats over tokens, or hundreds of matches over words."""

    total: float
    units: int

    @property
    def mean(self) -> float:
        return self.total / self.units


class Scorer(Protocol):
    """Who says how fluent a text is. ``identity`` is all that can change a score; it is complete once
    ``prepare`` is done, which raises ``EndpointError`` or ``ModelError`` for what cannot score any text.

    ``score`` returns a ``Failure`` for what it cannot score, and raises ``Transient`` for what it may later.
    """

    @property
    def name(self) -> str: ...

    @property
    def measure(self) -> Measure: ...

    @property
    def identity(self) -> JsonObject: ...

    @property
    def concurrency(self) -> int: ...

    async def prepare(self) -> None: ...

    async def score(self, text: str) -> Score | Failure: ...

    async def close(self) -> None: ...


@dataclass(frozen=True)
class ModelKit:
    """What a model is made with, beside its options: the rest of its name (``NAME`` of ``kind:NAME``) and the
    section ``[model]``."""

    name: str
    settings: ModelSettings


@dataclass(frozen=True)
class ModelPlugin(Generic[ModelOptions]):
    """How a kind of model comes in: ``name`` is the prefix in ``--model name:…``, and ``[model.name]`` the
    section of its options.

    ``lists`` is what ``hinter models`` prints where that is not ``name:NAME`` and ``about``. ``scorer`` makes
    the judge of fluency that the same name stands for; None where it gives no likelihood of a text.
    """

    name: str
    about: str
    options: type[ModelOptions]
    make: Callable[[ModelOptions, ModelKit], Model]
    lists: Mapping[str, str] = field(default_factory=dict)
    scorer: Callable[[ModelOptions, ModelKit], Scorer | None] = lambda options, kit: None
