"""The parts of the proxy, for any input: where the text stands, what is counted, who waits."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.answering.limiter import Bucket
from harness.core import Reply
from harness.guard import evidence
from harness.guard.gate import Full, Gate
from harness.guard.messages import Locator
from harness.guard.metrics import Metrics
from harness.guard.records import Checked
from tests.guard.made import said

TEXT = st.text(max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(before=TEXT, text=TEXT.filter(bool), after=TEXT, other=TEXT)
def test_a_text_is_found_and_replaced_where_it_stands(before: str, text: str, after: str, other: str) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": f"{before}{text}{after}", "name": "n"}]}
    located = Locator(before, after).locate(body)
    assert located is not None
    assert located.text == text
    assert located.put(text) == body
    changed = located.put(other)
    assert changed["messages"] == [{"role": "user", "content": f"{before}{other}{after}", "name": "n"}]
    assert body["messages"] == [{"role": "user", "content": f"{before}{text}{after}", "name": "n"}]


@given(JSON, TEXT, TEXT)
def test_no_request_is_a_fault(body: object, before: str, after: str) -> None:
    Locator(before, after).locate(body)
    Locator().locate({"messages": body})
    Locator().locate({"messages": [body, {"role": "user", "content": body}]})


@given(st.dictionaries(TEXT, JSON, max_size=4), st.sampled_from(["", " ", "\n"]))
def test_a_finding_is_added_and_all_else_stays(answer: dict[str, object], end: str) -> None:
    answer.pop("hinter", None)
    content = (json.dumps(answer, ensure_ascii=False) + end).encode("utf-8", "surrogatepass")
    marked = json.loads(evidence.marked(content, b'{"a": 1}'))
    assert marked == ({**answer, "hinter": {"a": 1}} if answer else {})


@given(st.binary(max_size=30))
def test_what_is_no_object_is_left_as_it_is(content: bytes) -> None:
    marked = evidence.marked(content, b"1")
    assert marked == content or content.strip().startswith(b"{")


def test_a_healed_completion_keeps_all_but_the_answer() -> None:
    content = json.dumps(
        {
            "id": 1,
            "choices": [{"message": {"role": "assistant", "content": "No"}, "logprobs": {"content": []}}],
        }
    ).encode()
    checked = Checked(said("No"), said("Yes"), "unfair")
    given = json.loads(evidence.body(content, checked))
    assert given.pop("hinter")["action"] == "healed"
    assert given == {
        "id": 1,
        "choices": [{"message": {"role": "assistant", "content": "Yes"}, "logprobs": None}],
    }
    assert isinstance(checked.answer.answer, Reply)


@given(slots=st.integers(1, 4), queue=st.integers(0, 4), callers=st.integers(1, 12))
def test_a_gate_lets_in_no_more_than_its_slots_and_turns_away_the_rest(
    slots: int, queue: int, callers: int
) -> None:
    gate = Gate(slots, queue)
    most = 0

    async def enter() -> bool:
        nonlocal most
        try:
            async with gate.entered():
                most = max(most, gate.inside)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                return True
        except Full:
            return False

    async def all_enter() -> list[bool]:
        return await asyncio.gather(*(enter() for _ in range(callers)))

    entered = asyncio.run(all_enter())
    assert most <= slots
    assert sum(entered) >= min(callers, slots + queue)
    assert (gate.inside, gate.waiting) == (0, 0)


def test_a_caller_who_gives_up_leaves_no_trace_in_the_gate() -> None:
    async def act() -> None:
        gate = Gate(1, 1)
        async with gate.entered():
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), gate.entered():
                    pass
            assert gate.waiting == 0
        async with asyncio.timeout(1), gate.entered():
            assert gate.inside == 1

    asyncio.run(act())


@given(st.lists(st.floats(0, 100), max_size=30))
def test_buckets_of_the_histogram_add_up(seconds: list[float]) -> None:
    metrics = Metrics()
    for each in seconds:
        metrics.took(each)
    text = metrics.text()
    counts = [int(line.rpartition(" ")[2]) for line in text.splitlines() if "_bucket" in line]
    assert counts == sorted(counts)
    assert counts[-1] == len(seconds)
    assert f'le="0.01"}} {sum(each <= 0.01 for each in seconds)}\n' in text


def test_labels_are_escaped() -> None:
    metrics = Metrics()
    metrics.count("findings_total", attribute='a"b\\c\nd')
    assert 'hinter_guard_findings_total{attribute="a\\"b\\\\c\\nd"} 1\n' in metrics.text()


@given(st.lists(st.integers(1, 5), max_size=20))
def test_a_spare_amount_is_taken_and_what_is_not_there_is_not(amounts: list[int]) -> None:
    now = 0.0
    bucket = Bucket(10, clock=lambda: now, burst_seconds=60)
    taken = 0
    for amount in amounts:
        there = taken + amount <= 10
        assert bucket.spare(amount) == there
        taken += amount * there
