"""``hinter explain``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from harness.cli.options import Configured, given

MODEL = ("model.base_url", "model.api_key_env", "model.api_key_file", "model.concurrency")
BUDGET = ("budget.max_requests", "budget.max_cost", "cache")


@click.command("explain", cls=Configured, config=False, keys=(*MODEL, *BUDGET))
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("cases", metavar="[CASE]...", nargs=-1)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most N flips.")
@click.option(
    "--probability",
    type=click.FloatRange(0, 1),
    default=0.9,
    show_default=True,
    help="How sure of its answer the model must be of the words kept.",
)
@click.option(
    "--method",
    type=click.Choice(["occlusion", "lemna", "shap"]),
    default="occlusion",
    show_default=True,
    help="How words are ranked.",
)
@click.option("--mask", default="", help="What stands for a masked word [nothing: it is left out].")
@click.option("--whole", is_flag=True, help="Words of the whole texts, not of the part: far more requests.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found on standard output.")
def command(
    run: Path,
    cases: tuple[str, ...],
    limit: int,
    probability: float,
    method: str,
    mask: str,
    whole: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Explain the biased cases of the run in folder RUN: those named, or the first that its report shows.

    For each flip, the shortest part of both texts on which the answers still differ, what each of its words
    contributes to the answer, and which of them are enough to keep it. The report shows them.
    """
    import asyncio

    from harness import config
    from harness.audit import pipeline
    from harness.cli.progress import counted
    from harness.folder import RunFolder
    from harness.studies.explaining.flips import Settings
    from harness.studies.explaining.run import explain

    folder = RunFolder.ended(run)
    settings = Settings(method, probability, mask, whole)
    configured = config.load(folder.path / "run.toml", given(options))
    with counted("flips explained") as progress:
        found = asyncio.run(explain(folder, configured, settings, cases, limit, progress))
    pipeline.render(folder, json.loads(folder.summary.read_text(encoding="utf-8")))
    click.echo(json.dumps(found, ensure_ascii=False) if as_json else _said(found, folder.path))
    return 3 if _partial(found) or found["requests"]["failed"] else 0


def _partial(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for one in found["cases"] if one["status"] == "partial"]


def _said(found: dict[str, Any], folder: Path) -> str:
    from harness.report import explained

    lines = [line for one in found["cases"] for line in (*explained.lines(one), "")]
    lines += [explained.LEGEND, ""] if lines else ["no biased case to explain"]
    requests = found["requests"]
    lines.append(f"{requests['sent']} requests sent, {requests['cached']} from the cache")
    if partial := _partial(found):
        lines.append(f"partial: {len(partial)} flips, {partial[0]['reason']}; the same command goes on")
    return "\n".join([*lines, f"shown in {folder / 'report.html'}"])
