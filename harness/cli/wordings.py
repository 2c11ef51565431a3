"""``hinter run`` under several prompts: a run for each, and what depends on the wording."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.audit.pipeline import Finished
    from harness.config import RunConfig
    from harness.report.wordings import Wordings

INTERRUPTED = "interrupted"


def run(
    config: RunConfig,
    audited: Callable[[RunConfig], Finished],
    gated: Callable[[Finished], int],
    quiet: bool,
    as_json: bool,
) -> int:
    """Run ``audited`` under each prompt, and write, show and return what is said of all.

    The exit code is that of the first run that has one. An interrupted run ends it all.
    """
    from harness.audit import wordings
    from harness.report import terminal
    from harness.studies.wordings import compare

    variants = wordings.variants(config)
    codes: list[int] = []
    for variant in variants:
        if not quiet:
            say(f"Under {variant.name}", err=True)
        finished = audited(variant.config)
        codes.append(gated(finished))
        if finished.summary.status == INTERRUPTED:
            return codes[-1]
    compared = compare(wordings.folders(variants), config.seed)
    folder = variants[0].folder.parent
    text = _write(folder, compared, f"{finished.summary.model} on {finished.summary.task}")
    if not quiet:
        terminal.show_sections(compared.headline, compared.sections, stderr=as_json)
        say(f"Page: {folder / 'wordings.html'}", err=True)
    if as_json:
        click.echo(text)
    return next(filter(None, codes), 0)


def _write(folder: Path, compared: Wordings, title: str) -> str:
    """Write both files and return the JSON."""
    from harness import files
    from harness.report import wordings

    text = json.dumps(compared.to_json(), ensure_ascii=False, indent=1)
    files.write(folder / "wordings.json", f"{text}\n")
    files.write(folder / "wordings.html", wordings.render(compared, f"{title}, under several wordings"))
    return text
