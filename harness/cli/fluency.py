"""``hinter fluency``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, explicit

if TYPE_CHECKING:
    from harness.folder import RunFolder
    from harness.plugins import Scorer

MODEL = ("model.name", "model.model_file", "model.base_url", "model.api_key_env", "model.api_key_file")


@click.command("fluency", cls=Configured, config=False, keys=MODEL)
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--languagetool", metavar="URL", help="Count the matches of the LanguageTool server at URL instead."
)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Score at most N texts of each kind.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for the choice of the texts.")
@click.option("--json", "as_json", is_flag=True, help="Print fluency.json on standard output.")
def command(
    run: Path, languagetool: str | None, limit: int, seed: int, as_json: bool, **options: object
) -> int:
    """Measure how fluent the originals, valid mutants and discarded mutants of the run in folder RUN are.

    Fluency is the likelihood under the audited model or another one (--model, --base-url), or the number of
    LanguageTool matches. A command that is ended keeps its scores, and the same command goes on.
    """
    from harness.audit import pipeline
    from harness.cli.execution import stoppable
    from harness.cli.progress import counted
    from harness.folder import RunFolder
    from harness.report import fluency as report
    from harness.report import summary
    from harness.studies import fluency

    folder = RunFolder.with_cases(run)
    judge = _judge(folder, languagetool, explicit(options))
    with folder.extended():
        with counted("texts scored") as progress:
            measured = stoppable(fluency.measure(folder, judge, limit, seed, progress), "scored")
        if folder.summary.is_file():  # else the cases were made, but not asked about
            pipeline.render(folder, summary.read(folder.summary))
    plain = json.dumps(measured.to_json(), ensure_ascii=False)
    click.echo(plain if as_json else "\n".join(report.lines(measured)))
    return 3 if measured.failed else 0


def _judge(folder: RunFolder, url: str | None, model: Mapping[str, object]) -> Scorer:
    """Return LanguageTool, or the run's own model with the settings in ``model`` applied."""
    from harness import config
    from harness.errors import ConfigError
    from harness.studies.fluency import sources

    if url is not None:
        if model:
            raise ConfigError("use --languagetool or a model, not both")
        return sources.languagetool(url)
    return sources.scorer(config.load(folder.path / "run.toml", model))
