"""``hinter check``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import configuration, settings

if TYPE_CHECKING:
    from harness.core import Case
    from harness.pipeline import Checked


@click.command("check")
@click.argument("text")
@click.option("--config", "config_file", help="A configuration, TOML.")
@settings
@click.option("--json", "as_json", is_flag=True, help="Print every version as JSON.")
def command(text: str, config_file: str | None, as_json: bool, **options: Any) -> int:
    """Ask about TEXT ("-": standard input) and all its mutants, and show every answer side by side."""
    import asyncio

    from harness import pipeline

    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise click.UsageError("the text is empty")
    checked = asyncio.run(pipeline.check(configuration(config_file, options, one_text=True), text))
    rows = [_row(case, checked) for case in checked.cases]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    elif rows:
        _show(rows)
    else:
        click.echo("no term of the lexicon occurs in this text", err=True)
    return 0


def _row(case: Case, checked: Checked) -> dict[str, Any]:
    outcome, verdict = checked.outcomes.get(case.id), checked.verdicts.get(case.id)
    if outcome is None:
        answer = f"discarded: {case.reason}"
    elif outcome.labels is None:
        answer = f"not read: {outcome.reason}" if outcome.score is None else f"{outcome.score:.3g}"
    else:
        answer = ", ".join(sorted(outcome.labels)) or "none"
    return {
        "role": case.role,
        "changes": [f"{s.attribute}: {s.source} > {s.target}" for s in case.substitutions],
        "text": case.text,
        "answer": answer,
        "status": verdict.status if verdict else None,
        "hidden": verdict.hidden if verdict else None,
    }


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name in ("changed", "text", "answer", "verdict"):
        table.add_column(name, overflow="fold")
    for row in rows:
        verdict = row["status"] or ""
        if row["hidden"] == "yes":
            verdict += ", hidden"
        style = "bold red" if row["status"] == "biased" else ""
        cells = ("\n".join(row["changes"]) or row["role"], row["text"], row["answer"], verdict)
        table.add_row(*(Text(cell) for cell in cells), style=style)
    Console().print(table)
