"""``hinter compare``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.findings.outcomes import Outcomes
    from harness.plugins import ScoredSystem
    from harness.report.comparison import Comparison
    from harness.report.pairing import Run


@click.command("compare")
@click.argument("runs", nargs=-1, required=True, metavar="RUN RUN…", type=click.Path(path_type=Path))
@click.option(
    "--corpus", type=click.Path(path_type=Path), help="The corpus of the score files (TOML) [the EEC]."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write comparison.html and comparison.json to this folder."
)
@click.option("--json", "as_json", is_flag=True, help="Print comparison.json on standard output.")
def command(runs: tuple[Path, ...], corpus: Path | None, out: Path | None, as_json: bool) -> None:
    """Compare two or more runs side by side: models on the same cases, or suites on one model.

    RUN is a run folder. Runs of the suite eec with scores are compared in the way its paper compares systems;
    RUN may then also be a score file: a CSV or TSV with the ids of the corpus and a score.
    """
    from harness.report import terminal

    if len(runs) < 2:
        raise click.UsageError("name at least two runs")
    compared = _compared(runs, corpus)
    terminal.show_sections(compared.headline, compared.sections, stderr=as_json)
    text = json.dumps(compared.to_json(), ensure_ascii=False, indent=1)
    if out is not None:
        _write(out, compared, text)
    if as_json:
        click.echo(text)


def _write(out: Path, compared: Comparison, text: str) -> None:
    from harness import files
    from harness.errors import RunError
    from harness.folder import RunFolder
    from harness.report import comparison

    try:
        files.private_folder(out)
        with RunFolder(out).extended():
            files.write(out / "comparison.json", text + "\n")
            files.write(out / "comparison.html", comparison.render(compared))
    except OSError as error:
        raise RunError(f"{out}: {error.strerror or error}") from error
    say(f"Page: {out / 'comparison.html'}", err=True)


def _compared(paths: Sequence[Path], corpus: Path | None) -> Comparison:
    from harness.errors import RunError

    if twice := next((path for i, path in enumerate(paths) if path.resolve() in _resolved(paths[:i])), None):
        raise RunError(f"{twice} is named twice")
    if absent := next((path for path in paths if not path.exists()), None):
        raise RunError(f"{absent}: no such run or score file")
    files = [path for path in paths if path.is_file()]
    by_path = {
        path: _run(path, name) for path, name in zip(paths, names(paths), strict=True) if path not in files
    }
    if (scores := _by_scores(paths, by_path, corpus)) is not None:
        return scores
    from harness.report import comparison

    runs = list(by_path.values())
    task = runs[0].summary.task
    for path, run in by_path.items():
        if run.summary.task != task:
            raise RunError(
                f"{path} is of task {run.summary.task!r}, {paths[0]} of {task!r}: compare runs of one task"
            )
    return comparison.compare(runs)


def _run(path: Path, name: str) -> Run:
    from harness.errors import RunError
    from harness.folder import RunFolder
    from harness.report import summary
    from harness.report.pairing import Run

    folder = RunFolder.ended(path)
    figures = summary.read(folder.summary)
    if not (path / "verdicts.parquet").is_file():
        raise RunError(f"{path} has no verdicts.parquet: run the same command again to restore it")
    return Run(name, figures, folder.scan("verdicts"), folder, _outcomes(path))


def _outcomes(path: Path) -> Outcomes | None:
    """Return the outcomes that a run's findings compare; None if its task is no longer there."""
    from harness import config, registry
    from harness.errors import HarnessError
    from harness.findings.outcomes import Outcomes

    try:
        made = config.load(path / "run.toml")
        return Outcomes.of(registry.task(made.task, made.task_options.values), made.favourable)
    except HarnessError:
        return None


def names(paths: Sequence[Path]) -> list[str]:
    """Return a distinct name for each run: the shortest path ending that tells all of them apart."""
    resolved = _resolved(paths)
    longest = max(len(path.parts) for path in resolved)
    shortened = (["/".join(path.parts[-n:]) for path in resolved] for n in range(1, longest + 1))
    return next(endings for endings in shortened if len(set(endings)) == len(endings))


def _resolved(paths: Sequence[Path]) -> list[Path]:
    return [path.resolve() for path in paths]


def _by_scores(paths: Sequence[Path], runs: Mapping[Path, Run], corpus: Path | None) -> Comparison | None:
    """Compare runs with scores and score files in their suite's way; None if the runs have no scores."""
    from harness import registry
    from harness.errors import RunError
    from harness.report.comparison import SCHEMA, Comparison

    able = [
        (plugin.name, plugin.scores) for plugin in registry.suite_plugins()[0] if plugin.scores is not None
    ]
    suites = {run.summary.suite for run in runs.values()}
    for suite, comparison in [(name, scores) for name, scores in able if name in suites] or able[:1]:
        scored = [
            path
            for path, run in runs.items()
            if run.summary.suite == suite and comparison.has_scores(run.summary.to_json())
        ]
        if len(runs) == len(paths) and len(scored) < len(paths):
            continue
        if others := [path for path in runs if path not in scored]:
            raise RunError(
                f"{others[0]} has no scores of the suite {suite}: compare it with runs, not with score files"
            )
        systems = [
            _system(path, name, path in scored) for path, name in zip(paths, names(paths), strict=True)
        ]
        return Comparison.model_validate({"schema": SCHEMA, **comparison.compare(systems, corpus)})
    return None


def _system(path: Path, name: str, run: bool) -> ScoredSystem:
    """Return a run with its suite (from its resolved configuration) and scores, or a score file."""
    import polars as pl

    from harness import config
    from harness.audit.assembly import make_suite
    from harness.folder import RunFolder
    from harness.plugins import ScoredSystem

    if not run:
        return ScoredSystem(name, path)
    scores = RunFolder(path).scan("answers").filter(pl.col("score").is_not_null()).select("case", "score")
    suite = make_suite(config.load(path / "run.toml"))
    return ScoredSystem(name, path, suite, dict(scores.collect().iter_rows()))
