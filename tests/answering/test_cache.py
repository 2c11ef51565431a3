"""The response cache keeps every complete reply, shares a file, and outlives damage."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.cache import MIGRATIONS, ResponseCache, decode, encode
from harness.core import Message, Reply, Request, Token
from harness.errors import CacheError

T = TypeVar("T")


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def request(text: str = "hello", **changes: Any) -> Request:
    one = Request({"name": "m"}, (Message("user", text),), {"temperature": 0.0}, text=text)
    return replace(one, **changes)


def test_a_reply_is_found_by_the_next_run(tmp_path: Path) -> None:
    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            cache.keep(request(), Reply("Positive", logprobs=(Token("P", -0.1, (("N", -2.0),)),)))
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            found, fresh = await cache.look_up([request().key, request("other").key])
            assert found == {request().key: Reply("Positive", logprobs=(Token("P", -0.1, (("N", -2.0),)),))}
            assert fresh == {request().key, request("other").key}
            assert (await cache.look_up([request().key]))[1] == set()

    wait(work())


def test_two_runs_may_write_to_one_file(tmp_path: Path) -> None:
    async def work() -> None:
        path = tmp_path / "c.sqlite"
        async with ResponseCache(path) as one, ResponseCache(path) as other:
            for number in range(500):
                (one, other)[number % 2].keep(request(str(number)), Reply("x"))
        async with ResponseCache(path) as cache:
            found, _ = await cache.look_up([request(str(n)).key for n in range(500)])
            assert len(found) == 500

    wait(work())


@pytest.mark.parametrize(
    "other",
    [
        request("hello!"),
        request(model={"name": "n"}),
        request(model={"name": "m", "base_url": "http://x"}),
        request(sampling={"temperature": 0.1}),
        request(choices=("a",)),
        request(repeat=1),
        request(messages=(Message("system", "hello"),)),
    ],
)
def test_the_key_covers_what_can_change_a_reply(other: Request) -> None:
    assert other.key != request().key


def test_the_key_covers_nothing_else() -> None:
    assert replace(request(), text="whatever").key == request().key
    assert request(model={"name": "m"}).key == request().key


def test_the_key_is_stable() -> None:
    assert (
        Request({"b": 1, "a": 2}, (Message("user", "é"),), {}).key
        == Request({"a": 2, "b": 1}, (Message("user", "é"),), {}).key
    )


def test_a_damaged_file_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "c.sqlite"
    path.write_bytes(b"this is no database, it only looks old" * 100)

    async def work() -> None:
        async with ResponseCache(path) as cache:
            cache.keep(request(), Reply("x"))

    wait(work())
    assert "set aside" in caplog.text
    assert [p.read_bytes()[:4] for p in tmp_path.glob("*.damaged-*")] == [b"this"]


def test_a_file_that_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.docx"
    path.write_bytes(b"years of work")

    async def work() -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError, match=r"thesis\.docx is not a cache"):
        wait(work())
    assert path.read_bytes() == b"years of work"


def test_a_newer_cache_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()

    async def work() -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError, match="newer version"):
        wait(work())


@given(
    st.builds(
        Reply,
        text=st.text(),
        finish_reason=st.sampled_from(["stop", "length"]),
        logprobs=st.none()
        | st.tuples(st.builds(Token, st.text(), st.floats(-50, 0), st.just((("a", -1.0), ("b", -2.0))))),
        score=st.none() | st.floats(-1, 1),
    )
)
def test_a_reply_survives_being_kept(reply: Reply) -> None:
    assert decode(encode(reply)) == reply
