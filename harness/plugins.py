"""The interface of suites and models, built in or from your own package.

A package adds a suite with an entry point in the group ``harness.suites`` that names a ``SuitePlugin``, and a
model with one in ``harness.models`` that names a ``ModelPlugin``::

    class Noise(Options):
        letters: Positive = Field(default=1, description="Letters swapped in each text.")

    class Typos(Suite):
        name = "typos"
        …

    plugin = SuitePlugin(name="typos", about="letters swapped", options=Noise, make=make)

The options become the section ``[typos]`` of the TOML and the option ``--letters`` of the command line.
``Suite`` and ``Model`` have defaults for everything optional.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
    Controls,
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
    "Controls",
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
    """The words for a suite's cases and their sources, in the singular.

    ``source``: what cases are made from. ``eligible``: what a text must contain for cases to be made from it
    ("a term"); "" if that does not apply.
    """

    case: str = "case"
    source: str = "group"
    eligible: str = ""


class Suite(ABC):
    """A test method: it makes the cases to ask about and judges the answers.

    ``cases`` yields the cases of one group consecutively. ``judge`` receives the valid cases of one group,
    their texts blanked because a verdict depends on the answers alone, and their outcomes by case id.
    """

    name: str

    @abstractmethod
    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield the cases made from ``documents``, group by group."""

    @abstractmethod
    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        """Yield the verdicts on one group; ``outcomes`` are by case id."""

    @property
    def identity(self) -> JsonObject:
        """What determines the cases beside the configuration: a parser's version, a dictionary's digest."""
        return {}

    @property
    def settings(self) -> JsonObject:
        """The settings of the suite that the summary repeats."""
        return {}

    @property
    def nouns(self) -> Nouns:
        """The words for cases and groups in reports."""
        return Nouns()

    @property
    def makes_texts(self) -> bool:
        """Whether the suite makes its own texts and reads no documents."""
        return False

    @property
    def by_document(self) -> bool:
        """Whether the cases of a document depend on it alone, so that processes can share the documents."""
        return False

    def concerns(self, text: str) -> bool:
        """Return whether cases may be made from ``text``, told at once and without a parser."""
        return True

    @property
    def include_discarded(self) -> bool:
        """Whether the model is asked about discarded cases, too."""
        return False

    @property
    def controlled(self) -> bool:
        """Whether the suite makes control mutants where the configuration asks for them."""
        return False

    @property
    def explorable(self) -> bool:
        """Whether an adaptive budget may choose among the mutants (only with the star relation)."""
        return False

    @property
    def words(self) -> Sequence[str]:
        """The words whose length in tokens the suite needs; it is passed to ``weighed``."""
        return ()

    def weighed(self, lengths: Mapping[str, int]) -> Suite:
        """Return the suite, with ``lengths``, the number of tokens of each of its ``words``, taken in."""
        return self

    def figures(self, tables: Tables) -> Figures:
        """Return the figures that the summary contains beside ``results``."""
        return Figures()

    def extracts(self, tables: Tables) -> Mapping[str, pl.LazyFrame]:
        """Return tables by name, made from the cases alone, to be stored in the run folder."""
        return {}


@dataclass(frozen=True)
class Kit:
    """What a suite is made with, beside its options.

    ``language`` is the language of the texts; ``cache`` a folder for files that later runs use again;
    ``control`` says how many control mutants to make.
    """

    task: Task
    seed: int
    language: str
    cache: Path
    load_parser: Callable[[str], Parser | None]
    read_key: Callable[[str | None, str], str]
    control: Controls = field(default_factory=Controls)

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
    """A check that ``hinter doctor`` makes: ``look`` returns a line, or raises a ``HarnessError``."""

    name: str
    look: Callable[[], str]


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """A system in a comparison of scores.

    It is a run, with its ``suite`` and its ``scores`` by case id; or, if both are None, a score file at
    ``path``, which the suite reads.
    """

    name: str
    path: Path
    suite: Suite | None = None
    scores: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ScoreComparison:
    """How a suite compares systems by their scores on the same texts (``hinter compare``).

    ``has_scores`` tells from a run's summary whether the run can take part. ``compare`` returns the content
    of ``comparison.json``, with ``headline`` and plain ``sections``; its second argument is a file that
    describes the texts of score files, None for the suite's own texts.
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
    """The definition of a suite. ``about`` describes it in a line.

    ``for_sample`` adapts the options if only the task's bundled sample is read, so that a first run takes a
    minute, and ``for_versions`` where the versions of a text are wanted rather than a test of a model, as by
    ``hinter guard``; ``resolve`` fills in options that follow from others or from files, so that a run
    records them and ``make`` need not derive them; ``checks`` are made by ``hinter doctor``; ``subject``
    returns what the text of a case should be about, for human review, "" if it does not matter.
    """

    name: str
    about: str
    options: type[SuiteOptions]
    make: Callable[[SuiteOptions, Kit], Suite]
    for_sample: Callable[[SuiteOptions], SuiteOptions] = _as_they_are
    for_versions: Callable[[SuiteOptions], SuiteOptions] = _as_they_are
    resolve: Callable[[SuiteOptions], SuiteOptions] = _as_they_are
    checks: Callable[[SuiteOptions, Kit], Iterable[Check]] = _no_checks
    subject: Callable[[SuiteOptions], Callable[[Case], str]] = _capability
    scores: ScoreComparison | None = None
