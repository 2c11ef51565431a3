"""Human review: a sheet that gives nothing away and harms no spreadsheet, and figures of what comes back."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table

from harness.core import Case, Role
from harness.errors import DocumentError
from harness.report.review import Agreement, Kappa
from harness.studies.review import agreement, figures, sheet
from harness.studies.review.sample import by_kind, pairs
from harness.studies.review.sample import mutants as drawn_mutants
from harness.studies.review.sheet import Rating

LABELS = ["Negative", "Neutral", "Positive"]


def case(name: str, role: Role = "seed", text: str = "a text .", **more: str | None) -> Case:
    return Case(
        id=name,
        group=name.split("#")[0],
        document=more.get("document") or name,
        role=role,
        text=text,
        expected=frozenset(["Positive"]),
        traits={"capability": "LC2"},
        reason=more.get("reason"),
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text, newline="")))


def filled(folder: Path, name: str, answers: Mapping[str, Sequence[str]], **how: str) -> Path:
    """A sheet of ``name``: label, relevance and fluency by case."""
    file = folder / f"{name}.csv"
    mark = how.get("delimiter", ",")
    lines = [mark.join(["id", "text", "about", "label", "relevance", "fluency", "remarks"])]
    lines += [mark.join([sheet.opaque(key), "x", "", *cells, ""]) for key, cells in answers.items()]
    file.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8-sig")
    return file


def read(file: Path, *names: str, several: bool = False) -> list[Rating]:
    return sheet.read(file, {sheet.opaque(name): name for name in names}, LABELS, several)


def mutant(name: str, text: str, role: Role = "atomic", reason: str | None = None) -> Case:
    return Case(id=name, group=name[0], document=name[0], role=role, text=text, reason=reason)


MUTANTS = [
    mutant("a0", "A man sat.", "original"),
    mutant("a1", "A deaf man sat."),
    mutant("a2", "A blind man sat."),
    mutant("a3", "A blind woman sat.", "intersectional"),
    mutant("a4", "A man man sat.", reason="pos"),
    mutant("b0", "He ran.", "original"),
    mutant("b1", "She ran."),
]


def sample_of(cases: Sequence[Case], most: int) -> list[tuple[Case, str]]:
    return drawn_mutants(cases, most, seed=0)


def test_the_sheet_of_mutants_marks_their_changes() -> None:
    drawn = sample_of(MUTANTS, 2)
    assert len(drawn) == 3
    assert {case.group for case, _ in drawn if case.role == "atomic"} == {"a", "b"}
    sheet_rows = rows(sheet.write_mutants(drawn, 0))
    assert list(sheet_rows[0]) == ["id", "text", "right", "remarks"]
    assert "[[He>>She]] ran." in {row["text"] for row in sheet_rows}
    assert {case.id for case, _ in sample_of(MUTANTS, 9)} == {"a1", "a2", "a3", "b1"}


def test_whether_mutants_are_right_is_counted_by_kind(tmp_path: Path) -> None:
    cases = {case.id: case for case in MUTANTS}
    ratings = []
    for name, said in {"ann": ("yes", "no", "yes"), "bob": ("Yes", "no", "")}.items():
        lines = [f"{sheet.opaque(key)},x,{word}," for key, word in zip(("a1", "a3", "b1"), said, strict=True)]
        file = tmp_path / f"{name}.csv"
        file.write_text("\n".join(["id,text,right,remarks", *lines]), encoding="utf-8")
        ratings += sheet.read(file, {sheet.opaque(key): key for key in cases}, [], False)
    review = figures.summary(ratings, cases, False)
    found = {row.kind: (row.right.consistent, row.right.n) for row in review.kinds}
    assert found == {"valid": (3, 5)}
    assert review.agreement["right"].cohen[0].kappa == 1.0


def test_right_is_yes_or_no(tmp_path: Path) -> None:
    file = tmp_path / "ann.csv"
    file.write_text(f"id,text,right,remarks\n{sheet.opaque('a1')},x,maybe,\n", encoding="utf-8")
    with pytest.raises(DocumentError, match="row 1: right must be yes or no, not 'maybe'"):
        sheet.read(file, {sheet.opaque("a1"): "a1"}, [], False)


def test_the_sheet_gives_nothing_away() -> None:
    cases = [case("LC2/a#0"), case("LC2/a#b", "expansion"), case("LC2/a#c", "expansion", reason="pos")]
    written = sheet.write(cases, lambda one: f"about {one.traits['capability']}", 0)
    found = rows(written)
    assert list(found[0]) == list(sheet.COLUMNS)
    assert {row["about"] for row in found} == {"about LC2"}
    assert all(not row[column] for row in found for column in ("label", "relevance", "fluency", "remarks"))
    for hint in ("Positive", "expansion", "seed", "pos", "LC2/a"):
        assert hint not in written


def test_the_order_is_by_chance_and_the_seeds() -> None:
    cases = [case(f"c{n}", text=str(n)) for n in range(30)]
    orders = [[row["text"] for row in rows(sheet.write(cases, str, seed))] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0] != sorted(orders[0], key=int)


SPELLINGS = (
    "=1+1",
    "+49 30",
    "-- dull",
    "@user fine",
    "|cmd",
    "%x",
    "−1",
    "＝1+1",
    "＋1",
    "－1",
    "＠SUM(1)",
    "﹢1",
)


@pytest.mark.parametrize(
    "before", ["", "\t", "\r", "\n", " ", "\u00a0", "\ufeff", "\u200b", "\u3000", "\x1f", "\r\n "]
)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_cell_is_a_formula(spelling: str, before: str) -> None:
    text = before + spelling
    (row,) = rows(sheet.write([case("a", text=text)], lambda _: text, 0))
    assert row["text"] == row["about"] == f"'{text}"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1))
def test_any_text_survives_the_sheet(text: str) -> None:
    (row,) = rows(sheet.write([case("a", text=text)], lambda _: "", 0))
    assert row["text"] in (text, f"'{text}")


def test_seeds_come_with_one_of_their_expansions() -> None:
    cases = [case(f"s{n}#0") for n in range(10)]
    for n in range(8):
        cases += [case(f"s{n}#{m}", "expansion", reason="pos" if m == 1 else None) for m in (1, 2, 3)]
    chosen = pairs(cases, 5, 0)
    assert [one.role for one in chosen] == ["seed", "expansion"] * 5
    assert all(first.group == second.group for first, second in zip(chosen[::2], chosen[1::2], strict=True))
    assert all(one.valid for one in chosen)
    assert chosen == pairs(cases[::-1], 5, 0) != pairs(cases, 5, 1)
    assert len(pairs(cases, 100, 0)) == 16


def test_other_suites_give_so_many_of_each_kind() -> None:
    cases = [case(f"o{n}", "original") for n in range(9)] + [case(f"m{n}", "atomic") for n in range(9)]
    cases += [case("x", "atomic", reason="pos"), case("y", "atomic", reason="duplicate")]
    assert pairs(cases, 3, 0) == []
    kinds = sorted(one.id[0] for one in by_kind(cases, 3, 0))
    assert kinds == ["m", "m", "m", "o", "o", "o", "x"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_what_was_filled_in_is_read(tmp_path: Path, delimiter: str) -> None:
    answers = {"a": ["positive", "5", ""], "b": ["", " 2 ", "'4"], "c": ["", "", ""]}
    file = filled(tmp_path, "ann", answers, delimiter=delimiter)
    assert read(file, "a", "b", "c") == [
        Rating("ann", "a", frozenset(["Positive"]), 5, None),
        Rating("ann", "b", None, 2, 4),
    ]


def test_several_labels_stand_between_semicolons(tmp_path: Path) -> None:
    file = filled(tmp_path, "ann", {"a": ["Positive; neutral", "", ""]})
    (rating,) = read(file, "a", several=True)
    assert rating.label == frozenset(["Positive", "Neutral"])
    with pytest.raises(DocumentError, match="unknown label 'Positive; neutral'"):
        read(file, "a")


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        (["good", "", ""], "row 2: unknown label 'good': write Negative, Neutral, Positive"),
        (["", "6", ""], "row 2: relevance must be a whole number from 1 to 5, not '6'"),
        (["", "", "3.5"], "row 2: fluency must be a whole number"),
        (["", "", "3", "x", "y"], "row 2: not as many cells as the header has"),
        ([""], "row 2: not as many cells as the header has"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(tmp_path: Path, cells: list[str], says: str) -> None:
    file = filled(tmp_path, "ann", {"a": ["Positive", "", ""], "b": cells})
    with pytest.raises(DocumentError, match=says) as raised:
        read(file, "a", "b")
    assert str(raised.value).startswith(f"{file}: ")


def test_ids_are_this_runs_and_given_once(tmp_path: Path) -> None:
    file = filled(tmp_path, "ann", {"a": ["Positive", "", ""]})
    with pytest.raises(DocumentError, match="row 1: no case of this run has the id 't"):
        read(file, "b")
    file.write_text(file.read_text(encoding="utf-8") + f"{sheet.opaque('a')},,,,,,\r\n", encoding="utf-8")
    with pytest.raises(DocumentError, match=r"row 2: the id 't\w+' is given twice"):
        read(file, "a")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"name,label\r\nx,y\r\n", "no column 'id'"),
        (b"", "no column 'id'"),
        (b'id,label\r\n"x', "row 1: not CSV"),
    ],
)
def test_what_is_no_sheet(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "s.csv").write_bytes(content)
    with pytest.raises(DocumentError, match=says):
        read(tmp_path / "s.csv")
    with pytest.raises(DocumentError, match="No such file"):
        read(tmp_path / "none.csv")


def test_label_consistency_and_relevancy_are_those_of_the_equations() -> None:
    roles: dict[str, Role] = {"a": "seed", "b": "seed", "c": "expansion"}
    cases = {name: case(name, role) for name, role in roles.items()}
    positive, negative = frozenset(["Positive"]), frozenset(["Negative"])
    ratings = [
        Rating("x", "a", positive, 5, 4),
        Rating("y", "a", positive, 4, None),
        Rating("x", "b", negative, 3, 2),
        Rating("y", "b", positive, 5, None),
        Rating("x", "c", positive, None, 5),
    ]
    review = figures.summary(ratings, cases, several=False)
    expansion, seed = review.kinds
    assert (seed.kind, seed.cases, seed.ratings) == ("seed", 2, 4)
    consistency = seed.label_consistency
    assert (consistency.n, consistency.consistent, consistency.rate) == (4, 3, 0.75)
    assert consistency.ci95 == (0.5, 1.0)  # two cases, drawn whole
    assert seed.relevancy.mean == pytest.approx((1 + 0.75 + 0.5 + 1) / 4)
    assert seed.fluency.mean == 3
    assert expansion.label_consistency.ci95 is not None
    lowest, _ = expansion.label_consistency.ci95
    assert lowest == pytest.approx(0.2065, abs=1e-4)  # Wilson, 1 of 1
    assert (expansion.relevancy.n, expansion.relevancy.mean) == (0, None)
    json.dumps(review.to_json())


def test_agreement_is_of_those_who_saw_the_same_cases() -> None:
    cases = {f"c{n}": case(f"c{n}") for n in range(6)}
    ratings = [
        Rating(who, f"c{n}", frozenset([LABELS[(n + shift) % 3]]), 1 + (n + shift) % 5)
        for who, shift in (("x", 0), ("y", 0), ("z", 1))
        for n in range(4 if who == "z" else 6)
    ]
    found = figures.summary(ratings, cases, several=False).agreement
    assert [(pair.annotators, pair.items) for pair in found["label"].cohen] == [
        (("x", "y"), 6),
        (("x", "z"), 4),
        (("y", "z"), 4),
    ]
    assert found["label"].cohen[0].kappa == 1
    assert found["label"].fleiss is not None
    assert found["label"].fleiss.items == 4
    assert found["relevance"].weights == "quadratic"
    assert found["fluency"] == Agreement(
        weights="quadratic", cohen=(), fleiss=Kappa(items=0, kappa=None, ci95=None)
    )


def drawn(items: int, raters: int, categories: int, seed: int) -> list[list[int]]:
    """Answers that agree more than by chance."""
    draw = random.Random(seed)
    return [
        [own if draw.random() < 0.6 else draw.randrange(categories) for _ in range(raters)]
        for own in (draw.randrange(categories) for _ in range(items))
    ]


@pytest.mark.parametrize("seed", range(4))
def test_kappas_are_those_of_statsmodels(seed: int) -> None:
    answers = drawn(60, 2, 5, seed)
    table, _ = to_table(np.array(answers), 5)
    plain = agreement.cohen([(a, b) for a, b in answers], range(5))
    squared = agreement.cohen([(a, b) for a, b in answers], range(5), "quadratic")
    assert plain.value == pytest.approx(cohens_kappa(table, return_results=False))
    assert squared.value == pytest.approx(cohens_kappa(table, wt="quadratic", return_results=False))
    three = drawn(60, 3, 4, seed)
    counts, _ = aggregate_raters(np.array(three), 4)
    assert agreement.fleiss(three, range(4)).value == pytest.approx(fleiss_kappa(counts))


def test_an_interval_is_near_the_one_of_theory() -> None:
    answers = drawn(400, 2, 3, 7)
    table, _ = to_table(np.array(answers), 3)
    theory = cohens_kappa(table)
    interval = agreement.cohen([(a, b) for a, b in answers], range(3)).interval
    assert interval == pytest.approx((theory.kappa_low, theory.kappa_upp), abs=0.015)


def test_kappa_of_nothing_and_of_one_answer_is_not_defined() -> None:
    assert agreement.cohen([], [1, 2]) == agreement.fleiss([], [1, 2]) == agreement.Kappa(None, None, 0)
    assert agreement.cohen([(1, 1)] * 3, [1, 2]).value is None
    assert agreement.fleiss([[1, 1, 1]] * 3, [1, 2]).value is None
    assert agreement.fleiss([[1, 2, 1]], [1, 2]).interval is None
