"""The door for suites and models, built in or from a package of your own.

A package adds a suite with an entry point in the group ``harness.suites`` that names a ``SuitePlugin``, and a
model with one in ``harness.models`` that names a ``ModelPlugin``::

    class Noise(Options):
        letters: Positive = Field(default=1, description="Letters swapped in each text.")

    class Typos(Suite):
        name = "typos"
        …

    plugin = SuitePlugin(name="typos", about="letters swapped", options=Noise, make=make)

The options become the section ``[typos]`` of the TOML and the option ``--letters`` of the command line.
``Suite`` and ``Model`` have honest defaults for all that is optional.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from harness.core import (
    Capabilities,
    Case,
    Document,
    Failure,
    JsonObject,
    Margin,
    Outcome,
    Reply,
    Request,
    Substitution,
    Tables,
    Task,
    Verdict,
)
from harness.dialect import Dialect
from harness.language.parse import Parse, Parser, Split
from harness.model import (
    BatchAccess,
    Measure,
    Model,
    ModelKit,
    ModelPlugin,
    Score,
    Scorer,
    Tokenizer,
)
from harness.sections import Figures, Section, Table
from harness.settings import (
    Address,
    EnvironmentVariable,
    Flag,
    ModelSettings,
    Names,
    NotNegative,
    Options,
    Positive,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Address",
    "BatchAccess",
    "Capabilities",
    "Case",
    "Check",
    "Dialect",
    "Document",
    "EnvironmentVariable",
    "Failure",
    "Figures",
    "Flag",
    "JsonObject",
    "Kit",
    "Margin",
    "Measure",
    "Model",
    "ModelKit",
    "ModelPlugin",
    "ModelSettings",
    "Names",
    "NotNegative",
    "Nouns",
    "Options",
    "Outcome",
    "Parse",
    "Parser",
    "Positive",
    "Reply",
    "Request",
    "Score",
    "ScoreComparison",
    "ScoredSystem",
    "Scorer",
    "Section",
    "Split",
    "Substitution",
    "Suite",
    "SuitePlugin",
    "Table",
    "Tables",
    "Task",
    "Tokenizer",
    "Verdict",
]

SuiteOptions = TypeVar("SuiteOptions", bound=Options)


@dataclass(frozen=True, slots=True)
class Nouns:
    """What a suite's cases and the things they are made of are called, in the singular.

    ``source``: what cases are made from. ``eligible``: what a text must have in it for cases to be made of it
    ("a term"); "" where that is not how cases come about.
    """

    case: str = "case"
    source: str = "group"
    eligible: str = ""


class Suite(ABC):
    """A test method: what is asked, and what the answers show.

    ``cases`` yields the cases of one group next to each other. ``judge`` sees the valid cases of one group,
    their texts blanked (a verdict depends on what was answered), and their outcomes by case id.
    """

    name: str

    @abstractmethod
    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """The cases made of ``documents``, group after group."""

    @abstractmethod
    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        """The verdicts on one group."""

    @property
    def identity(self) -> JsonObject:
        """What decides the cases beside the configuration: a parser's version, a dictionary's digest."""
        return {}

    @property
    def settings(self) -> JsonObject:
        """What the summary repeats of the suite's settings."""
        return {}

    @property
    def nouns(self) -> Nouns:
        """What cases and groups are called for people."""
        return Nouns()

    @property
    def makes_texts(self) -> bool:
        """Whether the suite makes its own texts and reads no documents."""
        return False

    @property
    def by_document(self) -> bool:
        """Whether the cases of a document depend on it alone, so that documents can be shared out."""
        return False

    @property
    def include_discarded(self) -> bool:
        """Whether discarded cases are asked about, too."""
        return False

    @property
    def explorable(self) -> bool:
        """Whether an adaptive budget may choose among the mutants (the star relation alone)."""
        return False

    @property
    def words(self) -> Sequence[str]:
        """Words whose length in tokens is worth knowing; ``weighed`` is told."""
        return ()

    def weighed(self, lengths: Mapping[str, int]) -> Suite:
        """The suite that knows how many tokens each of its ``words`` is."""
        return self

    def figures(self, tables: Tables) -> Figures:
        """What the summary holds of the run beside ``results``."""
        return Figures()

    def extracts(self, tables: Tables) -> Mapping[str, pl.LazyFrame]:
        """Tables by name, made of the cases alone, that the run folder keeps beside them."""
        return {}


@dataclass(frozen=True)
class Kit:
    """What a suite is made with, beside its options.

    ``language`` is that of the texts; ``cache`` a folder for what is kept from run to run.
    """

    task: Task
    seed: int
    language: str
    cache: Path
    load_parser: Callable[[str], Parser | None]
    read_key: Callable[[str | None, str], str]

    def parser(self, name: str) -> Parser | None:
        """Load the parser called ``name``: ``spacy``, ``spacy:PIPELINE``, ``stanza``; None for ``none``.

        Raises ``ParserError``.
        """
        return self.load_parser(name)

    def key(self, variable: str | None, address: str) -> str:
        """Return the key of an endpoint at ``address``, held by the environment variable ``variable``.

        None stands for the usual variable. Raises ``EndpointError``, unless the endpoint is on this machine.
        """
        return self.read_key(variable, address)


@dataclass(frozen=True, slots=True)
class Check:
    """Something ``hinter doctor`` tries: ``look`` returns a line, or raises a ``HarnessError``."""

    name: str
    look: Callable[[], str]


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """A system in a comparison of scores.

    A run, with its ``suite`` and its ``scores`` by case; or a score file at ``path``, which the suite has to
    read (both None).
    """

    name: str
    path: Path
    suite: Suite | None = None
    scores: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """How a suite compares systems by their scores on the same texts (``hinter compare``).

    ``has_scores`` tells from a run's summary whether the run can take part. ``compare`` returns what
    ``comparison.json`` holds, with ``headline`` and plain ``sections``; its second argument is a file that
    describes the texts of score files, None where the suite's own are meant.
    """

    has_scores: Callable[[JsonObject], bool]
    compare: Callable[[Sequence[ScoredSystem], Path | None], JsonObject]


def _as_they_are(options: SuiteOptions) -> SuiteOptions:
    return options


def _no_checks(options: SuiteOptions, kit: Kit) -> Iterable[Check]:
    return ()


def _capability(options: SuiteOptions) -> Callable[[Case], str]:
    return lambda case: case.traits.get("capability", "")


@dataclass(frozen=True)
class SuitePlugin(Generic[SuiteOptions]):
    """How a suite comes in. ``about`` describes it in a line.

    ``for_sample`` adapts the options where only the task's bundled sample is read, so that a first look takes
    a minute; ``resolve`` fills in what follows from other options or from files, so that a run records it and
    ``make`` need not look; ``checks`` are what ``hinter doctor`` tries; ``subject`` says what the text of a
    case should be about, for human review, "" where there is nothing to say.
    """

    name: str
    about: str
    options: type[SuiteOptions]
    make: Callable[[SuiteOptions, Kit], Suite]
    for_sample: Callable[[SuiteOptions], SuiteOptions] = _as_they_are
    resolve: Callable[[SuiteOptions], SuiteOptions] = _as_they_are
    checks: Callable[[SuiteOptions, Kit], Iterable[Check]] = _no_checks
    subject: Callable[[SuiteOptions], Callable[[Case], str]] = _capability
    scores: ScoreComparison | None = None
