"""``hinter check``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, configuration
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.audit.pipeline import Checked
    from harness.config import RunConfig
    from harness.core import Case
    from harness.report.explained import Flip

EXPLAINED = 5


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the text: its changes, its answer, and the verdict."""

    role: str
    changes: tuple[str, ...]
    text: str
    answer: str
    status: str | None
    hidden: str | None


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text that a dictionary has, and whether it was changed or why not."""

    word: str
    start: int
    attribute: str
    fate: str


@click.command("check", cls=Configured, config=False)
@click.argument("text")
@click.option("--config", "config_file", help="A configuration file (TOML).")
@click.option("--explain", is_flag=True, help=f"Explain which words decide, for at most {EXPLAINED} flips.")
@click.option("--json", "as_json", is_flag=True, help="Print every version as JSON.")
def command(text: str, config_file: str | None, explain: bool, as_json: bool, **options: object) -> int:
    """Ask about TEXT (- for standard input) and all its mutants, and show the answers side by side."""
    import asyncio

    from harness.audit import pipeline
    from harness.report.wording import LEFT_WORDS

    if text == "-":
        text = sys.stdin.read()
    if not text.strip():
        raise click.UsageError("the text is empty")
    config = configuration(config_file, options, one_text=True)
    checked = asyncio.run(pipeline.check(config, text))
    versions = {case.id: _version(case, checked) for case in checked.cases}
    explanations = _explained(config, checked) if explain else {}
    if as_json:
        rows = [
            asdict(version)
            | ({"explanation": explanations[name].model_dump(mode="json")} if name in explanations else {})
            for name, version in versions.items()
        ]
        click.echo(json.dumps(rows, ensure_ascii=False))
    elif versions:
        _show_words(_words(checked.cases))
        _show([versions[case.id] for case in checked.cases if case.reason not in LEFT_WORDS])
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


def _version(case: Case, checked: Checked) -> Version:
    outcome, verdict = checked.outcomes.get(case.id), checked.verdicts.get(case.id)
    if outcome is None:
        answer = f"discarded: {case.reason}"
    elif outcome.labels is None:
        answer = f"not read: {outcome.reason}" if outcome.score is None else f"{outcome.score:.3g}"
    else:
        answer = ", ".join(sorted(outcome.labels)) or "none"
    if outcome is not None and not case.valid:
        answer += f" (discarded: {case.reason})"
    return Version(
        role=case.role,
        changes=tuple(f"{s.attribute}: {s.source} > {s.target}" for s in case.substitutions),
        text=case.text,
        answer=answer,
        status=verdict.status if verdict else None,
        hidden=verdict.hidden if verdict else None,
    )


def _words(cases: Sequence[Case]) -> list[Word]:
    """Return the words that the versions change, in text order, each with what became of it."""
    text = next((case.text for case in cases if case.role == "original"), "")
    fates: dict[tuple[int, int, str], list[str | None]] = {}
    for case in cases:
        if len(case.substitutions) == 1:
            [substitution] = case.substitutions
            for start, end in substitution.spans:
                fates.setdefault((start, end, substitution.attribute), []).append(case.reason)
    return [
        Word(text[start:end], start, attribute, _fate(reasons))
        for (start, end, attribute), reasons in sorted(fates.items())
    ]


def _fate(reasons: Sequence[str | None]) -> str:
    """Return ``changed``, with the number of versions, or why every version of a word is left out."""
    from harness.report.wording import LEFT_WORDS

    valid = sum(reason is None for reason in reasons)
    others = dict.fromkeys(LEFT_WORDS.get(reason, f"discarded: {reason}") for reason in reasons if reason)
    if not valid:
        return "; ".join(others)
    also = f"; others {'; '.join(others)}" if others else ""
    return f"changed in {valid} version{'s' * (valid != 1)}{also}"


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
