"""``hinter suites``."""

from __future__ import annotations

import click


@click.command("suites")
def command() -> None:
    """List test methods."""
    from harness import registry

    for name, about in registry.suites().items():
        click.echo(f"{name:<14}{about}")
