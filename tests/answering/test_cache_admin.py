"""Keeping the cache: counts, differences, pruning, and moving everything to another file unchanged."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.answering import cache_admin, payloads
from harness.answering.cache import ResponseCache
from harness.core import Message, Reply, Request, Token
from harness.errors import CacheError

LONG = "The old men laughed, and the British actor was a delight to watch all evening long."


def request(text: str = LONG, **changes: Any) -> Request:
    one = Request(
        {"kind": "openai", "base_url": "http://x/v1", "name": "m"},
        (Message("system", "Classify."), Message("user", text)),
        {"temperature": 0.0, "max_tokens": 16},
    )
    return replace(one, **changes)


def fill(path: Path, kept: Sequence[tuple[Request, Reply]], expected: Sequence[Request] = ()) -> Path:
    async def work() -> None:
        async with ResponseCache(path) as cache:
            for asked, reply in kept:
                cache.keep(asked, reply)
            await cache.expect(expected, "job")

    asyncio.run(work())
    return path


def age(path: Path, key: str, created: float) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE replies SET created = ? WHERE key = ?", [created, key])
        db.commit()


def rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM replies ORDER BY key").fetchall()


def test_stats_count_by_model_and_endpoint(tmp_path: Path) -> None:
    vader = request("v", model={"kind": "vader", "version": "3"})
    path = fill(
        tmp_path / "c.sqlite",
        [
            (request("a"), Reply("x", prompt_tokens=10, completion_tokens=1, cached_tokens=4)),
            (request("b"), Reply("x", prompt_tokens=20, completion_tokens=2)),
            (vader, Reply("x")),
        ],
        [request("c")],
    )
    age(path, request("a").key, 5.0)
    age(path, vader.key, 7.0)
    found = cache_admin.stats(path)
    assert (found.replies, found.oldest, found.expected) == (3, 5.0, 1)
    assert found.newest is not None
    assert found.newest > 1e9
    assert found.bytes >= path.stat().st_size > 0
    assert found.tokens == cache_admin.Tokens(30, 3, 4)
    assert found.models == [
        cache_admin.ModelTotals("m", "http://x/v1", 2, cache_admin.Tokens(30, 3, 4)),
        cache_admin.ModelTotals("vader", "", 1),
    ]
    assert json.loads(json.dumps(found.as_dict()))["models"][1]["name"] == "vader"


def test_prune_takes_the_old_of_one_model(tmp_path: Path) -> None:
    other = {"name": "other"}
    kept = [
        (request(str(n), model=other if n % 2 else request().model), Reply("x" * 500)) for n in range(1500)
    ]
    path = fill(tmp_path / "c.sqlite", kept)
    for asked, _ in kept[:1000]:
        age(path, asked.key, 100.0)
    size = path.stat().st_size
    assert cache_admin.prune(path, 100.0) == 0
    assert cache_admin.prune(path, 101.0, dry=True) == 1000
    assert cache_admin.prune(path, 101.0, "nobody") == 0
    assert cache_admin.prune(path, 101.0, "other", dry=True) == 500
    assert cache_admin.prune(path, 101.0, "other") == 500
    assert cache_admin.prune(path, 101.0) == 500
    assert {row[0] for row in rows(path)} == {asked.key for asked, _ in kept[1000:]}
    assert path.stat().st_size < size / 2


text = st.text(st.characters(exclude_categories=[]), max_size=20)
replies = st.builds(
    Reply,
    text=text,
    prompt_tokens=st.integers(0, 10**6),
    logprobs=st.none() | st.tuples(st.builds(Token, text, st.floats(-50, 0), st.just((("a", -1.0),)))),
    score=st.none() | st.floats(allow_nan=False),
    model=text,
    fingerprint=st.none() | text,
    latency=st.floats(0, 100),
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(text, replies, max_size=8))
def test_an_export_imported_is_the_same_set(kept: dict[str, Reply]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = fill(Path(folder) / "c.sqlite", [(request(t), reply) for t, reply in kept.items()])
        lines = list(cache_admin.export(path))
        assert all(json.loads(line)["key"] for line in lines)
        copy = Path(folder) / "copy.sqlite"
        assert cache_admin.import_(copy, lines, "f") == (len(kept), len(kept))
        assert rows(copy) == rows(path)
        assert list(cache_admin.export(copy)) == lines
        assert cache_admin.import_(copy, lines + lines, "f") == (0, len(kept))


def test_what_is_kept_stays(tmp_path: Path) -> None:
    one = fill(tmp_path / "1.sqlite", [(request(), Reply("mine"))])
    other = fill(tmp_path / "2.sqlite", [(request(), Reply("theirs")), (request("b"), Reply("b"))])
    assert cache_admin.import_(one, cache_admin.export(other), "f") == (1, 2)
    assert [json.loads(row[2])["text"] for row in rows(one) if row[0] == request().key] == ["mine"]


def line(**changes: Any) -> bytes:
    reply = json.loads(json.dumps({"text": "x", "logprobs": None}))
    whole = {"key": request().key, "request": request().payload(), "reply": reply, "created": 1.0} | changes
    return json.dumps(whole).encode() + b"\n"


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (line(key="0" * 64), "line 3: the key '0000"),
        (line(request=request("other").payload()), "line 3: the key"),
        (line(request={"messages": []}), "line 3: no 'choices': not a line of an export"),
        (line(request=5), "line 3: "),
        (line(request={**request().payload(), "api_key": "sk"}), "line 3: "),
        (line(reply={"text": 5, "logprobs": None}), "line 3: reply.text is 5"),
        (line(reply={"text": "x", "logprobs": None, "prompt_tokens": "5"}), "line 3: reply.prompt_tokens"),
        (line(reply={"text": "x", "logprobs": [1]}), "line 3: "),
        (line(reply={"text": "x"}), "line 3: no 'logprobs'"),
        (line(reply=None), "line 3: "),
        (line(created="now"), "line 3: created is 'now', not a time"),
        (line(created=True), "line 3: created is True"),
        (line(created=10**400), "line 3: "),
        (b"[]\n", "line 3: "),
        (b"{\n", "line 3: "),
        (b"\xff\xfe\xff\n", "line 3: "),
        (b"[" * 100_000 + b"\n", "line 3: "),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_imported(tmp_path: Path, bad: bytes, says: str) -> None:
    path = tmp_path / "c.sqlite"
    with pytest.raises(CacheError, match=r"^f: line 3: ") as caught:
        cache_admin.import_(path, [line(), b"\n", bad, line()], "f")
    assert says in str(caught.value)
    assert not path.exists()


def explained(path: Path, one: Request) -> list[str]:
    with cache_admin.opened(path) as db:
        asked = cache_admin.parse_request(json.dumps(one.payload()).encode(), "f")
        found = cache_admin.nearest(db, asked)
        assert found is not None
        return payloads.differences(found.payload, asked.payload, ("kept", "asked"))


@pytest.mark.parametrize(
    ("one", "says"),
    [
        (
            request(sampling={"temperature": 0.0, "max_tokens": 68}),
            ["sampling.max_tokens: 16 kept, 68 asked"],
        ),
        (request(sampling={"temperature": 0, "max_tokens": 16}), ["sampling.temperature: 0.0 kept, 0 asked"]),
        (request(sampling={"temperature": 0.0}), ["sampling.max_tokens: 16 kept, absent asked"]),
        (request(repeat=2), ["repeat: 0 kept, 2 asked"]),
        (request(choices=("a", "b")), ['choices: [] kept, ["a", "b"] asked']),
        (request(model={**request().model, "name": "n"}), ['model.name: "m" kept, "n" asked']),
        (
            request(LONG.replace("British", "Pakistani")),
            [
                "messages[1] from character 30: "
                '"…en laughed, and the British actor was a delight to watch all…" kept, '
                '"…en laughed, and the Pakistani actor was a delight to watch a…" asked'
            ],
        ),
        (
            request(messages=(Message("system", "Judge."), Message("user", LONG))),
            ['messages[0]: "Classify." kept, "Judge." asked'],
        ),
        (
            request(messages=(Message("user", LONG),)),
            [
                'messages[0].role: "system" kept, "user" asked',
                f'messages[0] from character 1: "Classify." kept, "{LONG[:40]}…" asked',
                'messages[1]: "' + LONG + '" kept, absent asked',
                'messages[1].role: "user" kept, absent asked',
            ],
        ),
    ],
)
def test_the_fields_that_differ_are_named(tmp_path: Path, one: Request, says: list[str]) -> None:
    others = [request(f"{n} {LONG}") for n in range(5)] + [request("unlike", repeat=2)]
    path = fill(tmp_path / "c.sqlite", [(r, Reply("x")) for r in [*others, request()]])
    assert sorted(explained(path, one)) == sorted(says)


def test_a_request_is_found_by_the_beginning_of_its_key(tmp_path: Path) -> None:
    path = fill(tmp_path / "c.sqlite", [(request(), Reply("x"))], [request(), request("b")])
    with cache_admin.opened(path) as db:
        assert cache_admin.find(db, path, request().key[:8]) == cache_admin.CachedRequest(
            request().key, json.loads(json.dumps(request().payload())), "kept"
        )
        assert cache_admin.find(db, path, request("b").key).state == "expected"
        with pytest.raises(CacheError, match="no request has a key that begins with 00000"):
            cache_admin.find(db, path, "00000")
        with pytest.raises(CacheError, match="neither a file nor a key"):
            cache_admin.find(db, path, "xyz")


def test_a_prefix_of_several_keys_is_refused(tmp_path: Path) -> None:
    path = fill(tmp_path / "c.sqlite", [])
    with closing(sqlite3.connect(path)) as db:
        db.executemany("INSERT INTO replies VALUES (?, '{}', '{}', 1, NULL)", [["abcd1"], ["abcd2"]])
        db.commit()
    with cache_admin.opened(path) as db, pytest.raises(CacheError, match="several keys begin with abcd"):
        cache_admin.find(db, path, "abcd")


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_first_differing_place(one: str, other: str) -> None:
    at = payloads._agreeing(one, other)
    assert one[:at] == other[:at]
    assert one[at : at + 1] != other[at : at + 1] or one == other
    assert (payloads.distance(one, other) == 0) == (one == other)
