"""How much is asked at a time, and how much in all."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.budget import Budget, Prices
from harness.answering.limiter import START, Bucket, Limiter
from harness.core import Message, Reply, Request


async def rounds(limiter: Limiter, number: int, latency: float = 1.0, throttled: bool = False) -> None:
    for _ in range(number):
        await limiter.acquire()
        limiter.note(None if throttled else latency, throttled)
        limiter.release()


def test_slots_grow_while_latency_holds_and_no_further_than_the_ceiling() -> None:
    async def work() -> tuple[int, int]:
        limiter = Limiter(ceiling=16)
        await rounds(limiter, START)
        first = limiter.slots
        await rounds(limiter, 1000)
        return first, limiter.slots

    assert asyncio.run(work()) == (START + 1, 16)


def test_slots_do_not_grow_when_latency_climbs() -> None:
    async def work() -> int:
        limiter = Limiter(ceiling=64)
        await rounds(limiter, START, latency=0.1)
        grown = limiter.slots
        await rounds(limiter, 200, latency=5.0)
        return limiter.slots - grown

    assert asyncio.run(work()) <= 1


def test_slots_halve_once_a_round_and_never_below_one() -> None:
    async def work() -> list[int]:
        limiter = Limiter(ceiling=64)
        seen = []
        for _ in range(20):
            await rounds(limiter, 1, throttled=True)
            seen.append(limiter.slots)
        return seen

    seen = asyncio.run(work())
    assert seen[:2] == [START // 2, START // 2]
    assert seen[-1] == 1


def test_a_fixed_number_stays() -> None:
    async def work() -> int:
        limiter = Limiter(ceiling=64, fixed=3)
        await rounds(limiter, 50)
        await rounds(limiter, 50, throttled=True)
        return limiter.slots

    assert asyncio.run(work()) == 3


def test_no_more_than_the_slots_are_busy() -> None:
    async def work() -> int:
        limiter, most, busy = Limiter(ceiling=4, fixed=4), 0, 0

        async def one() -> None:
            nonlocal most, busy
            await limiter.acquire()
            busy += 1
            most = max(most, busy)
            await asyncio.sleep(0)
            busy -= 1
            limiter.note(0.1)
            limiter.release()

        await asyncio.gather(*(one() for _ in range(50)))
        return most

    assert asyncio.run(work()) == 4


def test_a_free_slot_goes_to_the_one_that_has_waited_longest() -> None:
    """Whoever frees a slot and asks for one again at once stands behind those that wait."""

    async def work() -> list[int]:
        limiter, served = Limiter(ceiling=3), list[int]()
        limiter.slots = 2

        async def worker(number: int) -> None:
            for _ in range(5):
                await limiter.acquire()
                served.append(number)
                await asyncio.sleep(0)
                limiter.release()

        await asyncio.gather(*(worker(number) for number in range(6)))
        return served

    served = asyncio.run(work())
    assert all(set(served[start : start + 6]) == set(range(6)) for start in range(0, 30, 6))


def test_a_slot_that_was_handed_to_somebody_who_left_is_free() -> None:
    async def work() -> None:
        limiter = Limiter(ceiling=1, fixed=1)
        await limiter.acquire()
        left, waits = (asyncio.create_task(limiter.acquire()) for _ in range(2))
        await asyncio.sleep(0)
        limiter.release()
        left.cancel()
        await asyncio.wait_for(waits, 5)

    asyncio.run(work())


@given(st.floats(1, 10_000), st.lists(st.tuples(st.floats(0, 5), st.floats(0.1, 50)), min_size=1))
def test_a_bucket_never_gives_more_than_its_rate(rate: float, steps: list[tuple[float, float]]) -> None:
    now = 0.0
    bucket = Bucket(rate, clock=lambda: now)
    given_out = 0.0
    for pause, amount in steps:
        now += pause
        wait = bucket.take(amount)
        given_out += amount
        assert given_out <= bucket.burst + (now + wait) * rate / 60 + 1e-6


def request(number: int, text: str = "x" * 300) -> Request:
    return Request({}, (Message("user", f"{number} {text}"),), {"max_tokens": 10})


def test_a_budget_of_requests_is_kept_to_the_number() -> None:
    budget = Budget(requests=3)
    assert [budget.reserve(request(n)) is None for n in range(5)] == [True, True, True, False, False]


@given(
    st.floats(0.0001, 0.05),
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 10)), max_size=60),
)
def test_a_budget_of_money_is_never_overspent(limit: float, usage: list[tuple[int, int]]) -> None:
    """Whatever the replies cost, as long as it is no more than their tokens at most."""
    budget = Budget(cost=limit, prices=Prices(input=1.0, output=4.0, cached_input=0.1))
    for number, (prompt, completion) in enumerate(usage):
        asked = request(number)
        if budget.reserve(asked) is None:
            budget.settle(asked, Reply("x", prompt_tokens=prompt, completion_tokens=completion))
    assert budget.spent <= limit


def test_what_got_no_reply_may_be_on_the_bill() -> None:
    budget = Budget(cost=1.0, prices=Prices(input=1000.0, output=1000.0))
    assert budget.reserve(request(1)) is None
    budget.settle(request(1), None)
    assert budget.spent > 0.1


def test_a_price_counts_cached_tokens_at_their_own_rate() -> None:
    assert Prices(1.0, 2.0, 0.5).of(1_000_000, 1_000_000, 500_000) == pytest.approx(0.5 + 0.25 + 2.0)
    assert Prices(1.0, 2.0).of(1_000_000, 0, 500_000) == pytest.approx(1.0)
