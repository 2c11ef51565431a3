"""``hinter run``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from harness.cli.options import ONLY_RUN, Configured, configuration

if TYPE_CHECKING:
    from harness.audit.pipeline import Finished


@click.command("run", cls=Configured, also=ONLY_RUN)
@click.option("--overwrite", is_flag=True, help="Replace a run of other settings in --out.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print summary.json on standard output, the rest on the other."
)
@click.option("--quiet", is_flag=True, help="No progress and no table.")
def command(config_file: str | None, overwrite: bool, as_json: bool, quiet: bool, **options: object) -> int:
    """Audit a model on texts.

    With no arguments: the bundled sample against the embedded language model. The settings come from the
    TOML file CONFIG; an option on the command line wins. The same command takes up a run that stopped.

    Exit codes: 0 done; 1 the gate of --fail-above is crossed; 3 partial, or no test or not the gate could be
    decided; 130 interrupted.
    """
    from harness.cli import execution
    from harness.report import terminal

    config = configuration(config_file, options)
    finished = execution.audit(config, overwrite, quiet)
    if not quiet:
        terminal.show(finished.summary, finished.folder, stderr=as_json)
    if as_json:
        click.echo(json.dumps(finished.summary.to_json(), indent=1, ensure_ascii=False))
    return _gate(finished, config.fail_above)


def _gate(finished: Finished, limit: float | None) -> int:
    """The exit code, and on standard error why it is not 0."""
    from harness.folder import RunFolder
    from harness.report import figures, gate, wording

    summary = finished.summary
    gated = None if limit is None else gate.gate(summary.results, limit)
    reason = wording.commonest(summary.answers)
    answers = RunFolder(finished.folder).scan("answers")
    first = None if reason is None else figures.first_reply(answers, reason)
    code = gate.exit_code(summary, gated)
    if code != gate.INTERRUPTED:
        for line in gate.lines(summary, gated, first):
            click.echo(f"hinter: {line}", err=True)
    return code
