"""``hinter export-batch``."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.cli.options import Configured, configuration


@click.command("export-batch", cls=Configured)
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--again", is_flag=True, help="Also what an earlier batch file is still to bring.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(file: str, config_file: str | None, again: bool, as_json: bool, **options: Any) -> None:
    """Write a run's missing requests to FILE, as JSON lines; send nothing.

    FILE is for `vllm run-batch`, the OpenAI Batch API, and all that read the same lines. `hinter
    import-batch` takes the answers in, and `hinter run` with the same options then finds them.
    """
    import asyncio
    from pathlib import Path

    from harness.audit.batching.files import export

    counts = asyncio.run(export(configuration(config_file, options), Path(file), again))
    if as_json:
        click.echo(json.dumps(counts))
        return
    for written in counts["files"]:
        click.echo(f"{written['path']}: {written['requests']:,} requests")
    click.echo(f"{counts['requests']:,} written, {counts['cached']:,} in the cache already")
    if counts["expected"]:
        click.echo(f"{counts['expected']:,} left to earlier batch files (--again writes them too)")
    if counts["stopped"]:
        click.echo(f"stopped: {counts['stopped']}")
    if counts["choices"] == "none":
        click.echo("answers are not held to the labels: [model] choices says how the server can be told to")
