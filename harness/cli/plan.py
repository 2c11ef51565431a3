"""``hinter plan``."""

from __future__ import annotations

import json
from typing import Any

import click

from harness.cli.options import Configured, configuration


@click.command("plan", cls=Configured)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(config_file: str | None, as_json: bool, **options: Any) -> None:
    """Count what a run with the same options would make and send; send nothing."""
    import asyncio

    from harness.audit.planning import plan
    from harness.report import wording

    counts = asyncio.run(plan(configuration(config_file, options)))
    if as_json:
        click.echo(json.dumps(counts))
        return
    nouns, made = wording.nouns(counts), wording.nouns(counts).case + "s"
    eligible = counts["eligible"]
    of = (
        f"of which {eligible:,} have {nouns.eligible}"
        if nouns.eligible
        else f"{eligible:,} {nouns.source}s made"
    )
    click.echo(
        f"{counts['model']} on {counts['task']}, suite {counts['suite']}\n"
        f"  texts      {counts['documents']:>9,}, {of}\n"
        f"  {made:<10} {counts['generated']:>9,}, of which {counts['valid']:,} are valid\n"
        f"  requests   {counts['unique']:>9,} different ones, {counts['cached']:,} in the cache\n"
        f"  to send    {counts['to_send']:>9,}\n"
        f"  tokens     {counts['prompt_tokens']:>9,} in, {counts['completion_tokens']:,} out"
        f" (by {counts['tokens_by']})\n"
        f"  price      {_price(counts['cost_usd']):>9}"
    )


def _price(cost: float | None) -> str:
    return "not known: give [model] price in the configuration" if cost is None else f"{cost:.2f} USD"
