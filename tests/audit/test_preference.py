"""A judge of answers in free form: a real server that compares them, going by length or place, or failing."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from harness.audit.preference import Pair
from harness.core import Case, Preference
from harness.errors import ConfigError
from tests.commands import called, environment
from tests.commands import command as process
from tests.servers import Answer, Endpoint, Script, completion, error, serve
from tests.writers import MEN, WOMEN, asked, brittle, command, praising, prepare, run

SHOWN = re.compile(r"First answer:\n(.*)\n\nSecond answer:\n(.*?)\n\n", re.DOTALL)
SHORT = "The work was done."
LONG = "The work was done, and done again, and then it was done once more, until all of it was done."


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    prepare(tmp_path)
    return tmp_path


def shown(body: dict[str, Any]) -> tuple[str, str]:
    """The two answers that a judge sees."""
    found = SHOWN.search(asked(body))
    assert found is not None
    return found[1], found[2]


def first(body: dict[str, Any], _: int) -> Answer:
    """Prefer what stands first, whatever it says."""
    assert shown(body)
    return completion("First")


def longer(body: dict[str, Any], _: int) -> Answer:
    """Prefer the longer answer."""
    one, other = (len(answer) for answer in shown(body))
    return completion("Tie" if one == other else "First" if one > other else "Second")


def wordy(body: dict[str, Any], _: int) -> Answer:
    """Repeat where the work was, and write more about men."""
    where = asked(body).partition(" worked ")[2]
    return completion(f"{LONG if set(asked(body).lower().split()) & set(MEN) else SHORT} It was {where}")


def judged(script: Script, judge: Script, *words: str, out: str = "out") -> tuple[dict[str, Any], Endpoint]:
    """The summary of a run whose answers a judge compares, and the judge's server."""
    with serve(script) as writer, serve(judge) as other:
        done = run(writer, out, *beside(other), *words)
    return json.loads(done.stdout), other


def beside(judge: Endpoint) -> tuple[str, ...]:
    return ("--measure", "preference", "--judge", "j", "--judge-base-url", judge.base_url)


def test_a_judge_that_goes_by_the_place_prefers_nobody(work: Path) -> None:
    found, judge = judged(wordy, first)
    said = found["preference"]
    assert said["position"]["rate"] == 1 == said["unstable"]["rate"]
    assert said["first"] == said["position"]["count"] > 20
    assert len(judge.requests) == 2 * said["position"]["of"] == found["judge"]["requests"]["sent"]
    assert [row["net"] for row in said["rows"]] == [0, 0]
    assert all(row["effect"] == 0 for row in found["contrasts"])
    assert found["results"][0]["biased"] == 0
    assert {caution["code"] for caution in found["cautions"]} == {"unstable-judge"}
    assert "same answer" not in found["finding"]["text"]


def test_a_judge_of_length_finds_who_is_written_more_about(work: Path) -> None:
    found, _ = judged(wordy, longer)
    (row,) = found["contrasts"]
    to_women = 1 if row["to"] == "female" else -1
    assert row["outcome"] == "preference"
    assert to_women * row["effect"] < -0.4
    assert row["p_holm"] < 0.001
    assert -1 <= row["ci95"][0] <= row["ci95"][1] <= 1
    assert "preference is" in found["finding"]["text"]
    said = found["preference"]
    of_gender, of_controls = said["rows"]
    assert (of_gender["kind"], of_controls["kind"]) == ("gender", "control mutants")
    assert of_gender["preferred"] + of_gender["original"] == of_gender["pairs"]
    assert of_controls["alike"] == of_controls["pairs"]
    assert said["unstable"]["count"] == said["unread"]["count"] == 0


def test_a_writer_who_is_only_brittle_is_not_preferred_by_group(work: Path) -> None:
    found, _ = judged(brittle, longer)
    assert found["preference"]["rows"][0]["preferred"] > 5
    assert all(row["p_holm"] > 0.05 for row in found["contrasts"])


def test_the_judge_is_blind_and_what_it_is_asked_is_told(work: Path) -> None:
    def telling(body: dict[str, Any], _: int) -> Answer:
        who = next(word for word in asked(body).lower().split() if word in (*MEN, *WOMEN))
        return completion(f"The {who} did his work." if who in MEN else f"She, a {who}, is at her work.")

    found, judge = judged(telling, first, "--judge-question", "Which is warmer?", "--limit", "6")
    for request in judge.requests:
        both = " ".join(shown(request)).lower()
        assert not {*MEN, *WOMEN, "his", "her", "she"} & set(re.findall(r"\w+", both)), both
        assert "Which is warmer?" in asked(request)
    orders = Counter(frozenset(shown(request)) for request in judge.requests)
    assert all(number % 2 == 0 for number in orders.values())
    assert found["judge"]["question"] == "Which is warmer?"
    assert found["judge"]["model"] == "j"
    assert len(found["judge"]["prompt_sha256"]) == 64
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "Which answer j prefers" in page
    assert "Which is warmer?" in page


def test_what_the_judge_says_beside_the_point_is_counted_and_prefers_nobody(work: Path) -> None:
    found, _ = judged(wordy, lambda *_: completion("Both are lovely letters."), "--limit", "6")
    said = found["preference"]
    assert said["unread"]["rate"] == 1
    assert said["unstable"]["of"] == 0
    assert said["rows"][0]["unread"] == said["rows"][0]["pairs"]
    assert found["contrasts"][0]["effect"] == 0
    said = pl.read_parquet("out/preferences.parquet").drop_nulls("forwards")
    assert set(said["forwards"]) == {"unparsed"}


def test_repeats_are_compared_with_the_first_answer(work: Path) -> None:
    def moody(body: dict[str, Any], number: int) -> Answer:
        return completion(LONG if number % 2 else SHORT)

    found, _ = judged(moody, longer, "--limit", "8", "--repeats", "2")
    rows = {row["kind"]: row for row in found["preference"]["rows"]}
    repeats = rows["repeats of originals"]
    assert repeats["pairs"] == 16
    assert found["noise"]["flips"] == repeats["preferred"] + repeats["original"] > 0
    assert pl.read_parquet("out/repeats.parquet").height == 16


def test_a_flip_is_confirmed_by_comparing_the_repeats(work: Path) -> None:
    found, _ = judged(wordy, longer, "--limit", "6", "--confirm", "2")
    (row,) = found["results"]
    assert row["confirmed"] == row["biased"] > 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--measure", "preference"), "preference needs a judge"),
        (("--judge", "j", "--judge-base-url", "http://127.0.0.1:9/v1"), "only the measure preference"),
        (("--measure", "preference", "--judge-question", "Which?"), "need its name"),
        (("--measure", "preference", "--judge", "local:vader"), "cannot be asked: name another model"),
        (("--measure", "preference", "--judge", "j", "--batch"), "batch and judge do not go together"),
        (("--measure", "preference", "--judge", "j", "--budget", "9"), "judge do not go together"),
    ],
)
def test_a_judge_and_its_measure_go_together(work: Path, words: tuple[str, ...], says: str) -> None:
    with serve(praising) as server:
        with pytest.raises(ConfigError, match=says):
            run(server, "out", *words)
        assert server.requests == []


def test_the_same_judge_is_not_asked_twice_and_another_is(work: Path) -> None:
    with serve(wordy) as writer, serve(longer) as judge:
        before = json.loads(run(writer, "one", *beside(judge)).stdout)
        asked_once = len(judge.requests)
        again = json.loads(run(writer, "two", *beside(judge)).stdout)
        assert len(judge.requests) == asked_once == before["judge"]["requests"]["sent"]
        assert again["judge"]["requests"]["cached"] == asked_once
        assert again["preference"] == before["preference"]
        run(writer, "three", *beside(judge), "--judge-question", "Which is shorter?")
        assert len(judge.requests) == 2 * asked_once


def test_a_limit_of_requests_is_of_the_model_and_its_judge_together(work: Path) -> None:
    with serve(wordy) as writer, serve(longer) as judge:
        limited = json.loads(run(writer, "out", *beside(judge), "--max-requests", "60").stdout)
        posted = len(writer.requests) + len(writer.probes) + len(judge.requests) + len(judge.probes)
        assert limited["status"] == "partial"
        assert 50 <= posted <= 60
        assert len(judge.requests) > 5
        whole = json.loads(run(writer, "out", *beside(judge)).stdout)
    assert whole["status"] == "complete"
    for server in (writer, judge):
        bodies = Counter(json.dumps(request["messages"]) for request in server.requests)
        assert max(bodies.values()) == 1


def test_a_plan_counts_what_the_judge_is_asked_at_most(work: Path) -> None:
    with serve(wordy) as writer, serve(longer) as judge:
        words = command(writer, "out", *beside(judge), "--repeats", "2", "--limit", "6")
        planned = json.loads(called(work, "plan", *words[1:]).stdout)
        assert judge.requests == []
        found = json.loads(called(work, *words).stdout)
    rows = found["preference"]["rows"]
    assert planned["judged"] == 2 * sum(row["pairs"] for row in rows) > found["judge"]["requests"]["sent"]


def test_a_plan_says_what_a_judge_costs_at_most(work: Path) -> None:
    priced = "[judge]\nprice = { input = 1.0, output = 4.0 }\n"
    (work / "priced.toml").write_text(priced, encoding="utf-8")
    with serve(wordy) as writer, serve(longer) as judge:
        words = command(writer, "out", *beside(judge), "--limit", "6")[1:]
        planned = json.loads(called(work, "plan", "priced.toml", *words).stdout)
        unpriced = called(work, "plan", *(word for word in words if word != "--json")).stdout
        found = json.loads(called(work, "run", "priced.toml", *words).stdout)
    tokens = found["judge"]["tokens"]
    cost = (tokens["prompt"] * 1.0 + tokens["completion"] * 4.0) / 1e6
    assert cost < planned["judge_cost_usd"] < 1
    assert "requests at most, price unknown: set [judge] price in the configuration" in unpriced


def test_doctor_asks_the_judge(work: Path) -> None:
    with serve(wordy) as writer, serve(longer) as judge:
        words = command(writer, "out", *beside(judge))
        fine = called(work, "doctor", *(word for word in words[1:] if word not in ("--json",)))
    assert "ok    judge: j answered 'First'" in fine.stdout


def test_one_text_is_checked_without_a_judge(work: Path) -> None:
    (work / "free.toml").write_text(
        'task = "free"\ntask_options = { question = "Write.", measure = ["preference"] }\n'
        'judge = { name = "j", base_url = "http://127.0.0.1:9/v1" }\n'
        'model = { name = "m", base_url = "http://127.0.0.1:9/v1" }\n',
        encoding="utf-8",
    )
    done = called(work, "check", "The man left.", "--config", "free.toml")
    assert done.returncode == 2
    assert "leave the measure preference out" in done.stderr


class Failing:
    """A judge that fails on every other attempt at a request, and counts what it has answered."""

    def __init__(self) -> None:
        self.billed: Counter[str] = Counter()
        self.attempts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any], number: int) -> Answer:
        time.sleep(0.02)
        request = asked(body)
        with self._lock:
            self.attempts[request] += 1
            if self.attempts[request] % 2:
                return error(503, Retry_After="0")
            self.billed[request] += 1
        return longer(body, number)


def start(writer: Endpoint, judge: Endpoint) -> subprocess.Popen[str]:
    words = command(writer, "out", *beside(judge), "--limit", "24", "--concurrency", "4")
    return subprocess.Popen(
        process(*words), text=True, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def test_a_judge_that_fails_half_of_the_time_is_billed_once_though_the_run_is_killed(work: Path) -> None:
    failing = Failing()
    with serve(wordy) as writer, serve(failing) as judge:
        killed = start(writer, judge)
        while failing.billed.total() < 15:
            time.sleep(0.02)
            assert killed.poll() is None
        killed.kill()
        killed.communicate()
        before = failing.billed.copy()
        found = json.loads(start(writer, judge).communicate(timeout=120)[0])
    assert found["status"] == "complete"
    requests = found["judge"]["requests"]
    twice = sum(number - 1 for number in failing.billed.values())
    assert twice <= 4 * 0.5 / 0.02 / 2 + 4, "what came in the half second that the cache had not yet written"
    assert requests["cached"] == before.total() - twice
    assert requests["sent"] == failing.billed.total() - before.total()
    assert requests["unique"] == len(failing.billed)
    assert failing.attempts.total() >= 2 * failing.billed.total()


def test_a_judge_that_is_lost_for_good_leaves_a_partial_run(work: Path) -> None:
    def dies(body: dict[str, Any], number: int) -> Answer:
        return longer(body, number) if number <= 20 else error(401, "invalid_api_key")

    with serve(wordy) as writer, serve(dies) as judge:
        done = called(work, *command(writer, "out", *beside(judge)))
    assert done.returncode == 3
    assert json.loads(done.stdout)["status"] == "partial"


def test_both_orders_must_agree() -> None:
    said = {
        (forwards, backwards): Preference("c", forwards, backwards).value
        for forwards in ("First", "Second", "Tie", "unparsed", None)
        for backwards in ("First", "Second", "Tie", "unparsed", None)
    }
    assert {key for key, value in said.items() if value == 1} == {("Second", "First")}
    assert {key for key, value in said.items() if value == -1} == {("First", "Second")}


def test_answers_that_differ_in_who_is_spoken_of_alone_are_alike() -> None:
    cases = [Case(name, "g", "d", "original", f"The {name} is here.") for name in ("man", "woman")]
    assert Pair.of((cases[0], cases[1]), ("He is a man.", "She is a woman.")).alike
    assert not Pair.of((cases[0], cases[1]), ("He is a man.", "She is a good woman.")).alike
