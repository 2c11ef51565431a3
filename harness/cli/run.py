"""``hinter run``."""

from __future__ import annotations

import sys
from typing import Any

import click

from harness.cli.options import ONLY_RUN, Configured, configuration


@click.command("run", cls=Configured, also=ONLY_RUN)
@click.option("--overwrite", is_flag=True, help="Replace a run of other settings in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print summary.json on standard output.")
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def command(config_file: str | None, overwrite: bool, as_json: bool, quiet: bool, **options: Any) -> int:
    """Audit a model on texts.

    With no arguments: the bundled sample against the embedded language model. The settings come from the
    TOML file CONFIG; an option on the command line wins. The same command takes up a run that stopped.
    """
    from pathlib import Path

    from harness.cli import execution
    from harness.report import summary, terminal

    config = configuration(config_file, options)
    figures = execution.audit(config, overwrite, quiet)
    folder = Path(figures["folder"])
    if not quiet:
        terminal.show(figures, folder)
    if as_json:
        sys.stdout.write((folder / "summary.json").read_text(encoding="utf-8") + "\n")
    if figures["status"] == "interrupted":
        return 130
    limit = config.fail_above
    over = summary.crossed(figures, limit) if limit is not None else []
    for row in over:
        click.echo(
            f"hinter: {'+'.join(row['attributes'])}: rate {row['rate']:.4f} is above {limit}", err=True
        )
    if over:
        return 1
    return 3 if figures["status"] == "partial" else 0
