"""``hinter flips``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("flips")
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--csv", "form", flag_value="csv", default=True, help="Print CSV, which is the default.")
@click.option("--json", "form", flag_value="json", help="Print a JSON object a line.")
def command(run: Path, form: str) -> None:
    """Print all flips of the run in folder RUN, one a row, with both texts and both answers.

    Where a text begins like a formula, its cell of the CSV begins with an apostrophe.
    """
    from harness.folder import RunFolder
    from harness.report import flips

    rows = flips.flips(RunFolder.ended(run))
    for line in (flips.as_csv if form == "csv" else flips.as_json)(rows):
        click.echo(line, nl=False)
