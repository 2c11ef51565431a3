"""A run's configuration: TOML and options in, a checked ``RunConfig`` out.

The one place where a user's settings become ours. Unknown keys are errors that name the key. The sections
that every run has are in ``settings``; that of its suite holds the options of the suite's plug-in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, Field, SerializeAsAny, ValidationError, model_validator

from harness import registry
from harness.core import JsonObject
from harness.errors import ConfigError
from harness.settings import (
    TOML_ALONE,
    BudgetLimits,
    Documents,
    Flag,
    ModelSettings,
    NotNegative,
    Options,
    Positive,
    TaskOptions,
    flags,
    private,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Settings = TypeVar("Settings", bound=Options)

OF_SUITE = "suite_options"
"""The field that holds the section of the chosen suite; in the TOML that section has the suite's name."""


class RunConfig(Options):
    """All of a run. ``suite_options`` are those of the suite's plug-in."""

    task: str = Field(
        default="imdb", description="What to ask about the texts (hinter tasks), or a task file."
    )
    suite: str = Field(default="hinter", description="The test method (hinter suites).")
    seed: int = Field(default=0, description="For every choice made by chance.")
    out: str | None = Field(default=None, description="The run folder [runs/…, named by the settings].")
    cache: str | None = Field(default=None, description="The response cache [cache/responses.sqlite].")
    prompt: str | None = Field(default=None, description="A prompt file of your own, TOML.")
    shots: NotNegative = Field(default=0, description="How many of the prompt's examples to send.")
    repeats: NotNegative = Field(default=0, description="Ask each original K more times, to measure noise.")
    confirm: NotNegative = Field(default=0, description="Ask K more times wherever an answer changes.")
    batch: Annotated[bool, Flag("--batch")] = Field(
        default=False, description="Through the endpoint's batch API; resumable."
    )
    workers: Positive = Field(default=1, description="Processes that make the cases.")
    fail_above: float | None = Field(
        default=None, ge=0, le=1, description="Exit 1 if any rate is above RATE (0 to 1)."
    )
    documents: Annotated[Documents, TOML_ALONE] = Documents()
    task_options: Annotated[TaskOptions, TOML_ALONE] = TaskOptions()
    suite_options: Annotated[SerializeAsAny[Options], TOML_ALONE]
    model: Annotated[ModelSettings, TOML_ALONE] = ModelSettings()
    budget: Annotated[BudgetLimits, TOML_ALONE] = BudgetLimits()

    @model_validator(mode="before")
    @classmethod
    def _default_options(cls, data: Any) -> Any:
        if isinstance(data, dict) and OF_SUITE not in data:
            name = data.get("suite", RunConfig.model_fields["suite"].default)
            return {**data, OF_SUITE: registry.suite_plugin(str(name)).options()}
        return data

    @model_validator(mode="after")
    def _priced(self) -> RunConfig:
        if self.budget.max_cost is not None and self.model.price is None:
            raise ValueError("max_cost needs the price of tokens: [model] price = { input = …, output = … }")
        return self

    @model_validator(mode="after")
    def _explored(self) -> RunConfig:
        if self.budget.adaptive is None:
            return self
        others = {
            "repeats": self.repeats,
            "confirm": self.confirm,
            "batch": self.batch,
            "fail_above": self.fail_above,
        }
        for name, value in others.items():
            if value:
                raise ValueError(f"budget.adaptive and {name} do not go together: the rates are no estimates")
        return self

    def of_suite(self, options: Options) -> RunConfig:
        """Return the same configuration with other ``options`` of its suite."""
        return self.model_copy(update={OF_SUITE: options})

    def resolved(self) -> dict[str, Any]:
        """Return the whole configuration as the tables of a TOML, defaults filled in; it holds no secret."""
        tables = self.model_dump(mode="json", exclude_none=True)
        section = tables.pop(OF_SUITE)
        return {**tables, self.suite: section}

    def identity(self) -> JsonObject:
        """Return the settings that decide what is found; not where it goes or how fast."""
        decides = {"name", "base_url", "api_version", "model_file", "revision", "choices"}
        model = self.model.model_dump(mode="json", include=decides)
        model["vllm"] = self.model.vllm.model_dump(mode="json", exclude={"startup_seconds", "stop_seconds"})
        aside = {"out", "cache", "fail_above", "model", "budget", "batch", "workers", OF_SUITE}
        return {
            **self.model_dump(mode="json", exclude=aside),
            self.suite: self.suite_options.model_dump(mode="json"),
            "model": model,
            "adaptive": self.budget.adaptive,
        }


def load(
    path: str | Path | None,
    overrides: Mapping[str, Any] | None = None,
    one_text: bool = False,
    suite_flags: Mapping[str, Any] | None = None,
) -> RunConfig:
    """Return the configuration in the TOML at ``path`` (None: defaults), with dotted ``overrides`` on top.

    ``suite_flags`` are values for the chosen suite by command-line option, such as ``--order``.
    A relative file named in the TOML is taken relative to the working directory, as on the command line.
    ``one_text``: the texts are not read from the configuration. Raises ``ConfigError``.
    """
    given = overrides or {}
    data = _read(Path(path)) if path is not None else {}
    for key, value in given.items():
        _set(data, key, value)
    _one_source(data, given)
    where = f"{path}: " if path is not None else ""
    tables = _suite_tables(data, where)
    suite = data.get("suite", RunConfig.model_fields["suite"].default)
    if isinstance(suite, str):  # if not, RunConfig says so
        _refuse_others(given, suite)
        for flag, value in (suite_flags or {}).items():
            _set(tables, f"{suite}.{_key_of(flag, suite)}", value)
        tables.setdefault(suite, {})
        options = {name: _section(name, table, where) for name, table in tables.items()}
        data[OF_SUITE] = options[suite]
    config = _validated(RunConfig, data, where)
    if one_text or config.documents.path or config.documents.dataset:
        return config
    return config.of_suite(registry.for_sample(config.suite, config.suite_options))


def _suite_tables(data: dict[str, Any], where: str) -> dict[str, Any]:
    """Take the sections of suites out of ``data``. Raises ``ConfigError`` for a key that nothing has."""
    known = {*RunConfig.model_fields, *registry.suites()} - {OF_SUITE}
    for key in data:
        if key not in known:
            raise ConfigError(f"{where}unknown key {key!r}: known are {', '.join(sorted(known))}")
    return {name: data.pop(name) for name in registry.suites() if name in data}


def _refuse_others(overrides: Mapping[str, Any], suite: str) -> None:
    for key in overrides:
        section, dot, _ = key.partition(".")
        if dot and section != suite and section in registry.suites():
            raise ConfigError(f"{key} is not an option of suite {suite!r}")


def _key_of(flag: str, suite: str) -> str:
    """The key of the suite's section that the command-line option ``flag`` sets."""
    for declared, key in flags(registry.suite_plugin(suite).options).items():
        if flag in declared.split("/"):
            return key
    raise ConfigError(f"{flag} is not an option of suite {suite!r}")


def _section(suite: str, table: Any, where: str) -> Options:
    options: type[Options] = registry.suite_plugin(suite).options
    return _validated(options, table, where, (suite,))


def _one_source(data: dict[str, Any], overrides: Mapping[str, Any]) -> None:
    """Texts named on the command line replace those of the file, be they a path or a data set."""
    texts = data.get("documents")
    if "documents.path" in overrides and "documents.dataset" not in overrides and isinstance(texts, dict):
        for key in ("dataset", "name", "split", "revision"):
            if f"documents.{key}" not in overrides:
                texts.pop(key, None)
    if "documents.dataset" in overrides and "documents.path" not in overrides and isinstance(texts, dict):
        texts.pop("path", None)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error


def _set(data: dict[str, Any], key: str, value: Any) -> None:
    *sections, last = key.split(".")
    for section in sections:
        data = data.setdefault(section, {})
        if not isinstance(data, dict):
            raise ConfigError(f"{section!r} must be a table")
    data[last] = value


def _validated(model: type[Settings], data: Any, where: str, section: tuple[str, ...] = ()) -> Settings:
    """``data`` as a ``model``. Raises ``ConfigError`` that names file and key; ``section`` is where it is."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(where + _explain(error.errors()[0], model, section)) from error


def _explain(fault: ErrorDetails, model: type[BaseModel], section: tuple[str, ...]) -> str:
    place = _Place.of(fault["loc"], model)
    key = ".".join((*section, *place.keys))
    if fault["type"] == "extra_forbidden":
        known = ", ".join(sorted(place.model.model_fields)) or "none"
        return f"unknown key {'.'.join(filter(None, (key, str(fault['loc'][-1]))))!r}: known are {known}"
    why = fault["msg"].removeprefix("Value error, ")
    if not key:  # of keys that do not go together: the message names them
        return why
    repeat = not place.private and not isinstance(fault["input"], Mapping)
    return f"{key}: {why}" + (f", not {fault['input']!r}" if repeat else "")


@dataclass(frozen=True)
class _Place:
    """Where in a configuration something is wrong: its ``keys``, in the section ``model``."""

    keys: tuple[str, ...]
    model: type[BaseModel]
    private: bool

    @classmethod
    def of(cls, location: Sequence[int | str], model: type[BaseModel]) -> _Place:
        """The place of pydantic's ``location``, in which the members of unions are named, too."""
        keys: list[str] = []
        secret = False
        inside: type[BaseModel] | None = model
        for part in location:
            if isinstance(part, int):
                keys.append(str(part))
            elif inside is not None and part in inside.model_fields:
                field = inside.model_fields[part]
                keys.append(part)
                secret = secret or private(field)
                inside = _table(field.annotation)
                model = inside or model
        return cls(tuple(keys), model, secret)


def _table(annotation: object) -> type[BaseModel] | None:
    """The model of a field that is a table, None for any other."""
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
