"""A run's configuration: TOML and options in, a checked ``RunConfig`` out.

The one place where a user's settings become ours. Unknown keys are errors that name the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from harness.errors import ConfigError
from harness.files import read_toml
from harness.settings import (
    Address,
    BudgetLimits,
    Documents,
    EnvironmentVariable,
    ModelSettings,
    Names,
    NotNegative,
    Options,
    Positive,
    Price,
    TaskOptions,
)

SAMPLE_PAIRS = 2
MAY_BE_SECRET = (
    *("model.api_key_env", "model.base_url"),
    *("linguistic.suggester_api_key_env", "linguistic.suggester_base_url"),
)

SUITE_SECTIONS = ("hinter", "biasfinder", "eec", "linguistic", "checklist")
SUITES = (*SUITE_SECTIONS, "mtnlp")
OF_SUITE = "*."
"""Begins a key of the section of whatever suite is chosen."""


class Hinter(Options):
    """``[hinter]``: what the HINTER suite changes and which mutants it keeps."""

    attributes: Names = ("race", "gender", "body")
    order: Positive = 2
    lexicon: str | None = None
    parser: str = "spacy"
    invariant: Literal["strict", "pos", "none"] = "strict"
    max_pairs: Positive | None = None
    max_mutants_per_document: Positive | None = None
    include_discarded: bool = False


class Biasfinder(Options):
    """``[biasfinder]``: what of a person the templates vary, and with which words.

    ``characteristic`` None: gender in mined templates, each template's own in those of a file.
    """

    characteristic: Literal["gender", "occupation", "country", "gender+occupation"] | None = None
    names: str | None = None
    names_a_class: Positive = 30
    max_mutants_per_template: Positive | None = None
    templates: str | None = None
    coreference: str = "rules"
    parser: str = "spacy"


class Eec(Options):
    """``[eec]``: the corpus, the paper's or one of the user's own; of its templates with an emotion word in,
    all or ``instances`` of them."""

    corpus: str | None = None
    instances: Positive | None = None


class Linguistic(Options):
    """``[linguistic]``: which capabilities are tested, and how their seeds are found and expanded."""

    capabilities: Names = ()
    definitions: str | None = None
    seeds: Positive = 50
    expansions: NotNegative = 5
    masks: Positive = 10
    words: Positive = 20
    suggester: Literal["auto", "mlm", "endpoint", "ngram"] = "auto"
    suggester_model: str | None = None
    suggester_revision: str | None = None
    suggester_base_url: Address | None = None
    suggester_api_key_env: EnvironmentVariable | None = None
    trees: str | None = None
    sentiment: str | None = None
    grammar: str | None = None
    parser: str = "spacy"


class Checklist(Options):
    """``[checklist]``: the file of tests and how many cases of each at most; with a parser, how diverse their
    syntax is."""

    tests: str | None = None
    limit: Positive | None = None
    parser: str = "none"


class RunConfig(Options):
    """All of a run. ``identity()`` is the part that decides its results."""

    task: str = "imdb"
    suite: str = "hinter"
    seed: int = 0
    out: str | None = None
    cache: str | None = None
    prompt: str | None = None
    shots: NotNegative = 0
    repeats: NotNegative = 0
    confirm: NotNegative = 0
    batch: bool = False
    workers: Positive = 1
    fail_above: float | None = Field(default=None, ge=0, le=1)
    documents: Documents = Documents()
    task_options: TaskOptions = TaskOptions()
    hinter: Hinter = Hinter()
    biasfinder: Biasfinder = Biasfinder()
    eec: Eec = Eec()
    linguistic: Linguistic = Linguistic()
    checklist: Checklist = Checklist()
    model: ModelSettings = ModelSettings()
    budget: BudgetLimits = BudgetLimits()

    @model_validator(mode="after")
    def _priced(self) -> RunConfig:
        if self.budget.max_cost is not None and self.model.price is None:
            raise ValueError("max_cost needs the price of tokens: [model] price = { input = …, output = … }")
        return self

    @model_validator(mode="after")
    def _explored(self) -> RunConfig:
        if self.budget.adaptive is None:
            return self
        if self.suite != "hinter":
            raise ValueError(f"budget.adaptive: only the suite 'hinter' can be explored, not {self.suite!r}")
        for name in ("repeats", "confirm", "batch", "fail_above"):
            if getattr(self, name):
                raise ValueError(f"budget.adaptive and {name} do not go together: the rates are no estimates")
        return self

    def identity(self) -> dict[str, Any]:
        """The settings that decide what is found; not where it goes or how fast."""
        decides = ("name", "base_url", "api_version", "model_file", "revision", "choices")
        model = self.model.model_dump(include=set(decides))
        model["vllm"] = self.model.vllm.model_dump(exclude={"startup_seconds", "stop_seconds"})
        others = set(SUITE_SECTIONS) - {self.suite}
        aside = {"out", "cache", "fail_above", "model", "budget", "batch", "workers"}
        return {
            **self.model_dump(exclude=aside | others),
            "model": model,
            "adaptive": self.budget.adaptive,
        }


def load(
    path: str | Path | None, overrides: Mapping[str, Any] | None = None, one_text: bool = False
) -> RunConfig:
    """The configuration in the TOML at ``path`` (None: defaults), with dotted ``overrides`` on top.

    A relative file named in the TOML is taken relative to the working directory, as on the command line.
    ``one_text``: the texts are not read from the configuration.
    """
    data = read_toml(path, ConfigError) if path is not None else {}
    suite = (overrides or {}).get("suite") or data.get("suite") or RunConfig.model_fields["suite"].default
    for key, value in (overrides or {}).items():
        _set(data, _own(key, str(suite)), value)
    _one_source(data, overrides or {})
    try:
        config = RunConfig.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_explain(error, path)) from error
    return config if one_text or config.documents.path or config.documents.dataset else _for_sample(config)


def _one_source(data: dict[str, Any], overrides: Mapping[str, Any]) -> None:
    """Texts named on the command line replace those of the file, be they a path or a data set."""
    texts = data.get("documents")
    if "documents.path" in overrides and "documents.dataset" not in overrides and isinstance(texts, dict):
        for key in ("dataset", "name", "split", "revision"):
            if f"documents.{key}" not in overrides:
                texts.pop(key, None)
    if "documents.dataset" in overrides and "documents.path" not in overrides and isinstance(texts, dict):
        texts.pop("path", None)


def _for_sample(config: RunConfig) -> RunConfig:
    """On the bundled sample a few pairs of each attribute do, so that a first look takes a minute."""
    if {"max_pairs", "max_mutants_per_document"} & config.hinter.model_fields_set:
        return config
    section = config.hinter.model_copy(update={"max_pairs": SAMPLE_PAIRS})
    return config.model_copy(update={"hinter": section})


def _own(key: str, suite: str) -> str:
    """``*.parser`` as the key of the chosen suite's section; no key of another suite's."""
    section, _, rest = key.partition(".")
    if section in SUITE_SECTIONS and rest and section != suite and suite in SUITES:
        raise ConfigError(f"{key} is not an option of suite {suite!r}")
    if not key.startswith(OF_SUITE):
        return key
    name = key.removeprefix(OF_SUITE)
    if suite not in SUITE_SECTIONS or name not in _known([suite]):
        raise ConfigError(f"--{name.replace('_', '-')} is not an option of suite {suite!r}")
    return f"{suite}.{name}"


def _set(data: dict[str, Any], key: str, value: Any) -> None:
    *sections, last = key.split(".")
    for section in sections:
        data = data.setdefault(section, {})
        if not isinstance(data, dict):
            raise ConfigError(f"{section!r} must be a table")
    data[last] = value


def _explain(error: ValidationError, path: str | Path | None) -> str:
    first = error.errors()[0]
    place = [str(part) for part in first["loc"] if not str(part).startswith(("constrained-", "literal["))]
    key = ".".join(place)
    where = f"{path}: " if path is not None else ""
    if first["type"] == "extra_forbidden":
        return f"{where}unknown key {key!r}: known are {', '.join(_known(place[:-1]))}"
    said = first["msg"].removeprefix("Value error, ")
    if not key:  # of keys that do not go together: the message names them
        return f"{where}{said}"
    return f"{where}{key}: {said}" + ("" if key in MAY_BE_SECRET else f", not {first['input']!r}")


def _known(sections: list[str]) -> list[str]:
    model: type[BaseModel] = RunConfig
    for section in sections:
        kind = model.model_fields[section].annotation
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else Price
    return sorted(model.model_fields)
