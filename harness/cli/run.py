"""``hinter run``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from harness.cli.options import ONLY_RUN, Configured, configuration
from harness.cli.output import say
from harness.settings import RATE, limits

if TYPE_CHECKING:
    from harness.audit.pipeline import Finished


@click.command("run", cls=Configured, also=ONLY_RUN)
@click.option("--overwrite", is_flag=True, help="Replace a run with different settings in --out.")
@click.option(
    "--buy-again",
    is_flag=True,
    help="Of a damaged response cache, keep what can be read, and ask for the rest again.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print summary.json on standard output, all else on standard error.",
)
@click.option("--quiet", is_flag=True, help="Show neither progress nor tables.")
def command(
    config_file: str | None,
    overwrite: bool,
    buy_again: bool,
    as_json: bool,
    quiet: bool,
    **options: object,
) -> int:
    """Audit a model on texts.

    Without arguments, audit the embedded language model on the bundled sample. Settings come from the TOML
    file CONFIG; options on the command line override them. Run the same command again to resume a run that
    stopped.

    Exit codes: 0 success; 1 the --fail-above gate was crossed; 2 bad usage, configuration or input;
    3 partial run, or too few answers to decide the gate or any test; 70 internal error; 130 interrupted.
    """
    from harness.cli import execution
    from harness.report import incomplete, terminal

    config = configuration(config_file, options)
    finished = execution.audit(config, overwrite, quiet, buy_again)
    if not quiet and not incomplete.nothing(finished.summary):
        terminal.show(finished.summary, finished.folder, stderr=as_json)
    if as_json:
        click.echo(json.dumps(finished.summary.to_json(), indent=1, ensure_ascii=False))
    return _gate(finished, limits(config.fail_above))


def _gate(finished: Finished, limited: Mapping[str, float]) -> int:
    """Return the exit code; if it is not 0, print the reason on standard error."""
    from harness.folder import RunFolder
    from harness.report import figures, gate, wording

    summary = finished.summary
    gated = gate.gate(summary.results, limited[RATE]) if RATE in limited else None
    others = [gate.claims(summary, figure, limit) for figure, limit in limited.items() if figure != RATE]
    reason = wording.commonest(summary.answers)
    answers = RunFolder(finished.folder).scan("answers")
    first = None if reason is None else figures.first_reply(answers, reason)
    code = gate.exit_code(summary, gated, others)
    if code != gate.INTERRUPTED:
        for line in gate.lines(summary, gated, first, others):
            say(f"hinter: {line}", err=True)
    return code
