"""A run's configuration: TOML and options in, a checked ``RunConfig`` out.

The one place where a user's settings become ours. Unknown keys are errors that name the key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.errors import ConfigError

SAMPLE_PAIRS = 2
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MAY_BE_SECRET = (
    *("model.api_key_env", "model.base_url"),
    *("linguistic.suggester_api_key_env", "linguistic.suggester_base_url"),
)

Positive = Annotated[int, Field(ge=1)]


SUITE_SECTIONS = ("hinter", "biasfinder", "eec", "linguistic", "checklist")
SUITES = (*SUITE_SECTIONS, "mtnlp")
OF_SUITE = "*."
"""Begins a key of the section of whatever suite is chosen."""


def _parts(value: Any) -> Any:
    """A list written as ``a, b``."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


def _named(variable: str | None) -> str | None:
    if variable is not None and not VARIABLE.fullmatch(variable):
        raise ValueError("give the name of an environment variable, not the key itself")
    return variable


def _address(given: str | None) -> str | None:
    url = urlsplit(given) if given is not None else None
    if url and (url.scheme not in ("http", "https") or not url.hostname):
        raise ValueError("give an http:// or https:// address")
    if url and (url.username or url.password):
        raise ValueError("leave the user and password out: keys come from --api-key-env")
    return given


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class Documents(_Section):
    """``[documents]``: where the texts are; neither path nor dataset means the task's bundled sample."""

    path: str | None = None
    dataset: str | None = None
    name: str | None = None
    split: str | None = None
    revision: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    limit: Positive | None = None
    max_tokens: Positive | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Documents:
        if self.path and self.dataset:
            raise ValueError("give path or dataset, not both")
        if not self.dataset and (self.name or self.split or self.revision):
            raise ValueError("name, split and revision belong to a dataset: give one with --dataset")
        return self


class TaskOptions(_Section):
    """``[task_options]``: what a task is to be told; which keys it takes is the task's to say."""

    model_config = ConfigDict(extra="allow", frozen=True)

    labels: tuple[str, ...] | None = None
    question: str | None = None
    multi_label: bool | None = None
    variant: str | None = None

    @field_validator("labels", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        parts = value.split(";" if ";" in value else ",")
        return [part.strip() for part in parts if part.strip()]

    @field_validator("labels")
    @classmethod
    def _distinct(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value is not None and (len(value) < 2 or not all(label.strip() for label in value)):
            raise ValueError("give two labels or more, none of them empty")
        if value is not None and len({label.strip().lower() for label in value}) < len(value):
            raise ValueError("two labels are the same")
        return value

    @property
    def given(self) -> dict[str, Any]:
        return self.model_dump(exclude_none=True)


class Hinter(_Section):
    """``[hinter]``: what the HINTER suite changes and which mutants it keeps."""

    attributes: tuple[str, ...] = ("race", "gender", "body")
    order: Positive = 2
    lexicon: str | None = None
    parser: str = "spacy"
    invariant: Literal["strict", "pos", "none"] = "strict"
    max_pairs: Positive | None = None
    max_mutants_per_document: Positive | None = None
    include_discarded: bool = False

    @field_validator("attributes", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return _parts(value)


class Biasfinder(_Section):
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


class Eec(_Section):
    """``[eec]``: the corpus, the paper's or one of the user's own; of its templates with an emotion word in,
    all or ``instances`` of them."""

    corpus: str | None = None
    instances: Positive | None = None


class Linguistic(_Section):
    """``[linguistic]``: which capabilities are tested, and how their seeds are found and expanded."""

    capabilities: tuple[str, ...] = ()
    definitions: str | None = None
    seeds: Positive = 50
    expansions: Annotated[int, Field(ge=0)] = 5
    masks: Positive = 10
    words: Positive = 20
    suggester: Literal["auto", "mlm", "endpoint", "ngram"] = "auto"
    suggester_model: str | None = None
    suggester_revision: str | None = None
    suggester_base_url: str | None = None
    suggester_api_key_env: str | None = None
    trees: str | None = None
    sentiment: str | None = None
    grammar: str | None = None
    parser: str = "spacy"

    @field_validator("suggester_api_key_env")
    @classmethod
    def _variable(cls, value: str | None) -> str | None:
        return _named(value)

    @field_validator("suggester_base_url")
    @classmethod
    def _url(cls, value: str | None) -> str | None:
        return _address(value)

    @field_validator("capabilities", mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return _parts(value)


class Checklist(_Section):
    """``[checklist]``: the file of tests and how many cases of each at most; with a parser, how diverse their
    syntax is."""

    tests: str | None = None
    limit: Positive | None = None
    parser: str = "none"


class Price(_Section):
    """USD per million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class Vllm(_Section):
    """``[model.vllm]``: how the server of ``vllm:NAME`` is started; ``flags`` go to vLLM as given."""

    max_model_len: Positive | None = None
    dtype: str | None = None
    quantization: str | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    flags: tuple[str, ...] = ()
    startup_seconds: float = Field(default=1800.0, gt=0)
    stop_seconds: float = Field(default=15.0, ge=0)


class Model(_Section):
    """``[model]``: the system under test."""

    name: str = "local:smollm2"
    base_url: str | tuple[str, ...] | None = None
    api_key_env: str | None = None
    api_key_file: str | None = None
    api_version: str | None = None
    context: Positive | None = None
    model_file: str | None = None
    revision: str | None = None
    choices: Literal["auto", "structured_outputs", "grammar", "json_schema", "none"] = "auto"
    concurrency: Positive | Literal["auto"] = "auto"
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    price: Price | None = None
    vllm: Vllm = Vllm()

    @field_validator("api_key_env")
    @classmethod
    def _variable(cls, value: str | None) -> str | None:
        return _named(value)

    @field_validator("base_url")
    @classmethod
    def _url(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for one in [value] if isinstance(value, str) else value or ():
            _address(one)
        return value


class BudgetLimits(_Section):
    """``[budget]``: what a run may send and spend before it stops, to be taken up later; ``adaptive``: how
    many requests to spend on the cases that promise most."""

    max_requests: Positive | None = None
    max_cost: float | None = Field(default=None, gt=0)
    adaptive: Positive | None = None


class RunConfig(_Section):
    """All of a run. ``identity()`` is the part that decides its results."""

    task: str = "imdb"
    suite: str = "hinter"
    seed: int = 0
    out: str | None = None
    cache: str | None = None
    prompt: str | None = None
    shots: Annotated[int, Field(ge=0)] = 0
    repeats: Annotated[int, Field(ge=0)] = 0
    confirm: Annotated[int, Field(ge=0)] = 0
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
    model: Model = Model()
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
    data = _read(Path(path)) if path is not None else {}
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


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


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
