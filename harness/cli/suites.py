"""``hinter suites``."""

from __future__ import annotations

import click

from harness.cli.output import say


@click.command("suites")
def command() -> None:
    """List test methods."""
    from harness import registry

    plugins, faults = registry.suite_plugins()
    for plugin in plugins:
        say(f"{plugin.name:<14}{plugin.about}")
    for fault in faults:
        say(fault, err=True)
