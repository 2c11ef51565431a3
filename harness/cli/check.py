"""``hinter check``."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from harness.cli.options import Configured, configuration

if TYPE_CHECKING:
    from harness.audit.pipeline import Checked
    from harness.config import RunConfig
    from harness.core import Case

EXPLAINED = 5


@click.command("check", cls=Configured, config=False)
@click.argument("text")
@click.option("--config", "config_file", help="A configuration, TOML.")
@click.option("--explain", is_flag=True, help=f"Say which words decide, for {EXPLAINED} flips at most.")
@click.option("--json", "as_json", is_flag=True, help="Print every version as JSON.")
def command(text: str, config_file: str | None, explain: bool, as_json: bool, **options: Any) -> int:
    """Ask about TEXT ("-": standard input) and all its mutants, and show every answer side by side."""
    import asyncio

    from harness.audit import pipeline
    from harness.report import explained

    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise click.UsageError("the text is empty")
    config = configuration(config_file, options, one_text=True)
    checked = asyncio.run(pipeline.check(config, text))
    rows = [_row(case, checked) for case in checked.cases]
    explanations = _explained(config, checked) if explain else {}
    for row, case in zip(rows, checked.cases, strict=True):
        row |= {"explanation": explanations[case.id]} if case.id in explanations else {}
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False))
    elif rows:
        _show(rows)
        for found in explanations.values():
            click.echo("\n".join(["", *explained.lines(found)]))
        click.echo(f"\n{explained.LEGEND}" if explanations else "", nl=bool(explanations))
    else:
        click.echo(f"suite {config.suite!r} makes no version of this text", err=True)
    return 0


def _explained(config: RunConfig, checked: Checked) -> dict[str, dict[str, Any]]:
    """The explanations of the first flips, by case."""
    import asyncio

    from harness.studies.explaining.run import explain_checked

    flips = sum(verdict.status == "biased" for verdict in checked.verdicts.values())
    if not flips:
        return {}
    if flips > EXPLAINED:
        click.echo(f"explaining {EXPLAINED} of {flips} flips", err=True)
    return asyncio.run(explain_checked(config, checked, EXPLAINED))


def _row(case: Case, checked: Checked) -> dict[str, Any]:
    outcome, verdict = checked.outcomes.get(case.id), checked.verdicts.get(case.id)
    if outcome is None:
        answer = f"discarded: {case.reason}"
    elif outcome.labels is None:
        answer = f"not read: {outcome.reason}" if outcome.score is None else f"{outcome.score:.3g}"
    else:
        answer = ", ".join(sorted(outcome.labels)) or "none"
    if outcome is not None and not case.valid:
        answer += f" (discarded: {case.reason})"
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
