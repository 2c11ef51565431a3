"""From a configuration to the parts of an audit, checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import tomli_w

from harness import __version__, documents, registry
from harness.answering import render
from harness.answering.budget import Budget, Prices
from harness.answering.cache import DEFAULT as DEFAULT_CACHE
from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.answering.plan import Planner
from harness.answering.reading import Reader
from harness.answering.runner import Runner
from harness.config import RunConfig
from harness.core import Case, Document, DocumentOptions, JsonObject, Task, canonical
from harness.documents.shortening import TOKENS_A_MUTANT_ADDS, Shortener
from harness.errors import ConfigError, ModelError, TaskError
from harness.estimates import prompt_bound, text_bound
from harness.folder import RunFolder
from harness.http_client import Key, on_this_machine
from harness.plugins import Kit, Model, Parser, Suite

LANGUAGE = "en"


@dataclass(frozen=True)
class Audit:
    """All that a run needs. ``total`` is the number of documents, each of them read once already, of which
    ``too_long`` are shortened."""

    config: RunConfig
    task: Task
    suite: Suite
    model: Model
    planner: Planner
    options: DocumentOptions
    total: int
    too_long: int
    shortener: Shortener
    identity: JsonObject

    def documents(self) -> Iterator[Document]:
        """The texts, those that do not fit the model shortened; none for a suite that makes its own."""
        if self.suite.makes_texts:
            return iter(())
        return self.shortener.shortened(self.task.documents(self.options))

    @property
    def reader(self) -> Reader:
        """What reads the replies to the planner's requests."""
        return Reader.of(self.task, self.planner.constrained)

    @property
    def folder(self) -> RunFolder:
        return RunFolder(Path(self.config.out) if self.config.out else Path("runs") / self._name)

    @property
    def cache(self) -> Path:
        return Path(self.config.cache) if self.config.cache else DEFAULT_CACHE

    @property
    def prices(self) -> Prices | None:
        price = self.config.model.price
        return Prices(price.input, price.output, price.cached_input) if price else None

    def runner(self, cache: ResponseCache) -> Runner:
        """Asks the model, as much at a time and as much in all as the configuration says."""
        section, limits = self.config.model, self.config.budget
        fixed = section.concurrency if isinstance(section.concurrency, int) else None
        limiter = Limiter(
            self.model.concurrency, fixed, section.requests_per_minute, section.tokens_per_minute
        )
        return Runner(self.model, cache, limiter, Budget(limits.max_requests, limits.max_cost, self.prices))

    @property
    def resolved(self) -> str:
        """The whole configuration as TOML, defaults filled in; it holds no secret."""
        return tomli_w.dumps(self.config.resolved())

    @property
    def about(self) -> str:
        """The run in a line, for its log; ``run.toml`` has all settings."""
        texts = f"{self.total} texts" if self.total else "texts of its own"
        parser = self.suite.identity.get("parser", "none")
        return (
            f"hinter {__version__}, suite {self.suite.name} on {texts}, parser {parser},"
            f" task {self.task.name}, model {self.model.name}, seed {self.config.seed}"
        )

    @property
    def _name(self) -> str:
        """The same settings give the same folder, so the same command takes up the same run."""
        model = re.sub(r"[^\w.-]+", "-", self.model.name).strip("-")
        digest = sha256(canonical(self.identity).encode()).hexdigest()[:8]
        return f"{self.task.name}-{self.suite.name}-{model}-{digest}"


def asked(config: RunConfig) -> tuple[Task, render.Prompt, DocumentOptions]:
    """The task, what is asked, and where the texts are. Raises ``TaskError``, ``ConfigError``."""
    task = registry.task(config.task, config.task_options.given)
    prompt = render.load(task.prompt, task.labels, config.prompt)
    if task.question is not None:
        prompt = replace(prompt, question=task.question)
    if task.rates is not None:
        prompt = prompt.on_scale(task.labels)
    if config.shots > len(prompt.examples):
        raise TaskError(
            f"--shots {config.shots}: the prompt has {len(prompt.examples)} examples:"
            " give a prompt with more, --prompt"
        )
    return task, prompt, _document_options(config, task)


def _document_options(config: RunConfig, task: Task) -> DocumentOptions:
    """What is configured; a data set of the task with its pinned revision; or the task's sample."""
    section = config.documents
    hub = task.hub if task.hub is not None and task.hub.dataset == section.dataset else None
    name, split, revision = (hub.name, hub.split, hub.revision) if hub else (None, None, None)
    return DocumentOptions(
        path=section.path or (task.sample if section.dataset is None else None),
        text_column=section.text_column,
        label_column=section.label_column,
        limit=section.limit,
        dataset=section.dataset,
        name=section.name or name,
        split=section.split or split,
        revision=section.revision or revision,
    )


def assemble(config: RunConfig) -> Audit:
    """The parts of the run that ``config`` describes. Reads every document once, to find faults now."""
    config = config.of_suite(registry.resolve(config.suite, config.suite_options))
    task, prompt, options = asked(config)
    suite = make_suite(config, task)
    if config.budget.adaptive is not None and not suite.explorable:
        raise ConfigError(f"budget.adaptive: the mutants of suite {suite.name!r} cannot be explored")
    model = registry.make_model(config.model, config.model_options)
    if not model.capabilities.chat and (config.prompt or config.shots):
        key = "prompt" if config.prompt else "shots"
        raise ConfigError(f"--{key}: {model.name} reads the bare text and no prompt: leave --{key} out")
    if task.rates is not None and model.rates is not None and task.rates not in model.rates:
        raise ModelError(
            f"{model.name} rates {', '.join(model.rates)} only, not {task.rates}: use another model"
        )
    model.bind(task.labels, task.multi_label)
    planner = Planner(task, prompt, model, config.shots, config.seed)
    shortener = _shortener(config, model, planner)
    total = too_long = 0
    if suite.makes_texts and (config.documents.path or config.documents.dataset):
        raise ConfigError(f"suite {suite.name!r} makes its own texts: leave --data and --dataset out")
    for document in () if suite.makes_texts else task.documents(options):
        total += 1
        too_long += not shortener.fits(document)
    return Audit(
        config=config,
        task=task,
        suite=suite,
        model=model,
        planner=planner,
        options=options,
        total=total,
        too_long=too_long,
        shortener=shortener,
        identity={
            **config.identity(),
            "version": __version__,
            "cases": dict(suite.identity),
            "tokens_a_text": shortener.limit,
            "texts": None if suite.makes_texts else documents.digest(options),
            "task_sha256": registry.task_digest(config.task),
            "prompt_sha256": prompt.digest,
        },
    )


def make_suite(config: RunConfig, task: Task | None = None) -> Suite:
    """Make the suite that ``config`` names; ``task`` is what the model is asked, where it is at hand."""
    return registry.make_suite(config.suite, config.suite_options, kit(config, task))


def kit(config: RunConfig, task: Task | None = None) -> Kit:
    """Return what a suite of this run is made with."""
    return Kit(
        task=task or registry.task(config.task, config.task_options.given),
        seed=config.seed,
        language=LANGUAGE,
        cache=(Path(config.cache) if config.cache else DEFAULT_CACHE).parent,
        load_parser=_parser,
        read_key=_key,
    )


def _parser(name: str) -> Parser | None:
    from harness.language import parsers

    return parsers.load(name)


def _key(variable: str | None, address: str) -> str:
    return Key(variable, needed=not on_this_machine(address)).read()


def _shortener(config: RunConfig, model: Model, planner: Planner) -> Shortener:
    """What fits: ``[documents] max_tokens``, or what the model's context leaves beside prompt and answer."""
    limit, context = config.documents.max_tokens, config.model.context or model.context
    if limit is None and context is not None:
        bare = planner.request(Case("", "", "", "original", ""))
        limit = context - TOKENS_A_MUTANT_ADDS
        if model.capabilities.chat:
            limit -= prompt_bound(bare.messages)
            limit -= int(bare.sampling["max_tokens"])
        if limit < 1:
            raise ConfigError(f"the prompt leaves no room for a text in {model.name}'s {context} tokens")

    def count(text: str) -> int:
        tokens = model.count_tokens(text)
        return text_bound(text) if tokens is None else tokens

    return Shortener(limit, count)
