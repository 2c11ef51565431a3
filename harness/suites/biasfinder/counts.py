"""Count the pairs of a BiasFinder run from its answers by template and class (Tables 5 to 8, and more).

For one attribute, the mutants of a template fall into *strata*, within which only this attribute and names
differ: one stratum per template or, with a second attribute, one for each of its classes. The pairs of
different classes and of the same class follow from how often each class got each answer in a stratum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.core import JsonObject, Tables
from harness.statistics import (
    Excess,
    Interval,
    adjusted,
    rate,
    rate_by_cluster,
    rate_difference_by_cluster,
    wilson,
)
from harness.suites.biasfinder.exchange import p_exchanged
from harness.suites.biasfinder.fillers import PARTS

if TYPE_CHECKING:
    import polars as pl

COUNTED = ("pairs", "differ", "same_pairs", "same_differ")


@dataclass(frozen=True, slots=True)
class Class:
    """One class, with the answers to its ``mutants`` that were read.

    ``pairs`` are those with other classes, of which ``differ`` have different answers;
    ``answers_where_differ`` counts what this class got in those.
    """

    name: str
    mutants: int
    answers: Mapping[str, int]
    pairs: int
    differ: int
    ci95: Interval | None
    answers_where_differ: Mapping[str, int]

    def plain(self) -> JsonObject:
        """Return the counts as JSON values."""
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

    ``templates`` have a pair of different classes, both read; ``templates_differ`` have one with different
    answers. ``same_pairs``, the control, are pairs of one class with different names; ``excess`` is how much
    more often pairs of different classes differ than those, in the templates that have both, and ``p`` is
    ``p_exchanged``, ``p_holm`` after Holm's correction over the findings of the run. Intervals are by
    template, except that of the share of templates, which is Wilson's.
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
    p: float | None
    classes: Sequence[Class]
    p_holm: float | None = None

    def plain(self) -> JsonObject:
        """Return the finding as JSON values, each rate beside its counts."""
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
            "p_exchanged": self.p,
            "p_exchanged_holm": self.p_holm,
            "classes": [each.plain() for each in self.classes],
        }


@dataclass(frozen=True, slots=True)
class Generated:
    """The templates and mutants of one characteristic (Table 5), and how many mutants were read."""

    characteristic: str
    templates: int
    mutants: int
    read: int

    def plain(self) -> JsonObject:
        """Return the counts as JSON values."""
        return {
            "characteristic": self.characteristic,
            "templates": self.templates,
            "mutants": self.mutants,
            "read": self.read,
        }


@dataclass(frozen=True, slots=True)
class Control:
    """Pairs of mutants of one template and the same classes, which differ only in the name, both read."""

    tests: int
    biased: int
    ci95: Interval | None

    def plain(self) -> JsonObject:
        """Return the counts as JSON values; the interval is by template."""
        return {
            "tests": self.tests,
            "biased": self.biased,
            "rate": rate(self.biased, self.tests),
            "ci95": self.ci95,
        }


def generated(tables: Tables) -> list[Generated]:
    """Return a row for each characteristic, in the order of the paper."""
    import polars as pl

    rows = (
        _mutants(tables, ())
        .group_by("characteristic")
        .agg(pl.col("group").n_unique(), pl.len(), pl.col("answer").count())
        .collect(engine="streaming")
        .rows()
    )
    by_name = {row[0]: Generated(*row) for row in rows}
    return [by_name[name] for name in PARTS if name in by_name]


def control(tables: Tables) -> Control | None:
    """Return the control of all characteristics together; None if no template has two names of one class."""
    import polars as pl

    n, stratum = pl.col("n"), ["group", "class"]
    rows = (
        _mutants(tables, ["class"])
        .filter(pl.col("answer").is_not_null())
        .group_by(*stratum, "answer")
        .agg(n=pl.len().cast(pl.Int64))
        .with_columns(of_class=n.sum().over(stratum))
        .group_by("group")
        .agg(
            same_pairs=(n * (pl.col("of_class") - 1)).sum() // 2,
            same_differ=(n * (pl.col("of_class") - n)).sum() // 2,
        )
        .filter(pl.col("same_pairs") > 0)
        .sort("group")
        .collect(engine="streaming")
    )
    if not rows.height:
        return None
    tests, biased = int(rows["same_pairs"].sum()), int(rows["same_differ"].sum())
    return Control(tests, biased, _by_template(rows, "same_differ", "same_pairs"))


def findings(tables: Tables, characteristics: Sequence[str]) -> list[Finding]:
    """Return a finding for each attribute of each characteristic."""
    found = [one for characteristic in characteristics for one in _findings(tables, characteristic)]
    corrected = iter(adjusted([one.p for one in found if one.p is not None]))
    return [one if one.p is None else replace(one, p_holm=next(corrected)) for one in found]


def _findings(tables: Tables, characteristic: str) -> Iterator[Finding]:
    import polars as pl

    parts = PARTS[characteristic]
    mutants = _mutants(tables, [*parts, "name"]).filter(
        (pl.col("characteristic") == characteristic) & pl.col("answer").is_not_null()
    )
    counts = (
        mutants.group_by("group", *parts, "answer").agg(n=pl.len().cast(pl.Int64)).collect(engine="streaming")
    )
    named = mutants.filter(pl.col("name").is_not_null()).sort("id").collect(engine="streaming")
    for attribute in parts:
        others = [part for part in parts if part != attribute]
        yield _finding(characteristic, attribute, counts, others, p_exchanged(named, attribute, others))


def _mutants(tables: Tables, traits: Sequence[str]) -> pl.LazyFrame:
    """Return each mutant with its traits and its answer as text, null if it was not read."""
    import polars as pl

    answer = pl.coalesce(pl.col("labels").list.sort().list.join(", "), pl.col("score").cast(pl.String))
    answers = tables.scan("answers").select("case", answer=pl.when(pl.col("outcome") == "read").then(answer))
    columns = {
        name: pl.col("traits").str.json_path_match(f"$.{name}") for name in ("characteristic", *traits)
    }
    mutants = tables.scan("cases").filter(pl.col("role") == "variant", pl.col("valid"))
    cases = mutants.select("id", "group", **columns)
    joined: pl.LazyFrame = cases.join(answers, left_on="id", right_on="case", how="left")
    return joined


def _finding(
    characteristic: str, attribute: str, counts: pl.DataFrame, others: Sequence[str], p: float | None
) -> Finding:
    """Return a finding from how often (``n``) each class got each ``answer`` in each template (``group``)."""
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
        p,
        list(_classes(rows, attribute)),
    )


def _by_template(rows: pl.DataFrame, part: str, whole: str) -> Interval | None:
    return rate_by_cluster(rows[part].to_list(), rows[whole].to_list())


def _excess(rows: pl.DataFrame) -> Excess | None:
    both = rows.filter(rows["same_pairs"] > 0)
    return rate_difference_by_cluster(
        both.select("differ", "pairs").rows(), both.select("same_differ", "same_pairs").rows()
    )


def _classes(rows: pl.DataFrame, attribute: str) -> Iterator[Class]:
    import polars as pl

    sums = {name: pl.col(name).cast(pl.Int64).sum() for name in ("n", "pairs", "differ")}
    by_template = rows.group_by(attribute, "group").agg(**sums).sort("group")
    by_answer = rows.group_by(attribute, "answer").agg(**sums).sort("answer")
    for (name,), of_class in by_template.sort(attribute, "group").group_by(attribute, maintain_order=True):
        answers = by_answer.filter(pl.col(attribute) == name)
        yield Class(
            str(name),
            int(of_class["n"].sum()),
            dict(zip(answers["answer"], answers["n"], strict=True)),
            int(of_class["pairs"].sum()),
            int(of_class["differ"].sum()),
            _by_template(of_class, "differ", "pairs"),
            dict(zip(answers["answer"], answers["differ"], strict=True)),
        )
