"""Names to things: tasks, suites, models. Built-ins are listed here; others come by entry points.

A third party's package adds one with an entry point in the group ``harness.tasks`` (a ``Task``),
``harness.suites`` (a ``SuitePlugin``) or ``harness.models`` (a function from the ``[model]`` section to a
``Model``; its name is a prefix, ``NAME:…``). It is imported when selected. Built-ins come through the same
door; what comes through is checked, and a fault is one line that names the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from harness.core import Model, Task
from harness.errors import ConfigError, HarnessError, ModelError, TaskError
from harness.plugins import Check, Kit, Options, Suite, SuitePlugin
from harness.settings import ModelSettings
from harness.task_files import TaskFile, is_file

TASK_GROUP = "harness.tasks"
SUITE_GROUP = "harness.suites"
MODEL_GROUP = "harness.models"
BUILT_IN: Mapping[str, tuple[str, ...]] = {
    TASK_GROUP: (
        *("custom", "ecthr", "eurlex", "imdb", "ledgar", "scotus", "sentiment140", "sst", "sst2"),
        *("winogender", "anger", "fear", "joy", "sadness", "valence"),
    ),
    SUITE_GROUP: ("hinter", "biasfinder", "eec", "mtnlp", "linguistic", "checklist"),
    MODEL_GROUP: (),
}
TARGETS = {TASK_GROUP: "harness.tasks.{}:task", SUITE_GROUP: "harness.suites.{}.plugin:plugin"}
MODELS = {
    "local:smollm2": "SmolLM2-135M-Instruct in this process (llama.cpp), the default",
    "local:vader": "VADER, a rule-based sentiment system, instant",
    "vllm:NAME": "a model on a vLLM server of our own, started for the run",
    "transformers:NAME_OR_FOLDER": "a fine-tuned text classifier in this process",
    "python:package.module:function": "a function of your own",
    "NAME": "any OpenAI-compatible endpoint, with --base-url and --api-key-env",
}
MISSPELT = 0.85
"""How alike a name must be to one of ``Suite``, from 0 to 1, to be taken for it."""

Thing = TypeVar("Thing")
AnySuitePlugin = SuitePlugin[Any]


def tasks() -> list[str]:
    """Return the names that ``--task`` takes."""
    return sorted(_points(TASK_GROUP))


def task(name: str, options: Mapping[str, Any] | None = None) -> Task:
    """Return the task called ``name``, or in the file ``name``, made to ``options`` ([task_options]).

    ``options`` None: as it is listed. Raises ``TaskError``, or ``ConfigError`` for an option.
    """
    if is_file(name):
        file = TaskFile(name)
        return file.beside(_configured(file.load(), options))
    return _configured(_load(_point(TASK_GROUP, name, TaskError, "task"), Task, "task"), options)


def task_digest(name: str) -> str | None:
    """Return the SHA-256 of a task file's source; None for a task with a name."""
    return TaskFile(name).digest if is_file(name) else None


def _configured(task: Task, options: Mapping[str, Any] | None) -> Task:
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
    """Return the names that ``--suite`` takes, built-in ones first. Loads nothing."""
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
    """Return the plug-ins of all suites, and a line on each that does not load."""
    plugins, faults = [], []
    for name in suites():
        try:
            plugins.append(suite_plugin(name))
        except ConfigError as error:
            faults.append(str(error))
    return plugins, faults


def make_suite(name: str, options: Options, kit: Kit) -> Suite:
    """Make the suite called ``name``. Raises ``ConfigError``, or whatever its own parts find wrong."""
    plugin, point = suite_plugin(name), _point(SUITE_GROUP, name, ConfigError, "suite")
    with _blamed(point):
        suite = plugin.make(plugin.resolve(options), kit)
    if not isinstance(suite, Suite):
        raise ConfigError(f"{_named(point)} makes a {type(suite).__name__}, not a Suite")
    for member, meant in _misspelt(type(suite)):
        raise ConfigError(
            f"{_named(point)}: {type(suite).__name__}.{member} is no member of Suite: did you mean {meant}?"
        )
    return suite


def for_sample(name: str, options: Options) -> Options:
    """Return the options of the suite called ``name`` for the task's bundled sample."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        adapted: Options = suite_plugin(name).for_sample(options)
    return adapted


def resolve(name: str, options: Options) -> Options:
    """Return the options of the suite called ``name`` with what follows from others filled in."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        resolved: Options = suite_plugin(name).resolve(options)
    return resolved


def suite_checks(name: str, options: Options, kit: Kit) -> list[Check]:
    """Return what can be tried of the suite called ``name``."""
    with _blamed(_point(SUITE_GROUP, name, ConfigError, "suite")):
        return list(suite_plugin(name).checks(options, kit))


def _misspelt(suite: type[Suite]) -> Iterator[tuple[str, str]]:
    """Yield each public attribute that is close to a member of ``Suite`` which the class leaves as it is."""
    inherited = {name for name in dir(Suite) if not name.startswith("_")}
    untouched = {name for name in inherited if _defined(suite, name) is Suite}
    for name in dir(suite):
        if not name.startswith("_") and name not in inherited:
            for meant in get_close_matches(name, untouched, 1, MISSPELT):
                yield name, meant


def _defined(suite: type[Suite], name: str) -> type | None:
    return next((base for base in suite.__mro__ if name in vars(base)), None)


def models() -> dict[str, str]:
    """Return what ``--model`` takes, with a line on each."""
    return MODELS | {f"{name}:…": f"of package {_package(p[0])}" for name, p in _points(MODEL_GROUP).items()}


def model(section: ModelSettings) -> Model:
    """Return the system under test that ``section`` names. Raises ``ModelError``."""
    kind, colon, rest = section.name.partition(":")
    if kind == "local":
        return _local(rest, section)
    if kind == "python":
        from harness.models import function

        return function.load(rest)
    if kind == "vllm" and colon:
        from harness.models import vllm

        return vllm.load(rest, section)
    if kind == "transformers" and colon:
        from harness.models import transformers

        return transformers.load(rest, section)
    if colon and kind in _points(MODEL_GROUP):
        point = _point(MODEL_GROUP, kind, ModelError, "model")
        with _blamed(point, "does not load"):
            made: Model = point.load()(section)
        return made
    if section.base_url is None and (colon or "/" in section.name):
        raise ModelError(f"unknown model {section.name!r}: use {', '.join(models())}")
    from harness.models.openai import OpenAIModel

    return OpenAIModel(
        section.name,
        section.base_url,
        section.api_key_env,
        api_key_file=section.api_key_file,
        api_version=section.api_version,
        choices=section.choices,
    )


def _local(name: str, section: ModelSettings) -> Model:
    from harness.models import local

    if name == "smollm2":
        return local.smollm2(section.model_file)
    if name == "vader":
        return local.VaderModel()
    raise ModelError(
        f"unknown model 'local:{name}': use local:smollm2 (also with --model-file) or local:vader"
    )


def _points(group: str) -> dict[str, list[EntryPoint]]:
    """The entry points of a group by name, built-ins first; several of one name are a fault of that name."""
    points = {name: [EntryPoint(name, TARGETS[group].format(name), group)] for name in BUILT_IN[group]}
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, _package(point))):
        points.setdefault(point.name, []).append(point)
    return points


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
            f"{group}: {name!r} is given by two packages, {_package(first)} and {_package(others[0])}:"
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
    """Turn any exception of a third party's code into a ``ConfigError``; a fault of ours stays what it is."""
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
