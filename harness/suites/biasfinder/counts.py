"""The counts of a run of BiasFinder, from answers by template and class alone (Tables 5 to 8, and more).

For one attribute the mutants of a template fall into *strata* that differ in this attribute and in names
alone: one a template, or with a second attribute one for each of its classes. From how often each class
got each answer in a stratum, all pairs of different classes and of the same class can be counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.core import Tables
from harness.statistics import Excess, Interval, cluster_bootstrap, clustered_rate_difference, rate, wilson
from harness.suites.biasfinder.fillers import PARTS

if TYPE_CHECKING:
    import polars as pl

HIDDEN = {"hidden": "yes", "not_hidden": "no", "hidden_undetermined": "undetermined"}
COUNTED = ("pairs", "differ", "same_pairs", "same_differ")


@dataclass(frozen=True, slots=True)
class Class:
    """One class: of its ``mutants`` that were read, how many got which answer; of the ``pairs`` it is in
    with other classes, how many ``differ``, and which answer it got in those."""

    name: str
    mutants: int
    answers: Mapping[str, int]
    pairs: int
    differ: int
    ci95: Interval | None
    answers_where_differ: Mapping[str, int]

    def plain(self) -> dict[str, Any]:
        return {
            "class": self.name,
            "mutants": self.mutants,
            "answers": dict(self.answers),
            "pairs": self.pairs,
            "btc": self.differ,
            "rate": rate(self.differ, self.pairs),
            "ci95_by_template": self.ci95,
            "answers_in_btc": dict(self.answers_where_differ),
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One attribute in the templates of one characteristic.

    ``templates`` have a pair of different classes, both read; ``templates_differ`` one with different
    answers. ``same_pairs`` are pairs of one class, other names; ``excess`` is by how much pairs of different
    classes differ more often than those, in the templates that have them. Intervals draw whole templates,
    but for the share of templates, which is Wilson's.
    """

    characteristic: str
    attribute: str
    templates: int
    templates_differ: int
    pairs: int
    differ: int
    ci95: Interval | None
    same_pairs: int
    same_differ: int
    same_ci95: Interval | None
    excess: Excess | None
    classes: Sequence[Class]

    def plain(self) -> dict[str, Any]:
        """The finding as JSON values, each rate beside its counts."""
        return {
            "characteristic": self.characteristic,
            "attribute": self.attribute,
            "templates": self.templates,
            "templates_with_btc": self.templates_differ,
            "templates_rate": rate(self.templates_differ, self.templates),
            "templates_ci95": wilson(self.templates_differ, self.templates),
            "pairs": self.pairs,
            "btc": self.differ,
            "rate": rate(self.differ, self.pairs),
            "ci95_by_template": self.ci95,
            "same_class_pairs": self.same_pairs,
            "same_class_differ": self.same_differ,
            "same_class_rate": rate(self.same_differ, self.same_pairs),
            "same_class_ci95_by_template": self.same_ci95,
            "excess": self.excess.difference if self.excess else None,
            "excess_ci95_by_template": self.excess.interval if self.excess else None,
            "classes": [one.plain() for one in self.classes],
        }


@dataclass(frozen=True, slots=True)
class Made:
    """What was generated of one characteristic (Table 5), and how many mutants were read."""

    characteristic: str
    templates: int
    mutants: int
    read: int

    def plain(self) -> dict[str, Any]:
        return {
            "characteristic": self.characteristic,
            "templates": self.templates,
            "mutants": self.mutants,
            "read": self.read,
        }


@dataclass(frozen=True, slots=True)
class Together:
    """Pairs that differ in both attributes of a combination, and how many BTCs among them are hidden."""

    pairs: int
    differ: int
    ci95: Interval | None
    hidden: int
    not_hidden: int
    hidden_undetermined: int

    def plain(self) -> dict[str, Any]:
        return {
            "pairs": self.pairs,
            "btc": self.differ,
            "rate": rate(self.differ, self.pairs),
            "ci95_by_template": self.ci95,
            "hidden": self.hidden,
            "not_hidden": self.not_hidden,
            "hidden_rate": rate(self.hidden, self.hidden + self.not_hidden),
            "hidden_ci95": wilson(self.hidden, self.hidden + self.not_hidden),
            "hidden_undetermined": self.hidden_undetermined,
        }


def together(tables: Tables) -> Together | None:
    """The pairs of combinations that were read; None where there are none."""
    import polars as pl

    hidden, both = pl.col("hidden"), pl.col("attributes").list.len() > 1
    rows = (
        tables.scan("verdicts")
        .filter(both & (pl.col("status") != "undetermined"))
        .group_by("document")
        .agg(
            pairs=pl.len(),
            differ=(pl.col("status") == "biased").sum(),
            **{name: (hidden == value).sum() for name, value in HIDDEN.items()},
        )
        .sort("document")
        .collect(engine="streaming")
    )
    if not rows.height:
        return None
    counts = {name: int(rows[name].sum()) for name in ("pairs", "differ", *HIDDEN)}
    return Together(ci95=_by_template(rows, "differ", "pairs"), **counts)


def made(tables: Tables) -> list[Made]:
    """A row for each characteristic, in the order of the paper."""
    import polars as pl

    rows = (
        _mutants(tables, ())
        .group_by("characteristic")
        .agg(pl.col("group").n_unique(), pl.len(), pl.col("answer").count())
        .collect(engine="streaming")
        .rows()
    )
    found = {name: Made(name, templates, mutants, read) for name, templates, mutants, read in rows}
    return [found[name] for name in PARTS if name in found]


def findings(tables: Tables, characteristic: str) -> Iterator[Finding]:
    """A finding for each attribute of a characteristic."""
    import polars as pl

    parts = PARTS[characteristic]
    mutants = _mutants(tables, parts).filter(
        (pl.col("characteristic") == characteristic) & pl.col("answer").is_not_null()
    )
    counts = (
        mutants.group_by("group", *parts, "answer").agg(n=pl.len().cast(pl.Int64)).collect(engine="streaming")
    )
    for attribute in parts:
        yield _finding(characteristic, attribute, counts, [part for part in parts if part != attribute])


def _mutants(tables: Tables, traits: Sequence[str]) -> pl.LazyFrame:
    """Each mutant with its traits and its answer as a text, null where it was not read."""
    import polars as pl

    answer = pl.coalesce(pl.col("labels").list.sort().list.join(", "), pl.col("score").cast(pl.String))
    answers = tables.scan("answers").select("case", answer=pl.when(pl.col("outcome") == "read").then(answer))
    wanted = {name: pl.col("traits").str.json_path_match(f"$.{name}") for name in ("characteristic", *traits)}
    cases = tables.scan("cases").filter(pl.col("role") == "variant").select("id", "group", **wanted)
    joined: pl.LazyFrame = cases.join(answers, left_on="id", right_on="case", how="left")
    return joined


def _finding(characteristic: str, attribute: str, counts: pl.DataFrame, others: Sequence[str]) -> Finding:
    """``counts``: how often (``n``) each class got each ``answer`` in each template (``group``)."""
    import polars as pl

    stratum, n = ["group", *others], pl.col("n")
    rows = counts.with_columns(
        of_class=n.sum().over([*stratum, attribute]),
        of_answer=n.sum().over([*stratum, "answer"]),
        all=n.sum().over(stratum),
    ).with_columns(
        pairs=n * (pl.col("all") - pl.col("of_class")),
        differ=n * (pl.col("all") - pl.col("of_class") - pl.col("of_answer") + n),
        same_pairs=n * (pl.col("of_class") - 1),
        same_differ=n * (pl.col("of_class") - n),
    )
    twice = {name: (pl.col(name).cast(pl.Int64).sum() // 2) for name in COUNTED}  # seen from both ends
    by_template = rows.group_by("group").agg(**twice).sort("group")
    total = {name: int(by_template[name].sum()) for name in COUNTED}
    decided = by_template.filter(pl.col("pairs") > 0)
    return Finding(
        characteristic,
        attribute,
        decided.height,
        int((decided["differ"] > 0).sum()),
        total["pairs"],
        total["differ"],
        _by_template(by_template, "differ", "pairs"),
        total["same_pairs"],
        total["same_differ"],
        _by_template(by_template, "same_differ", "same_pairs"),
        _excess(by_template),
        list(_classes(rows, attribute)),
    )


def _by_template(rows: pl.DataFrame, part: str, whole: str) -> Interval | None:
    """None where no pair differs, or all do: drawing templates again says nothing then."""
    if int(rows[part].sum()) in (0, int(rows[whole].sum())):
        return None
    return cluster_bootstrap(rows[part].to_list(), rows[whole].to_list())


def _excess(rows: pl.DataFrame) -> Excess | None:
    both = rows.filter(rows["same_pairs"] > 0)
    if not int(both["differ"].sum()) + int(both["same_differ"].sum()):
        return None
    return clustered_rate_difference(
        both.select("differ", "pairs").rows(), both.select("same_differ", "same_pairs").rows()
    )


def _classes(rows: pl.DataFrame, attribute: str) -> Iterator[Class]:
    import polars as pl

    sums = {name: pl.col(name).cast(pl.Int64).sum() for name in ("n", "pairs", "differ")}
    by_template = rows.group_by(attribute, "group").agg(**sums).sort("group")
    by_answer = rows.group_by(attribute, "answer").agg(**sums).sort("answer")
    for (name,), some in by_template.sort(attribute, "group").group_by(attribute, maintain_order=True):
        answers = by_answer.filter(pl.col(attribute) == name)
        yield Class(
            str(name),
            int(some["n"].sum()),
            dict(zip(answers["answer"], answers["n"], strict=True)),
            int(some["pairs"].sum()),
            int(some["differ"].sum()),
            _by_template(some, "differ", "pairs"),
            dict(zip(answers["answer"], answers["differ"], strict=True)),
        )
