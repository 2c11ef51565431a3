"""The response cache keeps every complete reply, shares a file, and outlives damage."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Coroutine, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.cache import (
    APPLICATION_ID,
    BUSY_TRIES,
    DEFAULT,
    MIGRATIONS,
    ResponseCache,
    connect,
    pieces,
    trouble,
)
from harness.answering.rows import decode, encode
from harness.core import Message, Reply, Request, Token
from harness.errors import CacheError
from tests.conftest import ROOT

T = TypeVar("T")


def wait(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def request(text: str = "hello", **changes: Any) -> Request:
    one = Request({"name": "m"}, (Message("user", text),), {"temperature": 0.0}, text=text)
    return replace(one, **changes)


def test_the_cache_stands_where_the_documentation_says() -> None:
    assert f"`{DEFAULT.as_posix()}`" in (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


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
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    db.close()

    async def work() -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError) as raised:
        wait(work())
    newer = "was made by a newer version of hinter: update, or use another --cache"
    assert str(raised.value) == f"cache {path} {newer}"


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


@pytest.mark.parametrize("text", ["half a pair: \ud83d", "nul \x00", "line\u2028separator", "😀"])
def test_any_text_is_found_again(tmp_path: Path, text: str) -> None:
    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            cache.keep(request(text), Reply(text))
            await cache.expect([request(text)], "job")
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            found = {request(text).key: Reply(text.replace("\ud83d", "\ufffd"))}
            assert (await cache.look_up([request(text).key]))[0] == found
            assert await cache.expected([request(text).key]) == {request(text).key: request(text)}

    wait(work())


def version_1(path: Path, rows: int = 3) -> None:
    """A file as the first version made it."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(MIGRATIONS[0][0])
        for number in range(rows):
            asked = request(str(number))
            db.execute(
                "INSERT INTO replies VALUES (?, ?, ?, 1.0)",
                [asked.key, json.dumps(asked.payload()), encode(Reply(str(number)))],
            )
        db.execute("PRAGMA user_version = 1")
        db.commit()


def test_a_file_of_the_first_version_loses_nothing(tmp_path: Path) -> None:
    version_1(tmp_path / "c.sqlite")

    async def work() -> None:
        for _ in range(2):
            async with ResponseCache(tmp_path / "c.sqlite") as cache:
                found, _ = await cache.look_up([request(str(n)).key for n in range(3)])
                assert sorted(reply.text for reply in found.values()) == ["0", "1", "2"]
                assert await cache.dialect("http://x") is None

    wait(work())


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE recipes (name TEXT)",
        "CREATE TABLE replies (key TEXT, body TEXT); PRAGMA user_version = 1",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 2",
    ],
)
def test_the_file_of_another_program_is_not_written_into(tmp_path: Path, script: str) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(script)
    before = path.read_bytes()

    async def work() -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError) as raised:
        wait(work())
    other = "is another program's SQLite file: give --cache a file of its own"
    assert str(raised.value) == f"cache {path} {other}"
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["other.sqlite"]


def test_what_was_learnt_of_an_endpoint_is_remembered(tmp_path: Path) -> None:
    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            assert await cache.dialect("http://x") is None
            await cache.learn("http://x", {"limit": "max_tokens"})
            await cache.learn("http://x", {"limit": "max_completion_tokens", "dropped": ["seed"]})
            assert await cache.dialect("http://y") is None
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            known = await cache.dialect("http://x")
            assert known == {"limit": "max_completion_tokens", "dropped": ["seed"]}

    wait(work())


def test_what_a_job_was_handed_is_expected_until_settled(tmp_path: Path) -> None:
    several = [request(str(n), choices=("a", "b"), repeat=n) for n in range(1200)]
    keys = [r.key for r in several]

    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            await cache.expect(several, "job-1")
            await cache.expect(several[:2], "job-2")
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            assert await cache.expected([*keys, "unknown"]) == {r.key: r for r in several}
            assert (await cache.look_up(keys))[0] == {}
            await cache.settle(keys[:1100])
            assert set(await cache.expected(keys)) == set(keys[1100:])
            await cache.settle([])

    wait(work())


def test_a_key_is_fresh_once_however_it_is_asked(tmp_path: Path) -> None:
    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            keys = [request(str(n)).key for n in range(700)]
            answers = await asyncio.gather(*(cache.look_up(keys) for _ in range(5)))
            assert sum(len(fresh) for _, fresh in answers) == 700
            assert await cache.look_up([]) == ({}, set())

    wait(work())


def test_a_reply_is_found_before_it_is_written(tmp_path: Path) -> None:
    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            for number in range(1000):
                cache.keep(request(str(number)), Reply("x"))
                if number % 7 == 0:
                    assert (await cache.look_up([request(str(number)).key]))[0]
            found, _ = await cache.look_up([request(str(n)).key for n in range(1000)])
            assert len(found) == 1000

    wait(work())


class Clockwork(asyncio.SelectorEventLoop):
    """An event loop whose time is what the test says."""

    now = 0.0

    def time(self) -> float:
        return self.now


def written(path: Path, *then: float, at_first: int = 1) -> int:
    """Keep ``at_first`` replies and one more after each of the seconds ``then``, but the last.

    Return how many are in the file soon after these.
    """

    async def work() -> int:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, Clockwork)
        async with ResponseCache(path) as cache:
            for place in range(at_first):
                cache.keep(request(str(place)), Reply("x"))
            for number, seconds in enumerate(then, 1):
                loop.now += seconds
                if number < len(then):
                    cache.keep(request(f"later {number}"), Reply("x"))
            for _ in range(300):
                await asyncio.sleep(0)
                if kept := len(keys(path)):
                    return kept
        return 0

    with asyncio.Runner(loop_factory=Clockwork) as runner:
        return runner.run(work())


def test_a_hundred_replies_are_written_at_once_and_fewer_after_a_quarter_of_a_second(tmp_path: Path) -> None:
    assert written(tmp_path / "100.sqlite", 0.0, at_first=100) == 100
    assert written(tmp_path / "99.sqlite", 0.24, at_first=99) == 0
    assert written(tmp_path / "1.sqlite", 0.24) == 0
    assert written(tmp_path / "1 later.sqlite", 0.26) == 1
    assert written(tmp_path / "2.sqlite", 0.2, 0.06) == 2, "the second does not put off the first"


def test_jobs_are_known_by_the_requests_that_they_were_handed(tmp_path: Path) -> None:
    several = [request(str(n)) for n in range(1200)]
    keys = [r.key for r in several]

    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            assert await cache.jobs(keys) == set()
            await cache.expect(several[:700], "job-1")
            await cache.expect(several[600:], "job-2")
            assert await cache.jobs(keys) == {"job-1", "job-2"}
            assert await cache.jobs(keys[:600]) == {"job-1"}
            assert await cache.jobs(keys[600:]) == {"job-2"}, "a request is the latest job's"
            assert await cache.awaited(["job-1", "job-2", "job-3"]) == {"job-1": 600, "job-2": 600}
            await cache.settle(keys[:650])
            assert await cache.awaited(["job-1", "job-2"]) == {"job-2": 550}
            assert await cache.awaited([]) == {}

    wait(work())


def test_a_request_that_does_not_match_its_key_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"

    async def work(spoilt: bool) -> None:
        async with ResponseCache(path) as cache:
            if not spoilt:
                await cache.expect([request()], "job")
            await cache.expected([request().key])

    wait(work(False))
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE expected SET request = replace(request, 'hello', 'hallo')")
        db.commit()
    with pytest.raises(
        CacheError, match=rf"c\.sqlite: the expected request {request().key} does not match its key$"
    ):
        wait(work(True))


def test_a_file_says_whose_it_is_and_of_which_version(tmp_path: Path) -> None:
    async def work(path: Path) -> None:
        async with ResponseCache(path) as cache:
            assert not cache.read_only
            cache.keep(request(), Reply("x"))

    version_1(tmp_path / "old.sqlite")
    for name in ("new.sqlite", "old.sqlite", "deeper/and/deeper.sqlite"):
        path = tmp_path / name
        wait(work(path))
        with closing(sqlite3.connect(path)) as db:
            told = [db.execute(f"PRAGMA {of}").fetchone()[0] for of in ("application_id", "user_version")]
            assert told == [0x484E5452, 3]
            assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
            assert request().key in {key for (key,) in db.execute("SELECT key FROM replies")}


def test_a_damaged_row_counts_as_absent_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    both = [request("a").key, request("b").key]

    async def keep(texts: str, reply: str) -> tuple[dict[str, Reply], int]:
        async with ResponseCache(path) as cache:
            found, _ = await cache.look_up(both)
            for text in texts:
                cache.keep(request(text), Reply(reply))
            return found, cache.damaged

    assert wait(keep("ab", "first")) == ({}, 0)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE replies SET reply = replace(reply, 'first', 'fir5t') WHERE key = ?", both[:1])
        db.commit()
    found, damaged = wait(keep("ab", "second"))
    assert (set(found), damaged) == ({both[1]}, 1)
    found, damaged = wait(keep("", ""))
    assert ([found[key].text for key in both], damaged) == (["second", "first"], 0)


SQLITE_ERRORS = {
    sqlite3.SQLITE_CORRUPT: (
        "is damaged, and what cannot be read would have to be bought again: give run --buy-again to keep"
        " every reply that can be read and ask for the others;"
        " hinter cache export writes them to a file (why)"
    ),
    sqlite3.SQLITE_BUSY: "is locked by another process: wait for it, then give the same command again (why)",
    sqlite3.SQLITE_FULL: "is on a full disk: make room, then give the same command again (why)",
    sqlite3.SQLITE_READONLY: "is read-only: make it and its folder writable, or use a copy of it (why)",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: give --cache a place that can be read and written (why)",
    sqlite3.SQLITE_NOTADB: "is damaged, and what cannot be read would have to be bought again",
    sqlite3.SQLITE_ABORT: "failed (why)",
}


@pytest.mark.parametrize(("number", "told"), SQLITE_ERRORS.items())
def test_what_sqlite_means_is_said_with_what_to_do(number: int, told: str) -> None:
    for extended in (number, number | 3 << 8):
        error = sqlite3.OperationalError("why")
        error.sqlite_errorcode = extended
        assert str(trouble(Path("c.sqlite"), error)).startswith(f"cache c.sqlite {told}")
        assert str(trouble(Path("c.sqlite"), error)).endswith(" (why)")


def test_errors_of_others_are_said_too() -> None:
    assert str(trouble(Path("c.sqlite"), sqlite3.ProgrammingError("why"))) == "cache c.sqlite failed (why)"
    denied = PermissionError(13, "Permission denied")
    place = "give --cache a place that can be written"
    assert str(trouble(Path("c.sqlite"), denied)) == f"cache c.sqlite: Permission denied: {place}"
    assert str(trouble(Path("c.sqlite"), OSError("odd"))) == f"cache c.sqlite: odd: {place}"
    error = sqlite3.DatabaseError("why")
    error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
    other = "is not a cache: give --cache a *.sqlite file (why)"
    assert str(trouble(Path("thesis.docx"), error)) == f"cache thesis.docx {other}"
    for name in ("c.sqlite3", "c.db"):
        assert "is damaged" in str(trouble(Path(name), error))


@given(st.lists(st.integers(), max_size=1600))
def test_pieces_are_all_in_order_and_fit_into_a_statement(items: list[int]) -> None:
    parts = list(pieces(items))
    assert [each for part in parts for each in part] == items
    assert all(0 < len(part) <= 500 for part in parts)
    assert len(parts) == -(-len(items) // 500)


def test_a_file_that_another_process_holds_is_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "c.sqlite"

    async def work(free_it: bool) -> None:
        async with ResponseCache(path) as cache:
            await cache._all("PRAGMA busy_timeout = 1")
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                learns = asyncio.create_task(cache.learn("http://x", {"a": 1}))
                while free_it and "waiting for it" not in caplog.text:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
                if free_it:
                    other.execute("COMMIT")
                await learns

    wait(work(True))
    caplog.clear()
    with pytest.raises(CacheError, match="is locked by another process: wait for it"):
        wait(work(False))
    assert caplog.text.count(f"cache {path} is locked by another process: waiting for it") == 9


def test_a_locked_file_is_waited_for_ten_minutes(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"

    async def work() -> Any:
        async with ResponseCache(path) as cache:
            return (await cache._all("PRAGMA busy_timeout"))[0]

    with closing(connect(f"{path.as_uri()}?mode=rwc")) as db:
        for (milliseconds,) in (wait(work()), db.execute("PRAGMA busy_timeout").fetchone()):
            assert milliseconds * BUSY_TRIES == 10 * 60 * 1000


def test_what_cannot_be_written_is_said_before_more_is_bought(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"

    async def work() -> None:
        async with ResponseCache(path) as cache:
            with closing(sqlite3.connect(path)) as db:
                db.execute("DROP TABLE replies")
            cache.keep(request(), Reply("x"))
            for _ in range(200):
                await asyncio.sleep(0.01)
                cache.keep(request(), Reply("x"))

    with pytest.raises(CacheError) as raised:
        wait(work())
    assert str(raised.value) == f"cache {path} failed (no such table: replies)"


@pytest.mark.skipif(sys.platform == "win32", reason="rights of others are of POSIX")
def test_what_is_made_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "made" / "c.sqlite"

    async def work() -> list[int]:
        async with ResponseCache(path):
            return [made.stat().st_mode & 0o777 for made in (path.parent, path)]

    before = os.umask(0o022)
    try:
        assert wait(work()) == [0o700, 0o600]
    finally:
        os.umask(before)


def test_what_is_learnt_of_an_endpoint_is_known_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with ResponseCache(tmp_path / "c.sqlite") as cache:
            learnt = {"limit": "max_tokens"}
            await cache.learn("http://x", learnt)
            learnt["limit"] = "changed by whoever learnt it"
            assert await cache.dialect("http://x") == {"limit": "max_tokens"}

    wait(work())


@pytest.fixture
def powerless() -> Iterator[Path]:
    """A folder whose files its user may read and not write (as root, by being nobody for a while)."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(sys.platform == "win32", reason="folders without a right to write are of POSIX")
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_cache_that_cannot_be_written_is_read(
    powerless: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    path = powerless / "c.sqlite"

    async def fill() -> None:
        async with ResponseCache(path) as cache:
            cache.keep(request("0"), Reply("0"))
            await cache.learn("http://x", {"a": 1})

    def made() -> None:
        if version == 1:
            return version_1(path)
        wait(fill())
        if version == 2:
            with closing(sqlite3.connect(path)) as db:
                db.executescript("ALTER TABLE replies DROP COLUMN checksum; PRAGMA user_version = 2")

    as_owner(powerless, made)

    async def work() -> None:
        async with ResponseCache(path) as cache:
            assert cache.read_only
            found, fresh = await cache.look_up([request("0").key, request("new").key])
            assert ([r.text for r in found.values()], len(fresh)) == (["0"], 2)
            assert await cache.dialect("http://x") == (None if version == 1 else {"a": 1})
            await cache.learn("http://x", {"a": 2})
            assert await cache.dialect("http://x") == {"a": 2}
            assert await cache.expected([request().key]) == {}
            with pytest.raises(CacheError) as raised:
                cache.keep(request("new"), Reply("x"))
            copy = "make it writable, or give --cache a copy of it"
            assert str(raised.value) == f"cache {path} is read-only, but new data must be stored: {copy}"
            for writes in (cache.expect([request()], "job"), cache.settle(["x"])):
                with pytest.raises(CacheError, match="is read-only"):
                    await writes

    wait(work())
    assert caplog.text.count(f"cache {path} cannot be written") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="folders without a right to write are of POSIX")
@pytest.mark.parametrize(("file", "folder"), [(0o444, 0o777), (0o666, 0o555)])
def test_both_the_file_and_its_folder_must_be_writable(powerless: Path, file: int, folder: int) -> None:
    path = powerless / "c.sqlite"
    as_owner(powerless, lambda: version_1(path))
    as_owner(powerless, lambda: None, file, folder)

    async def work() -> bool:
        async with ResponseCache(path) as cache:
            return cache.read_only

    assert wait(work())


@pytest.mark.skipif(sys.platform == "win32", reason="folders without a right to write are of POSIX")
def test_an_empty_file_that_cannot_be_written_is_no_cache(powerless: Path) -> None:
    path = powerless / "c.sqlite"
    as_owner(powerless, path.touch)

    async def work() -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError) as raised:
        wait(work())
    assert str(raised.value) == f"cache {path} is empty and cannot be written: give --cache another place"


def as_owner(folder: Path, work: Any, file_mode: int = 0o444, folder_mode: int = 0o555) -> None:
    """Do ``work`` with the right to write, and take it away."""
    nobody = os.getuid() == 0
    if nobody:
        os.seteuid(0)
    folder.chmod(0o755)
    work()
    for file in folder.iterdir():
        file.chmod(file_mode)
    folder.chmod(folder_mode)
    if nobody:
        os.seteuid(65534)


@pytest.mark.skipif(sys.platform == "win32", reason="folders without a right to write are of POSIX")
def test_a_log_that_cannot_be_read_is_not_passed_over(powerless: Path) -> None:
    """What is in the log alone would be missing, and be bought again."""
    path = powerless / "c.sqlite"

    def copy_while_open() -> None:
        with tempfile.TemporaryDirectory() as folder:
            version_1(open_file := Path(folder) / "c.sqlite")
            with closing(sqlite3.connect(open_file)) as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("DELETE FROM replies")
                db.commit()
                for name in ("c.sqlite", "c.sqlite-wal"):
                    shutil.copy(open_file.with_name(name), path.with_name(name))

    as_owner(powerless, copy_while_open)

    async def work() -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError, match=r"c\.sqlite cannot be opened"):
        wait(work())


@pytest.mark.skipif(sys.platform == "win32", reason="folders without a right to write are of POSIX")
def test_a_folder_that_cannot_be_written_is_one_line(powerless: Path) -> None:
    as_owner(powerless, lambda: None)

    async def work(path: Path) -> None:
        async with ResponseCache(path):
            pass

    for path in (powerless / "c.sqlite", powerless / "deeper" / "c.sqlite"):
        with pytest.raises(CacheError, match=r"c\.sqlite.*give --cache a place that can be") as caught:
            wait(work(path))
        assert "\n" not in str(caught.value)


def test_a_folder_is_no_cache(tmp_path: Path) -> None:
    async def work(path: Path) -> None:
        async with ResponseCache(path):
            pass

    with pytest.raises(CacheError) as raised:
        wait(work(tmp_path))
    assert str(raised.value) == f"cache {tmp_path} is a folder: give --cache a *.sqlite file"
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(CacheError, match="give --cache a place"):
        wait(work(tmp_path / "file" / "c.sqlite"))


def test_damage_in_the_middle_is_said(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"

    async def fill() -> None:
        async with ResponseCache(path) as cache:
            for number in range(2000):
                cache.keep(request(str(number)), Reply("x" * 100))

    wait(fill())
    with path.open("r+b") as file:
        file.seek(8 * 4096)
        file.write(os.urandom(path.stat().st_size - 16 * 4096))

    async def work() -> None:
        async with ResponseCache(path) as cache:
            await cache.look_up([request(str(n)).key for n in range(2000)])

    with pytest.raises(CacheError, match=r"c\.sqlite is damaged"):
        wait(work())


CHILD = """
import asyncio, sys, time
from pathlib import Path
from harness.answering.cache import ResponseCache
from harness.core import Message, Reply, Request

async def work(path, name, seconds):
    async with ResponseCache(path) as cache:
        ends = time.monotonic() + seconds
        number = 0
        while time.monotonic() < ends:
            for _ in range(20):
                one = Request({"name": name}, (Message("user", f"{number}"),), {})
                cache.keep(one, Reply("x" * 200))
                print(one.key, time.monotonic())
                number += 1
            sys.stdout.flush()
            if number % 1000 == 0:
                await cache.look_up([one.key])
            await asyncio.sleep(0)

asyncio.run(work(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])))
"""


def child(path: Path, name: str, seconds: float, out: Path) -> subprocess.Popen[bytes]:
    """A process that keeps replies at full speed and writes down the key and the time of each."""
    with out.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), name, str(seconds)], stdout=file, stderr=subprocess.PIPE
        )


def keys(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {row[0] for row in db.execute("SELECT key FROM replies")}


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")
def test_kill_9_loses_at_most_half_a_second(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    generator = random.Random(0)
    total: set[str] = set()
    for number in range(10):
        out = tmp_path / f"{number}.txt"
        process = child(path, f"m{number}", 60, out)
        while not out.stat().st_size:
            time.sleep(0.01)
            assert process.poll() is None
        time.sleep(generator.uniform(0, 1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        rows = [
            line.split() for line in out.read_text(encoding="utf-8").splitlines(keepends=True) if "\n" in line
        ]
        kept = keys(path)
        last = float(rows[-1][1])
        missing = [last - float(when) for key, when in rows if key not in kept]
        assert max(missing, default=0.0) <= 0.5
        assert total <= kept
        total = kept
    assert len(total) > 1000


def test_processes_that_start_and_write_together_are_never_locked_out(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    processes = [child(path, f"m{n}", 1.5, tmp_path / f"{n}.txt") for n in range(4)]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, b"")
    asked = {
        line.split()[0] for n in range(4) for line in (tmp_path / f"{n}.txt").read_text("utf-8").splitlines()
    }
    assert keys(path) == asked
