"""The Parquet files of a run: written whole, of bounded size, and named where they cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import tables
from harness.core import Case, Outcome, Substitution
from harness.errors import RunError

CASE = Case(
    "d#1", "d", "d", "atomic", "a text", (Substitution("gender", "he", "she"),), {"x": "y"}, frozenset({"P"})
)


def test_a_case_is_read_as_it_was_written(tmp_path: Path) -> None:
    with tables.Parts(tmp_path, "cases") as parts:
        parts.add(tables.case_row(CASE))
    assert list(tables.read_cases(sorted(tmp_path.iterdir()))) == [CASE]


def test_a_long_text_ends_a_part(tmp_path: Path) -> None:
    with tables.Parts(tmp_path, "cases") as parts:
        for _ in range(3):
            parts.add(tables.case_row(CASE), tables.CHARACTERS_A_PART)
    assert [file.name for file in sorted(tmp_path.iterdir())] == [f"part-0000{n}.parquet" for n in range(3)]


def test_parts_become_one_file(tmp_path: Path) -> None:
    with tables.Parts(tmp_path / "parts", "answers") as parts:
        for _ in range(2):
            parts.add(tables.answer_row(CASE, Outcome(frozenset({"P"})), "P"), tables.CHARACTERS_A_PART)
    tables.merge(sorted((tmp_path / "parts").iterdir()), tmp_path / "answers.parquet")
    assert tables.read(tmp_path / "answers.parquet")["case"].to_list() == ["d#1", "d#1"]


@pytest.mark.parametrize("content", [b"", b"no table", None])
def test_what_is_no_whole_table_is_named(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "verdicts.parquet"
    if content is not None:
        file.write_bytes(content)
    for read in (tables.read, lambda path: tables.scan([path])):
        with pytest.raises(RunError) as caught:
            read(file)
        assert str(caught.value).startswith(f"{file}: cannot be read: ")
        assert "\n" not in str(caught.value)


def test_what_cannot_be_written_is_named(tmp_path: Path) -> None:
    file = tmp_path / "none" / "noise.parquet"
    with pytest.raises(RunError, match="cannot be written: ") as caught:
        tables.write(file, tables.frame("noise"))
    assert str(caught.value).startswith(f"{file}: ")
