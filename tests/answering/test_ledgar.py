"""What GPT-3.5 answered about 1,000 LEDGAR provisions (Chalkidis, 2023), read by us and by substring."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.answering.parse import LabelReader
from harness.core import Reply

Readings = list[tuple[str, str, str | None, list[str]]]
"""Gold label, answer, the label that we read (None where none), the labels that substrings find."""


@pytest.fixture
def readings(shared_data: Path) -> Callable[[str], Readings]:
    folder = shared_data / "lexglue"
    names = json.loads((folder / "labels.json").read_text(encoding="utf-8"))["ledgar"]
    labels = tuple(entry["name"] for entry in names)
    reader = LabelReader(labels)
    lines = (folder / "ledgar_1000_test_gpt35.jsonl").read_text(encoding="utf-8").splitlines()

    def of(column: str) -> Readings:
        found: Readings = []
        for row in map(json.loads, lines):
            answer = row[column] or ""
            read = reader(Reply(answer)).labels
            parts = [label for label in labels if label.lower() in answer.lower()]
            found.append((row["label_name"], answer, next(iter(read)) if read else None, parts))
        return found

    return of


def f1(right: int, read: int, total: int) -> float:
    """Micro-F1, in percent, of ``read`` labels of which ``right`` are right, where ``total`` are true."""
    return round(200 * right / (read + total), 2)


@pytest.mark.parametrize(
    ("column", "read", "right", "of_what_is_true"),
    [("gpt35_zero_shot", 990, 681, 68.44), ("gpt35_few_shot_8", 970, 584, 59.29)],
)
def test_how_many_are_read_and_right(
    readings: Callable[[str], Readings], column: str, read: int, right: int, of_what_is_true: float
) -> None:
    rows = readings(column)
    assert len(rows) == 1000
    assert sum(label is not None for _, _, label, _ in rows) == read
    assert sum(label == gold for gold, _, label, _ in rows) == right
    assert f1(right, read, 1000) == of_what_is_true


def test_the_substring_reading_hears_two_labels_in_one(readings: Callable[[str], Readings]) -> None:
    rows = readings("gpt35_zero_shot")
    heard = [label for *_, parts in rows for label in parts]
    assert (len(heard), sum(gold in parts for gold, *_, parts in rows)) == (1080, 705)
    assert sum(not parts for *_, parts in rows) == 7

    nested = [(gold, label) for gold, _, label, parts in rows if label in parts and len(parts) > 1]
    assert len(nested) == 83
    assert {label for _, label in nested} == {
        "Defined Terms",
        "Entire Agreements",
        "No Waivers",
        "Tax Withholdings",
    }
    assert sum(gold == label for gold, label in nested) == 41

    unread = {answer: parts for _, answer, label, parts in rows if label is None}
    assert unread == {
        "Representations and Warranties": ["Representations", "Warranties"],
        "Indemnifications or Indemnity.": ["Indemnifications", "Indemnity"],
        "Indemnifications or Insurances.": ["Indemnifications", "Insurances"],
        "409A Compliance.": [],
        "Cash Collateral.": [],
        "Guarantees": [],
        "Interest Rates": [],
        "Plan Participation": [],
        "Rights and Obligations": [],
    }

    # Everything else is read alike, but for one answer that substrings miss.
    others = [row for row in rows if row[2] is not None and [row[2]] != row[3] and len(row[3]) < 2]
    assert others == [("Participations", "Participation", "Participations", [])]


def test_another_number_is_right_each_time_it_is_read(readings: Callable[[str], Readings]) -> None:
    """Folding "Term" to "Terms" is safe for whole answers; mentions are not folded ("Interest Rates")."""
    for column, answer in (("gpt35_zero_shot", "Participation"), ("gpt35_few_shot_8", "Term")):
        folded = [
            (gold, said, label)
            for gold, said, label, _ in readings(column)
            if label is not None and label.lower() not in said.lower()
        ]
        assert folded == [(f"{answer}s", answer, f"{answer}s")]
