"""Reading a file of tests: what its rows may say, what the released suite leaves out, what is refused."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.suites.checklist import tests

ROW = {"test": "t", "type": "MFT", "capability": "Vocabulary"}


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "tests.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"text": "good", "label": 2}, {"positive"}),
        ({"texts": ["bad"], "label": "Negative"}, {"negative"}),
        ({"text": "a plane", "label": "neu"}, {"neutral"}),
        ({"text": "not bad", "expected": ["positive", 1]}, {"positive", "neutral"}),
        ({"test": "simple negations: not negative", "text": "not bad"}, {"positive", "neutral"}),
        ({"test": "Q & A: no", "text": "Is it bad? No", "label": 1}, {"positive", "neutral"}),
        ({"test": "Q & A: no", "text": "Is it good? No", "label": 0}, {"negative"}),
    ],
)
def test_what_is_right(tmp_path: Path, row: dict[str, Any], expected: set[str]) -> None:
    (item,) = tests.load(written(tmp_path, ROW | row)).items
    assert set(item.expected or ()) == expected
    assert len(item.texts) == 1


def test_a_direction_is_the_rows_or_the_released_suites(tmp_path: Path) -> None:
    pair = {"type": "DIR", "texts": ["It is good.", "It is very good."]}
    file = written(
        tmp_path,
        ROW | pair | {"test": "intensifiers"},
        ROW | pair | {"test": "mine", "expect": "no more positive", "tolerance": 0.25},
    )
    released, own = tests.load(file).items
    assert (released.direction, released.tolerance) == ("no less confident", 0.1)
    assert (own.direction, own.tolerance) == ("no more positive", 0.25)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"text": "x", "label": 3}, "unknown label 3"),
        ({"text": "x"}, "test 't' has neither 'label' nor 'expected'"),
        ({"text": "x", "expected": []}, "'expected' must be a list"),
        ({"type": "ABC", "text": "x", "label": 1}, "type 'ABC' is not one of MFT, INV, DIR"),
        ({"type": "INV", "texts": ["x"]}, "INV needs two or more"),
        ({"texts": ["x", " "], "label": 1}, "none of them empty"),
        ({"type": "DIR", "texts": ["x", "y"]}, "test 't' has no 'expect': write one of no less confident"),
        ({"type": "DIR", "texts": ["x", "y"], "expect": "up"}, "unknown 'expect' 'up'"),
        (
            {"type": "DIR", "texts": ["x", "y"], "expect": "no less positive", "tolerance": 2},
            "'tolerance' must be a number from 0 to 1",
        ),
        ({"capability": None, "text": "x", "label": 1}, "'capability' is missing"),
        ({"text": "x", "lable": 1}, "unknown key 'lable': known are test, type, capability"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(tmp_path: Path, row: dict[str, Any], says: str) -> None:
    file = written(tmp_path, ROW | {"text": "fine", "label": 1}, ROW | row)
    with pytest.raises(ConfigError, match=says) as raised:
        tests.load(file)
    assert str(raised.value).startswith(f"{file}: row 2: ")


HEADER = "test\ttype\tcapability\tlabel\texpect\ttolerance\ttext"


def test_a_table_says_what_lines_of_json_say(tmp_path: Path) -> None:
    file = tmp_path / "tests.txt"
    lines = [
        HEADER,
        "words\tMFT\tVocabulary\t2\t\t\tgood",
        "words\tMFT\tVocabulary\tpositive, neutral\t\t\tnot bad",
        "",
        "names\tinv\tNER\t\t\t\tAnn left.\tSue left.\tMia left.",
        "more\tDIR\tVocabulary\t\tno less confident\t0.2\tgood\tvery good\r",
    ]
    file.write_text("\n".join(lines), encoding="utf-8")
    good, not_bad, names, more = tests.load(file).items
    assert (good.expected, good.texts) == (frozenset(["positive"]), ("good",))
    assert not_bad.expected == frozenset(["positive", "neutral"])
    assert (names.kind, names.texts) == ("INV", ("Ann left.", "Sue left.", "Mia left."))
    assert (more.direction, more.tolerance, more.texts[-1]) == ("no less confident", 0.2, "very good")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (HEADER.replace("label", "lable"), "row 1: unknown column 'lable': known are test"),
        (HEADER.replace("type\t", ""), "row 1: there is no column 'type'"),
        ("text\ttest\ttype\tcapability", "row 1: each column is named once, and 'text' is the last"),
        (f"{HEADER}\nwords\tMFT", "row 2: 2 cells for 7 columns"),
        (f"{HEADER}\nw\tMFT\tV\t5\t\t\tgood", "row 2: unknown label '5'"),
        (f"{HEADER}\nw\tDIR\tV\t\tno less positive\tx\ta\tb", "row 2: 'tolerance' must be a number"),
        (f"{HEADER}\nw\tMFT\tV\t1\t\t\t", "row 2: 'texts': MFT needs one"),
        ("test, type, text", "row 1: not valid JSON"),
    ],
)
def test_what_is_wrong_with_a_table_is_said(tmp_path: Path, content: str, says: str) -> None:
    file = tmp_path / "tests.txt"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=says) as raised:
        tests.load(file)
    assert "\n" not in str(raised.value)


def test_a_case_is_given_once(tmp_path: Path) -> None:
    row = ROW | {"text": "x", "label": 1, "case": 7}
    with pytest.raises(ConfigError, match="row 2: case '7' of test 't' is given twice"):
        tests.load(written(tmp_path, row, row))


class Trap:
    """A pickle of it would write a file when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


@pytest.mark.parametrize("name", ["suite.pkl", "suite.jsonl"])
def test_a_pickle_is_refused_unread(tmp_path: Path, name: str) -> None:
    mark = tmp_path / "was read"
    (tmp_path / name).write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(ConfigError, match="a pickle is not read"):
        tests.load(tmp_path / name)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "no tests found"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
        (b"[1]\n", "row 1: not a JSON object"),
        (b"\n{", "row 2: not valid JSON"),
    ],
)
def test_what_is_no_file_of_tests(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "tests.jsonl"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=says):
        tests.load(file)
    with pytest.raises(ConfigError, match="No such file"):
        tests.load(tmp_path / "none.jsonl")


def test_a_sample_of_each_test_is_the_seeds(tmp_path: Path) -> None:
    rows = [ROW | {"test": t, "text": f"{t} {n}", "label": 1, "case": n} for n in range(20) for t in "ab"]
    file = written(tmp_path, *rows)
    some, others = tests.load(file, 5, seed=1), tests.load(file, 5, seed=2)
    assert Counter(item.test for item in some.items) == {"a": 5, "b": 5}
    assert some == tests.load(file, 5, seed=1)
    assert some.items != others.items
    assert set(some.items) < set(tests.load(file, 9, seed=1).items)
    assert [item.test for item in some.items] == ["a"] * 5 + ["b"] * 5


def test_the_released_sentiment_suite_is_read(shared_data: Path) -> None:
    read = tests.load(shared_data / "checklist" / "sentiment_suite_sample.jsonl")
    assert len(read.items) == 6202
    assert len({item.test for item in read.items}) == 38
    kinds = Counter(item.kind for item in {item.test: item for item in read.items}.values())
    assert kinds == {"MFT": 20, "INV": 13, "DIR": 5}
    assert all(item.direction for item in read.items if item.kind == "DIR")
    assert {tuple(sorted(item.expected or ())) for item in read.items if item.kind == "MFT"} == {
        ("negative",),
        ("neutral",),
        ("positive",),
        ("neutral", "positive"),
    }
