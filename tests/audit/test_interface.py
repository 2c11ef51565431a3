"""The interface for Python: how it is called, and how whoever called it stops a run."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harness
from harness.errors import HarnessError, RunError
from tests import waiters
from tests.commands import environment
from tests.servers import Answer, Endpoint, completion, serve

TEXTS = 6
GROUP = 2
PATIENCE = 20.0
"""Seconds within which a stopped run ends on a loaded machine: less than all its replies would take."""


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """The settings of a run over a few texts that is asked about one at a time, with changes."""
    waiters.prepare(tmp_path, TEXTS, GROUP)

    def make(endpoint: Endpoint, **changes: Any) -> dict[str, Any]:
        one_by_one = {"model.concurrency": 1, "model.choices": "none"}
        return waiters.settings_of(tmp_path, endpoint, tmp_path) | one_by_one | changes

    return make


class Pausing:
    """Answers at once, but holds the reply of number ``at`` until told to go on."""

    def __init__(self, at: int) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self._at = at

    def __call__(self, _: dict[str, Any], number: int) -> Answer:
        if number >= self._at:
            self.reached.set()
            self.go_on.wait(60)
        return completion("Positive")


def summary(settings: dict[str, Any]) -> dict[str, Any]:
    figures = json.loads((Path(settings["out"]) / "summary.json").read_text(encoding="utf-8"))
    assert isinstance(figures, dict)
    return figures


def resumes(settings: dict[str, Any], endpoint: Endpoint) -> None:
    """The interrupted run is whole on disk, and the same settings send what is missing, no more."""
    before, sent = summary(settings), len(endpoint.requests)
    assert before["status"] == "interrupted"
    assert before["stopped"] is None
    assert before["answers"]["read"] >= GROUP
    again = harness.run_sync(settings)
    assert (again["status"], again["documents"]["judged"]) == ("complete", TEXTS)
    assert len(endpoint.requests) - sent == again["requests"]["sent"] < TEXTS * GROUP


def test_it_works_inside_a_running_loop(settings: Callable[..., dict[str, Any]]) -> None:
    with serve(lambda *_: completion("Positive")) as endpoint:

        async def notebook() -> dict[str, Any]:
            return harness.run_sync(settings(endpoint))

        figures = asyncio.run(notebook())
        assert figures["status"] == "complete"
        assert asyncio.run(harness.run(settings(endpoint)))["requests"]["sent"] == 0


def test_a_cancelled_run_writes_what_it_has_and_is_cancelled(
    settings: Callable[..., dict[str, Any]],
) -> None:
    script = Pausing(at=6)

    async def work(given: dict[str, Any]) -> None:
        task = asyncio.create_task(harness.run(given))
        await asyncio.to_thread(script.reached.wait, 60)
        task.cancel()
        script.go_on.set()  # what is under way may still arrive
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    with serve(script) as endpoint:
        asyncio.run(work(settings(endpoint)))
        assert len(endpoint.requests) <= 7
        resumes(settings(endpoint), endpoint)


def test_a_time_limit_is_one(settings: Callable[..., dict[str, Any]]) -> None:
    def slow(_: dict[str, Any], number: int) -> Answer:
        time.sleep(0 if number <= GROUP or number > 5 else 3)
        return completion("Positive")

    async def work(given: dict[str, Any]) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(harness.run(given), 4)

    with serve(slow) as endpoint:
        asyncio.run(work(settings(endpoint)))
        resumes(settings(endpoint), endpoint)


def test_a_cancelled_run_in_a_group_of_tasks_ends_with_it(settings: Callable[..., dict[str, Any]]) -> None:
    script = Pausing(at=3)

    async def fails() -> None:
        await asyncio.to_thread(script.reached.wait, 60)
        script.go_on.set()
        raise ZeroDivisionError

    async def work(given: dict[str, Any]) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(harness.run(given))
            group.create_task(fails())

    with serve(script) as endpoint:
        with pytest.raises(ExceptionGroup) as raised:
            asyncio.run(work(settings(endpoint)))
        assert [type(error) for error in raised.value.exceptions] == [ZeroDivisionError]
        resumes(settings(endpoint), endpoint)


CALLER = """
import json, sys, harness
try:
    harness.run_sync(json.loads(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be sent Ctrl-C alone there")
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_stops_a_synchronous_run(settings: Callable[..., dict[str, Any]], presses: int) -> None:
    """At the first, what is under way is kept; the second does not wait for it."""
    held = threading.Event()

    def script(_: dict[str, Any], number: int) -> Answer:
        if number == 5:
            held.set()
            time.sleep(1 if presses == 1 else PATIENCE)
        return completion("Positive")

    with serve(script) as endpoint:
        given = settings(endpoint)
        running = subprocess.Popen(
            [sys.executable, "-c", CALLER, json.dumps(given)],
            env=environment() | {"PYTHONPATH": str(Path(harness.__file__).parents[1])},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert held.wait(60)
        asked = time.monotonic()
        for _ in range(presses):
            running.send_signal(signal.SIGINT)
            time.sleep(0.3)
        out, said = running.communicate(timeout=60)
        assert time.monotonic() - asked < PATIENCE / 2
        assert (out, said, running.returncode) == ("interrupted\n", "", 0)
        assert len(endpoint.requests) <= 6, "nothing new was asked"
        if presses == 1:
            resumes(given, endpoint)


def test_two_runs_of_one_folder_in_one_loop(settings: Callable[..., dict[str, Any]]) -> None:
    script = Pausing(at=3)

    async def work(given: dict[str, Any]) -> dict[str, Any]:
        first = asyncio.create_task(harness.run(given))
        await asyncio.to_thread(script.reached.wait, 60)
        with pytest.raises(RunError, match="in use by process"):
            await harness.run(given)
        script.go_on.set()
        return await first

    with serve(script) as endpoint:
        figures = asyncio.run(work(settings(endpoint)))
        assert (figures["status"], figures["documents"]["judged"]) == ("complete", TEXTS)
        assert len(endpoint.requests) == TEXTS * GROUP


@given(
    st.one_of(
        st.none(),
        st.integers(),
        st.floats(),
        st.binary(),
        st.lists(st.text()),
        st.tuples(),
        st.just(object()),
        st.dictionaries(st.one_of(st.integers(), st.none(), st.binary()), st.integers(), min_size=1),
        st.dictionaries(
            st.sampled_from(["task", "model", "model.name", "documents", "hinter.order", "", ".", "a.b"]),
            st.one_of(st.lists(st.integers(), min_size=1), st.just(object())),
            min_size=1,
        ),
        st.text(st.characters(exclude_characters="/\\")).map(lambda name: f"/nowhere/{name}"),
    )
)
def test_what_is_no_configuration_is_said(wrong: Any) -> None:
    with pytest.raises(HarnessError):
        harness.run_sync(wrong)
