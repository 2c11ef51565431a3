"""``hinter tasks``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, configuration

if TYPE_CHECKING:
    from harness.core import Task

LABELS_IN_FULL = 14
LABELS_OF_MANY = 3
SHOWN = (
    "documents.path",
    "documents.text_column",
    "documents.label_column",
    "documents.dataset",
    "documents.name",
    "documents.split",
    "documents.revision",
    "task_options.labels",
    "task_options.question",
    "task_options.measure",
    "task_options.multi_label",
    "task_options.variant",
    "task_options.scale",
    "prompt",
    "context",
    "shots",
)


SHOTS = "No solved example is sent unless --shots N says so; the HINTER paper sends three."


@click.command("tasks", cls=Configured, config=False, keys=SHOWN)
@click.argument("name", required=False)
@click.option("--config", "config_file", help="A configuration file (TOML).")
def command(name: str | None, config_file: str | None, **options: object) -> None:
    """List tasks; with NAME, show the messages as sent for the first text of its sample or of --data."""
    if name is None:
        for line in _listed():
            click.echo(line)
        return
    from harness.audit import assembly

    config = configuration(config_file, options, task=name)
    task, prompt, where = assembly.resolve_task(config)
    document = next(task.documents(where))
    for message in prompt.messages(document.text, config.shots):
        click.echo(f"[{message.role}]\n{message.content}\n")


def _listed() -> list[str]:
    """Return a line on examples, and for each task what it asks, its labels and the source of its texts."""
    from harness import registry

    lines = [SHOTS]
    for name in registry.tasks():
        task = registry.task(name)
        lines.append(f"{name:<14}{task.title}: {_asked_for(task)}")
        if task.labels and task.rates is None:
            lines.append(f"{'':<14}{shortened(task.labels)}")
        lines.append(f"{'':<14}{task.source}; {task.licence}")
    return lines


def _asked_for(task: Task) -> str:
    if task.measures:
        return f"texts, measured: {', '.join(task.measures)} and others"
    if task.rates is not None:
        return "a score from 0 to 1"
    kind = "several labels or none" if task.multi_label else "one label"
    return f"{kind} of {len(task.labels)}" if task.labels else "labels of your own"


def shortened(labels: Sequence[str]) -> str:
    """Return the labels, or only the first if there are very many."""
    if len(labels) <= LABELS_IN_FULL:
        return ", ".join(labels)
    return f"{', '.join(labels[:LABELS_OF_MANY])}, … ({len(labels)} in all)"
