"""``hinter import-batch``."""

from __future__ import annotations

import json

import click

from harness.cli.output import say


@click.command("import-batch")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--cache", type=str, help="The response cache [cache/responses.sqlite].")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(files: tuple[str, ...], cache: str | None, as_json: bool) -> int:
    """Import the replies in each FILE, an output or error file of a batch, into the cache.

    Exit code 3: some lines hold no reply; `hinter run` asks what is still missing.
    """
    import asyncio
    from pathlib import Path

    from harness.answering.cache import DEFAULT
    from harness.audit.batching.files import take_in

    taken = asyncio.run(take_in(Path(cache) if cache else DEFAULT, [Path(file) for file in files]))
    problems = taken.problems()
    if as_json:
        click.echo(json.dumps(taken.to_json()))
    else:
        click.echo(f"{taken.new:,} replies imported, {taken.already:,} were already cached")
        for line in (*problems, *taken.notes()):
            say(line, err=True)
    return 3 if problems else 0
