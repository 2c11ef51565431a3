"""``hinter compare``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.output import say


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN…", type=click.Path(path_type=Path))
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="The corpus of the score files (TOML) [the EEC]."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write compare.html and comparison.json to this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print comparison.json on standard output.")
def command(runs: tuple[Path, ...], corpus: Path | None, out: Path | None, as_json: bool) -> None:
    """Compare two or more runs side by side: models on the same cases, or suites on one model.

    RUN is a run folder. Runs of the suite eec with scores are compared in the way its paper compares systems;
    RUN may then also be a score file: a CSV or TSV with the ids of the corpus and a score.
    """
    from harness.report import comparison_page, terminal
    from harness.studies.comparing import compared_runs

    if len(runs) < 2:
        raise click.UsageError("name at least two runs")
    compared, of_runs = compared_runs(runs, corpus)
    terminal.show_sections(compared.headline, compared.sections, stderr=as_json)
    text = json.dumps(compared.to_json(), ensure_ascii=False, indent=1)
    if out is not None:
        _write(out, text, comparison_page.render(compared, of_runs))
    if as_json:
        click.echo(text)


def _write(out: Path, text: str, page: str) -> None:
    from harness import files
    from harness.errors import RunError
    from harness.folder import RunFolder

    try:
        files.private_folder(out)
        with RunFolder(out).extended():
            files.write(out / "comparison.json", text + "\n")
            files.write(out / "compare.html", page)
    except OSError as error:
        raise RunError(f"{out}: {error.strerror or error}") from error
    say(f"Page: {out / 'compare.html'}", err=True)
