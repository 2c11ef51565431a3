"""``hinter judge``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from harness.cli.options import Configured, explicit
from harness.cli.output import say

MODEL = (
    *("model.name", "model.model_file", "model.base_url", "model.api_key_env", "model.api_key_file"),
    *("model.concurrency", "budget.max_requests", "cache"),
)


@click.command("judge", cls=Configured, config=False, keys=MODEL)
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print judged.json on standard output.")
def command(run: Path, seed: int, as_json: bool, **options: object) -> int:
    """Have a capable model read the mutants of the run in folder RUN, and leave out the wrong ones.

    RUN is the folder of hinter generate, or of a run. The judge (--model) sees each original with its changes
    marked, and says whether they are right. Then hinter run, with the settings of RUN, counts the others as
    discarded; of a run that has ended, nothing is asked again.
    """
    import asyncio

    from harness import config
    from harness.cli.progress import counted
    from harness.folder import RunFolder
    from harness.report import judging as report
    from harness.studies.judging import judge

    folder = RunFolder.with_cases(run)
    configured = config.load(run / "run.toml", explicit(options))
    with folder.extended(), counted("mutants judged") as progress:
        judging = asyncio.run(judge(folder, configured, seed, progress))
    if as_json:
        click.echo(json.dumps(judging.to_json(), ensure_ascii=False))
    else:
        say("\n".join(report.lines(judging)))
        say(f"{judging.requests.sent} requests sent, {judging.requests.cached} from the cache", err=True)
        say(f"for the figures without the others: hinter run {run / 'run.toml'}", err=True)
    return 3 if judging.requests.failed else 0
