"""Command-line options derived from settings: each field of the configuration and of a plug-in is one.

A field that several suites share is a single option, which is passed to the chosen suite.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
from annotated_types import Ge, Gt, Le, Lt
from pydantic.fields import FieldInfo

from harness import registry
from harness.config import RunConfig
from harness.disclosure import redacted, visible_lines
from harness.settings import (
    BudgetLimits,
    Controls,
    Documents,
    GuardSettings,
    JudgeSettings,
    ModelSettings,
    Options,
    Prompts,
    TaskOptions,
    flags,
    metadata,
)

FIRST = "What is tested"
COMMAND = "This command"
TASKS = "Options of single tasks"
HEADINGS: Mapping[str, tuple[str, ...]] = {
    FIRST: (
        *("task", "documents.path", "documents.limit", "suite", "model.name", "model.base_url"),
        *("model.api_key_env", "out"),
    ),
    "Texts": (
        *("documents.text_column", "documents.label_column", "documents.dataset", "documents.name"),
        *("documents.split", "documents.revision", "documents.max_tokens"),
    ),
    "Task": ("prompt", "context", "shots", "favourable"),
    TASKS: tuple(f"task_options.{name}" for name in TaskOptions.model_fields),
    "Model": ("model.model_file", "model.api_key_file", "model.concurrency"),
    "Asking and limits": (
        *("repeats", "confirm", "budget.adaptive", "budget.adaptive_for"),
        *("budget.precision", "budget.decide"),
        *("budget.max_requests", "budget.max_cost", "cache"),
        *("model.answer_tokens", "control.share", "workers", "seed"),
    ),
}
SEVERAL_PROMPTS = "prompts.files"
JUDGE = ("judge.name", "judge.base_url", "judge.api_key_env", "judge.question")
"""The settings of a judge, which ``hinter run``, ``plan`` and ``doctor`` take as options."""
ONLY_RUN = ("fail_above", "batch", SEVERAL_PROMPTS, *JUDGE)
"""Settings that only ``hinter run`` takes as options."""
SECTIONS: Mapping[str, type[Options]] = {
    "documents": Documents,
    "prompts": Prompts,
    "task_options": TaskOptions,
    "model": ModelSettings,
    "judge": JudgeSettings,
    "budget": BudgetLimits,
    "control": Controls,
    "guard": GuardSettings,
}


class _Shown(logging.Formatter):
    """Formats a record without secrets and control characters."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as lines that are fit to be shown."""
        return visible_lines(redacted(super().format(record)))


@dataclass
class Declared:
    """A declared option: its flag, its field, and its help text under each heading (``places``).

    ``key`` is the dotted key that it sets, or None if it sets a field of the chosen suite or model.
    """

    flag: str
    setting: FieldInfo
    key: str | None = None
    places: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """The spellings of the option, such as ``--yes`` and ``--no``."""
        return set(self.flag.split("/"))


class Setting(click.Option):
    """An option that sets a key of the configuration or an option of a plug-in."""

    def __init__(self, declared: Declared) -> None:
        self.key = declared.key
        self.flag = declared.flag.partition("/")[0]
        self.places = declared.places
        kind = _type(declared.setting)
        yes_or_no = {"is_flag": True} if isinstance(kind, click.types.BoolParamType) else {"type": kind}
        super().__init__([declared.flag], default=None, **yes_or_no)


class Configured(click.Command):
    """A command that takes settings as options, grouped under headings in its help.

    ``keys`` are the settings that it takes; None stands for those of every run, the options of all suites and
    models, and the settings in ``also``, but not those in ``without``. ``config`` adds the argument CONFIG.
    """

    def __init__(
        self,
        name: str | None,
        *,
        keys: Sequence[str] | None = None,
        also: Sequence[str] = (),
        without: Sequence[str] = (),
        config: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, **kwargs)
        if config:
            self.params.append(click.Argument(["config_file"], metavar="[CONFIG]", required=False))
        taken = {name for param in self.params for name in (*param.opts, *param.secondary_opts)}
        general = [_general(key) for key in keys or (*_usual(), *also) if key not in without]
        taken |= {name for option in general for name in option.names}
        suites, no_suites = ([], []) if keys else registry.suite_plugins()
        models, no_models = ([], []) if keys else registry.model_plugins()
        self.faults = [*no_suites, *no_models]
        self.headings = [*(f"Suite {plugin.name}" for plugin in suites), *(f"Model {m.name}" for m in models)]
        of_suites = _of_plugins("suite", suites, taken, self.faults)
        of_models = _of_plugins("model", models, taken, self.faults)
        self.params += [Setting(option) for option in (*general, *of_suites, *of_models)]

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, with warnings as lines on standard error."""
        lines = logging.StreamHandler(sys.stderr)
        lines.setLevel(logging.WARNING)
        lines.setFormatter(_Shown("hinter: %(message)s"))
        logging.getLogger().addHandler(lines)
        try:
            return super().invoke(ctx)
        finally:
            logging.getLogger().removeHandler(lines)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, with the command's own options second."""
        rows: dict[str, list[tuple[str, str]]] = {FIRST: [], COMMAND: []}
        order = [*HEADINGS, *self.headings]
        rows |= {heading: [] for heading in order if heading != FIRST}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            places = param.places if isinstance(param, Setting) else {COMMAND: record[1]}
            for heading, text in places.items():
                rows.setdefault(heading, []).append((record[0], text))
        for heading, options in rows.items():
            if options:
                with formatter.section(heading):
                    formatter.write_dl(options)
        for fault in self.faults:
            formatter.write_paragraph()
            formatter.write_text(f"Not listed: {fault}")


def explicit(options: Mapping[str, object]) -> dict[str, object]:
    """Return the settings, by dotted key, that the running command's ``options`` set."""
    return {key: value for setting, value in _set(options) if (key := setting.key) is not None}


def configuration(
    config_file: str | None,
    options: Mapping[str, object],
    one_text: bool = False,
    **overrides: object,
) -> RunConfig:
    """Load the configuration file and apply the running command's ``options`` to it.

    Raises ``ConfigError``.
    """
    from harness import config

    of_plugins = {setting.flag: value for setting, value in _set(options) if setting.key is None}
    return config.load(config_file, explicit(options) | overrides, one_text, of_plugins)


def _set(options: Mapping[str, object]) -> Iterator[tuple[Setting, object]]:
    for param in click.get_current_context().command.params:
        if isinstance(param, Setting) and (value := options.get(param.name or "")) is not None:
            yield param, value


def _usual() -> tuple[str, ...]:
    return tuple(key for keys in HEADINGS.values() for key in keys)


def _general(key: str) -> Declared:
    """Return the option for a setting that every run has."""
    section, _, name = key.rpartition(".")
    model = SECTIONS[section] if section else RunConfig
    flag = next(flag for flag, field in flags(model).items() if field == name)
    heading = next((heading for heading, keys in HEADINGS.items() if key in keys), COMMAND)
    setting = model.model_fields[name]
    return Declared(flag, setting, key, {heading: _explained(setting)})


def _of_plugins(
    noun: str,
    plugins: Sequence[registry.AnySuitePlugin | registry.AnyModelPlugin],
    taken: set[str],
    faults: list[str],
) -> list[Declared]:
    """Return the options of suites or models; skip those already ``taken`` and explain why in ``faults``."""
    section = "model." if noun == "model" else ""
    declared: dict[str, Declared] = {}
    for plugin in plugins:
        for flag, name in flags(plugin.options).items():
            option = Declared(flag, plugin.options.model_fields[name])
            shared = declared.get(flag)
            if shared is None and (clash := option.names & taken):
                toml = f"set {section}{plugin.name}.{name} in the TOML"
                faults.append(f"{min(clash)} of {noun} {plugin.name!r}, because the name is taken: {toml}")
                continue
            if shared is None:
                declared[flag] = option
                taken |= option.names
            elif repr(_type(shared.setting)) != repr(_type(option.setting)):
                shared.setting = FieldInfo(annotation=str)  # the chosen plug-in checks the value itself
            declared[flag].places[f"{noun.capitalize()} {plugin.name}"] = _explained(option.setting)
    return list(declared.values())


def _explained(field: FieldInfo) -> str:
    """Return the help text of a field, with a default worth showing in brackets."""
    default = field.default
    telling = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    return f"{field.description or ''}{f' [{default}]' if telling else ''}".strip()


def _type(field: FieldInfo) -> click.ParamType[Any]:
    """Return the click type of a field; text if only the configuration can check the value."""
    kinds = [kind for kind in _kinds(field.annotation) if kind is not type(None)]
    (kind, *others) = kinds
    if others:
        return click.STRING
    if get_origin(kind) is Literal:
        return click.Choice([str(choice) for choice in get_args(kind)])
    if kind is bool:
        return click.BOOL
    if kind in (int, float):
        return _number(kind, (*field.metadata, *metadata(field.annotation)))
    return click.STRING


def _kinds(annotation: object) -> Iterator[object]:
    """Yield the types that a value may have, without ``Annotated`` and unions."""
    if get_origin(annotation) is Annotated:
        yield from _kinds(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _kinds(part)
    else:
        yield annotation


def _number(kind: type, marks: Sequence[object]) -> click.ParamType[Any]:
    """Return a numeric type within the bounds that ``marks`` set."""
    bounds: dict[str, Any] = {}
    for mark in marks:
        if isinstance(mark, Ge | Gt):
            bounds |= {"min": mark.ge if isinstance(mark, Ge) else mark.gt, "min_open": isinstance(mark, Gt)}
        elif isinstance(mark, Le | Lt):
            bounds |= {"max": mark.le if isinstance(mark, Le) else mark.lt, "max_open": isinstance(mark, Lt)}
    if not bounds:
        return click.INT if kind is int else click.FLOAT
    return click.IntRange(**bounds) if kind is int else click.FloatRange(**bounds)
