"""The figures of a run: ``summary.json``, schema 1, from its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from harness import __version__
from harness.core import DUPLICATE, KEY_SEPARATOR, NEAR_TIE, UNREAD
from harness.plugins import Nouns
from harness.statistics import (
    adjusted,
    cluster_bootstrap,
    clustered_rate_difference,
    equal_rates,
    f1,
    rate,
    rate_difference,
    wilson,
)

if TYPE_CHECKING:
    import polars as pl

    from harness.answering.budget import Prices
    from harness.answering.runner import Counts
    from harness.folder import RunFolder

SCHEMA = 1
SCORES = "paired scores"
NOT_COUNTS = ("key", "document", "relation", "weighted", "weights")


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
    nouns: Nouns
    settings: Mapping[str, Any]
    repeats: int
    confirm: int
    counts: Counts
    prices: Prices | None
    facts: Mapping[str, Any]
    seconds: float


def build(folder: RunFolder, facts: Facts, own: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The summary of the run in ``folder``; ``own`` is what the suite adds."""
    cases, answers, verdicts = (folder.scan(name) for name in ("cases", "answers", "verdicts"))
    counts = facts.counts
    sets = attribute_sets(verdicts, facts.settings)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "status": facts.status,
        "suite": facts.suite,
        "task": facts.task,
        "model": facts.model,
        "parser": facts.parser,
        "nouns": asdict(facts.nouns),
        **facts.settings,
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
        "results": results(verdicts, sets, facts.confirm > 0, folder.scan("noise")),
        "venn": venn(verdicts, sets),
        "discarded": discarded(folder.scan("discarded"), cases),
        "noise": noise(folder.scan("noise"), facts.repeats),
        "tokens": {
            "prompt": counts.prompt_tokens,
            "completion": counts.completion_tokens,
            "cached": counts.cached_tokens,
        },
        "cost_usd": cost(counts, facts.prices),
        "model_facts": dict(facts.facts),
        "seconds": {"total": round(facts.seconds, 3)},
        **(own or {}),
    }


def attribute_sets(verdicts: pl.LazyFrame, settings: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The sets of attributes changed together: all that the settings allow, else those that were judged."""
    import polars as pl

    if "attributes" in settings and "order" in settings:
        sizes = range(1, settings["order"] + 1)
        return [chosen for size in sizes for chosen in combinations(settings["attributes"], size)]
    labelled = verdicts.filter(pl.col("relation") != SCORES)
    found = labelled.select("attributes").unique().collect()["attributes"].to_list()
    return sorted(map(tuple, found), key=lambda names: (len(names), names))


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
    """Documents with at least one case."""
    import polars as pl

    return int(cases.select(pl.col("document").n_unique()).collect(engine="streaming").item())


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
    verdicts: pl.LazyFrame,
    sets: Sequence[tuple[str, ...]],
    confirmed: bool = False,
    asked_again: pl.LazyFrame | None = None,
) -> list[dict[str, Any]]:
    """One row for each set of attributes changed together, atomic first (HINTER, RQ1).

    A difference between two scores is no finding by itself, so paired scores have no row here.
    ``confirmed``: the flips were asked again; else how many held is not known. ``asked_again``: the table of
    noise, for the excess of flips over self-flips.
    """
    import polars as pl

    status, hidden = pl.col("status"), pl.col("hidden")
    tie = pl.col("margin") < NEAR_TIE
    tie_is_known = tie.is_not_null() & ~(
        tie & pl.col("margin_is_bound").fill_null(value=False)
    )  # a bound below says nothing
    by_original = (
        verdicts.filter(pl.col("relation") != SCORES)
        .with_columns(key=pl.col("attributes").list.join(KEY_SEPARATOR))
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
            near_ties=((status == "biased") & tie & tie_is_known).sum(),
            margins=((status == "biased") & tie_is_known).sum(),
            relation=pl.col("relation").first(),
            weighted=(pl.col("weight") * (status == "biased")).sum(),
            weights=(pl.col("weight") * status.is_in(["biased", "benign"])).sum(),
        )
        .sort("key", "document")
        .collect()
    )
    parted = {key: rows for (key,), rows in by_original.group_by("key", maintain_order=True)}
    empty = by_original.clear()
    repeated = _self_flips(asked_again)
    rows = [_result(chosen, parted.get(KEY_SEPARATOR.join(chosen), empty), repeated) for chosen in sets]
    tested = [row for row in rows if row["p"] is not None]
    for row, p in zip(tested, adjusted([row["p"] for row in tested]), strict=True):
        row["p_holm"] = p
    return rows if confirmed else [{**row, "confirmed": None} for row in rows]


def _self_flips(asked_again: pl.LazyFrame | None) -> dict[str, tuple[int, int]]:
    """By document how many repeated answers were not the first one, of how many read."""
    if asked_again is None:
        return {}
    summed = asked_again.group_by("document").sum().select("document", "flips", "read")
    return {document: (flips, read) for document, flips, read in summed.collect().iter_rows() if read}


def _result(
    attributes: tuple[str, ...], rows: pl.DataFrame, repeated: Mapping[str, tuple[int, int]]
) -> dict[str, Any]:
    counts = [name for name in rows.columns if name not in NOT_COUNTS]
    total = {name: int(rows[name].sum()) for name in counts}
    decided = rows["biased"] + rows["benign"]
    determined = total["hidden"] + total["shown"]
    return {
        "kind": "atomic" if len(attributes) == 1 else "intersectional",
        "relation": rows["relation"][0] if rows.height else None,
        "attributes": list(attributes),
        "tests": total["tests"],
        "biased": total["biased"],
        "benign": total["benign"],
        "undetermined": total["undetermined"],
        "rate": rate(total["biased"], total["biased"] + total["benign"]),
        "ci95": wilson(total["biased"], total["biased"] + total["benign"]),
        "ci95_by_original": cluster_bootstrap(rows["biased"].to_list(), decided.to_list()),
        **_estimate(rows),
        **_excess(rows, repeated),
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


def _excess(rows: pl.DataFrame, repeated: Mapping[str, tuple[int, int]]) -> dict[str, Any]:
    """By how much the flip rate is above the self-flip rate of the same originals, and the p that it is not;
    all None where noise was not measured. The interval is by original, or Newcombe's where that one is a
    point or cannot be had. ``p_holm`` needs the other rows, so it is filled in by ``results``."""
    flips = [(biased, biased + benign) for biased, benign in rows.select("biased", "benign").iter_rows()]
    again = [repeated.get(document, (0, 0)) for document in rows["document"]]
    found = clustered_rate_difference(flips, again)
    if found is None or found.interval[0] == found.interval[1]:
        first, second = ((sum(s for s, _ in some), sum(n for _, n in some)) for some in (flips, again))
        found = rate_difference(first, second)
    return {
        "excess": None if found is None else found.difference,
        "excess_ci95": None if found is None else found.interval,
        "p": equal_rates(flips, again),
        "p_holm": None,
    }


def _estimate(rows: pl.DataFrame) -> dict[str, Any]:
    """The rate of all mutants that the drawn ones stand for (the ratio of weighted sums, Hájek), with an
    interval by original; both None where none was drawn from more."""
    whole = float(rows["weights"].sum())
    decided = float((rows["biased"] + rows["benign"]).sum())
    if not whole or abs(whole - decided) < 1e-9:
        return {"estimated_rate": None, "estimated_ci95": None}
    return {
        "estimated_rate": float(rows["weighted"].sum()) / whole,
        "estimated_ci95": cluster_bootstrap(rows["weighted"].to_list(), rows["weights"].to_list()),
    }


def discarded(verdicts: pl.LazyFrame, cases: pl.LazyFrame) -> dict[str, Any] | None:
    """What the discarded mutants would have shown: the false positives that the invariant avoids (HINTER,
    RQ3), in all and by reason; None where they were not asked."""
    import polars as pl

    status = pl.col("status")
    reasons = cases.select("id", "reason").filter(pl.col("reason").is_not_null())
    rows = (
        verdicts.join(reasons, left_on="case", right_on="id")
        .group_by("reason")
        .agg(biased=(status == "biased").sum(), benign=(status == "benign").sum(), tests=pl.len())
        .sort("reason")
        .collect(engine="streaming")
    )
    if not rows.height:
        return None

    def counted(some: pl.DataFrame) -> dict[str, Any]:
        tests, biased, benign = (int(some[name].sum()) for name in ("tests", "biased", "benign"))
        found = {"tests": tests, "biased": biased, "undetermined": tests - biased - benign}
        decided = biased + benign
        return {**found, "rate": rate(biased, decided), "ci95": wilson(biased, decided)}

    by_reason = {reason: counted(some) for (reason,), some in rows.group_by("reason", maintain_order=True)}
    return {**counted(rows), "by_reason": by_reason}


def venn(verdicts: pl.LazyFrame, sets: Sequence[tuple[str, ...]]) -> list[dict[str, Any]]:
    """For each pair of attributes, how many originals are biased by which kinds alone or together (RQ4.2).

    ``regions`` maps the kinds joined by `` & `` (``race``, ``gender``, ``race+gender``) to originals.
    """
    import polars as pl

    biased = verdicts.filter(pl.col("status") == "biased")
    pairs = []
    for first, second in (chosen for chosen in sets if len(chosen) == 2):
        kinds = {first: [first], second: [second], f"{first}+{second}": [first, second]}
        key = pl.col("attributes").list.join(KEY_SEPARATOR)
        shows = [(key == KEY_SEPARATOR.join(k)).any().alias(name) for name, k in kinds.items()]
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
