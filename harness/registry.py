"""Look up tasks, suites and models by name: built-ins, which are listed here, and plug-ins.

A package adds one with an entry point in the group ``harness.tasks`` (a ``Task``), ``harness.suites`` (a
``SuitePlugin``) or ``harness.models`` (a ``ModelPlugin``, whose name is the prefix in ``NAME:…``). It is
imported when it is selected. Built-ins are loaded in the same way. Plug-ins are checked, and a fault in one
is reported in one line that names the package.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from harness.core import Task
from harness.errors import ConfigError, HarnessError, ModelError, TaskError
from harness.plugins import (
    Check,
    Kit,
    Model,
    ModelKit,
    ModelPlugin,
    Options,
    Scorer,
    Suite,
    SuitePlugin,
)
from harness.settings import ModelSettings
from harness.task_files import TaskFile, is_file

TASK_GROUP = "harness.tasks"
SUITE_GROUP = "harness.suites"
MODEL_GROUP = "harness.models"
BUILT_IN: Mapping[str, tuple[str, ...]] = {
    TASK_GROUP: (
        *("custom", "ecthr", "eurlex", "free", "imdb", "ledgar", "scotus", "sentiment140", "sst", "sst2"),
        *("winogender", "anger", "fear", "joy", "sadness", "valence"),
    ),
    SUITE_GROUP: ("hinter", "biasfinder", "eec", "mtnlp", "linguistic", "checklist"),
    MODEL_GROUP: ("local", "vllm", "transformers", "python", "inspect", "guard", "openai"),
}
TARGETS = {
    TASK_GROUP: "harness.tasks.{}:task",
    SUITE_GROUP: "harness.suites.{}.plugin:plugin",
    MODEL_GROUP: "harness.models.{}:plugin",
}
AWAY = {"guard": "harness.guarded:plugin"}
"""Built-in models that stand apart from the others, since they are made of more than a model."""
ENDPOINT = "openai"
"""The kind of a model whose name has no kind."""
MISSPELT = 0.85
"""The similarity (0 to 1) above which a name counts as a misspelt member of ``Suite`` or ``Model``."""

Thing = TypeVar("Thing")
AnySuitePlugin = SuitePlugin[Any]
AnyModelPlugin = ModelPlugin[Any]


def tasks() -> list[str]:
    """Return the names that ``--task`` accepts, sorted. Loads nothing."""
    return sorted(_points(TASK_GROUP))


def task(name: str, options: Mapping[str, object] | None = None) -> Task:
    """Return the task called ``name``, or in the file ``name``, configured by ``options`` ([task_options]).

    With ``options`` None it is left unconfigured, as for a listing. Raises ``TaskError``, or ``ConfigError``
    for an option.
    """
    if is_file(name):
        file = TaskFile(name)
        return file.beside(_configured(file.load(), options))
    return _configured(_load(_point(TASK_GROUP, name, TaskError, "task"), Task, "task"), options)


def task_digest(name: str) -> str | None:
    """Return the SHA-256 of a task file's source; None for a task with a name."""
    return TaskFile(name).digest if is_file(name) else None


def _configured(task: Task, options: Mapping[str, object] | None) -> Task:
    if options is None:
        return task
    unknown = sorted(options.keys() - set(task.options))
    if unknown:
        takes = f"it takes {', '.join(task.options)}" if task.options else "it takes none"
        raise ConfigError(f"task_options.{unknown[0]}: not an option of task {task.name!r}: {takes}")
    if task.configure is None:
        return task
    try:
        return task.configure(options)
    except ValueError as error:
        raise ConfigError(f"task_options.{error}") from error


def suites() -> list[str]:
    """Return the names that ``--suite`` accepts, built-in ones first. Loads nothing."""
    return list(_points(SUITE_GROUP))


def suite_plugin(name: str) -> AnySuitePlugin:
    """Return the plug-in of the suite called ``name``. Raises ``ConfigError``."""
    point = _point(SUITE_GROUP, name, ConfigError, "suite")
    plugin: AnySuitePlugin = _load(point, SuitePlugin, "suite")
    if plugin.name != name:
        raise ConfigError(f"{_named(point)} calls itself {plugin.name!r}: give both one name")
    if not (isinstance(plugin.options, type) and issubclass(plugin.options, Options)):
        raise ConfigError(f"{_named(point)}: its options are no class derived from Options")
    return plugin


def suite_plugins() -> tuple[list[AnySuitePlugin], list[str]]:
    """Return the plug-ins of all suites, and a message on each that does not load."""
    return _loaded(SUITE_GROUP, suite_plugin)


def make_suite(name: str, options: Options, kit: Kit) -> Suite:
    """Make the suite called ``name``. Raises ``HarnessError``."""
    plugin, point = suite_plugin(name), _point(SUITE_GROUP, name, ConfigError, "suite")
    with _blamed(point):
        suite = plugin.make(plugin.resolve(options), kit)
    if not isinstance(suite, Suite):
        raise ConfigError(f"{_named(point)} makes a {type(suite).__name__}, not a Suite")
    for member, meant in _misspelt(type(suite), Suite):
        raise ConfigError(
            f"{_named(point)}: {type(suite).__name__}.{member} is no member of Suite: did you mean {meant}?"
        )
    return suite


def for_sample(name: str, options: Options) -> Options:
    """Return the options of the suite called ``name``, adapted to the task's bundled sample."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        adapted: Options = suite_plugin(name).for_sample(options)
    return adapted


def for_versions(name: str, options: Options) -> Options:
    """Return the options of the suite called ``name``, adapted to who wants versions of texts, not a test."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        adapted: Options = suite_plugin(name).for_versions(options)
    return adapted


def resolve(name: str, options: Options) -> Options:
    """Return the options of the suite called ``name``, with those that follow from others filled in."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        resolved: Options = suite_plugin(name).resolve(options)
    return resolved


def suite_checks(name: str, options: Options, kit: Kit) -> list[Check]:
    """Return the checks that ``hinter doctor`` makes of the suite called ``name``."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        return list(suite_plugin(name).checks(options, kit))


def model_plugins() -> tuple[list[AnyModelPlugin], list[str]]:
    """Return the plug-ins of all kinds of models, and a message on each that does not load."""
    return _loaded(MODEL_GROUP, model_plugin)


def models() -> dict[str, str]:
    """Return the names that ``--model`` accepts, each with a line of description."""
    lines: dict[str, str] = {}
    for plugin in model_plugins()[0]:
        point = _point(MODEL_GROUP, plugin.name, ModelError, "kind of model")
        package = f" (package {_package(point)})" if point.dist else ""
        lists = plugin.lists or {f"{plugin.name}:NAME": plugin.about}
        lines |= {name: f"{about}{package}" for name, about in lists.items()}
    return lines


def model_kinds() -> list[str]:
    """Return the kinds of models, built-in ones first. Loads nothing."""
    return list(_points(MODEL_GROUP))


def model_kind(settings: ModelSettings) -> tuple[str, str]:
    """Return the kind of the model that ``settings`` name, and its name within that kind.

    A name without a kind is a model behind an endpoint. Raises ``ModelError`` if it can be neither.
    """
    kind, colon, name = settings.name.partition(":")
    if kind in _points(MODEL_GROUP) and (colon or settings.base_url is None):
        return kind, name
    if settings.base_url is None and (colon or "/" in settings.name):
        raise ModelError(f"unknown model {settings.name!r}: use {', '.join(models())}")
    return ENDPOINT, settings.name


def model_plugin(kind: str) -> AnyModelPlugin:
    """Return the plug-in of the models of a ``kind``. Raises ``ModelError``, ``ConfigError``."""
    point = _point(MODEL_GROUP, kind, ModelError, "kind of model")
    plugin: AnyModelPlugin = _load(point, ModelPlugin, "model")
    if plugin.name != kind:
        raise ConfigError(f"{_named(point)} calls itself {plugin.name!r}: give both one name")
    if not (isinstance(plugin.options, type) and issubclass(plugin.options, Options)):
        raise ConfigError(f"{_named(point)}: its options are no class derived from Options")
    return plugin


def make_model(settings: ModelSettings, options: Options) -> Model:
    """Make the system under test that ``settings`` name. Raises ``ModelError``, ``ConfigError``."""
    kind, name = model_kind(settings)
    point, plugin = _point(MODEL_GROUP, kind, ModelError, "kind of model"), model_plugin(kind)
    with _blamed(point, f"cannot make {settings.name!r}"):
        model = plugin.make(options, ModelKit(name, settings))
    if not isinstance(model, Model):
        raise ConfigError(f"{_named(point)} makes a {type(model).__name__}, not a Model")
    for member, meant in _misspelt(type(model), Model):
        raise ConfigError(
            f"{_named(point)}: {type(model).__name__}.{member} is no member of Model: did you mean {meant}?"
        )
    for member in ("name", "identity"):
        if not hasattr(model, member):
            raise ConfigError(f"{_named(point)}: {type(model).__name__} has no {member!r}")
    if not inspect.iscoroutinefunction(model.answer):
        raise ConfigError(f"{_named(point)}: {type(model).__name__}.answer must be an async function")
    return model


def make_scorer(settings: ModelSettings, options: Options) -> Scorer | None:
    """Make the scorer of fluency that ``settings`` name; return None if the model gives no likelihoods."""
    kind, name = model_kind(settings)
    with _blamed(_point(MODEL_GROUP, kind, ModelError, "kind of model")):
        scorer: Scorer | None = model_plugin(kind).scorer(options, ModelKit(name, settings))
    return scorer


def _misspelt(kind: type, base: type) -> Iterator[tuple[str, str]]:
    """Yield each public attribute of ``kind`` that resembles a member of ``base``, and that member.

    Members that ``kind`` overrides are not meant by a misspelling.
    """
    inherited = {name for name in dir(base) if not name.startswith("_")}
    untouched = {name for name in inherited if _defined(kind, name) is base}
    for name in dir(kind):
        if not name.startswith("_") and name not in inherited:
            for meant in get_close_matches(name, untouched, 1, MISSPELT):
                yield name, meant


def _defined(kind: type, name: str) -> type | None:
    return next((base for base in kind.__mro__ if name in vars(base)), None)


def _loaded(group: str, load: Callable[[str], Thing]) -> tuple[list[Thing], list[str]]:
    plugins: list[Thing] = []
    faults: list[str] = []
    try:
        names = list(_points(group))
    except ConfigError as error:
        names, faults = list(BUILT_IN[group]), [str(error)]
    for name in names:
        try:
            plugins.append(load(name))
        except ConfigError as error:
            faults.append(str(error))
    return plugins, faults


def _points(group: str) -> dict[str, list[EntryPoint]]:
    """Return the entry points of a group by name, built-ins first; a name with several is an error on use."""
    targets = {name: TARGETS[group].format(name) for name in BUILT_IN[group]}
    targets |= AWAY if group == MODEL_GROUP else {}
    points = {name: [EntryPoint(name, target, group)] for name, target in targets.items()}
    for point in _installed(group, tuple(sys.path)):
        points.setdefault(point.name, []).append(point)
    return points


@cache
def _installed(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return the entry points of the packages on ``path``, that is ``sys.path``; cached, as it is slow."""
    return tuple(sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))))


def _point(group: str, name: str, error: type[HarnessError], noun: str) -> EntryPoint:
    points = _points(group)
    if name not in points:
        raise error(f"unknown {noun} {name!r}: known are {', '.join(sorted(points))}")
    first, *others = points[name]
    if others and first.dist is None:
        raise ConfigError(
            f"{group}: {name!r} of package {_package(others[0])} is a built-in name: uninstall it"
        )
    if others:
        raise ConfigError(
            f"{group}: {name!r} is in two packages, {_package(first)} and {_package(others[0])}:"
            " uninstall one"
        )
    return first


def _load(point: EntryPoint, kind: type[Thing], noun: str) -> Thing:
    with _blamed(point, "does not load"):
        thing = point.load()
    if not isinstance(thing, kind):
        raise ConfigError(f"{_named(point)} is a {type(thing).__name__}, not a {kind.__name__}")
    return thing


@contextmanager
def _blamed(point: EntryPoint, what: str = "fails") -> Iterator[None]:
    """Turn any exception of a plug-in into a ``ConfigError``; those of built-in code pass through."""
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:
        if point.dist is None:
            raise
        why = " ".join(str(error).split())
        raise ConfigError(f"{_named(point)} {what}: {type(error).__name__}: {why}") from error


def _named(point: EntryPoint) -> str:
    return f"{point.group}: {point.name!r} of package {_package(point)}"


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "hinter-harness"
