"""How much is asked at a time, and how much in all."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.budget import Budget, Prices, metered
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


def test_a_slot_more_takes_a_round_of_answers_and_fewer_a_round_without() -> None:
    """From eight slots to nine, and by two push-backs of different rounds to four and two; then to three."""

    async def work() -> list[int]:
        limiter, seen = Limiter(ceiling=64), list[int]()
        for answers, throttled in (
            (START - 1, False),
            (1, False),
            (1, True),
            (1, True),
            (3, True),
            (1, True),
        ):
            await rounds(limiter, answers, throttled=throttled)
            seen.append(limiter.slots)
        await rounds(limiter, 1)
        seen.append(limiter.slots)
        await rounds(limiter, 1)
        seen.append(limiter.slots)
        return seen

    assert asyncio.run(work()) == [8, 9, 4, 4, 4, 2, 2, 3]


def test_a_push_back_begins_the_round_anew() -> None:
    async def work() -> list[int]:
        limiter, seen = Limiter(ceiling=64), list[int]()
        await rounds(limiter, START - 1)
        await rounds(limiter, 1, throttled=True)
        for _ in range(4):
            seen.append(limiter.slots)
            await rounds(limiter, 1)
        seen.append(limiter.slots)
        return seen

    assert asyncio.run(work()) == [4, 4, 4, 4, 5]


def test_what_got_no_answer_tells_nothing_of_latency() -> None:
    """A failure that was no push-back, such as a refusal, counts neither for more slots nor for fewer."""

    async def work() -> int:
        limiter = Limiter(ceiling=64)
        for _ in range(100):
            await limiter.acquire()
            limiter.note(None)
            limiter.release()
        return limiter.slots

    assert asyncio.run(work()) == START


@pytest.mark.parametrize(("slower", "more"), [(1.9, 1), (2.1, 0)])
def test_latency_has_risen_once_it_is_twice_the_best(slower: float, more: int) -> None:
    async def work() -> int:
        limiter = Limiter(ceiling=64)
        await rounds(limiter, START)
        for _ in range(200):  # the average has followed by then
            limiter.slots = START
            await rounds(limiter, 1, latency=slower)
        await rounds(limiter, START, latency=slower)
        return limiter.slots - START

    assert asyncio.run(work()) == more


def test_latency_is_averaged_over_some_ten_answers() -> None:
    """One slow answer among quick ones is no rise: it weighs a tenth."""

    async def work(slow: float) -> int:
        limiter = Limiter(ceiling=64)
        await rounds(limiter, START - 1)
        await rounds(limiter, 1, latency=slow)
        return limiter.slots

    assert asyncio.run(work(10.9)) == START + 1
    assert asyncio.run(work(11.1)) == START


def test_a_free_slot_is_used_as_soon_as_there_are_more() -> None:
    async def work() -> bool:
        limiter = Limiter(ceiling=2)
        limiter.slots = 1
        await limiter.acquire()
        waits = asyncio.create_task(limiter.acquire())
        await asyncio.sleep(0)
        limiter.note(0.1)
        await asyncio.sleep(0)
        return waits.done()

    assert asyncio.run(work())


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


def test_a_bucket_makes_nobody_wait_longer_than_its_rate_asks_for() -> None:
    """60 a minute in bursts of two seconds: two at once, then one a second, a debt added to what follows."""
    now = 100.0
    bucket = Bucket(60.0, clock=lambda: now)
    assert bucket.burst == 2.0
    assert [bucket.take(1) for _ in range(4)] == [0.0, 0.0, 1.0, 2.0]
    now += 3.0
    assert [bucket.take(1), bucket.take(5)] == [0.0, 5.0]
    now += 1000.0
    assert [bucket.take(2), bucket.take(0.5)] == [0.0, 0.5], "what was not used is no more than a burst"
    assert Bucket(6.0).burst == 1.0, "one request at least"


@given(st.floats(1, 10_000), st.lists(st.floats(0.1, 50), min_size=1))
def test_a_bucket_that_is_waited_for_gives_its_whole_rate(rate: float, amounts: list[float]) -> None:
    now = 0.0
    bucket = Bucket(rate, clock=lambda: now)
    for amount in amounts:
        now += bucket.take(amount)
    assert now == pytest.approx(max(0.0, (sum(amounts) - bucket.burst) * 60 / rate), abs=1e-6)


@pytest.mark.parametrize(
    ("limits", "admitted"),
    [
        ({}, 5),
        ({"requests_per_minute": 60.0}, 2),
        ({"tokens_per_minute": 6000.0}, 2),
        ({"requests_per_minute": 30.0, "tokens_per_minute": 60_000.0}, 1),
        ({"requests_per_minute": 6000.0, "tokens_per_minute": 3000.0}, 1),
    ],
)
def test_both_rates_are_kept(limits: dict[str, float], admitted: int) -> None:
    """Five requests of 100 tokens: those that need not wait are admitted at once, the others later."""

    async def work() -> int:
        limiter = Limiter(ceiling=8, **limits)  # type: ignore[arg-type]
        waiting = [asyncio.create_task(limiter.admit(100)) for _ in range(5)]
        for _ in range(5):
            await asyncio.sleep(0)
        done = sum(task.done() for task in waiting)
        for task in waiting:
            task.cancel()
        return done

    assert asyncio.run(work()) == admitted


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


def test_a_budget_counts_what_is_on_its_way_and_charges_what_came_back() -> None:
    """A prompt of 302 characters and its marks is 109 tokens at most, its answer 10: 119 in all, at 1 USD."""
    budget = Budget(cost=300.0, prices=Prices(1e6, 1e6))
    first, second, third = (request(number) for number in range(3))
    assert budget.reserve(first) is None
    assert budget.reserve(second) is None
    assert budget.reserve(third) == "the budget of 300.0 USD is used up (0.0000 spent)"
    budget.settle(first, Reply("x", prompt_tokens=50, completion_tokens=5, cached_tokens=20))
    assert (budget.spent, budget.sent) == (55.0, 2)
    assert budget.reserve(third) is None, "119 reserved, 55 spent and 119 more are below 300"
    budget.settle(second, None)
    budget.settle(third, Reply("x"))
    assert (budget.spent, budget.sent) == (55.0 + 2 * 119, 3), "what told no tokens is charged at its most"


def test_what_was_not_reserved_costs_nothing_where_nothing_came_back() -> None:
    budget = Budget(cost=1.0, prices=Prices(1e6, 1e6))
    budget.settle(request(1), None)
    assert (budget.sent, budget.spent) == (0, 0.0)


def test_what_fits_exactly_is_sent() -> None:
    budget = Budget(cost=238.0, prices=Prices(1e6, 1e6))
    assert [budget.reserve(request(number)) is None for number in range(3)] == [True, True, False]


def test_a_post_that_is_no_request_is_charged_at_its_most() -> None:
    budget = Budget(requests=3, cost=100.0, prices=Prices(1e6, 1e6))
    assert budget.post(90, 16) is None
    assert (budget.sent, budget.spent) == (1, 46.0)
    assert budget.post(900, 16) == "the budget of 100.0 USD is used up (46.0000 spent)"
    assert budget.post(0, 54) is None
    assert (budget.sent, budget.spent) == (2, 100.0)
    assert budget.post(0, 0) is None
    assert budget.post(0, 0) == "the budget of 3 requests is used up"


def test_without_prices_only_requests_are_counted() -> None:
    budget = Budget(requests=2)
    assert budget.reserve(request(1)) is None
    budget.settle(request(1), Reply("x", prompt_tokens=5, completion_tokens=1))
    assert budget.post(10, 10) is None
    assert (budget.sent, budget.spent) == (2, 0.0)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Reply("x", prompt_tokens=5, completion_tokens=1), True),
        (Reply("x", prompt_tokens=5, completion_tokens=1, cached_tokens=5), True),
        (Reply("", prompt_tokens=1), True),
        (Reply("x", prompt_tokens=5), False),
        (Reply("x", completion_tokens=1), False),
        (Reply("x", prompt_tokens=5, completion_tokens=1, cached_tokens=6), False),
        (Reply("x", prompt_tokens=5, completion_tokens=1, cached_tokens=-1), False),
        (Reply("x", prompt_tokens=-5, completion_tokens=1), False),
        (Reply("", prompt_tokens=5, completion_tokens=-1), False),
        (Reply("x", prompt_tokens=5.0, completion_tokens=1), False),  # type: ignore[arg-type]
        (Reply("x", prompt_tokens=5, completion_tokens=True), False),
    ],
)
def test_only_counts_that_can_be_true_are_a_bill(reply: Reply, told: bool) -> None:
    assert metered(reply) is told


def test_a_price_counts_cached_tokens_at_their_own_rate() -> None:
    assert Prices(1.0, 2.0, 0.5).of(1_000_000, 1_000_000, 500_000) == pytest.approx(0.5 + 0.25 + 2.0)
    assert Prices(1.0, 2.0).of(1_000_000, 0, 500_000) == pytest.approx(1.0)
