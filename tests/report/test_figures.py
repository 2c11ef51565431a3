"""The figures of a run, on small tables worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.columns import schema
from harness.report import figures, wording
from harness.report.rates import results
from tests.commands import called

Labels = list[str] | None


def tables(rows: list[tuple[Labels, Labels]]) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Originals with their gold labels and the labels answered; None for no gold, or not read."""
    names = [str(number) for number in range(len(rows))]
    cases = pl.DataFrame(
        {"id": names, "role": ["original"] * len(rows), "expected": [gold for gold, _ in rows]},
        schema_overrides={"expected": schema("cases")["expected"]},
    )
    answers = pl.DataFrame(
        {
            "case": names,
            "outcome": ["refused" if given is None else "read" for _, given in rows],
            "labels": [given for _, given in rows],
        },
        schema_overrides={"labels": schema("answers")["labels"]},
    )
    return cases.lazy(), answers.lazy()


def test_accuracy_and_f1_of_several_labels() -> None:
    found = figures.accuracy(
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
    assert (found.originals, found.correct, found.rate) == (4, 2, 0.5)
    assert found.micro_f1 == pytest.approx(2 * 3 / (2 * 3 + 1 + 1))
    assert found.macro_f1 == pytest.approx((1.0 + 2 / 3 + 0.0) / 3)


def test_one_label_micro_f1_is_accuracy() -> None:
    found = figures.accuracy(*tables([(["a"], ["a"]), (["a"], ["b"]), (["b"], ["b"])]))
    assert found is not None
    assert found.micro_f1 == pytest.approx(found.rate) == pytest.approx(2 / 3)
    assert found.macro_f1 == pytest.approx(2 / 3)


LABELS = [f"Article {number}" for number in range(10)]
SETS = st.lists(st.sampled_from(LABELS), unique=True)


@given(st.lists(st.tuples(SETS, SETS), min_size=1, max_size=8))
def test_macro_f1_is_over_all_labels_and_over_those_that_occur(rows: list[tuple[Labels, Labels]]) -> None:
    """Against the definition of scikit-learn's f1_score with average="macro" and zero_division=0."""
    found = figures.accuracy(*tables(rows), len(LABELS))
    assert found is not None
    gold, answered = zip(*rows, strict=True)
    scores: list[float] = []
    occurring = 0
    for name in LABELS:
        truths, answers = ([name in (labels or []) for labels in side] for side in (gold, answered))
        both = sum(t and a for t, a in zip(truths, answers, strict=True))
        precision = both / sum(answers) if any(answers) else 0.0
        recall = both / sum(truths) if any(truths) else 0.0
        scores.append(2 * precision * recall / (precision + recall) if both else 0.0)
        occurring += any(truths) or any(answers)
    assert (found.labels, found.occurring) == (len(LABELS), occurring)
    if occurring:
        assert found.macro_f1_all == pytest.approx(sum(scores) / len(LABELS))
        assert found.macro_f1 == pytest.approx(sum(scores) / occurring)
    else:
        assert found.macro_f1_all is found.macro_f1 is None


def test_both_are_named_the_benchmarks_own_first() -> None:
    found = figures.accuracy(*tables([(["a"], ["a"]), (["b"], ["a"])]), 10)
    assert found is not None
    assert wording.macro_f1(found) == "macro: 6.7 % over all 10 labels, 33.3 % over the 2 labels that occur"
    earlier = found.model_copy(update={"macro_f1_all": None, "labels": None, "occurring": None})
    assert wording.macro_f1(earlier) == "macro: 33.3 % over the labels that occur"


def test_a_run_on_ecthr_cases_has_both(shared_data: Path, tmp_path: Path) -> None:
    """By hand, from the gold labels: every case is answered "Article 8"."""
    (tmp_path / "steady_model.py").write_text(
        "def answer(text):\n    return 'Answer: Article 8'\n", encoding="utf-8"
    )
    cases = shared_data / "lexglue" / "ecthr_a.jsonl"
    line = ["--task", "ecthr", "--data", str(cases), "--model", "python:steady_model:answer", "--out", "run"]
    more = ["--parser", "none", "--attributes", "gender", "--max-pairs", "1", "--json"]
    done = called(tmp_path, "run", *line, *more)
    accuracy = json.loads(done.stdout)["accuracy"]
    gold = [json.loads(row)["labels"] for row in cases.read_text(encoding="utf-8").splitlines()]
    eight = 4  # its place in LexGLUE's list: 2, 3, 5, 6, 8, 9, 10, 11, 14, P1-1
    hit = sum(eight in labels for labels in gold)
    score = 2 * hit / (len(gold) + hit)
    occurring = {eight, *(label for labels in gold for label in labels)}
    assert (accuracy["labels"], accuracy["occurring"]) == (10, len(occurring))
    assert accuracy["macro_f1_all"] == pytest.approx(score / 10)
    assert accuracy["macro_f1"] == pytest.approx(score / len(occurring))
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert f"macro: {100 * score / 10:.1f} % over all 10 labels" in page


def test_no_gold_labels_no_accuracy() -> None:
    assert figures.accuracy(*tables([(None, ["a"]), (["a"], None)])) is None


def judged(
    flips: dict[str, tuple[int, int]], relation: str = "star", attribute: str = "gender"
) -> pl.LazyFrame:
    """Verdicts of each original: so many biased, so many benign."""
    rows = [
        {
            "case": f"{name}/{number}",
            "relation": relation,
            "status": "biased" if number < biased else "benign",
            "attributes": [attribute],
            "document": name,
            "weight": 1.0,
        }
        for name, (biased, benign) in flips.items()
        for number in range(biased + benign)
    ]
    return pl.DataFrame(rows, schema=schema("verdicts")).lazy()


def repeated(flips: dict[str, tuple[int, int]]) -> pl.LazyFrame:
    """Originals asked again: so many answers changed, of so many."""
    rows = [{"document": name, "asked": n, "read": n, "flips": k} for name, (k, n) in flips.items()]
    return pl.DataFrame(rows, schema=schema("noise")).lazy()


def test_excess_is_over_the_self_flips_of_the_same_originals() -> None:
    verdicts = judged({str(n): (2, 2) for n in range(6)} | {str(n): (0, 4) for n in range(6, 12)})
    noise = repeated({str(n): (1, 4) for n in range(4)} | {str(n): (0, 4) for n in range(4, 12)})
    (row,) = results(verdicts, [("gender",)], asked_again=noise)
    assert row.excess == pytest.approx(12 / 48 - 4 / 48)
    assert row.excess is not None
    assert row.excess_ci95 is not None
    low, high = row.excess_ci95
    assert 0 < low < row.excess < high


def test_excess_of_one_original_or_of_no_flip_at_all_has_an_interval_too() -> None:
    (alone,) = results(judged({"a": (3, 1)}), [("gender",)], asked_again=repeated({"a": (0, 4)}))
    assert alone.excess == 0.75
    assert alone.excess_ci95 is not None
    assert alone.excess_ci95[0] < 0.75 < alone.excess_ci95[1]
    still = {str(n): (0, 4) for n in range(5)}
    (row,) = results(judged(still), [("gender",)], asked_again=repeated(still))
    assert row.excess == 0
    assert row.excess_ci95 is not None
    assert row.excess_ci95[0] < 0 < row.excess_ci95[1]


def test_without_repeats_there_is_no_excess() -> None:
    for noise in (None, repeated({}), repeated({"a": (0, 0)})):
        (row,) = results(judged({"a": (1, 1)}), [("gender",)], asked_again=noise)
        assert (row.excess, row.excess_ci95) == (None, None)
        assert (row.p, row.p_holm) == (None, None)


def test_p_is_by_original_and_corrected_over_the_sets_that_have_one() -> None:
    six = [str(n) for n in range(6)]
    gender = judged(dict.fromkeys(six, (4, 0)))
    race = judged(dict.fromkeys(six[:5], (4, 0)), attribute="race")
    noise = repeated(dict.fromkeys(six, (0, 4)))
    sets = [("race",), ("gender",), ("body",)]
    rows = results(pl.concat([gender, race]), sets, asked_again=noise)
    assert [row.p for row in rows] == [pytest.approx(2 / 2**5), pytest.approx(2 / 2**6), None]
    assert [row.p_holm for row in rows] == [pytest.approx(1 / 16), pytest.approx(2 * 1 / 32), None]


def test_differences_of_scores_are_no_result() -> None:
    scored = judged({"a": (0, 3)}, relation="paired scores")
    assert figures.attribute_sets(scored, {"attributes": ["gender"]}) == []
    assert figures.attribute_sets(judged({"a": (0, 3)}), {}) == [("gender",)]


@pytest.mark.parametrize(
    ("margins", "near_ties"),
    [
        ([(0.05, False), (0.2, False)], 1),
        ([(-4.55, True), (0.05, False)], 1),
        ([(-4.55, True), (3.0, True)], 0),  # the second is surely none
        ([(-4.55, True), (-4.55, True)], None),
        ([(0.05, None), (3.0, None)], 1),  # tables written before bounds were marked
        ([(None, None), (None, None)], None),
    ],
)
def test_a_bound_is_no_near_tie(
    margins: list[tuple[float | None, bool | None]], near_ties: int | None
) -> None:
    marked = pl.DataFrame(
        {"margin": [m for m, _ in margins], "margin_is_bound": [b for _, b in margins]},
        schema={"margin": pl.Float64, "margin_is_bound": pl.Boolean},
    )
    verdicts = judged({"a": (2, 0)}).collect().with_columns(marked.get_columns())
    (row,) = results(verdicts.lazy(), [("gender",)])
    assert row.near_ties == near_ties
