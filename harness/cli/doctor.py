"""``hinter doctor``."""

from __future__ import annotations

import asyncio
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import click

from harness.cli.options import JUDGE, Configured, configuration
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.audit.assembly import Audit
    from harness.config import RunConfig
    from harness.plugins import Check

PACKAGES = ("hinter-harness", "spacy", "polars", "openai", "httpx2", "xllamacpp", "vaderSentiment")


@click.command("doctor", cls=Configured, also=JUDGE)
def command(config_file: str | None, **options: object) -> int:
    """Check what is installed, which parsers load, and whether the model answers a question."""
    from harness import registry
    from harness.audit.assembly import kit
    from harness.plugins import Check

    config = configuration(config_file, options)
    python = ".".join(map(str, sys.version_info[:3]))
    say(f"ok    python {python}; " + ", ".join(f"{name} {version(name)}" for name in PACKAGES))
    checks = registry.suite_checks(config.suite, config.suite_options, kit(config))
    fine = [_passes(check) for check in checks]
    _parsers()
    fine.append(_passes(Check("model", lambda: asyncio.run(_answer(config)))))
    if config.judge.name:
        fine.append(_passes(Check("judge", lambda: asyncio.run(_preference(config)))))
    return 0 if all(fine) else 2


def _passes(check: Check) -> bool:
    from harness.errors import HarnessError, Transient

    try:
        say(f"ok    {check.name}: {check.look()}")
    except (HarnessError, Transient) as error:
        say(f"FAIL  {check.name}: {' '.join(str(error).split())}")
        return False
    return True


def _parsers() -> None:
    """List the values of --parser that work on this machine; a missing parser is not a failure."""
    from harness.language import parsers

    for name, why_not in parsers.available():
        say(f"can   --parser {name}" if why_not is None else f"can't --parser {name}: {why_not}")


async def _answer(config: RunConfig) -> str:
    from harness.audit.assembly import assemble

    audit = assemble(config)
    document = next(audit.documents(), None)
    return await _said(audit, document.text if document is not None else "A person.")


async def _preference(config: RunConfig) -> str:
    from harness.audit import preference

    judge = preference.of(config)
    assert judge is not None
    return await _said(judge, preference.Pair("doctor", "Yes.", "No.").shown()[0])


async def _said(audit: Audit, text: str) -> str:
    """Return what the model of ``audit`` answers about ``text``, as a line. Raises ``HarnessError``."""
    from harness.core import Case, Reply

    case = Case("doctor", "doctor", "doctor", "original", text)
    try:
        answer = await audit.model.answer(audit.planner.request(case))
    finally:
        await audit.model.close()
    return f"{audit.model.name} answered {(answer.text if isinstance(answer, Reply) else answer)!r}"
