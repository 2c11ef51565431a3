"""A stream of checks: what is counted of it, when it alarms, and what the page shows."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.guard import page, watch
from harness.guard.records import Checked
from harness.guard.watch import LEARNT, Entry, Watch
from tests.guard.made import System, place, said, steps

START = datetime(2026, 1, 1, tzinfo=UTC)


def line(number: int, found: bool, worse: str | None = "female", **more: object) -> str:
    difference = {
        "attribute": "gender",
        "outcome": "Positive",
        "means": {"female": 0.0, "male": 1.0},
        "difference": 1.0,
        "worse": worse,
    }
    told: dict[str, object] = {
        "time": (START + timedelta(minutes=number)).isoformat(),
        "verdict": "unfair" if found else "fair",
        "groups": {"gender": ["female", "male"]},
        "differences": [difference] if found else [],
    }
    return json.dumps(told | more)


def stream(*rates: float, each: int = 400, seed: int = 3) -> Iterator[str]:
    draw = random.Random(seed)
    for part, rate in enumerate(rates):
        for number in range(each):
            yield line(part * each + number, draw.random() < rate)


def test_rates_by_attribute_and_by_the_group_that_fares_worse() -> None:
    seen = Watch.over([line(0, True), line(1, False), line(2, False), line(3, True)])
    assert seen.series["gender", ""].findings == 2
    assert seen.series["gender", "female"].rate == 0.5
    assert seen.series["gender", "male"].rate == 0.0
    assert {series.checks for series in seen.series.values()} == {4}


def test_where_no_outcome_is_good_both_groups_count() -> None:
    seen = Watch.over([line(0, True, worse=None)])
    assert seen.series["gender", "female"].findings == seen.series["gender", "male"].findings == 1


def test_checks_that_were_not_made_and_broken_lines_do_not_count() -> None:
    seen = Watch.over(
        [line(0, False), line(1, False, verdict="not-checked"), "{", "[]", '{"verdict": "fair"}']
    )
    assert seen.series["gender", ""].checks == 1
    assert seen.unread == 3


def test_a_rise_alarms_and_a_steady_rate_does_not() -> None:
    steady = Watch.over(stream(0.05, 0.05, 0.05))
    assert all(not series.alarms for series in steady.series.values())
    risen = Watch.over(stream(0.05, 0.4)).series["gender", "female"]
    assert risen.alarms
    assert START + timedelta(minutes=400) <= risen.alarms[0] <= START + timedelta(minutes=480)
    assert risen.usual is not None
    assert risen.usual > 0.05


def test_a_given_baseline_need_not_be_learnt() -> None:
    seen = Watch.over([line(number, True) for number in range(20)], usual=0.02)
    assert seen.series["gender", ""].alarms
    learning = Watch.over([line(number, True) for number in range(LEARNT - 1)])
    assert learning.series["gender", ""].usual is None


@given(st.integers(0, 3000))
def test_a_curve_has_never_many_points_and_ends_where_the_stream_does(number: int) -> None:
    seen = Watch(usual=0.5)
    entry = Entry(START, frozenset({("gender", "")}), frozenset())
    for _ in range(number):
        seen.add(entry)
    curve = seen.series["gender", ""].curve if number else []
    assert len(curve) <= 200
    assert [checks for checks, _, _ in curve] == sorted(checks for checks, _, _ in curve)
    if number:
        assert curve[-1][0] >= number / 2


def test_an_entry_of_a_check_is_that_of_its_line() -> None:
    system = System(lambda text: said("Negative" if text == "she" else "Positive"))

    async def check() -> Checked:
        where = [place(female=("she",), male=("text",))]
        return await steps(favourable=("Positive",)).check("text", said("Positive"), where, system)

    checked = asyncio.run(check())
    entry = Entry.of(checked)
    assert entry.compared == {("gender", ""), ("gender", "female"), ("gender", "male")}
    assert entry.found == {("gender", ""), ("gender", "female")}
    told = json.loads(json.dumps({**checked.to_json(False), "groups": checked.groups}))
    assert Entry.told(told, entry.time) == entry


def test_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "guard.jsonl"
    log.write_text("\n".join(line(number, False) for number in range(100)) + "\n", encoding="utf-8")
    seen = watch.read(log, tail=2000)
    assert 0 < seen.series["gender", ""].checks < 100
    assert seen.unread == 0
    assert seen.last == START + timedelta(minutes=99)


def test_the_page_tells_rates_alarms_and_unread_lines() -> None:
    (section,) = page.sections(Watch.over([*stream(0.05, 0.5), "{"]))
    assert section.table is not None
    rows = {str(row[0]): row for row in section.table.rows}
    assert rows["gender: female"][1] == 800
    assert rows["gender: female"][4] == len(Watch.over(stream(0.05, 0.5)).series["gender", "female"].alarms)
    assert "1 lines of the log" in section.notes[-1]
    assert [len(plot.lines) for plot in section.plots] == [3]
    (empty,) = page.sections(Watch())
    assert empty.table is None
