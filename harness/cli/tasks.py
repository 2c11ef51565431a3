"""``hinter tasks``."""

from __future__ import annotations

import click


@click.command("tasks")
@click.argument("name", required=False)
@click.option("--prompt", help="A prompt file of your own, TOML.")
@click.option("--shots", type=click.IntRange(0), default=0, help="How many of the prompt's examples to send.")
def command(name: str | None, prompt: str | None, shots: int) -> None:
    """List tasks; with NAME, show the messages as they are sent for the first text of its sample."""
    from harness import registry
    from harness.answering import render
    from harness.core import DocumentOptions

    if name is None:
        for known in registry.tasks():
            task = registry.task(known)
            kind = "several labels" if task.multi_label else "one label"
            click.echo(f"{known:<14}{task.title}: {kind} of {', '.join(task.labels)}")
            click.echo(f"{'':<14}{task.source}; {task.licence}")
        return
    task = registry.task(name)
    loaded = render.load(task.prompt, task.labels, prompt)
    document = next(task.documents(DocumentOptions(limit=1)))
    for message in loaded.messages(document.text, shots):
        click.echo(f"[{message.role}]\n{message.content}\n")
