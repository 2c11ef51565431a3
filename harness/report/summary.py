"""The figures of a run: ``summary.json``, schema 1, from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from harness import __version__
from harness.answering.margin import NEAR_TIE
from harness.core import UNREAD
from harness.statistics import cluster_bootstrap, f1, rate, wilson

if TYPE_CHECKING:
    import polars as pl

    from harness.answering.budget import Prices
    from harness.answering.runner import Counts
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
    shortened: int
    attributes: tuple[str, ...]
    order: int
    max_pairs: int | None
    repeats: int
    confirm: int
    counts: Counts
    prices: Prices | None
    facts: Mapping[str, Any]
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
        "documents": {"read": facts.documents, "eligible": eligible(cases), "shortened": facts.shortened},
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
        "results": results(verdicts, facts.attributes, facts.order, facts.confirm > 0),
        "venn": venn(verdicts, facts.attributes, facts.order),
        "noise": noise(folder.scan("noise"), facts.repeats),
        "tokens": {
            "prompt": counts.prompt_tokens,
            "completion": counts.completion_tokens,
            "cached": counts.cached_tokens,
        },
        "cost_usd": cost(counts, facts.prices),
        "model_facts": dict(facts.facts),
        "seconds": {"total": round(facts.seconds, 3)},
    }


def cost(counts: Counts, prices: Prices | None) -> float | None:
    """USD for all distinct replies of the audit, None where the prices are not known."""
    if prices is None:
        return None
    return prices.of(counts.prompt_tokens, counts.completion_tokens, counts.cached_tokens)


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
    """How good the model is on the originals whose answers were read (HINTER, Table 5); None without gold
    labels.

    ``rate``: the answer is the gold set exactly. ``micro_f1`` over all labels together; ``macro_f1`` the mean
    over the labels that occur among gold labels or answers.
    """
    import polars as pl

    gold = cases.filter((pl.col("role") == "original") & pl.col("expected").is_not_null()).select(
        "id", "expected"
    )
    both = gold.join(answers.select("case", "outcome", "labels"), left_on="id", right_on="case")
    read = both.filter(pl.col("outcome") == "read").with_columns(
        hit=pl.col("expected").list.set_intersection("labels"),
        missed=pl.col("expected").list.set_difference("labels"),
        wrong=pl.col("labels").list.set_difference("expected"),
    )
    exact = (pl.col("missed").list.len() == 0) & (pl.col("wrong").list.len() == 0)
    total, correct = read.select(pl.len(), exact.sum().alias("correct")).collect().row(0)
    if not total:
        return None
    micro, macro = _f1(read)
    return {
        "originals": int(total),
        "correct": int(correct),
        "rate": rate(int(correct), int(total)),
        "ci95": wilson(int(correct), int(total)),
        "micro_f1": micro,
        "macro_f1": macro,
    }


def _f1(read: pl.LazyFrame) -> tuple[float | None, float | None]:
    """Micro- and macro-F1 from the labels hit, missed and wrongly given, by row."""
    import polars as pl

    kinds = ("hit", "missed", "wrong")
    rows = [
        read.select(label=kind).explode("label").drop_nulls().with_columns(kind=pl.lit(kind))
        for kind in kinds
    ]
    counts: dict[str, dict[str, int]] = {}
    for label, kind, number in pl.concat(rows).group_by("label", "kind").len().collect().rows():
        counts.setdefault(label, dict.fromkeys(kinds, 0))[kind] = number
    if not counts:
        return (None, None)
    sums = {kind: sum(one[kind] for one in counts.values()) for kind in kinds}
    return (f1(**sums), sum(f1(**one) for _, one in sorted(counts.items())) / len(counts))


def results(
    verdicts: pl.LazyFrame, attributes: Sequence[str], order: int, confirmed: bool = False
) -> list[dict[str, Any]]:
    """One row for each set of up to ``order`` attributes, atomic first (HINTER, RQ1).

    ``confirmed``: the flips were asked again; else how many held is not known.
    """
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
            confirmed=pl.col("confirmed").sum(),
            near_ties=((status == "biased") & (pl.col("margin") < NEAR_TIE)).sum(),
            margins=((status == "biased") & pl.col("margin").is_not_null()).sum(),
        )
        .sort("key", "document")
        .collect()
    )
    sets = [chosen for size in range(1, order + 1) for chosen in combinations(attributes, size)]
    rows = [_result(chosen, by_original.filter(pl.col("key") == SEPARATOR.join(chosen))) for chosen in sets]
    return rows if confirmed else [{**row, "confirmed": None} for row in rows]


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
        "confirmed": total["confirmed"],
        "near_ties": total["near_ties"] if total["margins"] else None,
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


def noise(rows: pl.LazyFrame, repeats: int) -> dict[str, Any]:
    """The self-flip rate: how often an original's answer, asked again, is not the first one.

    ``rate`` is over the repeated answers that were read, the unit in which a mutant flips too.
    """
    import polars as pl

    total = rows.select("asked", "read", "flips").sum().collect().row(0, named=True)
    read, flips = int(total["read"] or 0), int(total["flips"] or 0)
    return {
        "repeats": repeats,
        "originals": int(rows.filter(pl.col("read") > 0).select(pl.len()).collect().item()),
        "answers": read,
        "flips": flips,
        "rate": rate(flips, read),
        "ci95": wilson(flips, read),
    }


def crossed(summary: Mapping[str, Any], limit: float) -> list[Mapping[str, Any]]:
    """The results whose rate is above ``limit`` (the gate of ``--fail-above``)."""
    return [row for row in summary["results"] if row["rate"] is not None and row["rate"] > limit]
