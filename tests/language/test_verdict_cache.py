"""Kept verdicts come back, are shared by processes, and are never needed."""

from __future__ import annotations

import logging
import multiprocessing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.language.verdict_cache import KEYS_AT_ONCE, VerdictCache

rows = st.dictionaries(st.binary(min_size=16, max_size=16), st.sampled_from(["", "pos", "moved", "NN"]))


@given(rows, st.lists(st.binary(min_size=16, max_size=16)))
def test_what_was_put_is_got_and_nothing_else(rows: dict[bytes, str], others: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        kept = VerdictCache(Path(folder) / "verdicts.sqlite")
        kept.put(rows)
        kept.put(rows)
        assert kept.get([*rows, *others]) == rows


def test_more_keys_than_one_statement_takes(tmp_path: Path) -> None:
    some = {f"{i:016d}".encode(): str(i) for i in range(3 * KEYS_AT_ONCE + 1)}
    VerdictCache(tmp_path / "sub" / "verdicts.sqlite").put(some)
    assert VerdictCache(tmp_path / "sub" / "verdicts.sqlite").get(list(some)) == some


def write(path: Path, name: str) -> None:
    kept = VerdictCache(path)
    for i in range(100):
        kept.put({f"{name}{i:015d}".encode(): name})


def test_processes_write_side_by_side(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write, args=(path, name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    keys = [f"{name}{i:015d}".encode() for name in "ab" for i in range(100)]
    assert len(VerdictCache(path).get(keys)) == 200


def test_a_file_that_is_none_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "verdicts.sqlite"
    path.write_text("something else entirely, " * 100, encoding="utf-8")
    kept = VerdictCache(path)
    with caplog.at_level(logging.WARNING):
        kept.put({b"k" * 16: "pos"})
        assert kept.get([b"k" * 16]) == {}
    assert len(caplog.records) == 1, "said once"
    assert path.read_text(encoding="utf-8").startswith("something else")
