"""The figures of a run, on small tables worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from harness.folder import ANSWER_SCHEMA, CASE_SCHEMA, schema_of
from harness.report import summary

Labels = list[str] | None


def tables(rows: list[tuple[Labels, Labels]]) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Originals with their gold labels and the labels answered; None for no gold, or not read."""
    names = [str(number) for number in range(len(rows))]
    cases = pl.DataFrame(
        {"id": names, "role": ["original"] * len(rows), "expected": [gold for gold, _ in rows]},
        schema_overrides={"expected": schema_of(CASE_SCHEMA)["expected"]},
    )
    answers = pl.DataFrame(
        {
            "case": names,
            "outcome": ["refused" if given is None else "read" for _, given in rows],
            "labels": [given for _, given in rows],
        },
        schema_overrides={"labels": schema_of(ANSWER_SCHEMA)["labels"]},
    )
    return cases.lazy(), answers.lazy()


def test_accuracy_and_f1_of_several_labels() -> None:
    found = summary.accuracy(
        *tables(
            [
                (["a", "b"], ["b", "a"]),  # exact, whatever the order
                (["a"], ["a", "c"]),  # one wrong
                (["b"], []),  # one missed
                ([], []),  # none, rightly
                (["c"], None),  # not read: in nothing
                (None, ["a"]),  # no gold: in nothing
            ]
        )
    )
    assert found is not None
    assert (found["originals"], found["correct"], found["rate"]) == (4, 2, 0.5)
    assert found["micro_f1"] == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))
    assert found["macro_f1"] == pytest.approx((1.0 + 2 / 3 + 0.0) / 3)


def test_one_label_micro_f1_is_accuracy() -> None:
    found = summary.accuracy(*tables([(["a"], ["a"]), (["a"], ["b"]), (["b"], ["b"])]))
    assert found is not None
    assert found["micro_f1"] == pytest.approx(found["rate"]) == pytest.approx(2 / 3)
    assert found["macro_f1"] == pytest.approx(2 / 3)


def test_no_gold_labels_no_accuracy() -> None:
    assert summary.accuracy(*tables([(None, ["a"]), (["a"], None)])) is None
