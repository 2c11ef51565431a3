"""Every distinct request is asked once and ends in exactly one answer."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tenacity import AsyncRetrying, RetryCallState, wait_fixed, wait_none

from harness import posts
from harness.answering.budget import Budget, Prices
from harness.answering.cache import ResponseCache
from harness.answering.limiter import START, Limiter
from harness.answering.runner import Answer, Counts, Runner
from harness.core import Failure, JsonObject, Message, Reply, Request
from harness.errors import BudgetSpent, EndpointError, Transient
from harness.plugins import Model
from harness.retrying import ATTEMPTS, LOST_IN_A_ROW, PoliteWait


class Scripted(Model):
    """A model whose behaviour is a function of the request and of how often it was asked."""

    name = "scripted"
    concurrency = 4
    identity = {"name": "scripted"}

    def __init__(self, answer: Callable[[Request, int], Answer]) -> None:
        self.asked: Counter[str] = Counter()
        self._answer = answer

    async def answer(self, request: Request) -> Answer:
        self.asked[request.text] += 1
        await asyncio.sleep(0)
        return self._answer(request, self.asked[request.text])


def ask(
    model: Scripted, texts: list[str], path: Path, times: int = 1
) -> tuple[list[dict[str, Answer]], Counts]:
    async def work() -> tuple[list[dict[str, Answer]], Counts]:
        async with (
            ResponseCache(path) as cache,
            Runner(model, cache, Limiter(4, 4), back_off=wait_none()) as runner,
        ):
            asked = [runner.replies([one(text) for text in texts]) for _ in range(times)]
            return list(await asyncio.gather(*asked)), runner.counts

    return asyncio.run(work())


def one(text: str) -> Request:
    return Request({"name": "scripted"}, (Message("user", text),), {}, text=text)


def echo(request: Request, _: int) -> Answer:
    return Reply(request.text, prompt_tokens=3, completion_tokens=1)


def test_equal_requests_are_sent_once_even_at_one_time(tmp_path: Path) -> None:
    model = Scripted(echo)
    answers, counts = ask(model, ["a", "b", "a"], tmp_path / "c.sqlite", times=5)
    assert model.asked == {"a": 1, "b": 1}
    assert all(a[one("a").key] == answers[0][one("a").key] for a in answers)
    assert (counts.unique, counts.sent, counts.cached, counts.failed) == (2, 2, 0, 0)
    assert counts.prompt_tokens == 6


def test_the_second_run_sends_nothing(tmp_path: Path) -> None:
    ask(Scripted(echo), ["a", "b"], tmp_path / "c.sqlite")
    model = Scripted(echo)
    _, counts = ask(model, ["a", "b"], tmp_path / "c.sqlite")
    assert not model.asked
    assert (counts.unique, counts.sent, counts.cached) == (2, 0, 2)
    assert counts.prompt_tokens == 6


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    ask(Scripted(lambda *_: Failure("filtered", "no")), ["a"], tmp_path / "c.sqlite")
    model = Scripted(echo)
    answers, _ = ask(model, ["a"], tmp_path / "c.sqlite")
    assert isinstance(answers[0][one("a").key], Reply)


def test_what_may_succeed_later_is_tried_again(tmp_path: Path) -> None:
    def script(request: Request, number: int) -> Answer:
        if number < 3:
            raise Transient("busy")
        return echo(request, number)

    _, counts = ask(Scripted(script), ["a", "b"], tmp_path / "c.sqlite")
    assert (counts.sent, counts.retried, counts.failed) == (2, 4, 0)


def test_retry_after_is_waited_for() -> None:
    state = RetryCallState(AsyncRetrying(), None, (), {})
    state.set_exception((Transient, Transient("busy", retry_after=7.0), None))
    assert PoliteWait(wait_none())(state) == 7.0
    assert PoliteWait(wait_fixed(9))(state) == 9.0


def test_an_endpoint_that_answers_nothing_is_given_up(tmp_path: Path) -> None:
    def dead(*_: Any) -> Answer:
        raise Transient("connection refused")

    model = Scripted(dead)
    with pytest.raises(EndpointError, match="in a row failed: connection refused"):
        ask(model, [str(n) for n in range(200)], tmp_path / "c.sqlite")
    assert sum(model.asked.values()) <= 10 * ATTEMPTS


def test_an_endpoint_error_ends_the_run_at_once(tmp_path: Path) -> None:
    def bad_key(*_: Any) -> Answer:
        raise EndpointError("bad key")

    model = Scripted(bad_key)
    with pytest.raises(EndpointError, match="bad key"):
        ask(model, [str(n) for n in range(200)], tmp_path / "c.sqlite")
    assert sum(model.asked.values()) <= 8


def test_an_error_of_ours_is_not_swallowed(tmp_path: Path) -> None:
    def broken(*_: Any) -> Answer:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(Scripted(broken), ["a"], tmp_path / "c.sqlite")


def test_groups_are_finished_before_new_ones_begin(tmp_path: Path) -> None:
    """What belongs to an earlier group goes first, however late it is asked; what fails keeps its turn."""
    order: list[str] = []

    def script(request: Request, number: int) -> Answer:
        order.append(request.text)
        if request.text.endswith("1") and number == 1:
            raise Transient("busy")
        return echo(request, number)

    async def work() -> None:
        limiter = Limiter(1)
        limiter.slots = 0  # until all stand in line
        async with (
            ResponseCache(tmp_path / "c.sqlite") as cache,
            Runner(Scripted(script), cache, limiter, back_off=wait_none()) as runner,
        ):
            turns = (3, 1, 4, 0, 2, 1)
            groups = [
                asyncio.create_task(runner.replies([one(f"{turn}-{place}-{n}") for n in range(3)], turn))
                for place, turn in enumerate(turns)
            ]
            while runner.counts.unique < 3 * len(turns):  # noqa: ASYNC110
                await asyncio.sleep(0.001)
            limiter.slots = 1
            limiter.note(None)
            await asyncio.gather(*groups)

    asyncio.run(work())
    assert list(dict.fromkeys(order)) == sorted(
        f"{turn}-{place}-{n}" for place, turn in enumerate((3, 1, 4, 0, 2, 1)) for n in range(3)
    )
    again = [text for text, following in pairwise(order) if text == following]
    assert len(again) == 6, "a request keeps its slot until it has ended"


# What is counted, and what it may cost


async def at_work(
    model: Model, path: Path, work: Callable[[Runner], Any], limiter: Limiter | None = None, **options: Any
) -> Any:
    """Return what ``work`` makes of a runner that asks ``model``."""
    async with (
        ResponseCache(path) as cache,
        Runner(model, cache, limiter or Limiter(1, 1), back_off=wait_none(), **options) as runner,
    ):
        return await work(runner)


def counted(model: Model, path: Path, texts: Sequence[str], **options: Any) -> Counts:
    async def work(runner: Runner) -> Counts:
        await runner.replies([one(text) for text in texts])
        return runner.counts

    counts: Counts = asyncio.run(at_work(model, path, work, **options))
    return counts


def test_replies_are_counted_by_the_model_that_served_them(tmp_path: Path) -> None:
    def served(request: Request, _: int) -> Answer:
        fingerprint = "fp1" if request.text == "a" else None
        return Reply(
            "x", model="m-2", fingerprint=fingerprint, prompt_tokens=7, completion_tokens=2, cached_tokens=3
        )

    for _ in range(2):
        counts = counted(Scripted(served), tmp_path / "c.sqlite", ["a", "b", "c"])
        assert counts.served == {"m-2 fp1": 1, "m-2": 2}
        assert (counts.replies, counts.prompt_tokens, counts.completion_tokens) == (3, 21, 6)
        assert (counts.cached_tokens, counts.unmetered) == (9, 0)


def test_replies_that_tell_no_tokens_are_counted_at_their_most(tmp_path: Path) -> None:
    """A prompt of one character is a token and eight of its marks; an answer has the request's limit."""
    limit = one("a").token_limit
    for _ in range(2):
        counts = counted(Scripted(lambda *_: Reply("x", prompt_tokens=-1)), tmp_path / "c.sqlite", ["a", "b"])
        assert (counts.unmetered, counts.prompt_bound, counts.completion_bound) == (2, 18, 2 * limit)
        assert (counts.replies, counts.prompt_tokens, counts.completion_tokens) == (2, 0, 0)


def test_token_counts_that_cannot_be_true_are_not_passed_on(tmp_path: Path) -> None:
    async def work(runner: Runner) -> Answer:
        return (await runner.replies([one("a")]))[one("a").key]

    odd = Reply("x", prompt_tokens=-1, completion_tokens=7, cached_tokens=9)
    reply = asyncio.run(at_work(Scripted(lambda *_: odd), tmp_path / "c.sqlite", work))
    assert (reply.text, reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens) == ("x", 0, 0, 0)


def test_no_more_is_sent_than_the_budget_has(tmp_path: Path) -> None:
    model, budget = Scripted(echo), Budget(requests=2)
    with pytest.raises(BudgetSpent, match=r"^the budget of 2 requests is used up$"):
        counted(model, tmp_path / "c.sqlite", ["a", "b", "c", "d"], budget=budget)
    assert model.asked == {"a": 1, "b": 1}
    assert budget.sent == 2


def test_every_attempt_is_on_the_bill(tmp_path: Path) -> None:
    """A failed one at its most, 9 tokens and the limit; a reply at what it cost."""

    def script(request: Request, number: int) -> Answer:
        if number < 3:
            raise Transient("busy")
        return Failure("filtered") if request.text == "b" else echo(request, number)

    budget = Budget(prices=Prices(1e6, 1e6))
    counts = counted(Scripted(script), tmp_path / "c.sqlite", ["a", "b"], budget=budget)
    worst = 9 + one("a").token_limit
    assert budget.spent == 2 * worst + 4 + 3 * worst
    assert (budget.sent, counts.sent, counts.retried, counts.failed) == (6, 2, 4, 1)


class Posting(Scripted):
    """Posts some bodies for each request, as a model does whose endpoint rejects the first form."""

    def __init__(self, *sizes: int, probes: Sequence[int] = ()) -> None:
        super().__init__(echo)
        self._sizes = sizes
        self._probes = probes
        self.learnt: list[object] = []

    async def prepare(self, dialect: JsonObject | None = None) -> JsonObject | None:
        self.learnt.append(dialect)
        for size in self._probes:
            posts.posting(size)
        return {"limit": "max_tokens"}

    async def answer(self, request: Request) -> Answer:
        for size in self._sizes:
            posts.posting(size)
        return await super().answer(request)


def test_another_form_of_a_request_is_on_the_bill_too(tmp_path: Path) -> None:
    budget = Budget(prices=Prices(1e6, 1e6))
    counts = counted(Posting(300, 30, 60), tmp_path / "c.sqlite", ["a", "b"], budget=budget)
    limit = one("a").token_limit
    assert budget.spent == 2 * (4 + 10 + limit + 20 + limit)
    assert (budget.sent, counts.sent) == (6, 2)


def test_another_form_of_a_request_must_fit_the_budget(tmp_path: Path) -> None:
    with pytest.raises(BudgetSpent, match=r"^the budget of 2 requests is used up$"):
        counted(Posting(300, 30, 60), tmp_path / "c.sqlite", ["a"], budget=Budget(requests=2))


def test_an_endpoint_is_probed_once_and_its_dialect_remembered(tmp_path: Path) -> None:
    budget, model = Budget(prices=Prices(1e6, 1e6)), Posting(300, probes=[30])
    counted(model, tmp_path / "c.sqlite", ["a", "b", "c"], budget=budget)
    assert model.learnt == [None]
    assert (budget.sent, budget.spent) == (4, 10 + 16 + 3 * 4)
    again = Posting(300)
    counted(again, tmp_path / "c.sqlite", ["d"])
    assert again.learnt == [{"limit": "max_tokens"}]
    counted(again, tmp_path / "c.sqlite", ["a", "d"])
    assert len(again.learnt) == 1, "what is in the cache needs no endpoint"


def test_probes_must_fit_the_budget(tmp_path: Path) -> None:
    with pytest.raises(BudgetSpent, match=r"^the budget of 1 requests is used up$"):
        counted(Posting(300, probes=[30, 30]), tmp_path / "c.sqlite", ["a"], budget=Budget(requests=1))


class Unready(Scripted):
    """Raises an error whenever it is to prepare."""

    def __init__(self, error: Exception) -> None:
        super().__init__(echo)
        self._error = error
        self.prepared = 0

    async def prepare(self, dialect: JsonObject | None = None) -> JsonObject | None:
        self.prepared += 1
        raise self._error


def test_an_endpoint_that_cannot_be_probed_ends_the_run(tmp_path: Path) -> None:
    model = Unready(Transient("connection refused"))
    with pytest.raises(EndpointError, match=r"^scripted: connection refused$"):
        counted(model, tmp_path / "c.sqlite", ["a", "b"])
    assert (model.prepared, model.asked) == (ATTEMPTS, {})


def test_what_failed_for_good_is_not_asked_again_in_a_run(tmp_path: Path) -> None:
    model = Scripted(lambda *_: Failure("filtered", "no"))

    async def work(runner: Runner) -> tuple[list[dict[str, Answer]], Counts]:
        return [await runner.replies([one("a")]) for _ in range(3)], runner.counts

    answers, counts = asyncio.run(at_work(model, tmp_path / "c.sqlite", work))
    assert answers == [{one("a").key: Failure("filtered", "no")}] * 3
    assert model.asked == {"a": 1}
    assert (counts.unique, counts.sent, counts.failed, counts.cached) == (1, 1, 1, 0)


def test_a_reply_has_its_latency_and_makes_room_for_more(tmp_path: Path) -> None:
    limiter = Limiter(ceiling=64)
    texts = [str(number) for number in range(START)]

    async def work(runner: Runner) -> dict[str, Answer]:
        return await runner.replies([one(text) for text in texts])

    found = asyncio.run(at_work(Scripted(echo), tmp_path / "c.sqlite", work, limiter=limiter))
    assert all(
        isinstance(reply, Reply) and reply.latency is not None and reply.latency > 0
        for reply in found.values()
    )
    assert limiter.slots >= START


@pytest.mark.parametrize(("throttled", "slots"), [(True, START // 2), (False, START)])
def test_an_endpoint_that_pushes_back_is_asked_less_at_a_time(
    tmp_path: Path, throttled: bool, slots: int
) -> None:
    def script(request: Request, number: int) -> Answer:
        if number == 1:
            raise Transient("slow down", throttled=throttled)
        return Failure("filtered")

    limiter = Limiter(ceiling=64)
    counted(Scripted(script), tmp_path / "c.sqlite", ["a"], limiter=limiter)
    assert limiter.slots == slots


def test_the_last_request_that_waits_tells_when_the_run_goes_on(tmp_path: Path) -> None:
    def script(request: Request, number: int) -> Answer:
        if number == 1:
            raise Transient("later", retry_after={"a": 0.2, "b": 0.02}[request.text])
        return echo(request, number)

    began = time.monotonic()
    counts = counted(Scripted(script), tmp_path / "c.sqlite", ["a", "b"], limiter=Limiter(4, 4))
    assert counts.resume >= began + 0.2
    assert counts.resume <= time.monotonic()


def test_after_the_end_nothing_is_sent(tmp_path: Path) -> None:
    model = Scripted(echo)

    async def work(runner: Runner) -> dict[str, Answer]:
        await runner.replies([one("a")])
        await runner.stop()
        assert await runner.replies([one("a")])
        return await runner.replies([one("b")])

    with pytest.raises(EndpointError, match=r"^the run has ended$"):
        asyncio.run(at_work(model, tmp_path / "c.sqlite", work))
    assert model.asked == {"a": 1}


def test_what_is_under_way_at_the_end_is_kept_and_what_waits_is_not_sent(tmp_path: Path) -> None:
    """The answer has perhaps been billed."""
    asked, gate = list[str](), asyncio.Event()

    class Slow(Scripted):
        async def answer(self, request: Request) -> Answer:
            asked.append(request.text)
            await gate.wait()
            return echo(request, 1)

    async def work(runner: Runner) -> list[Any]:
        waiting = [asyncio.create_task(runner.replies([one(text)])) for text in "abc"]
        while len(asked) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        ends = asyncio.create_task(runner.stop())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not ends.done()
        gate.set()
        await ends
        return await asyncio.gather(*waiting, return_exceptions=True)

    results = asyncio.run(at_work(Slow(echo), tmp_path / "c.sqlite", work, limiter=Limiter(2, 2)))
    assert len(asked) == 2
    for text, result in zip("abc", results, strict=True):
        if text in asked:
            assert result[one(text).key].text == text
        else:
            assert isinstance(result, EndpointError)


def test_a_damaged_reply_is_asked_for_again_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    counted(Scripted(echo), path, ["a", "b"])
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE replies SET reply = '{' WHERE key = ?", [one("a").key])
        db.commit()
    model = Scripted(echo)
    counts = counted(model, path, ["a", "b"])
    assert model.asked == {"a": 1}
    assert (counts.damaged, counts.cached, counts.sent) == (1, 1, 1)


FAULTS = st.lists(st.sampled_from(["busy", "filtered", "fine"]), min_size=1, max_size=ATTEMPTS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.dictionaries(st.sampled_from("abcdefgh"), FAULTS, min_size=1))
def test_every_request_ends_in_one_answer(
    tmp_path_factory: pytest.TempPathFactory, faults: dict[str, list[str]]
) -> None:
    def script(request: Request, number: int) -> Answer:
        plan = faults[request.text]
        fault = plan[number - 1] if number <= len(plan) else "fine"
        if fault == "busy":
            raise Transient("busy")
        return Failure("filtered") if fault == "filtered" else echo(request, number)

    model = Scripted(script)
    path = tmp_path_factory.mktemp("cache") / "c.sqlite"
    try:
        answers, counts = ask(model, list(faults), path)
    except EndpointError:
        assert sum(plan == ["busy"] * ATTEMPTS for plan in faults.values()) >= LOST_IN_A_ROW
        return
    assert answers[0].keys() == {one(text).key for text in faults}
    assert max(model.asked.values()) <= ATTEMPTS
    failed = sum(isinstance(a, Failure) for a in answers[0].values())
    assert (counts.unique, counts.sent, counts.failed) == (len(faults), len(faults), failed)
    assert sum(model.asked.values()) == counts.sent + counts.retried
