"""``hinter suites``."""

from __future__ import annotations

import click


@click.command("suites")
def command() -> None:
    """List test methods."""
    from harness import registry

    for name in registry.suites():
        click.echo(name)
