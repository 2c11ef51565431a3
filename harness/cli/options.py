"""The options that ``run``, ``plan``, ``generate`` and ``check`` share; each is also a key of the TOML."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from harness.config import RunConfig

Command = TypeVar("Command", bound=Callable[..., Any])

# Option -> key of the configuration, type, help.
OPTIONS: tuple[tuple[str, str, Any, str], ...] = (
    ("--task", "task", str, "What to ask about the texts (hinter tasks)."),
    ("--data", "documents.path", str, "Texts: CSV, TSV, JSONL, Parquet, or a folder of them."),
    ("--text-column", "documents.text_column", str, "The column of the text."),
    ("--label-column", "documents.label_column", str, "The column of the gold label."),
    ("--dataset", "documents.dataset", str, "Texts: a data set of the Hugging Face hub, or a folder of one."),
    ("--dataset-name", "documents.name", str, "Which configuration of the data set."),
    ("--split", "documents.split", str, "Which split of the data set."),
    ("--revision", "documents.revision", str, "Which commit of the data set."),
    ("--labels", "task_options.labels", str, 'Labels of the task "custom": "A, B", or "A; B".'),
    ("--question", "task_options.question", str, 'The question of the task "custom".'),
    ("--multi-label/--one-label", "task_options.multi_label", bool, '"custom": may a text have several?'),
    ("--variant", "task_options.variant", str, 'Of "ecthr": a, articles violated; b, allegedly violated.'),
    ("--scale", "task_options.scale", click.IntRange(2, 9), "Tasks that rate: whole numbers from 0 to N."),
    ("--limit", "documents.limit", click.IntRange(1), "At most N documents."),
    ("--max-tokens", "documents.max_tokens", click.IntRange(1), "Shorten texts to N tokens."),
    ("--suite", "suite", str, "The test method (hinter suites)."),
    ("--attributes", "hinter.attributes", str, "Sensitive attributes, comma-separated."),
    ("--order", "hinter.order", click.IntRange(1), "At most N attributes changed at once."),
    ("--lexicon", "hinter.lexicon", str, "A bias dictionary of your own, TOML or a folder."),
    ("--max-pairs", "hinter.max_pairs", click.IntRange(1), "At most N word pairs an attribute and document."),
    (
        "--max-mutants-per-document",
        "hinter.max_mutants_per_document",
        click.IntRange(1),
        "A sample of N mutants a document, weighted.",
    ),
    (
        "--characteristic",
        "biasfinder.characteristic",
        click.Choice(["gender", "occupation", "country", "gender+occupation"]),
        "Suite biasfinder: what is varied [gender].",
    ),
    ("--templates", "biasfinder.templates", str, "Suite biasfinder: templates of your own, Parquet or text."),
    ("--names", "biasfinder.names", str, "Suite biasfinder: names of your own, TOML."),
    (
        "--max-mutants-per-template",
        "biasfinder.max_mutants_per_template",
        click.IntRange(4),
        "Suite biasfinder: a sample of N mutants a template.",
    ),
    (
        "--coreference",
        "biasfinder.coreference",
        click.Choice(["rules", "coreferee", "fastcoref", "stanza"]),
        "Suite biasfinder: what finds who is the same [rules].",
    ),
    ("--corpus", "eec.corpus", str, "Suite eec: a corpus of your own, TOML."),
    ("--instances", "eec.instances", click.IntRange(1), "Suite eec: N templates with an emotion word in."),
    ("--capability", "linguistic.capabilities", str, "Suite linguistic: which of them, as LC1,LC4 [all]."),
    ("--definitions", "linguistic.definitions", str, "Suite linguistic: capabilities of your own, TOML."),
    ("--seeds", "linguistic.seeds", click.IntRange(1), "Suite linguistic: seeds a capability [50]."),
    ("--expansions", "linguistic.expansions", click.IntRange(0), "Suite linguistic: asked about a seed [5]."),
    (
        "--suggester",
        "linguistic.suggester",
        click.Choice(["auto", "mlm", "endpoint", "ngram"]),
        "Suite linguistic: what fills the gaps.",
    ),
    ("--suggester-model", "linguistic.suggester_model", str, "The masked model, or the endpoint's model."),
    ("--suggester-url", "linguistic.suggester_base_url", str, "The suggester's endpoint, up to /v1."),
    ("--trees", "linguistic.trees", str, "Suite linguistic: stanza, stanza:FOLDER, flat or flat:PIPELINE."),
    ("--tests", "checklist.tests", str, "Suite checklist: the file of tests, JSON lines."),
    ("--cases-per-test", "checklist.limit", click.IntRange(1), "Suite checklist: N cases of each test."),
    ("--parser", "*.parser", str, "spacy, spacy:NAME, stanza, stanza:PACKAGE_OR_FOLDER, or none."),
    ("--invariant", "hinter.invariant", click.Choice(["strict", "pos", "none"]), "What must match [strict]."),
    (
        "--include-discarded/--valid-only",
        "hinter.include_discarded",
        bool,
        "Ask about discarded mutants, too: what the invariant is worth.",
    ),
    ("--prompt", "prompt", str, "A prompt file of your own, TOML."),
    ("--shots", "shots", click.IntRange(0), "How many of the prompt's examples to send."),
    ("--model", "model.name", str, "The system under test (hinter models)."),
    ("--model-file", "model.model_file", str, "A GGUF of your own for local:smollm2."),
    ("--base-url", "model.base_url", str, "An OpenAI-compatible endpoint, up to /v1."),
    ("--api-key-env", "model.api_key_env", str, "The environment variable that holds the key."),
    ("--api-key-file", "model.api_key_file", str, "A file that holds the key."),
    ("--workers", "workers", click.IntRange(1), "Processes that make the cases [1]."),
    ("--concurrency", "model.concurrency", str, "Requests at a time: a number, or auto."),
    ("--repeats", "repeats", click.IntRange(0), "Ask each original K more times, to measure noise."),
    ("--confirm", "confirm", click.IntRange(0), "Ask K more times wherever an answer changes."),
    ("--budget", "budget.adaptive", click.IntRange(1), "Spend N requests on the mutants that promise most."),
    ("--max-requests", "budget.max_requests", click.IntRange(1), "Stop after N requests sent; resumable."),
    ("--max-cost", "budget.max_cost", float, "Stop before USD are spent; needs [model] price."),
    ("--cache", "cache", str, "The response cache [cache/responses.sqlite]."),
    ("--out", "out", str, "The run folder [runs/…, named by the settings]."),
    ("--seed", "seed", int, "For every choice made by chance [0]."),
)


def settings(command: Command) -> Command:
    """Add the shared options to a command."""
    return only(*(key for _, key, _, _ in OPTIONS))(command)


def only(*keys: str) -> Callable[[Command], Command]:
    """Adds those of the shared options that set ``keys``."""

    def add(command: Command) -> Command:
        for flag, key, kind, text in reversed(OPTIONS):
            if key in keys:
                name = key.replace(".", "__").replace("*", "suite_")
                option = click.option(flag, name, type=kind, default=None, help=text)
                command = option(command)
        return command

    return add


def shared(command: Command) -> Command:
    """Add the CONFIG argument and the shared options to a command."""
    return click.argument("config_file", metavar="[CONFIG]", required=False)(settings(command))


def configuration(config_file: str | None, options: dict[str, Any], one_text: bool = False) -> RunConfig:
    """The configuration of the file with the options that were given on top."""
    from harness import config

    given = {
        key.replace("suite___", "*.").replace("__", "."): value
        for key, value in options.items()
        if value is not None
    }
    return config.load(config_file, given, one_text)
