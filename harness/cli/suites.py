"""``hinter suites``."""

from __future__ import annotations

import click


@click.command("suites")
def command() -> None:
    """List test methods."""
    from harness import registry

    plugins, faults = registry.suite_plugins()
    for plugin in plugins:
        click.echo(f"{plugin.name:<14}{plugin.about}")
    for fault in faults:
        click.echo(fault, err=True)
