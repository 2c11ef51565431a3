"""``hinter report``."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print summary.json on standard output.")
def command(run: Path, as_json: bool) -> None:
    """Render the report of the run in folder RUN again, from its files."""
    from harness.audit import pipeline
    from harness.errors import RunError
    from harness.folder import RunFolder
    from harness.report import terminal

    folder = RunFolder.ended(run)
    try:
        figures = json.loads(folder.summary.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunError(f"{folder.summary}: not valid JSON: {error}") from error
    pipeline.render(folder, figures)
    terminal.show(figures, folder.path)
    if as_json:
        click.echo(json.dumps(figures, ensure_ascii=False))
