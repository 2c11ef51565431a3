"""The figures of a run: ``summary.json``, schema 1, from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from harness import __version__
from harness.core import UNREAD
from harness.statistics import cluster_bootstrap, rate, wilson

if TYPE_CHECKING:
    import polars as pl

    from harness.answering.runner import Counts
    from harness.config import Price
    from harness.folder import RunFolder

SCHEMA = 1
DUPLICATE = "duplicate"
SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Facts:
    """What the tables of a run do not hold."""

    status: str
    suite: str
    task: str
    model: str
    parser: str
    documents: int
    attributes: tuple[str, ...]
    order: int
    max_pairs: int | None
    counts: Counts
    price: Price | None
    seconds: float


def build(folder: RunFolder, facts: Facts) -> dict[str, Any]:
    """The summary of the run in ``folder``."""
    cases, answers, verdicts = (folder.scan(name) for name in ("cases", "answers", "verdicts"))
    counts = facts.counts
    return {
        "schema": SCHEMA,
        "version": __version__,
        "status": facts.status,
        "suite": facts.suite,
        "task": facts.task,
        "model": facts.model,
        "parser": facts.parser,
        "attributes": list(facts.attributes),
        "order": facts.order,
        "max_pairs": facts.max_pairs,
        "documents": {"read": facts.documents, "eligible": eligible(cases)},
        "cases": case_counts(cases),
        "requests": {
            "unique": counts.unique,
            "cached": counts.cached,
            "sent": counts.sent,
            "retried": counts.retried,
            "failed": counts.failed,
        },
        "answers": answer_counts(answers),
        "accuracy": accuracy(cases, answers),
        "results": results(verdicts, facts.attributes, facts.order),
        "venn": venn(verdicts, facts.attributes, facts.order),
        "noise": noise(),
        "tokens": {
            "prompt": counts.prompt_tokens,
            "completion": counts.completion_tokens,
            "cached": counts.cached_tokens,
        },
        "cost_usd": cost(counts, facts.price),
        "seconds": {"total": round(facts.seconds, 3)},
    }


def cost(counts: Counts, price: Price | None) -> float | None:
    """USD for all distinct replies at ``price`` (per million tokens), None where it is not known."""
    if price is None:
        return None
    cached = price.cached_input if price.cached_input is not None else price.input
    fresh = counts.prompt_tokens - counts.cached_tokens
    return (
        fresh * price.input + counts.cached_tokens * cached + counts.completion_tokens * price.output
    ) / 1e6


def case_counts(cases: pl.LazyFrame) -> dict[str, Any]:
    """Mutants made, valid, discarded (by reason) and duplicate; originals are documents, not cases made."""
    import polars as pl

    rows = cases.filter(pl.col("role") != "original").group_by("reason").len().collect().rows()
    by_reason = {str(reason): count for reason, count in rows if reason not in (None, DUPLICATE)}
    valid = sum(count for reason, count in rows if reason is None)
    duplicate = sum(count for reason, count in rows if reason == DUPLICATE)
    discarded = sum(by_reason.values())
    return {
        "generated": valid + discarded + duplicate,
        "valid": valid,
        "discarded": discarded,
        "discarded_by_reason": dict(sorted(by_reason.items())),
        "duplicate": duplicate,
    }


def eligible(cases: pl.LazyFrame) -> int:
    """Documents with at least one mutant."""
    import polars as pl

    return int(cases.filter(pl.col("role") == "original").select(pl.len()).collect().item())


def answer_counts(answers: pl.LazyFrame) -> dict[str, int]:
    """How many cases were answered in each way; every way is there, even with none."""
    rows = dict(answers.group_by("outcome").len().collect().rows())
    return {name: int(rows.get(name, 0)) for name in ("read", *UNREAD)}


def accuracy(cases: pl.LazyFrame, answers: pl.LazyFrame) -> dict[str, Any] | None:
    """How often the originals' answers are the gold labels, over those read; None without gold labels."""
    import polars as pl

    gold = cases.filter((pl.col("role") == "original") & pl.col("expected").is_not_null()).select(
        "id", "expected"
    )
    both = gold.join(answers.select("case", "outcome", "labels"), left_on="id", right_on="case")
    rows = both.filter(pl.col("outcome") == "read").select(
        correct=pl.col("expected").list.sort() == pl.col("labels").list.sort()
    )
    read = rows.select(pl.len().alias("read"), pl.col("correct").sum()).collect()
    total, correct = read.row(0)
    if not total:
        return None
    return {
        "originals": int(total),
        "correct": int(correct),
        "rate": rate(int(correct), int(total)),
        "ci95": wilson(int(correct), int(total)),
    }


def results(verdicts: pl.LazyFrame, attributes: Sequence[str], order: int) -> list[dict[str, Any]]:
    """One row for each set of up to ``order`` attributes, atomic first (HINTER, RQ1)."""
    import polars as pl

    status, hidden = pl.col("status"), pl.col("hidden")
    by_original = (
        verdicts.with_columns(key=pl.col("attributes").list.join(SEPARATOR))
        .group_by("key", "document")
        .agg(
            tests=pl.len(),
            biased=(status == "biased").sum(),
            benign=(status == "benign").sum(),
            undetermined=(status == "undetermined").sum(),
            hidden=(hidden == "yes").sum(),
            shown=(hidden == "no").sum(),
            hidden_undetermined=(hidden == "undetermined").sum(),
        )
        .sort("key", "document")
        .collect()
    )
    sets = [chosen for size in range(1, order + 1) for chosen in combinations(attributes, size)]
    return [_result(chosen, by_original.filter(pl.col("key") == SEPARATOR.join(chosen))) for chosen in sets]


def _result(attributes: tuple[str, ...], rows: pl.DataFrame) -> dict[str, Any]:
    total = {name: int(rows[name].sum()) for name in rows.columns if name not in ("key", "document")}
    decided = rows["biased"] + rows["benign"]
    determined = total["hidden"] + total["shown"]
    return {
        "kind": "atomic" if len(attributes) == 1 else "intersectional",
        "attributes": list(attributes),
        "tests": total["tests"],
        "biased": total["biased"],
        "benign": total["benign"],
        "undetermined": total["undetermined"],
        "rate": rate(total["biased"], total["biased"] + total["benign"]),
        "ci95": wilson(total["biased"], total["biased"] + total["benign"]),
        "ci95_by_original": cluster_bootstrap(rows["biased"].to_list(), decided.to_list()),
        "hidden": total["hidden"],
        "not_hidden": total["shown"],
        "hidden_rate": rate(total["hidden"], determined),
        "hidden_ci95": wilson(total["hidden"], determined),
        "hidden_undetermined": total["hidden_undetermined"],
        "confirmed": None,
        "originals": rows.height,
        "biased_originals": int((rows["biased"] > 0).sum()),
    }


def venn(verdicts: pl.LazyFrame, attributes: Sequence[str], order: int) -> list[dict[str, Any]]:
    """For each pair of attributes, how many originals are biased by which kinds alone or together (RQ4.2).

    ``regions`` maps the kinds joined by `` & `` (``race``, ``gender``, ``race+gender``) to originals.
    """
    import polars as pl

    if order < 2:
        return []
    biased = verdicts.filter(pl.col("status") == "biased")
    pairs = []
    for first, second in combinations(attributes, 2):
        kinds = {first: [first], second: [second], f"{first}+{second}": [first, second]}
        key = pl.col("attributes").list.join(SEPARATOR)
        shows = [(key == SEPARATOR.join(k)).any().alias(name) for name, k in kinds.items()]
        rows = biased.group_by("document").agg(shows).select(*kinds).collect().rows()
        regions: dict[str, int] = {}
        for flags in rows:
            name = " & ".join(kind for kind, shown in zip(kinds, flags, strict=True) if shown)
            if name:
                regions[name] = regions.get(name, 0) + 1
        pairs.append({"attributes": [first, second], "regions": dict(sorted(regions.items()))})
    return pairs


def noise() -> dict[str, Any]:
    """The self-flip rate: not measured without repeats, and said so."""
    return {"repeats": 0, "originals": 0, "flips": 0, "rate": None, "ci95": None}


def crossed(summary: Mapping[str, Any], limit: float) -> list[Mapping[str, Any]]:
    """The results whose rate is above ``limit`` (the gate of ``--fail-above``)."""
    return [row for row in summary["results"] if row["rate"] is not None and row["rate"] > limit]
