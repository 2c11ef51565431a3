"""``hinter plan``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from harness.cli.options import JUDGE, SEVERAL_PROMPTS, Configured, configuration
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.audit.planning import Plan


@click.command("plan", cls=Configured, also=(SEVERAL_PROMPTS, *JUDGE))
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def command(config_file: str | None, as_json: bool, **options: object) -> None:
    """Count what a run with the same options would generate and send, without sending anything."""
    import asyncio

    from harness.audit.planning import plan_all

    counts = asyncio.run(plan_all(configuration(config_file, options)))
    if as_json:
        click.echo(json.dumps(counts.to_json()))
        return
    nouns = counts.nouns
    cases = f"{nouns.case}s"
    sources = f"with {nouns.eligible}" if nouns.eligible else f"{nouns.source}s"
    say(
        f"{counts.model} on {counts.task}, suite {counts.suite}\n"
        f"  texts      {counts.documents:>9,}, {counts.eligible:,} {sources}\n"
        f"  {cases:<10} {counts.generated:>9,}, {counts.valid:,} valid\n"
        f"  controls   {counts.controls:>9,}\n"
        f"  requests   {counts.unique:>9,} distinct, {counts.cached:,} cached\n"
        f"  to send    {counts.to_send:>9,}{_wordings(counts.wordings)}\n"
        f"{_judged(counts)}"
        f"  tokens     {counts.prompt_tokens:>9,} in, {counts.completion_tokens:,} out"
        f" (counted by {counts.tokens_by})\n"
        f"  price      {_price(counts.cost_usd):>9}{_stops(counts)}"
    )


def _judged(counts: Plan) -> str:
    if not counts.judged:
        return ""
    return (
        f"  judge      {counts.judged:>9,} requests at most, price {_price(counts.judge_cost_usd, 'judge')}\n"
    )


def _wordings(to_send: Mapping[str, int]) -> str:
    return "".join(f"\n    {number:>11,} {name}" for name, number in to_send.items())


def _stops(counts: Plan) -> str:
    """Return when the run will stop before it has asked about all cases; "" if it will not."""
    lines = [] if counts.most is None else [f"  budget     {counts.most:>9,} requests at most"]
    lines += [
        f"  known      {requests:>9,} requests if {float(rate):.0%} of the answers change"
        for rate, requests in counts.until_known.items()
    ]
    return "".join(f"\n{line}" for line in lines)


def _price(cost: float | None, section: str = "model") -> str:
    return f"unknown: set [{section}] price in the configuration" if cost is None else f"{cost:.2f} USD"
