"""``hinter grammar``."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from harness.cli.grammar import command
from harness.suites.linguistic import grammar

TREES = "( (S (NP (DT The) (NN cat)) (VP (VBZ sits))) )\n( (S (NP (NNS Cats)) (VP (VBP sit))) )\n"


def test_a_treebank_becomes_a_table_that_the_suite_reads(tmp_path: Path) -> None:
    (tmp_path / "own.mrg").write_text(TREES, encoding="utf-8")
    table = tmp_path / "own.tsv"
    result = CliRunner().invoke(command, ["learn", str(tmp_path), "--out", str(table)])
    assert result.exit_code == 0
    assert "6 distinct productions out of 8" in result.stderr
    assert grammar.load(table).counts["S", ("NP", "VP")] == 2


def test_without_a_file_the_table_is_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text(TREES, encoding="utf-8")
    result = CliRunner().invoke(command, ["learn", str(file)])
    assert result.stdout.splitlines()[1:3] == ["ROOT\tS\t2", "S\tNP VP\t2"]


def test_what_is_no_treebank_is_named(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("no brackets", encoding="utf-8")
    result = CliRunner().invoke(command, ["learn", str(file)])
    assert "line 1: 'no' stands outside any bracket" in str(result.exception)
