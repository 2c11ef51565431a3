"""Wherever a run is stopped: nothing beyond its budget is sent, and what was answered is judged."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import config
from harness.audit import pipeline
from harness.cli.execution import describe
from tests import waiters
from tests.servers import Answer, Endpoint, Script, completion, error, serve

TEXTS = 24
GROUP = 8
KEPT = 0.8
"""The share of the replies that belong to groups that were judged, wherever a run is stopped."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stops")
    waiters.prepare(folder, TEXTS, GROUP)
    return folder


@pytest.fixture
def made(place: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., config.RunConfig]:
    """A configuration over the texts with a folder and a cache of its own, with changes."""

    def make(endpoint: Endpoint, **changes: Any) -> config.RunConfig:
        new = tmp_path_factory.mktemp("run")
        given = waiters.settings_of(place, endpoint, new)
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


def run(configuration: config.RunConfig) -> dict[str, Any]:
    return asyncio.run(pipeline.run(configuration))


class Counting:
    """A script that answers after ``delay`` seconds, counts, and tells when ``moment`` is reached."""

    def __init__(self, script: Script, moment: int = 0, delay: float = 0.005) -> None:
        self.replies = 0
        self.reached = threading.Event()
        self._script = script
        self._moment = moment
        self._delay = delay
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any], number: int) -> Answer:
        if number >= self._moment:
            self.reached.set()
        time.sleep(self._delay)
        answer = self._script(body, number)
        with self._lock:
            self.replies += answer.status == 200
        return answer


def positive(*_: object) -> Answer:
    return completion("Positive")


def judged(figures: dict[str, Any]) -> int:
    """Return the number of replies that belong to groups that were judged."""
    return int(figures["answers"]["read"])


STOPS = st.tuples(
    st.sampled_from(["requests", "cost", "cancel", "dies"]),
    st.integers(5 * GROUP, (TEXTS - 1) * GROUP),
    st.sampled_from(["auto", 3, 16]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=8)
@given(STOPS)
def test_wherever_a_run_is_stopped_what_was_answered_is_judged(
    made: Callable[..., config.RunConfig], stop: tuple[str, int, str | int]
) -> None:
    """The bound of one group is what ``KEPT`` of five groups leaves."""
    kind, moment, concurrency = stop
    changes: dict[str, Any] = {"model__concurrency": concurrency, "model__choices": "none"}
    script: Script = positive
    if kind == "requests":
        changes["budget__max_requests"] = moment
    elif kind == "cost":
        changes |= {
            "budget__max_cost": 13 * moment / 1e6,
            "model__price": {"input": 1.0, "output": 1.0},
        }
    elif kind == "dies":
        script = lambda _, number: positive() if number <= moment else error(401, "invalid_api_key")  # noqa: E731
    counting = Counting(script, moment)

    async def work(configuration: config.RunConfig) -> dict[str, Any]:
        states: list[pipeline.RunState] = []
        task = asyncio.create_task(pipeline.run(configuration, states.append))
        if kind != "cancel":
            return await task
        await asyncio.to_thread(counting.reached.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert states[0].finished is not None
        return states[0].finished.to_json()

    with serve(counting) as endpoint:
        figures = asyncio.run(work(made(endpoint, **changes)))
        posted = len(endpoint.requests) + len(endpoint.probes)
    assert figures["status"] == ("interrupted" if kind == "cancel" else "partial")
    if kind == "requests":
        assert posted == moment
    if kind == "cost":
        assert figures["cost_usd"] <= changes["budget__max_cost"]
    requests = figures["requests"]
    assert requests["sent"] == len(endpoint.requests)
    assert requests["failed"] == 0, "what was under way has not failed"
    assert requests["unfinished"] == requests["sent"] - counting.replies
    assert requests["kept"] == counting.replies
    assert f"{counting.replies} replies are kept" in figures["cautions"][0]["text"]
    assert counting.replies - judged(figures) < GROUP + requests["unfinished"]
    if kind != "cost" or counting.replies >= 5 * GROUP:
        assert judged(figures) >= KEPT * counting.replies


@pytest.mark.parametrize("concurrency", ["auto", 8])
def test_attempts_and_probes_count_towards_the_budget(
    made: Callable[..., config.RunConfig], concurrency: str | int
) -> None:
    seen: set[str] = set()

    def fails_once(body: dict[str, Any], _: int) -> Answer:
        text = str(body["messages"])
        if text in seen:
            return positive()
        seen.add(text)
        return error(500, "", "once", Retry_After="0")

    with serve(fails_once) as endpoint:
        figures = run(made(endpoint, model__concurrency=concurrency, budget__max_requests=60))
    assert len(endpoint.requests) + len(endpoint.probes) == 60
    assert endpoint.probes
    assert figures["requests"]["sent"] + figures["requests"]["retried"] == len(endpoint.requests)
    assert judged(figures) >= GROUP


PRICE = {"input": 1.0, "output": 1.0}


def posted(endpoint: Endpoint) -> int:
    return len(endpoint.requests) + len(endpoint.probes)


def counted(figures: dict[str, Any]) -> int:
    requests = figures["requests"]
    return int(requests["sent"] + requests["retried"] + requests["probes"])


def test_probes_are_counted_and_paid_for_once(made: Callable[..., config.RunConfig]) -> None:
    with serve(positive) as endpoint:
        configuration = made(endpoint, model__price=PRICE)
        figures = run(configuration)
        probes = len(endpoint.probes)
        assert figures["requests"]["probes"] == probes > 0
        assert counted(figures) == posted(endpoint)
        assert figures["cost_usd"] == pytest.approx(13 * (TEXTS * GROUP + probes) / 1e6)
        again = run(configuration)
        assert (again["requests"]["probes"], again["requests"]["sent"]) == (0, 0)
        assert again["cost_usd"] == pytest.approx(13 * TEXTS * GROUP / 1e6)


def test_a_probe_that_does_not_tell_its_cost_costs_the_most(made: Callable[..., config.RunConfig]) -> None:
    untold = lambda *_: completion("hello", usage=None)  # noqa: E731
    with serve(positive, untold) as endpoint:
        figures = run(made(endpoint, model__price=PRICE))
    known = 13 * TEXTS * GROUP / 1e6
    assert known < figures["cost_usd"] < known + 400 * len(endpoint.probes) / 1e6
    said = [caution["text"] for caution in figures["cautions"] if caution["code"] == "cost-not-known"]
    assert said[0].startswith(f"The cost is not known exactly: {len(endpoint.probes)} replies")


def picky(body: dict[str, Any], _: int) -> Answer:
    """A server that rejects two parameters without a word, and some texts for no reason."""
    if "seed" in body or "logprobs" in body or "Visit 1" in str(body["messages"]):
        return error(400, "", "Bad request")
    return positive()


@pytest.mark.parametrize("limit", [None, 2, 9, 30])
def test_halving_and_control_questions_are_posts_of_the_budget(
    made: Callable[..., config.RunConfig], limit: int | None
) -> None:
    with serve(picky, picky) as endpoint:
        figures = run(made(endpoint, model__price=PRICE, model__choices="none", budget__max_requests=limit))
    assert counted(figures) == posted(endpoint)
    if limit is not None:
        assert (posted(endpoint), figures["status"]) == (limit, "partial")
        return
    halved = sum("seed" in body or "logprobs" in body for body in endpoint.requests)
    assert halved > 1
    assert endpoint.probes, "so many refusals in a row are checked by a plain question"
    refused = sum("Visit 1" in str(body["messages"]) for body in endpoint.requests)
    answered = posted(endpoint) - sum(picky(body, 0).status != 200 for body in endpoint.requests)
    assert figures["requests"]["failed"] <= refused
    assert figures["cost_usd"] == pytest.approx(13 * answered / 1e6)


USED_UP = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "8s"}


@pytest.mark.parametrize(
    "asks",
    [
        Answer(completion("Positive").body, 200, USED_UP),
        error(429, "rate_limit_exceeded", "slower", Retry_After="8"),
    ],
    ids=["x-ratelimit-reset", "retry-after"],
)
def test_a_wait_that_a_server_asks_for_is_shown_while_it_lasts(
    made: Callable[..., config.RunConfig], asks: Answer
) -> None:
    async def work(configuration: config.RunConfig) -> tuple[set[str], dict[str, Any]]:
        states: list[pipeline.RunState] = []
        task = asyncio.create_task(pipeline.run(configuration, states.append))
        shown: set[str] = set()
        while not task.done():
            shown |= {describe(state, 1.0) for state in states}
            await asyncio.sleep(0.02)
        return shown, await task

    with serve(lambda _, number: asks if number == 1 else positive()) as endpoint:
        configuration = made(endpoint, model__concurrency=1, model__choices="none", documents__limit=1)
        shown, figures = asyncio.run(work(configuration))
    assert any(re.search(r", waiting \d+ s to ask again", line) for line in shown)
    assert figures["status"] == "complete"


def test_a_budget_that_is_spent_on_probes_is_no_answer_to_them(made: Callable[..., config.RunConfig]) -> None:
    with serve(positive) as endpoint:
        first = made(endpoint, budget__max_requests=1)
        figures = run(first)
        assert (figures["status"], figures["requests"]["sent"], len(endpoint.probes)) == ("partial", 0, 1)
        run(first)
        assert len(endpoint.probes) == 2, "what the endpoint can do must not be taken as known"


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": -1000, "completion_tokens": -1000},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 10, "completion_tokens": 0},
        {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5000}},
    ],
)
def test_replies_that_do_not_tell_their_cost_cost_the_most(
    made: Callable[..., config.RunConfig], usage: dict[str, Any] | None
) -> None:
    price = {"input": 1.0, "output": 1.0, "cached_input": 0.1}
    with serve(lambda *_: completion("Positive", usage=usage)) as endpoint:
        figures = run(made(endpoint, model__price=price, model__choices="none", budget__max_cost=0.003))
    assert figures["status"] == "partial"
    assert len(endpoint.requests) < TEXTS * GROUP
    assert 0.0015 < figures["cost_usd"] <= 0.003
    said = [caution["text"] for caution in figures["cautions"] if caution["code"] == "cost-not-known"]
    assert len(said) == 1
    assert said[0].startswith(f"The cost is not known exactly: {figures['requests']['sent']} replies")
