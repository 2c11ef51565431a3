"""Build the parts of an audit from a configuration, and check them before anything is sent."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import tomli_w

from harness import __version__, documents, registry
from harness.answering import measures, render
from harness.answering.budget import Budget, Prices
from harness.answering.cache import DEFAULT as DEFAULT_CACHE
from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.answering.plan import Planner
from harness.answering.reading import Reader
from harness.answering.runner import Runner
from harness.config import RunConfig
from harness.core import Case, Document, DocumentOptions, JsonObject, Task, canonical
from harness.documents.shortening import Shortener, longest
from harness.errors import ConfigError, DocumentError, ModelError, TaskError
from harness.estimates import prompt_bound, text_bound
from harness.findings.outcomes import Outcomes
from harness.folder import RunFolder
from harness.http_client import on_this_machine
from harness.keys import Key
from harness.plugins import Controls, Kit, Model, Parser, Suite

LANGUAGE = "en"
LONGEST_PARSED = 1_000_000
"""The most characters of a text that is parsed: a parser's memory grows with it."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Audit:
    """Everything a run needs.

    ``total`` is the number of documents, all of which have been read once; ``too_long`` of them are
    shortened. Besides, ``left_out`` rows were no part of the task. ``notes`` are those of ``Intake``.
    """

    config: RunConfig
    task: Task
    suite: Suite
    model: Model
    planner: Planner
    options: DocumentOptions
    total: int
    too_long: int
    left_out: int
    notes: tuple[str, ...]
    shortener: Shortener
    identity: JsonObject

    def documents(self) -> Iterator[Document]:
        """Yield the documents, shortened to fit the model; none if the suite makes its own texts."""
        if self.suite.makes_texts:
            return iter(())
        return self.shortener.shortened(self.task.documents(self.options))

    @property
    def reader(self) -> Reader:
        """The reader of replies to the planner's requests."""
        prompt = self.planner.prompt
        asked = f"{prompt.system}\n{prompt.template}\n{prompt.question}"
        return Reader.of(self.task, self.planner.constrained, self.outcomes.favourable, asked)

    @property
    def outcomes(self) -> Outcomes:
        """The outcomes that findings compare. Raises ``ConfigError``."""
        return Outcomes.of(self.task, self.config.favourable)

    @property
    def folder(self) -> RunFolder:
        """The run folder: the configured one, or one under ``runs/`` that is named by the settings."""
        return RunFolder(Path(self.config.out) if self.config.out else Path("runs") / self._name)

    @property
    def cache(self) -> Path:
        """The path of the response cache."""
        return Path(self.config.cache) if self.config.cache else DEFAULT_CACHE

    @property
    def prices(self) -> Prices | None:
        """The prices of tokens; None if they are not configured."""
        price = self.config.model.price
        return Prices(price.input, price.output, price.cached_input) if price else None

    @property
    def budget(self) -> Budget:
        """The configured budget, of which nothing is spent."""
        limits = self.config.budget
        return Budget(limits.max_requests, limits.max_cost, self.prices)

    def runner(self, cache: ResponseCache, budget: Budget | None = None) -> Runner:
        """Return a runner that keeps to the configured concurrency and rate, and to a ``budget``.

        Without one, the configured budget is that of this runner alone.
        """
        section = self.config.model
        fixed = section.concurrency if isinstance(section.concurrency, int) else None
        limiter = Limiter(
            self.model.concurrency, fixed, section.requests_per_minute, section.tokens_per_minute
        )
        return Runner(self.model, cache, limiter, budget or self.budget)

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
        """The folder's name: the same settings give the same name, so the same command resumes a run."""
        model = re.sub(r"[^\w.-]+", "-", self.model.name).strip("-")
        digest = sha256(canonical(self.identity).encode()).hexdigest()[:8]
        return f"{self.task.name}-{self.suite.name}-{model}-{digest}"


def resolve_task(config: RunConfig) -> tuple[Task, render.Prompt, DocumentOptions]:
    """Return the task, its prompt and the source of its documents. Raises ``TaskError``, ``ConfigError``."""
    task = registry.task(config.task, config.task_options.values)
    prompt = render.load(task.prompt, task.labels, config.prompt)
    if task.question is not None:
        prompt = replace(prompt, question=task.question)
    if task.rates is not None and task.labels:
        prompt = prompt.on_scale(task.labels)
    if config.context:
        prompt = prompt.within(config.context)
    if config.shots > len(prompt.examples):
        raise TaskError(
            f"--shots {config.shots}: the prompt has {len(prompt.examples)} examples:"
            " give a prompt with more, --prompt"
        )
    return task, prompt, _document_options(config, task)


def _document_options(config: RunConfig, task: Task) -> DocumentOptions:
    """Return the configured source of documents, the task's dataset at its pinned revision, or its sample."""
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


def assemble(config: RunConfig, read: bool = True) -> Audit:
    """Build the run that ``config`` describes, reading every document once to find faults now.

    Unless ``read``, no document is looked at: the texts come from elsewhere. Raises ``HarnessError``.
    """
    if config.reworded:
        raise ConfigError(
            "prompts: only hinter run and hinter plan ask under several: give one with --prompt"
        )
    config = config.of_suite(registry.resolve(config.suite, config.suite_options))
    task, prompt, options = resolve_task(config)
    _must_be_judged(config, task)
    suite = make_suite(config, task)
    if config.budget.choosing and not suite.explorable:
        key = "adaptive" if config.budget.adaptive is not None else "precision and decide"
        raise ConfigError(f"budget.{key}: the mutants of suite {suite.name!r} cannot be explored")
    model = _model(config, task)
    planner = _planner(config, task, prompt, model)
    shortener = _shortener(config, model, planner)
    total = too_long = 0
    if suite.makes_texts and (config.documents.path or config.documents.dataset):
        raise ConfigError(f"suite {suite.name!r} makes its own texts: leave --data and --dataset out")
    reads = read and not suite.makes_texts
    for document in task.documents(options) if reads else ():
        total += 1
        too_long += not shortener.fits(document)
        _must_be_parsable(document, total, suite, shortener)
    left_out = options.intake.left_out
    if left_out:
        options.intake.note(f"{left_out} of {total + left_out} rows are left out: not for task {task.name!r}")
    notes = tuple(options.intake.notes)
    for note in notes:
        log.warning("%s", note)
    return Audit(
        config=config,
        task=task,
        suite=suite,
        model=model,
        planner=planner,
        options=options,
        total=total,
        too_long=too_long,
        left_out=left_out,
        notes=notes,
        shortener=shortener,
        identity={
            **config.identity(),
            "version": __version__,
            "cases": dict(suite.identity),
            "tokens_a_text": shortener.limit,
            "texts": documents.digest(options) if reads else None,
            "measures_sha256": measures.digest(task.measures),
            "task_sha256": registry.task_digest(config.task),
            "prompt_sha256": prompt.digest,
        },
    )


def _must_be_judged(config: RunConfig, task: Task) -> None:
    """Raise ``ConfigError`` unless there is a judge exactly where a measure needs one."""
    needed = measures.PREFERENCE in task.measures
    if needed and not config.judge.name:
        raise ConfigError(f"task_options.measure: {measures.PREFERENCE} needs a judge: name it with --judge")
    if config.judge.name and not needed:
        raise ConfigError(f"judge: only the measure {measures.PREFERENCE} asks one: --measure preference")


def _model(config: RunConfig, task: Task) -> Model:
    """Return the model, bound to ``task``. Raises ``ConfigError`` or ``ModelError`` where they do not fit."""
    model = registry.make_model(config.model, config.model_options)
    given = [key for key in ("prompt", "context", "shots") if getattr(config, key)]
    if not model.capabilities.chat and given:
        key = given[0]
        raise ConfigError(f"--{key}: {model.name} reads the bare text and no prompt: leave --{key} out")
    if task.rates is not None and model.rates is not None and task.rates not in model.rates:
        raise ModelError(
            f"{model.name} rates {', '.join(model.rates)} only, not {task.rates}: use another model"
        )
    model.bind(task.labels, task.multi_label)
    Outcomes.of(task, config.favourable)
    if not model.capabilities.chat and config.model.extra:
        raise ConfigError(f"[model] extra: {model.name} takes no parameters: leave it out")
    return model


def unlabelled(config: RunConfig) -> tuple[Iterator[Document], DocumentOptions]:
    """Return the texts that ``config`` names, as a run reads and shortens them but without gold labels.

    Their options hear what is noticed on reading. Raises ``HarnessError``.
    """
    task, prompt, options = resolve_task(config)
    options = replace(options, labelled=False)
    model = registry.make_model(config.model, config.model_options)
    model.bind(task.labels, task.multi_label)
    shortener = _shortener(config, model, _planner(config, task, prompt, model))
    return shortener.shortened(task.documents(options)), options


def _planner(config: RunConfig, task: Task, prompt: render.Prompt, model: Model) -> Planner:
    return Planner(
        *(task, prompt, model, config.shots, config.seed),
        answer_tokens=config.model.answer_tokens,
        extra=config.model.extra or {},
    )


def _must_be_parsable(document: Document, number: int, suite: Suite, shortener: Shortener) -> None:
    """Raise ``DocumentError`` for a text that is too long for the parser, before anything is sent."""
    if len(document.text) <= LONGEST_PARSED or "spacy:" not in canonical(dict(suite.identity)):
        return
    (document,) = shortener.shortened(iter([document]))
    if (characters := len(document.text)) > LONGEST_PARSED:
        raise DocumentError(
            f"text {number} (id {document.id}) has {characters:,} characters, and {LONGEST_PARSED:,} are the"
            " most that are parsed: split it, or set [documents] max_tokens"
        )


def make_suite(config: RunConfig, task: Task | None = None) -> Suite:
    """Make the suite that ``config`` names; ``task`` is loaded if it is not passed."""
    return registry.make_suite(config.suite, config.suite_options, kit(config, task))


def kit(config: RunConfig, task: Task | None = None) -> Kit:
    """Return the kit that a suite of this run is made with; ``task`` is loaded if it is not passed."""
    return Kit(
        task=task or registry.task(config.task, config.task_options.values),
        seed=config.seed,
        language=LANGUAGE,
        cache=(Path(config.cache) if config.cache else DEFAULT_CACHE).parent,
        load_parser=_parser,
        read_key=_key,
        control=config.control if config.budget.controlled else Controls(share=0),
    )


def _parser(name: str) -> Parser | None:
    from harness.language import parsers

    return parsers.load(name)


def _key(variable: str | None, address: str) -> str:
    return Key(variable, needed=not on_this_machine(address)).read()


def _shortener(config: RunConfig, model: Model, planner: Planner) -> Shortener:
    """Return what shortens texts to ``[documents] max_tokens``, or to the room beside prompt and answer.

    Raises ``ConfigError`` if the prompt leaves no room in the model's context.
    """
    limit, context = config.documents.max_tokens, config.model.context or model.context
    if limit is None and context is not None:
        bare = planner.request(Case("", "", "", "original", ""))
        asked = prompt_bound(bare.messages) + bare.token_limit if model.capabilities.chat else 0
        limit = longest(context - asked)
        if limit < 1:
            raise ConfigError(f"the prompt leaves no room for a text in {model.name}'s {context} tokens")

    def count(text: str) -> int:
        """Count the tokens of ``text``; without a tokenizer, return an upper bound."""
        tokens = model.count_tokens(text)
        return text_bound(text) if tokens is None else tokens

    return Shortener(limit, count)
