"""``hinter explain``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import Configured, explicit
from harness.cli.output import say

if TYPE_CHECKING:
    from harness.report.explained import Flip

MODEL = ("model.base_url", "model.api_key_env", "model.api_key_file", "model.concurrency")
BUDGET = ("budget.max_requests", "budget.max_cost", "cache")


@click.command("explain", cls=Configured, config=False, keys=(*MODEL, *BUDGET))
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="Explain at most N flips."
)
@click.option(
    "--probability",
    type=click.FloatRange(0, 1),
    default=0.9,
    show_default=True,
    help="The probability that the model must give its answer from the words kept alone.",
)
@click.option(
    "--method",
    type=click.Choice(["occlusion", "lemna", "shap"]),
    default="occlusion",
    show_default=True,
    help="How to rank words.",
)
@click.option("--mask", default="", help="The replacement for a masked word [none: the word is left out].")
@click.option("--whole", is_flag=True, help="Rank the words of the whole texts: far more requests.")
@click.option("--json", "as_json", is_flag=True, help="Print the explanations as JSON.")
def command(
    run: Path,
    cases: tuple[str, ...],
    limit: int,
    probability: float,
    method: str,
    mask: str,
    whole: bool,
    as_json: bool,
    **options: object,
) -> int:
    """Explain biased cases of the run in folder RUN: each CASE named, or the first ones in its report.

    For each flip, find the shortest part of both texts on which the answers still differ, what each of its
    words contributes to the answer, and which words suffice to keep it. The report shows the results.
    """
    from harness import config
    from harness.audit import pipeline
    from harness.cli.execution import stoppable
    from harness.cli.progress import counted
    from harness.folder import RunFolder
    from harness.report import summary
    from harness.report.explained import Settings
    from harness.studies.explaining.run import explain

    folder = RunFolder.ended(run)
    settings = Settings(method, probability, mask, whole)
    configured = config.load(folder.path / "run.toml", explicit(options))
    with folder.extended():
        with counted("flips explained") as progress:
            explanations = stoppable(
                explain(folder, configured, settings, cases, limit, progress), "explained"
            )
        pipeline.render(folder, summary.read(folder.summary))
    flips = explanations.cases
    requests = explanations.requests
    if as_json:
        click.echo(json.dumps(explanations.to_json(), ensure_ascii=False))
    else:
        say("\n".join(_lines(flips)))
        say(f"{requests.sent} requests sent, {requests.cached} from the cache", err=True)
        say(f"Report: {folder.path / 'report.html'}", err=True)
    partial = [flip for flip in flips if flip.status == "partial"]
    if partial:
        say(
            f"partial: {len(partial)} flips, {partial[0].reason}; run the same command again to continue",
            err=True,
        )
    return 3 if partial or requests.failed else 0


def _lines(flips: Sequence[Flip]) -> list[str]:
    from harness.report import explained

    lines = [line for flip in flips for line in (*explained.lines(flip), "")]
    return [*lines, explained.LEGEND] if lines else ["no biased case to explain"]
