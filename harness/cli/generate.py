"""``hinter generate``."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.cli.options import configuration, shared


@click.command("generate")
@shared
@click.option("--overwrite", is_flag=True, help="Replace a run of other settings in --out.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(config_file: str | None, overwrite: bool, as_json: bool, **options: Any) -> None:
    """Write the cases of a run (cases/*.parquet) and stop; `hinter run` goes on from there."""
    import asyncio

    from harness import pipeline
    from harness.cli.progress import counted

    with counted("texts") as watch:
        made = asyncio.run(pipeline.generate(configuration(config_file, options), overwrite, watch))
    if as_json:
        click.echo(json.dumps(made))
        return
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in made["discarded_by_reason"].items())
    click.echo(
        f"{made['eligible']:,} texts with a term, {made['generated']:,} mutants, {made['valid']:,} valid, "
        f"{made['discarded']:,} discarded{f' ({reasons})' if reasons else ''}\n{made['folder']}/cases"
    )
