"""``hinter run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import ONLY_RUN, Configured, configuration
from harness.cli.output import say
from harness.errors import RunError
from harness.settings import limits

if TYPE_CHECKING:
    from harness.audit.pipeline import Finished
    from harness.config import RunConfig


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
@click.option(
    "--summary-md",
    type=click.Path(path_type=Path),
    help="Append the report as Markdown to this file, such as $GITHUB_STEP_SUMMARY.",
)
@click.option("--quiet", is_flag=True, help="Show neither progress nor tables.")
def command(
    config_file: str | None,
    overwrite: bool,
    buy_again: bool,
    as_json: bool,
    summary_md: Path | None,
    quiet: bool,
    **options: object,
) -> int:
    """Audit a model on texts.

    Without arguments, audit the embedded language model on the bundled sample. Settings come from the TOML
    file CONFIG; options on the command line override them. Run the same command again to resume a run that
    stopped. With --prompts, the same cases are asked about under several wordings, and what depends on the
    wording is told.

    Exit codes: 0 success; 1 the --fail-above gate was crossed; 2 bad usage, configuration or input;
    3 partial run, or too few answers to decide the gate or any test; 70 internal error; 130 interrupted.
    """
    from harness.cli import execution, wordings
    from harness.report import incomplete, terminal

    config = configuration(config_file, options)

    def audited(config: RunConfig) -> Finished:
        """Run one audit, and append its report to the file for it."""
        finished = execution.audit(config, overwrite, quiet, buy_again)
        if summary_md is not None:
            _append(summary_md, finished)
        return finished

    if config.reworded:
        return wordings.run(config, audited, lambda finished: _gated(config, finished), quiet, as_json)
    finished = audited(config)
    if not quiet and not incomplete.nothing(finished.summary):
        terminal.show(finished.summary, finished.folder, stderr=as_json)
    if as_json:
        click.echo(json.dumps(finished.summary.to_json(), indent=1, ensure_ascii=False))
    return _gated(config, finished)


def _gated(config: RunConfig, finished: Finished) -> int:
    """Decide the gates of a run, say why one was crossed, and return the exit code."""
    from harness.folder import RunFolder
    from harness.report import gate

    gated = gate.gated(RunFolder(finished.folder), finished.summary, limits(config.fail_above))
    for line in gated.lines:
        say(f"hinter: {line}", err=True)
    return gated.code


def _append(path: Path, finished: Finished) -> None:
    """Append the report to a file that others write to as well, as jobs of GitHub Actions do."""
    from harness.report import markdown

    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(markdown.render(finished.summary))
    except OSError as error:
        raise RunError(f"--summary-md {path}: {error.strerror or error}") from error
