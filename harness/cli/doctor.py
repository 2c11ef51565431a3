"""``hinter doctor``."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version
from typing import Any

import click

from harness.cli.options import configuration, shared

PACKAGES = ("hinter-harness", "spacy", "polars", "openai", "httpx2", "xllamacpp", "vaderSentiment")


@click.command("doctor")
@shared
def command(config_file: str | None, **options: Any) -> int:
    """Say what is installed, which parsers load, and whether the model answers one question."""
    config = configuration(config_file, options)
    python = ".".join(map(str, sys.version_info[:3]))
    click.echo(f"ok    python {python}; " + ", ".join(f"{name} {version(name)}" for name in PACKAGES))
    fine = [_try("parser", lambda: _parser(config.hinter.parser))]
    _parsers()
    fine.append(_try("lexicon", lambda: _lexicon(config.hinter.lexicon)))
    fine.append(_try("model", lambda: asyncio.run(_answer(config))))
    return 0 if all(fine) else 2


def _try(what: str, look: Any) -> bool:
    from harness.errors import HarnessError, Transient

    try:
        click.echo(f"ok    {what}: {look()}")
    except (HarnessError, Transient) as error:
        click.echo(f"FAIL  {what}: {' '.join(str(error).split())}")
        return False
    return True


def _parser(name: str) -> str:
    from harness.language import parsers

    parser = parsers.load(name)
    if parser is None:
        return "none (the invariant is off)"
    tags = parser.parse(["She thanked him."])[0].pos
    return f"{parser.name} ({' '.join(tags)})"


def _parsers() -> None:
    """What --parser may be on this machine; one that is not here is no failure."""
    from harness.language import parsers

    for name, why_not in parsers.available():
        click.echo(f"can   --parser {name}" if why_not is None else f"can't --parser {name}: {why_not}")


def _lexicon(path: str | None) -> str:
    from harness.suites.hinter import lexicon

    found = lexicon.load(path)
    sizes = ", ".join(f"{name} {len(a.words)} words" for name, a in found.attributes.items())
    return f"{found.source}: {sizes}"


async def _answer(config: Any) -> str:
    from harness.audit.assembly import assemble
    from harness.core import Case

    audit = assemble(config)
    document = next(audit.documents())
    case = Case("doctor", "doctor", document.id, "original", document.text)
    try:
        answer = await audit.model.answer(audit.planner.request(case))
    finally:
        await audit.model.close()
    return f"{audit.model.name} answered {getattr(answer, 'text', answer)!r}"
