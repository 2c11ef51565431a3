"""``hinter coverage``."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.folder import RunFolder
    from harness.report.coverage import Coverage


@click.command("coverage")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", required=True, help="The classifier: transformers:NAME_OR_FOLDER.")
@click.option("--reference", required=True, help="Texts like its training data, which set the bounds.")
@click.option("--text-column", help="The text column of the reference file.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Use at most N texts of each run and of the reference.",
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed for the choice and order of the texts."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder for coverage.html and coverage.json [the first RUN].",
)
@click.option("--json", "as_json", is_flag=True, help="Print coverage.json on standard output.")
def command(
    runs: tuple[Path, ...],
    model: str,
    reference: str,
    text_column: str | None,
    limit: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Count the neurons of a classifier that texts of each RUN drive beyond the bounds of reference texts.

    Reports BoundCov and SActCov (S²LCT, Equations 1 and 2) with curves by the number of texts.
    """
    from harness import files
    from harness.cli.progress import counted
    from harness.folder import RunFolder
    from harness.report import coverage as pages
    from harness.studies import coverage
    from harness.studies.neurons import PREFIX, Neurons

    if not model.startswith(PREFIX):
        raise click.UsageError(
            f"--model {model}: neurons can only be read from a classifier, {PREFIX}NAME_OR_FOLDER"
        )
    suites = {str(run): _texts(RunFolder.with_cases(run), limit, seed) for run in runs}
    baseline = _reference(reference, text_column, limit, seed)
    with counted("texts read") as progress:
        measured = coverage.measure(Neurons(model), baseline, suites, progress)
    folder = out or runs[0]
    files.private_folder(folder)
    plain = json.dumps(measured.to_json(), indent=1, ensure_ascii=False)
    files.write(folder / "coverage.json", f"{plain}\n")
    files.write(folder / "coverage.html", pages.render(measured))
    if as_json:
        click.echo(plain)
    else:
        _show(measured)
        say(f"Page: {folder / 'coverage.html'}", err=True)


def _texts(folder: RunFolder, limit: int, seed: int) -> list[str]:
    """Return at most ``limit`` distinct valid texts of a run in random order."""
    import polars as pl

    cases = folder.scan("cases").filter(pl.col("valid") & (pl.col("role") != "control"))
    ids = cases.select("id").collect(engine="streaming")["id"].to_list()
    random.Random(seed).shuffle(ids)
    rows = cases.filter(pl.col("id").is_in(ids[:limit])).select("id", "text").collect(engine="streaming")
    texts: Mapping[str, str] = dict(rows.iter_rows())
    return list(dict.fromkeys(texts[name] for name in ids[:limit]))


def _reference(path: str, text_column: str | None, limit: int, seed: int) -> list[str]:
    """Return at most ``limit`` texts of a file, ignoring any labels."""
    from harness import documents
    from harness.core import DocumentOptions

    options = DocumentOptions(path=path, text_column=text_column)
    texts = [document.text for document in documents.read(options, (), adapt=_unlabelled)]
    for note in options.intake.notes:
        click.echo(f"hinter: {note}", err=True)
    return random.Random(seed).sample(texts, min(limit, len(texts)))


def _unlabelled(row: Mapping[str, object]) -> Mapping[str, object]:
    from harness.documents import LABEL_COLUMNS

    return {column: value for column, value in row.items() if column not in LABEL_COLUMNS}


def _show(coverage: Coverage) -> None:
    say(f"{coverage.model}: {coverage.neurons:,} neurons, {coverage.reference.texts:,} reference texts")
    width = max(len(suite.name) for suite in coverage.suites)
    say(f"{'':<{width}}  {'texts':>7}  {'too long':>8}  {'BoundCov':>9}  {'SActCov':>9}")
    for suite in coverage.suites:
        counts = f"{suite.texts:>7,}  {suite.left_out:>8,}"
        shares = f"{suite.bound_cov:>9.2%}  {suite.s_act_cov:>9.2%}"
        say(f"{suite.name:<{width}}  {counts}  {shares}")
