"""Every distinct request is asked once and ends in exactly one answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tenacity import AsyncRetrying, RetryCallState, wait_fixed, wait_none

from harness.answering.cache import ResponseCache
from harness.answering.limiter import Limiter
from harness.answering.runner import Answer, Counts, Runner
from harness.core import Failure, Message, Reply, Request
from harness.errors import EndpointError, Transient
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
