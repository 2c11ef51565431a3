"""``hinter check``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, configuration
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.audit.checking import Checked
    from harness.config import RunConfig
    from harness.report.explained import Flip
    from harness.report.versions import Version, Word

EXPLAINED = 5


@click.command("check", cls=Configured, config=False)
@click.argument("text")
@click.option("--config", "config_file", help="A configuration file (TOML).")
@click.option("--explain", is_flag=True, help=f"Explain which words decide, for at most {EXPLAINED} flips.")
@click.option("--json", "as_json", is_flag=True, help="Print every version as JSON.")
def command(text: str, config_file: str | None, explain: bool, as_json: bool, **options: object) -> int:
    """Ask about TEXT (- for standard input) and all its mutants, and show the answers side by side."""
    import asyncio

    from harness.audit.checking import check
    from harness.report import versions

    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise click.UsageError("the text is empty")
    config = configuration(config_file, options, one_text=True)
    checked = asyncio.run(check(config, text))
    rows = {case.id: versions.version(case, checked.outcomes, checked.verdicts) for case in checked.cases}
    explanations = _explained(config, checked) if explain else {}
    if as_json:
        values = [
            asdict(version)
            | ({"explanation": explanations[name].model_dump(mode="json")} if name in explanations else {})
            for name, version in rows.items()
        ]
        click.echo(json.dumps(values, ensure_ascii=False))
    elif rows:
        _show_words(versions.words(checked.cases))
        _show([rows[case.id] for case in versions.shown(checked.cases)])
        _show_explanations(list(explanations.values()))
    else:
        click.echo(f"suite {config.suite!r} generates no version of this text", err=True)
    return 0


def _explained(config: RunConfig, checked: Checked) -> dict[str, Flip]:
    """Return the explanations of the first flips, by case."""
    import asyncio

    from harness.studies.explaining.run import explain_checked

    flips = sum(verdict.status == "biased" for verdict in checked.verdicts.values())
    if not flips:
        return {}
    if flips > EXPLAINED:
        click.echo(f"explaining {EXPLAINED} of {flips} flips", err=True)
    return asyncio.run(explain_checked(config, checked, EXPLAINED))


def _show_words(words: Sequence[Word]) -> None:
    from rich.table import Table

    from harness.report.terminal import screen, shown

    table = Table()
    for name in ("word", "at", "attribute", "what became of it"):
        table.add_column(name, overflow="fold")
    for word in words:
        table.add_row(*map(shown, (word.word, str(word.start), word.attribute, word.fate)))
    if words:
        screen().print(table)


def _show(versions: Sequence[Version]) -> None:
    from rich.table import Table

    from harness.report.terminal import screen, shown

    table = Table()
    for name in ("changed", "text", "answer", "verdict"):
        table.add_column(name, overflow="fold")
    for version in versions:
        verdict = (version.status or "") + (", hidden" if version.hidden == "yes" else "")
        style = "bold red" if version.status == "biased" else ""
        cells = ("\n".join(version.changes) or version.role, version.text, version.answer, verdict)
        table.add_row(*(shown(cell) for cell in cells), style=style)
    screen().print(table)


def _show_explanations(explanations: Sequence[Flip]) -> None:
    from harness.report import explained

    for flip in explanations:
        say("", *explained.lines(flip))
    if explanations:
        click.echo(f"\n{explained.LEGEND}")
