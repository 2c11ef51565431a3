"""The plugin of the Equity Evaluation Corpus: its options, its suite, and how its runs are compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from harness.plugins import (
    JsonObject,
    Kit,
    Options,
    Positive,
    ScoreComparison,
    ScoredSystem,
    Suite,
    SuitePlugin,
)


class EecOptions(Options):
    """``[eec]``: the corpus, the paper's or a user's own, and how many combinations of a template and an
    emotion word to take."""

    corpus: str | None = Field(default=None, description="Your own corpus (TOML).")
    instances: Positive | None = Field(
        default=None, description="At most N combinations of a template and an emotion word."
    )


def make(options: EecOptions, kit: Kit) -> Suite:
    """Return the suite that ``options`` describe. Raises ``ConfigError``."""
    from harness.suites.eec import corpus
    from harness.suites.eec.suite import Eec

    return Eec(
        corpus.load(Path(options.corpus) if options.corpus else None),
        labels=() if kit.task.rates is not None else kit.task.labels,
        rates=kit.task.rates,
        instances=options.instances,
        seed=kit.seed,
    )


def has_scores(summary: JsonObject) -> bool:
    """Return whether a run with this ``summary`` gave scores, not labels."""
    return summary.get("rates") is not None


def compare(systems: Sequence[ScoredSystem], corpus: Path | None) -> JsonObject:
    """Compare runs and score files as the paper compares systems; ``corpus`` describes score files."""
    from harness.suites.eec.systems import compare_files

    return compare_files(systems, corpus)


plugin = SuitePlugin(
    name="eec",
    about="the Equity Evaluation Corpus: sentences that differ only in a person, scores compared in pairs",
    options=EecOptions,
    make=make,
    scores=ScoreComparison(has_scores, compare),
)
