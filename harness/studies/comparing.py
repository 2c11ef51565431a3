"""Runs, or score files, side by side: read from their folders and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from harness import config, registry
from harness.audit.assembly import make_suite
from harness.errors import HarnessError, RunError
from harness.findings.outcomes import Outcomes
from harness.folder import RunFolder
from harness.plugins import ScoredSystem
from harness.report import comparison, summary
from harness.report.comparison import SCHEMA, Comparison
from harness.report.pairing import Run


def compared_runs(paths: Sequence[Path], corpus: Path | None = None) -> tuple[Comparison, Sequence[Run]]:
    """Compare the runs, or score files, at ``paths``; ``corpus`` is that of the score files.

    Returns the comparison and the runs, none where their scores are compared. Raises ``HarnessError``.
    """
    if twice := next((path for i, path in enumerate(paths) if path.resolve() in _resolved(paths[:i])), None):
        raise RunError(f"{twice} is named twice")
    if absent := next((path for path in paths if not path.exists()), None):
        raise RunError(f"{absent}: no such run or score file")
    files = [path for path in paths if path.is_file()]
    by_path = {
        path: _run(path, name) for path, name in zip(paths, names(paths), strict=True) if path not in files
    }
    if (scores := _by_scores(paths, by_path, corpus)) is not None:
        return scores, ()
    runs = list(by_path.values())
    task = runs[0].summary.task
    for path, run in by_path.items():
        if run.summary.task != task:
            raise RunError(
                f"{path} is of task {run.summary.task!r}, {paths[0]} of {task!r}: compare runs of one task"
            )
    return comparison.compare(runs), runs


def _run(path: Path, name: str) -> Run:
    folder = RunFolder.ended(path)
    figures = summary.read(folder.summary)
    if not (path / "verdicts.parquet").is_file():
        raise RunError(f"{path} has no verdicts.parquet: run the same command again to restore it")
    return Run(name, figures, folder.scan("verdicts"), folder, outcomes_of(path))


def outcomes_of(path: Path) -> Outcomes | None:
    """Return the outcomes that a run's findings compare; None if its task is no longer there."""
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
    able = [
        (plugin.name, plugin.scores) for plugin in registry.suite_plugins()[0] if plugin.scores is not None
    ]
    suites = {run.summary.suite for run in runs.values()}
    for suite, system_scores in [(name, scores) for name, scores in able if name in suites] or able[:1]:
        scored = [
            path
            for path, run in runs.items()
            if run.summary.suite == suite and system_scores.has_scores(run.summary.to_json())
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
        return Comparison.model_validate({"schema": SCHEMA, **system_scores.compare(systems, corpus)})
    return None


def _system(path: Path, name: str, run: bool) -> ScoredSystem:
    """Return a run with its suite (from its resolved configuration) and scores, or a score file."""
    import polars as pl

    if not run:
        return ScoredSystem(name, path)
    scores = RunFolder(path).scan("answers").filter(pl.col("score").is_not_null()).select("case", "score")
    suite = make_suite(config.load(path / "run.toml"))
    return ScoredSystem(name, path, suite, dict(scores.collect().iter_rows()))
