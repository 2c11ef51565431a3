"""``hinter export-batch``."""

from __future__ import annotations

import json
import shlex

import click

from harness.cli.options import Configured, configuration
from harness.cli.output import say


@click.command("export-batch", cls=Configured)
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--again", is_flag=True, help="Include requests still awaited from an earlier batch file.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(file: str, config_file: str | None, again: bool, as_json: bool, **options: object) -> None:
    """Write the missing requests of a run to FILE as JSON lines, without sending anything.

    FILE is for `vllm run-batch`, the OpenAI Batch API and compatible services. `hinter import-batch` imports
    the answers, and `hinter run` with the same options then uses them.
    """
    import asyncio
    from pathlib import Path

    from harness.audit.batching.files import export, replies_of

    config = configuration(config_file, options)
    exported = asyncio.run(export(config, Path(file), again))
    if as_json:
        click.echo(json.dumps(exported.to_json()))
        return
    for part in exported.files:
        say(f"{part.path}: {part.requests:,} requests")
    say(f"{exported.requests:,} written, {exported.cached:,} already cached")
    if exported.expected:
        say(f"{exported.expected:,} awaited from earlier batch files (use --again to include them)")
    if exported.stopped:
        say(f"stopped: {exported.stopped}")
    for line in exported.commands:
        say(line)
    if exported.commands:
        replies = [str(replies_of(Path(part.path))) for part in exported.files]
        cache = ["--cache", config.cache] if config.cache else []
        say(shlex.join(["hinter", "import-batch", *replies, *cache]))
    if exported.choices == "none":
        say("answers are not limited to the labels: set [model] choices to what the server supports")
