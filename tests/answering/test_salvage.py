"""A damaged cache: what can be read is kept, what is damaged is asked for again, nothing unsaid."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from harness.answering import cache_admin, salvage
from harness.answering.cache import ResponseCache, locate
from harness.core import Message, Reply, Request
from harness.errors import CacheError

ROWS = 600
PAGE = 4096


def request(number: int) -> Request:
    long = "word " * 2000 if number % 50 == 0 else ""  # some rows overflow to pages of their own
    return Request({"name": "m"}, (Message("user", f"{number} {long}"),), {"max_tokens": 5}, text=f"{number}")


def reply(number: int) -> Reply:
    return Reply(f"Positive {number}", prompt_tokens=3, completion_tokens=2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A cache of ``ROWS`` replies, and a request that a job was handed."""

    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            for number in range(ROWS):
                cache.keep(request(number), reply(number))
            await cache.expect([request(ROWS)], "jobs/1.jsonl")

    asyncio.run(work())
    with closing(sqlite3.connect(tmp_path / "c.sqlite")) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return tmp_path / "c.sqlite"


def look_up(path: Path) -> tuple[dict[str, Reply], int]:
    async def work() -> tuple[dict[str, Reply], int]:
        async with ResponseCache(path) as cache:
            found, _ = await cache.look_up([request(n).key for n in range(ROWS)])
            return found, cache.damaged

    return asyncio.run(work())


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(int(path.stat().st_size * 0.7))


def scramble(path: Path) -> None:
    """Overwrite a page in five, the root of no table spared, but not the header."""
    chance = random.Random(1)
    with path.open("r+b") as file:
        for page in range(1, path.stat().st_size // PAGE):
            if chance.random() < 0.2 or page < 4:
                file.seek(page * PAGE)
                file.write(os.urandom(PAGE))


def lose_the_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(PAGE))


def lose_a_tail_in_the_middle_of_a_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - PAGE - 1234)


DAMAGES = [truncate, scramble, lose_the_header, lose_a_tail_in_the_middle_of_a_page]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_salvaged_row_by_row(path: Path, damage: Callable[[Path], None]) -> None:
    truth = {request(n).key: reply(n) for n in range(ROWS)}
    damage(path)
    before = path.read_bytes()
    with pytest.raises(CacheError, match=r"is damaged, and what cannot be read .* --buy-again"):
        look_up(path)
    assert path.read_bytes() == before, "nothing is set aside unasked"

    read = cache_admin.Read()
    lines = [json.loads(line) for line in cache_admin.export(path, read)]
    assert read.salvaged
    assert read.whole == len(lines) >= ROWS // 2
    assert {line["key"] for line in lines} <= truth.keys()

    renewed = salvage.renew(path)
    assert renewed is not None
    assert renewed.replies == len(lines)
    assert renewed.aside.read_bytes() == before
    found, damaged = look_up(path)
    assert not damaged
    assert found == {line["key"]: truth[line["key"]] for line in lines}
    assert salvage.renew(path) is None


def test_what_a_job_was_handed_is_salvaged(path: Path) -> None:
    lose_a_tail_in_the_middle_of_a_page(path)
    assert salvage.renew(path) is not None

    async def work() -> None:
        async with ResponseCache(path) as cache:
            assert await cache.expected([request(ROWS).key]) == {request(ROWS).key: request(ROWS)}

    asyncio.run(work())


def test_what_is_in_the_log_alone_is_salvaged(tmp_path: Path) -> None:
    """A killed run leaves its last replies in the write-ahead log."""
    path = tmp_path / "c.sqlite"

    async def work() -> None:
        async with ResponseCache(path) as cache:
            cache.keep(request(1), reply(1))

    asyncio.run(work())
    kept = path.read_bytes()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("UPDATE replies SET created = 2.0")
        db.commit()
        log = path.with_name("c.sqlite-wal").read_bytes()
    damaged = tmp_path / "d.sqlite"
    damaged.write_bytes(kept[: len(kept) // PAGE // 2 * PAGE])
    damaged.with_name("d.sqlite-wal").write_bytes(log)
    assert next(row[3] for row in salvage.whole(damaged)) == 2.0


@pytest.mark.parametrize(
    "change",
    [
        "reply = substr(reply, 1, 20)",
        "reply = replace(reply, 'Positive', 'Negative')",
        "reply = 'null'",
        "reply = '{}'",
        "reply = '[1]'",
        "reply = ''",
        "checksum = 'x'",
    ],
)
def test_a_damaged_row_is_asked_again_and_counted(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE replies SET {change} WHERE key = ?", [request(7).key])
        db.commit()
    found, damaged = look_up(path)
    assert (len(found), damaged) == (ROWS - 1, 1)
    assert cache_admin.stats(path).damaged == 1
    read = cache_admin.Read()
    assert len(list(cache_admin.export(path, read))) == ROWS - 1
    assert (read.damaged, read.salvaged) == (1, False)

    async def ask_again() -> None:
        async with ResponseCache(path) as cache:
            await cache.look_up([request(7).key])
            cache.keep(request(7), reply(7))

    asyncio.run(ask_again())
    assert look_up(path) == ({request(n).key: reply(n) for n in range(ROWS)}, 0)


def test_rows_of_an_earlier_version_are_accepted(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript("ALTER TABLE replies DROP COLUMN checksum; PRAGMA user_version = 2")
    found, damaged = look_up(path)
    assert (len(found), damaged) == (ROWS, 0)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (3,)
        db.execute("UPDATE replies SET reply = substr(reply, 1, 20) WHERE rowid = 1")
        db.commit()
    assert look_up(path)[1] == 1


def test_a_whole_file_is_left_alone(path: Path) -> None:
    assert salvage.renew(path) is None
    assert salvage.renew(path.with_name("none.sqlite")) is None
    assert sorted(file.name for file in path.parent.glob("*damaged*")) == []
    locate(path)
