"""``hinter models``."""

from __future__ import annotations

import click


@click.command("models")
def command() -> None:
    """List systems under test: the values of --model."""
    from harness import registry

    for name, text in registry.models().items():
        click.echo(f"{name:<34}{text}")
    for fault in registry.model_plugins()[1]:
        click.echo(fault, err=True)
