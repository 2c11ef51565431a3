"""``hinter report``."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "md", "json"]),
    default="html",
    show_default=True,
    help="html: rewrite report.html and junit.xml; md: print the report with its evidence (method, data,"
    " limits, versions, hashes); json: print summary.json.",
)
@click.option("--json", "as_json", is_flag=True, help="Rewrite the pages and print summary.json.")
def command(run: Path, form: str, as_json: bool) -> None:
    """Render the report of the run in folder RUN again from its files, and show its table.

    --format md prints the whole report as Markdown and --format json its figures; neither writes a file or
    prints anything else.
    """
    from harness.audit import pipeline
    from harness.folder import RunFolder
    from harness.report import evidence, fluency, markdown, terminal
    from harness.report import summary as summaries

    folder = RunFolder.ended(run)
    summary = summaries.read(folder.summary)
    if form == "md":
        measured = [*fluency.sections(folder.path), *evidence.sections(folder, summary)]
        click.echo(markdown.render(summary, measured), nl=False)
    elif form == "html":
        with folder.extended():
            pipeline.render(folder, summary)
        terminal.show(summary, folder.path, stderr=as_json)
    if as_json or form == "json":
        click.echo(json.dumps(summary.to_json(), ensure_ascii=False))
