"""Turn a TOML file and command-line options into a checked ``RunConfig``.

Unknown keys are errors that name the key. The sections that every run has are in ``settings``; the section of
its suite holds the options of the suite's plug-in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar, get_args

from pydantic import BaseModel, Field, SerializeAsAny, ValidationError, model_validator

from harness import registry
from harness.core import JsonObject
from harness.errors import ConfigError
from harness.files import read_toml
from harness.settings import (
    TOML_ALONE,
    BudgetLimits,
    Controls,
    Documents,
    Flag,
    GuardSettings,
    JudgeSettings,
    Limits,
    ModelSettings,
    Names,
    NotNegative,
    Options,
    Positive,
    Prompts,
    TaskOptions,
    flags,
    private,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Settings = TypeVar("Settings", bound=Options)

OF_SUITE, OF_MODEL = "suite_options", "model_options"
"""The fields for the section of the chosen suite, ``[NAME]`` in the TOML file, and for the table of the
chosen kind of model, ``[model.KIND]``."""

GATE = (
    "Exit with 1 if any rate is above this share (0.05, or rate=0.05), any excess over control mutants"
    " (excess=0.02) or any effect on a group (effect=0.05); several with commas. With 3 if it cannot be told."
)


class RunConfig(Options):
    """The configuration of a run; ``suite_options`` and ``model_options`` are those of its plug-ins."""

    task: str = Field(
        default="imdb", description="The task the model performs on the texts (hinter tasks), or a task file."
    )
    suite: str = Field(default="hinter", description="The test method (hinter suites).")
    seed: int = Field(default=0, description="The seed of every random choice.")
    out: str | None = Field(default=None, description="The run folder [runs/…, named after the settings].")
    cache: str | None = Field(default=None, description="The response cache [cache/responses.sqlite].")
    prompt: str | None = Field(default=None, description="Your own prompt file (TOML).")
    context: str | None = Field(default=None, description="A text to put before the system message.")
    shots: NotNegative = Field(
        default=0, description="The number of the prompt's examples to send; the HINTER paper sends 3."
    )
    repeats: NotNegative = Field(
        default=0, description="Ask about each original K more times, to measure noise."
    )
    confirm: NotNegative = Field(default=0, description="Ask K more times wherever an answer changes.")
    batch: Annotated[bool, Flag("--batch")] = Field(
        default=False, description="Use the endpoint's batch API; resumable."
    )
    workers: Positive = Field(default=1, description="The number of processes that generate cases.")
    favourable: Names | None = Field(
        default=None,
        description="The answers that are good for the person spoken of, comma-separated [the task's].",
    )
    fail_above: Limits | None = Field(default=None, description=GATE)
    prompts: Annotated[Prompts, TOML_ALONE] = Prompts()
    documents: Annotated[Documents, TOML_ALONE] = Documents()
    task_options: Annotated[TaskOptions, TOML_ALONE] = TaskOptions()
    suite_options: Annotated[SerializeAsAny[Options], TOML_ALONE]
    model: Annotated[ModelSettings, TOML_ALONE] = ModelSettings()
    model_options: Annotated[SerializeAsAny[Options], TOML_ALONE]
    judge: Annotated[JudgeSettings, TOML_ALONE] = JudgeSettings()
    budget: Annotated[BudgetLimits, TOML_ALONE] = BudgetLimits()
    control: Annotated[Controls, TOML_ALONE] = Controls()
    guard: Annotated[GuardSettings, TOML_ALONE] = GuardSettings()

    @model_validator(mode="before")
    @classmethod
    def _default_options(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        options: dict[str, Options] = {}
        if OF_SUITE not in data:
            name = data.get("suite", RunConfig.model_fields["suite"].default)
            options[OF_SUITE] = registry.suite_plugin(str(name)).options()
        if OF_MODEL not in data and isinstance(settings := data.get("model", ModelSettings()), ModelSettings):
            options[OF_MODEL] = registry.model_plugin(registry.model_kind(settings)[0]).options()
        return {**data, **options}

    @model_validator(mode="after")
    def _priced(self) -> RunConfig:
        if self.budget.max_cost is not None and self.model.price is None:
            raise ValueError("max_cost needs the price of tokens: [model] price = { input = …, output = … }")
        if self.budget.max_cost is not None and self.judge.name and self.judge.price is None:
            raise ValueError("max_cost needs the price of the judge's tokens, too: [judge] price")
        return self

    @model_validator(mode="after")
    def _judged(self) -> RunConfig:
        if not self.judge.name and self.judge.model_dump() != JudgeSettings().model_dump():
            raise ValueError("judge: the settings of a judge need its name: give it with --judge")
        if self.judge.name and self.batch:
            raise ValueError("batch and judge do not go together: a judge needs the answers first")
        return self

    @model_validator(mode="after")
    def _one_or_several_prompts(self) -> RunConfig:
        if self.prompts.files and self.prompt:
            raise ValueError("prompt and prompts.files do not go together: list all files in prompts.files")
        if self.prompts.contexts and self.context:
            raise ValueError("context and prompts.contexts do not go together: list all in prompts.contexts")
        return self

    @model_validator(mode="after")
    def _explored(self) -> RunConfig:
        budget = self.budget
        if budget.adaptive is None and budget.adaptive_for != "rates":
            raise ValueError("budget.adaptive_for needs budget.adaptive, the number of requests")
        if budget.sequential and budget.adaptive_for != "rates":
            raise ValueError("budget.adaptive_for = findings says nothing of rates and effects to stop at")
        if not budget.choosing:
            return self
        key = next(key for key in ("adaptive", "precision", "decide") if getattr(budget, key) is not None)
        others = {
            "repeats": self.repeats,
            "confirm": self.confirm,
            "batch": self.batch,
            "prompts": self.reworded,
            "judge": self.judge.name,
        }
        for name, value in others.items():
            if value:
                raise ValueError(f"budget.{key} and {name} do not go together")
        return self

    @property
    def reworded(self) -> bool:
        """Whether the cases are asked about under several prompts or contexts."""
        return bool(self.prompts.files or self.prompts.contexts)

    def of_suite(self, options: Options) -> RunConfig:
        """Return the configuration with its suite's options replaced by ``options``."""
        return self.model_copy(update={OF_SUITE: options})

    def resolved(self) -> JsonObject:
        """Return the whole configuration as TOML tables, defaults filled in; it contains no secret."""
        tables = self.model_dump(mode="json", exclude_none=True)
        of_suite, of_model = tables.pop(OF_SUITE), tables.pop(OF_MODEL)
        kind, _ = registry.model_kind(self.model)
        return {**tables, self.suite: of_suite, "model": {**tables["model"], kind: of_model}}

    def identity(self) -> JsonObject:
        """Return the settings that determine the results, without output paths and speed."""
        kind, _ = registry.model_kind(self.model)
        judge = {**_asked(self.judge), "question": self.judge.question}
        aside = {"out", "cache", "fail_above", "model", "judge", "budget", "batch", "workers", "guard"}
        aside |= {"prompts", "context"}  # the prompt that they make is part of what is asked
        return {
            **self.model_dump(mode="json", exclude={*aside, OF_SUITE, OF_MODEL}),
            self.suite: _decisive(self.suite_options),
            "model": {**_asked(self.model), kind: _decisive(self.model_options)},
            **({"judge": judge} if self.judge.name else {}),
            "adaptive": self.budget.adaptive,
            **({} if self.budget.adaptive_for == "rates" else {"adaptive_for": self.budget.adaptive_for}),
            **self.budget.model_dump(mode="json", include={"precision", "decide"}, exclude_none=True),
        }


def load(
    path: str | Path | None,
    overrides: Mapping[str, object] | None = None,
    one_text: bool = False,
    plugin_flags: Mapping[str, object] | None = None,
) -> RunConfig:
    """Return the configuration in the TOML file at ``path`` (None: defaults), changed by ``overrides``.

    ``overrides`` has values by dotted key; ``plugin_flags`` has values for the chosen suite or kind of model
    by command-line option, such as ``--order``. Relative paths in the file are relative to the working
    directory, as on the command line. ``one_text``: the texts do not come from the configuration. Raises
    ``ConfigError``.
    """
    changes = overrides or {}
    data = read_toml(path, ConfigError) if path is not None else {}
    for key, value in changes.items():
        _set(data, key, value)
    _one_source(data, changes)
    where = f"{path}: " if path is not None else ""
    _take_plugin_options(data, changes, plugin_flags or {}, where)
    config = _validated(RunConfig, data, where)
    if one_text or config.documents.path or config.documents.dataset:
        return config
    return config.of_suite(registry.for_sample(config.suite, config.suite_options))


def given(config: RunConfig | str | Path | Mapping[str, object], one_text: bool = False) -> RunConfig:
    """Return the configuration that ``config`` is, a TOML file at a path, or values by dotted key.

    ``one_text``: the texts do not come from the configuration. Raises ``ConfigError``, also for a ``config``
    of any other type.
    """
    if isinstance(config, RunConfig):
        return config
    if isinstance(config, str | Path):
        return load(config, one_text=one_text)
    if isinstance(config, Mapping) and all(isinstance(key, str) for key in config):
        return load(None, config, one_text)
    kind = type(config).__name__
    raise ConfigError(
        "a configuration is a RunConfig, the path of a TOML file, or a dictionary of dotted keys, not "
        + ("a dictionary with other keys" if isinstance(config, Mapping) else f"of type {kind}")
    )


def _take_plugin_options(
    data: dict[str, object], overrides: Mapping[str, object], of_plugins: Mapping[str, object], where: str
) -> None:
    """Replace the plug-ins' tables in ``data`` by the options of the chosen suite and kind of model.

    The tables of other plug-ins are checked and dropped.
    """
    of_suites, of_models = _suite_tables(data, where), _model_tables(data)
    suite = data.get("suite", RunConfig.model_fields["suite"].default)
    kind, _ = registry.model_kind(_validated(ModelSettings, data.get("model", {}), where, ("model",)))
    if isinstance(suite, str):  # if not, RunConfig says so
        _refuse_others(overrides, suite)
        for flag, value in of_plugins.items():
            _set_by_flag(flag, value, suite, kind, of_suites, of_models)
        of_suites.setdefault(suite, {})
        data[OF_SUITE] = {name: _section(name, table, where) for name, table in of_suites.items()}[suite]
    of_models.setdefault(kind, {})
    data[OF_MODEL] = {name: _model_table(name, table, where) for name, table in of_models.items()}[kind]


def _suite_tables(data: dict[str, object], where: str) -> dict[str, object]:
    """Pop the sections of suites from ``data``. Raises ``ConfigError`` for an unknown key."""
    keys = {*RunConfig.model_fields, *registry.suites()} - {OF_SUITE, OF_MODEL}
    for key in data:
        if key not in keys:
            raise ConfigError(f"{where}unknown key {key!r}: known are {', '.join(sorted(keys))}")
    return {name: data.pop(name) for name in registry.suites() if name in data}


def _refuse_others(overrides: Mapping[str, object], suite: str) -> None:
    for key in overrides:
        section, dot, _ = key.partition(".")
        if dot and section != suite and section in registry.suites():
            raise ConfigError(f"{key} is not an option of suite {suite!r}")


def _set_by_flag(
    flag: str,
    value: object,
    suite: str,
    kind: str,
    of_suites: dict[str, object],
    of_models: dict[str, object],
) -> None:
    """Set the option that ``flag`` stands for in the chosen suite, or in the chosen kind of model."""
    for plugin, tables in (
        (registry.suite_plugin(suite), of_suites),
        (registry.model_plugin(kind), of_models),
    ):
        for declared, key in flags(plugin.options).items():
            if flag in declared.split("/"):
                _set(tables, f"{plugin.name}.{key}", value)
                return
    for plugin in registry.model_plugins()[0]:
        if any(flag in declared.split("/") for declared in flags(plugin.options)):
            raise ConfigError(f"{flag} is an option of models {plugin.name}:…, not of {kind!r}")
    raise ConfigError(f"{flag} is not an option of suite {suite!r}")


def _model_tables(data: dict[str, object]) -> dict[str, object]:
    """Pop the tables ``[model.KIND]`` from ``data``."""
    section = data.get("model")
    if not isinstance(section, dict):
        return {}  # ModelSettings says so
    return {kind: section.pop(kind) for kind in registry.model_kinds() if kind in section}


def _model_table(kind: str, table: object, where: str) -> Options:
    options: type[Options] = registry.model_plugin(kind).options
    return _validated(options, table, where, ("model", kind))


def _asked(model: ModelSettings) -> JsonObject:
    """Return the settings of a model that determine its answers."""
    decides = {"name", "base_url", "api_version", "model_file", "revision", "choices"}
    settings = model.model_dump(mode="json", include=decides)
    settings |= model.model_dump(mode="json", include={"answer_tokens", "extra"}, exclude_none=True)
    return {**settings, **({"omit": sorted(model.omit)} if model.omit else {})}


def _decisive(options: Options) -> JsonObject:
    """Return the ``options`` that determine the results."""
    return options.model_dump(mode="json", exclude=set(options.aside))


def _section(suite: str, table: object, where: str) -> Options:
    options: type[Options] = registry.suite_plugin(suite).options
    return _validated(options, table, where, (suite,))


def _one_source(data: dict[str, object], overrides: Mapping[str, object]) -> None:
    """Drop the file's source of texts if the command line names another, be it a path or a dataset."""
    texts = data.get("documents")
    if "documents.path" in overrides and "documents.dataset" not in overrides and isinstance(texts, dict):
        for key in ("dataset", "name", "split", "revision"):
            if f"documents.{key}" not in overrides:
                texts.pop(key, None)
    if "documents.dataset" in overrides and "documents.path" not in overrides and isinstance(texts, dict):
        texts.pop("path", None)


def _set(data: dict[str, object], key: str, value: object) -> None:
    *sections, last = key.split(".")
    for section in sections:
        table = data.setdefault(section, {})
        if not isinstance(table, dict):
            raise ConfigError(f"{section!r} must be a table")
        data = table
    data[last] = value


def _validated(model: type[Settings], data: object, where: str, section: tuple[str, ...] = ()) -> Settings:
    """Validate ``data`` of ``section`` as a ``model``. Raises ``ConfigError``, which names the key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(where + _explain(error.errors()[0], model, section)) from error


def _explain(fault: ErrorDetails, model: type[BaseModel], section: tuple[str, ...]) -> str:
    place = _Place.of(fault["loc"], model)
    key = ".".join((*section, *place.keys))
    if fault["type"] == "extra_forbidden":
        keys = ", ".join(sorted(place.model.model_fields)) or "none"
        return f"unknown key {'.'.join(filter(None, (key, str(fault['loc'][-1]))))!r}: known are {keys}"
    why = fault["msg"].removeprefix("Value error, ")
    if not key:  # keys that exclude each other: the message names them
        return why
    repeat = not place.private and not isinstance(fault["input"], Mapping)
    return f"{key}: {why}" + (f", not {fault['input']!r}" if repeat else "")


@dataclass(frozen=True)
class _Place:
    """The place of a fault: its ``keys``, in a section that ``model`` describes."""

    keys: tuple[str, ...]
    model: type[BaseModel]
    private: bool

    @classmethod
    def of(cls, location: Sequence[int | str], model: type[BaseModel]) -> _Place:
        """Return the place of a pydantic ``location``, which also names the members of unions."""
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
    """Return the model of a field that is a table, None for any other field."""
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
