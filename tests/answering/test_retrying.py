"""How long a server asks to wait, and what a run makes of it."""

from __future__ import annotations

import asyncio
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tenacity import wait_none

from harness.answering.runner import Counts
from harness.audit.pipeline import RunState
from harness.cli.execution import describe
from harness.errors import EndpointError, Transient
from harness.retrying import LONGEST_WAIT, Losses, Policy, duration, retry_after


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12", 12.0), ("0.5", 0.5), ("1m30s", 90.0), ("2h", 7200.0), ("250ms", 0.25), ("-5", 0.0)],
)
def test_a_span_is_read(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["inf", "-inf", "nan", "1e308", "1e14", "soon", ""])
def test_what_is_no_time_is_ignored(text: str) -> None:
    assert duration(text) is None
    assert retry_after({"retry-after": text}) is None


@pytest.mark.parametrize("unit", [1, 1000])
def test_an_epoch_is_a_time_of_day(unit: int) -> None:
    ahead = duration(str((time.time() + 30) * unit))
    assert ahead == pytest.approx(30, abs=5)
    assert duration(str((time.time() - 30) * unit)) == 0.0


@given(st.text() | st.floats().map(str) | st.integers().map(str))
def test_whatever_a_header_says_the_wait_is_finite_or_none(text: str) -> None:
    for headers in ({"retry-after": text}, {"retry-after-ms": text}):
        wait = retry_after(headers)
        assert wait is None or (math.isfinite(wait) and wait >= 0)


def test_a_wait_above_the_limit_is_not_waited_for() -> None:
    attempts: list[int] = []

    async def far() -> None:
        attempts.append(1)
        raise Transient("slow down", LONGEST_WAIT + 1)

    with pytest.raises(Transient) as raised:
        asyncio.run(Policy(back_off=wait_none()).retrying()(far))
    assert len(attempts) == 1
    with pytest.raises(
        EndpointError, match="m: slow down: it asks for a wait of 10 minutes, more than the 10"
    ):
        Losses("m").lost(raised.value)


def test_a_long_wait_is_told() -> None:
    waiting = Counts(sent=8, resume=time.monotonic() + 100)
    assert ", waiting 100 s to ask again" in describe(RunState(8, counts=waiting), 10.0).replace(
        "99 s", "100 s"
    )
    assert "waiting" not in describe(RunState(8, counts=Counts(sent=8)), 10.0)


def test_the_run_learns_how_long_it_waits() -> None:
    told: list[float] = []

    async def once() -> None:
        if not told:
            raise Transient("slow down", 0.01)

    asyncio.run(Policy(back_off=wait_none(), on_retry=told.append).retrying()(once))
    assert told == [0.01]
