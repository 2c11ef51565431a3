"""Names to things: tasks, suites, models. Built-ins are listed here; others come by entry points.

A third party's package adds one with an entry point in the group ``harness.tasks`` (a ``Task``),
``harness.suites`` (a function from ``RunConfig`` to a ``Suite``) or ``harness.models`` (a function from
the ``[model]`` section to a ``Model``; its name is a prefix, ``NAME:…``). It is imported when selected.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from harness.config import RunConfig
from harness.core import Model, Suite, Task
from harness.errors import ConfigError, HarnessError, LexiconError, ModelError, TaskError
from harness.settings import ModelSettings as ModelConfig

BUILT_IN = (
    *("custom", "ecthr", "eurlex", "imdb", "ledgar", "scotus", "sentiment140", "sst", "sst2", "winogender"),
    *("anger", "fear", "joy", "sadness", "valence"),  # tasks that rate
)
TASKS = {name: f"harness.tasks.{name}:task" for name in BUILT_IN}
# Name -> what makes the suite, and a line on what it does.
SUITES = {
    "hinter": (
        "harness.registry:hinter_suite",
        "words for persons exchanged in real texts, one attribute at a time and several at once",
    ),
    "biasfinder": (
        "harness.registry:biasfinder_suite",
        "BiasFinder: templates mined in real texts, filled with persons of every class, compared in pairs",
    ),
    "eec": (
        "harness.registry:eec_suite",
        "the Equity Evaluation Corpus: sentences that differ in a person alone, scores compared in pairs",
    ),
    "mtnlp": (
        "harness.registry:mtnlp_suite",
        "a noun for a person replaced by its counterpart or qualified, at one place of a text (baseline)",
    ),
    "linguistic": (
        "harness.capability_suites:linguistic",
        "S²LCT: linguistic capabilities of sentiment analysis, by searched sentences and their expansions",
    ),
    "checklist": (
        "harness.capability_suites:checklist",
        "CheckList: tests written by hand of what an answer must be, stay or move towards (--tests FILE)",
    ),
}
_TARGETS = {name: target for name, (target, _) in SUITES.items()}
MODELS = {
    "local:smollm2": "SmolLM2-135M-Instruct in this process (llama.cpp), the default",
    "local:vader": "VADER, a rule-based sentiment system, instant",
    "vllm:NAME": "a model on a vLLM server of our own, started for the run",
    "transformers:NAME_OR_FOLDER": "a fine-tuned text classifier in this process",
    "python:package.module:function": "a function of your own",
    "NAME": "any OpenAI-compatible endpoint, with --base-url and --api-key-env",
}


def tasks() -> list[str]:
    return sorted(_names("harness.tasks", TASKS))


def suites() -> dict[str, str]:
    """What ``--suite`` takes, with a line on each."""
    known = {name: about for name, (_, about) in SUITES.items()}
    plugins = {
        name: f"of package {_package(point)}"
        for name, point in _names("harness.suites", _TARGETS).items()
        if isinstance(point, EntryPoint)
    }
    return known | dict(sorted(plugins.items()))


def models() -> dict[str, str]:
    """What ``--model`` takes, with a line on each."""
    return MODELS | {
        f"{name}:…": f"of package {_package(p)}" for name, p in _plugins("harness.models").items()
    }


def task(name: str, options: Mapping[str, Any] | None = None) -> Task:
    """The task called ``name``, made to ``options`` ([task_options]); None: as it is listed.

    Raises ``TaskError``, or ``ConfigError`` for an option.
    """
    found = _find("harness.tasks", TASKS, name, TaskError, "task")
    if not isinstance(found, Task):
        raise TaskError(f"task {name!r} is a {type(found).__name__}, not a Task")
    return found if options is None else _configured(found, options)


def _configured(found: Task, options: Mapping[str, Any]) -> Task:
    unknown = sorted(options.keys() - set(found.options))
    if unknown:
        takes = f"it takes {', '.join(found.options)}" if found.options else "it takes none"
        raise ConfigError(f"task_options.{unknown[0]}: not an option of task {found.name!r}: {takes}")
    if found.configure is None:
        return found
    try:
        return found.configure(options)
    except ValueError as error:
        raise ConfigError(f"task_options.{error}") from error


def suite(config: RunConfig) -> Suite:
    """The configured suite. Raises ``ConfigError``, or whatever its own parts find wrong."""
    make = _find("harness.suites", _TARGETS, config.suite, ConfigError, "suite")
    made: Suite = make(config)
    return made


def hinter_suite(config: RunConfig) -> Suite:
    from harness.language import parsers
    from harness.language.verdict_cache import DEFAULT, VerdictCache
    from harness.suites.hinter import lexicon, sampling
    from harness.suites.hinter.suite import Hinter

    section = config.hinter
    if not section.attributes:
        raise LexiconError("no attributes given: use --attributes race,gender")
    chosen = lexicon.load(section.lexicon).select(section.attributes)
    many = len(section.attributes)
    if section.order > many:
        raise ConfigError(
            f"order {section.order} is above the number of attributes, {many}"
            f" ({', '.join(section.attributes)})"
        )
    least = sampling.least(many, section.order)
    if section.max_mutants_per_document is not None and section.max_mutants_per_document < least:
        raise ConfigError(
            f"hinter.max_mutants_per_document: {many} attributes at order {section.order} need {least}"
            f" at least, not {section.max_mutants_per_document}"
        )
    return Hinter(
        chosen,
        parsers.load(section.parser),
        section.order,
        max_pairs=section.max_pairs,
        max_mutants=section.max_mutants_per_document,
        seed=config.seed,
        invariant=section.invariant,
        kept=VerdictCache(Path(config.cache).with_name(DEFAULT.name) if config.cache else DEFAULT),
    )


def biasfinder_suite(config: RunConfig) -> Suite:
    from harness.language import coreference
    from harness.suites.biasfinder import fillers, names, sources
    from harness.suites.biasfinder.gender_nouns import GenderNouns
    from harness.suites.biasfinder.occupation import Occupations
    from harness.suites.biasfinder.suite import BiasFinder

    section, nouns = config.biasfinder, GenderNouns(names.gender_nouns())
    jobs = [noun.singular for noun in names.occupations()]
    limit = section.max_mutants_per_template
    if limit is not None and limit < fillers.LEAST:
        raise ConfigError(f"biasfinder.max_mutants_per_template: give {fillers.LEAST} or more, not {limit}")
    if section.templates is not None:
        source: sources.Miner | sources.Given = sources.read(section.templates, section.characteristic)
    else:
        kind, _, pipeline = section.parser.partition(":")
        if kind != "spacy":
            raise ConfigError(f"biasfinder.parser: give spacy or spacy:NAME, not {section.parser!r}")
        resolver = coreference.load(section.coreference, pipeline or None)
        source = sources.Miner(section.characteristic or "gender", resolver, nouns, Occupations(jobs))
    cast = fillers.Casting(
        names.gender_names(section.names).first(section.names_a_class),
        names.country_names(section.names),
        jobs,
        limit,
        config.seed,
    )
    return BiasFinder(source, cast, nouns)


def eec_suite(config: RunConfig) -> Suite:
    from harness.suites.eec import corpus
    from harness.suites.eec.suite import Eec

    section, asked = config.eec, task(config.task, config.task_options.given)
    return Eec(
        corpus.load(Path(section.corpus) if section.corpus else None),
        labels=() if asked.rates is not None else asked.labels,
        rates=asked.rates,
        instances=section.instances,
        seed=config.seed,
    )


def mtnlp_suite(config: RunConfig) -> Suite:
    from harness.suites.mtnlp.suite import MtNlp

    return MtNlp()


def model(section: ModelConfig) -> Model:
    """The system under test that ``section`` names. Raises ``ModelError``."""
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
    plugins = _plugins("harness.models")
    if colon and kind in plugins:
        made: Model = _import(plugins[kind])(section)
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


def _local(name: str, section: ModelConfig) -> Model:
    from harness.models import local

    if name == "smollm2":
        return local.smollm2(section.model_file)
    if name == "vader":
        return local.VaderModel()
    raise ModelError(
        f"unknown model 'local:{name}': use local:smollm2 (also with --model-file) or local:vader"
    )


def _plugins(group: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=group):
        if point.name in found:
            raise ConfigError(
                f"{group}: {point.name!r} is given by two packages, "
                f"{_package(found[point.name])} and {_package(point)}: uninstall one"
            )
        found[point.name] = point
    return found


def _names(group: str, built_in: dict[str, str]) -> dict[str, str | EntryPoint]:
    plugins = _plugins(group)
    for name in plugins.keys() & built_in.keys():
        raise ConfigError(
            f"{group}: {name!r} of package {_package(plugins[name])} is a built-in name: uninstall it"
        )
    return {**built_in, **plugins}


def _find(group: str, built_in: dict[str, str], name: str, error: type[HarnessError], noun: str) -> Any:
    known = _names(group, built_in)
    if name not in known:
        raise error(f"unknown {noun} {name!r}: known are {', '.join(sorted(known))}")
    entry = known[name]
    if isinstance(entry, EntryPoint):
        return _import(entry)
    module, _, attribute = entry.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _import(point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as error:
        raise ConfigError(
            f"{point.group}: {point.name!r} of package {_package(point)} does not load: {error}"
        ) from error


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
