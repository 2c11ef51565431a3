"""``summary.json`` as it is written and read: nothing lost, and what is foreign is one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.blocks import Block
from harness.errors import RunError
from harness.report import schema, summary
from harness.sections import Bar, Column, Estimate, Label, Plot, Section, Table, Worded
from tests.report.builders import row, summary_of

ROOT = Path(__file__).parents[2]
SECTION = Section(
    "Found",
    "text",
    Table(
        ["what", Column("share", note="of all")],
        [["a", 1], [Label("b", "atomic"), Estimate(0.5, (0.1, 0.9))], [Worded("c", ""), None]],
    ),
    [Plot("bars", bars=[Bar("a", 0.5, 0.1, None)])],
    ["note"],
)


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    file = tmp_path / "summary.json"
    whole = summary_of(
        row("gender", tests=3, rate=0.5, ci95=(0.1, 0.9)),
        sections=[SECTION],
        headline="Found.",
        own_block={"rows": [1, None, "x"]},
        model_facts={"vllm": {"version": "1"}},
    )
    summary.write(whole, file)
    assert summary.read(file).to_json() == whole.to_json() == json.loads(file.read_text(encoding="utf-8"))
    (section,) = summary.read(file).sections
    assert section.table is not None
    assert section.table.heads == (Column("what"), Column("share", note="of all"))
    assert section.table.rows[1] == [Label("b", "atomic"), Estimate(0.5, (0.1, 0.9))]
    assert section.table.rows[2] == [Worded("c", ""), None]
    assert summary.read(file).block("own_block") == {"rows": [1, None, "x"]}
    assert summary.read(file).block("nothing") == {}


def test_a_table_with_bare_names_is_written_as_it_always_was(tmp_path: Path) -> None:
    section = Section("Found", table=Table(["what", "share"], [["a", 0.5]]))
    (written,) = summary_of(sections=[section]).to_json()["sections"]
    assert written["table"] == {"columns": ["what", "share"], "rows": [["a", 0.5]]}


def test_what_was_not_set_is_not_written() -> None:
    assert not {"adaptive", "headline", "order"} & summary_of().to_json().keys()


def removed(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda values: values.pop(key)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (removed("results"), "'results' is missing: not the summary of a run"),
        (lambda values: values["answers"].pop("too-long"), "'answers.too-long' is missing"),
        (lambda values: values["results"][0].update(tests="three"), "'results.0.tests': input should be"),
        (lambda values: values.update(status="done"), "'status': input should be 'complete', 'partial' or"),
        (lambda values: values.update(noise=[]), "'noise': "),
    ],
)
def test_a_foreign_summary_is_one_line_that_names_file_and_key(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], object], says: str
) -> None:
    values = summary_of(row()).to_json()
    spoil(values)
    file = tmp_path / "summary.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(RunError) as raised:
        summary.read(file)
    assert str(raised.value).startswith(f"{file}: {says}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("text", "says"), [("{", "not valid JSON"), ("[]", "input should be an object")])
def test_a_file_that_is_no_summary_is_one_line(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "summary.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=says):
        summary.read(file)
    with pytest.raises(RunError, match="No such file"):
        summary.read(tmp_path / "none.json")


def test_a_summary_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """Keys that came later may be missing, and those of a later version are kept."""
    values = summary_of(row("gender", tests=2)).to_json() | {"later": {"key": 1}}
    for key in ("venn", "model_facts", "discarded", "accuracy"):
        values.pop(key, None)
    file = tmp_path / "summary.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    read = summary.read(file)
    assert (read.venn, read.discarded, read.block("later")) == ((), None, {"key": 1})
    assert read.to_json() == values


def test_the_published_schema_is_the_one_of_the_types() -> None:
    file = ROOT / "docs" / "summary.schema.json"
    if not file.is_file():
        pytest.skip("an unpacked sdist has no docs")
    assert file.read_text(encoding="utf-8") == schema.text(), "python -m harness.report.schema > docs/…"


def blocks(block: type[Block] = Block) -> list[type[Block]]:
    direct = [kind for kind in block.__subclasses__() if kind.__module__ == summary.__name__]
    return [*direct, *(below for kind in direct for below in blocks(kind))]


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.__name__)
def test_every_field_of_the_schema_says_what_it_counts(block: type[Block]) -> None:
    for name, field in block.model_fields.items():
        assert field.description, name
