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
    from harness.config import RunConfig
    from harness.folder import RunFolder
    from harness.report.coverage import Coverage


@click.command("coverage")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", required=True, help="The classifier: transformers:NAME_OR_FOLDER.")
@click.option(
    "--reference",
    help="Texts like its training data, which set the bounds [those that the first RUN was made from].",
)
@click.option("--text-column", help="The text column of the reference file [that of the first RUN].")
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
    reference: str | None,
    text_column: str | None,
    limit: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Count the neurons of a classifier that texts of each RUN drive beyond the bounds of reference texts.

    Reports BoundCov and SActCov (S²LCT, Equations 1 and 2) with curves by the number of texts. Reference
    texts are read and shortened as those of the first RUN were.
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
    folder = out or runs[0]
    suites = {str(run): _texts(RunFolder.with_cases(run), limit, seed) for run in runs}
    baseline = _reference(runs[0], reference, text_column, limit, seed)
    files.private_folder(folder)
    with RunFolder(folder).extended():
        with counted("texts read") as progress:
            measured = coverage.measure(Neurons(model), baseline, suites, progress)
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


def _reference(run: Path, path: str | None, column: str | None, limit: int, seed: int) -> list[str]:
    """Return at most ``limit`` distinct texts of a file, or of the source of ``run``.

    They are read and shortened as that run would.
    """
    from harness import config
    from harness.audit import assembly

    source = {} if path is None else {"documents.path": path, "documents.limit": None}
    configured = config.load(
        run / "run.toml", source | ({"documents.text_column": column} if column is not None else {})
    )
    if path is None:
        _must_have_texts(run, configured)
    documents, options = assembly.unlabelled(configured)
    texts = list(dict.fromkeys(document.text for document in documents))
    for note in options.intake.notes:
        say(f"hinter: {note}", err=True)
    return random.Random(seed).sample(texts, min(limit, len(texts)))


def _must_have_texts(run: Path, configured: RunConfig) -> None:
    """Raise ``ConfigError`` where a run was made from no texts that can be read again."""
    from harness.audit.assembly import make_suite
    from harness.documents.sources import STDIN
    from harness.errors import ConfigError

    source = configured.documents
    if source.path == STDIN or (source.path is source.dataset is None and make_suite(configured).makes_texts):
        raise ConfigError(f"{run} was made from no file of texts: name reference texts with --reference")


def _show(coverage: Coverage) -> None:
    left_out = f" ({coverage.reference.left_out:,} too long)" if coverage.reference.left_out else ""
    reference = f"{coverage.reference.texts:,} reference texts{left_out}"
    say(f"{coverage.model}: {coverage.neurons:,} neurons, {reference}")
    width = max(len(suite.name) for suite in coverage.suites)
    say(f"{'':<{width}}  {'texts':>7}  {'too long':>8}  {'BoundCov':>9}  {'SActCov':>9}")
    for suite in coverage.suites:
        counts = f"{suite.texts:>7,}  {suite.left_out:>8,}"
        shares = f"{suite.bound_cov:>9.2%}  {suite.s_act_cov:>9.2%}"
        say(f"{suite.name:<{width}}  {counts}  {shares}")
