"""``hinter models``."""

from __future__ import annotations

import click

from harness.cli.output import say


@click.command("models")
def command() -> None:
    """List systems under test: the values of --model."""
    from harness import registry

    for name, text in registry.models().items():
        say(f"{name:<34}{text}")
    for fault in registry.model_plugins()[1]:
        say(fault, err=True)
