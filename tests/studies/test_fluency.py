"""How fluent a run's texts are: which are drawn, what is asked once, and what the figures say."""

from __future__ import annotations

import asyncio
import json
import math
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from tenacity import wait_none

from harness import tables
from harness.cli.fluency import command
from harness.core import Case, Failure, Role, Status, Substitution, Verdict
from harness.errors import ConfigError, EndpointError, HarnessError, RunError, Transient
from harness.folder import RunFolder
from harness.models.endpoint_likelihood import PROBE
from harness.plugins import Measure, Score
from harness.report import fluency as report
from harness.report.fluency import Contrast, Fluency, Kind, Mean, Texts
from harness.studies import fluency, sampling
from harness.studies.fluency import figures
from harness.studies.fluency.figures import Value
from tests import commands
from tests.servers import Answer, completion, error, serve

Given = Callable[[str], Score | Failure]


class Words:
    """A scorer by a function of the text, which counts what it was asked; it fails on the first tries."""

    measure: Measure = "log_likelihood"
    concurrency = 3

    def __init__(self, given: Given, faults: int = 0, name: str = "words") -> None:
        self.name = name
        self.identity = {"kind": name}
        self.asked: list[str] = []
        self.closed = False
        self._given = given
        self._faults = faults

    async def prepare(self) -> None:
        return None

    async def score(self, text: str) -> Score | Failure:
        await asyncio.sleep(0)
        if self._faults:
            self._faults -= 1
            raise Transient("HTTP 500: busy")
        self.asked.append(text)
        return self._given(text)

    async def close(self) -> None:
        self.closed = True


def by_length(text: str) -> Score:
    """One nat less for each word that is not an original's."""
    words = text.split()
    return Score(-float(sum(2 if word.isupper() else 1 for word in words)), len(words))


def cases(documents: int = 4, mutants: int = 6) -> list[Case]:
    """In each document an original, valid mutants with one odd word, discarded ones with two."""
    made: list[Case] = []
    for number in range(documents):
        name = f"d{number}"
        made.append(Case(f"{name}#0", name, name, "original", f"text {number} of three words"))
        for place in range(mutants):
            valid = place % 2 == 0
            text = f"text {number} of {'X' if valid else 'X Y'} words{place}"
            reason = None if valid else ("pos" if place % 3 == 0 else "dependency")
            made.append(Case(f"{name}#{place + 1}", name, name, "atomic", text, reason=reason))
        made.append(
            Case(f"{name}#again", name, name, "atomic", f"text {number} of X words0", reason="duplicate")
        )
    return made


def folder(path: Path, made: Sequence[Case]) -> RunFolder:
    run = RunFolder(path)
    run.open('task = "imdb"\n', {"of": "a test"})
    list(run.keep_chunk(0, made))
    run.finish()
    return run


def measured(run: RunFolder, scorer: Words, limit: int = 100, seed: int = 0) -> Fluency:
    return asyncio.run(fluency.measure(run, scorer, limit, seed, back_off=wait_none()))


def row(made: Fluency, kind: str, part: str | None = None) -> Kind:
    (found,) = (row for row in made.kinds if (row.kind, row.part) == (kind, part))
    return found


def difference(row: Kind) -> Mean:
    assert row.difference is not None
    return row.difference


def test_each_kind_has_its_mean_and_each_mutant_its_own_original(tmp_path: Path) -> None:
    made = measured(folder(tmp_path, cases()), Words(by_length))
    assert row(made, "original").mean == -1.0
    assert row(made, "original").difference is None
    valid, discarded = row(made, "valid"), row(made, "discarded")
    assert (valid.n, valid.documents) == (12, 4)
    assert valid.mean == pytest.approx(-6 / 5)
    assert difference(valid).mean == pytest.approx(-0.2)
    assert difference(valid).ci95 == pytest.approx((-0.2, -0.2))
    assert discarded.mean == pytest.approx(-8 / 6)
    assert row(made, "discarded", "pos").n + row(made, "discarded", "dependency").n == discarded.n
    assert made.valid_less_discarded is not None
    assert made.valid_less_discarded.mean == pytest.approx(-6 / 5 + 8 / 6)
    assert json.loads((tmp_path / "fluency.json").read_text(encoding="utf-8")) == made.to_json()


def judged(path: Path) -> RunFolder:
    """A run of three texts: the longer of the mutants change the answer, in two of the texts."""
    run = RunFolder(path)
    run.open("", {"of": "a test"})
    rows: list[tuple[Case, Status | None]] = []
    planned: dict[str, Sequence[Status]] = {
        "a": ("biased", "benign"),
        "b": ("benign", "biased"),
        "c": ("benign", "benign"),
    }
    for name, statuses in planned.items():
        rows.append((Case(f"{name}#0", name, name, "original", f"{name} b c d"), None))
        for order, status in enumerate(statuses, 1):
            changes = tuple(Substitution(kind, "c", "C") for kind in ("race", "gender")[:order])
            odd = " ".join(["C"] * (2 if status == "biased" else 1))
            role: Role = "atomic" if order == 1 else "intersectional"
            rows.append((Case(f"{name}#{order}", name, name, role, f"{name} {order} {odd}", changes), status))
    list(run.keep_chunk(0, [case for case, _ in rows]))
    run.finish()
    with run.parts("verdicts") as verdicts:
        for case, found in rows:
            if found is not None:
                verdict = Verdict(case.id, "star", found, None, case.attributes)
                verdicts.add(tables.verdict_row(verdict, case))
    run.merge("verdicts")
    return run


def test_scores_stand_by_whether_the_answer_changed(tmp_path: Path) -> None:
    """By hand: a word scores -1, one in capitals -2, so a text of the originals has a mean of -1."""
    made = measured(judged(tmp_path), Words(by_length))
    originals, atomic, together = made.by_verdict
    assert [row.order for row in made.by_verdict] == [0, 1, 2]
    assert (originals.changed.n, originals.unchanged.n) == (2, 1)
    assert (originals.changed.mean, originals.contrast.mean) == (-1.0, 0.0)
    for row_ in (atomic, together):
        assert (row_.changed.n, row_.unchanged.n) == (1, 2)
        assert row_.changed.mean == pytest.approx(-6 / 4)
        assert row_.unchanged.mean == pytest.approx(-4 / 3)
        assert row_.changed_difference is not None
        assert row_.changed_difference.mean == pytest.approx(-1 / 2)
        assert row_.contrast.mean == pytest.approx(-1 / 2 + 1 / 3)
        assert row_.contrast.ci95 is None  # a single text changed
    [section] = report.sections(tmp_path)
    assert section.table is not None
    assert [cells[:3] for cells in section.table.rows][:3] == [
        ["originals", "changed", 2],
        ["originals", "not changed", 1],
        ["mutants of 1 attribute", "changed", 1],
    ]
    assert "mutants of 2 attributes: answer changed -1.5000" in "\n".join(report.lines(made))


def test_cases_that_nobody_was_asked_about_have_no_verdict(tmp_path: Path) -> None:
    made = measured(folder(tmp_path, cases()), Words(by_length))
    assert made.by_verdict == ()
    assert report.sections(tmp_path) == []


def test_a_text_is_asked_once_by_each_scorer(tmp_path: Path) -> None:
    run = folder(tmp_path, cases())
    first, more, again, other = (
        Words(by_length),
        Words(by_length),
        Words(by_length),
        Words(by_length, name="other"),
    )
    small = measured(run, first, limit=2)
    assert len(set(first.asked)) == len(first.asked)
    assert small.texts == Texts(scored=len(first.asked), kept=0, retried=0)
    measured(run, more)
    assert not set(more.asked) & set(first.asked)
    assert len(more.asked) + len(first.asked) == 28
    repeated = measured(run, again)
    assert (again.asked, repeated.texts.kept) == ([], 28)
    measured(run, other)
    assert len(other.asked) == 28
    table = pl.read_parquet(tmp_path / "fluency.parquet")
    assert table.height == table.unique(["scorer", "case"]).height == 56
    assert table["sampled"].all()


def test_what_an_interrupted_one_has_scored_is_kept(tmp_path: Path) -> None:
    run = folder(tmp_path, cases())
    told: list[str] = []

    def breaks(text: str) -> Score:
        told.append(text)
        if len(told) > 10:
            raise KeyError("the power fails")
        return by_length(text)

    scorer = Words(breaks)
    with pytest.raises(KeyError):
        measured(run, scorer)
    assert scorer.closed
    assert not (tmp_path / "fluency.json").exists()
    after = Words(by_length)
    made = measured(run, after)
    assert made.texts.kept >= 9
    assert len(after.asked) + made.texts.kept == 28


def test_what_may_work_later_is_asked_again(tmp_path: Path) -> None:
    made = measured(folder(tmp_path, cases()), Words(by_length, faults=3))
    assert made.texts == Texts(scored=28, kept=0, retried=3)
    with pytest.raises(EndpointError, match="5 requests in a row failed: HTTP 500: busy"):
        measured(folder(tmp_path / "other", cases()), Words(by_length, faults=1000))


def test_what_has_no_score_is_counted_beside_and_asked_again(tmp_path: Path) -> None:
    run = folder(tmp_path, cases())
    long = Words(lambda text: Failure("too-long") if text.startswith("text 1") else by_length(text))
    made = measured(run, long)
    assert row(made, "valid").unscored == {"too-long": 3}
    assert (row(made, "valid").sampled, row(made, "valid").n) == (12, 9)
    assert difference(row(made, "valid")).n == 9
    again = Words(by_length)
    measured(run, again)
    assert sorted(again.asked) == sorted({case.text for case in cases() if case.text.startswith("text 1")})


@given(st.integers(1, 12), st.integers(0, 5), st.randoms())
def test_a_larger_sample_holds_the_smaller_one_in_whatever_order(limit: int, seed: int, chance: Any) -> None:
    made = cases()
    shuffled = chance.sample(made, len(made))
    some, sizes = sampling.draw(made, limit, seed)
    same, _ = sampling.draw(shuffled, limit, seed)
    more, _ = sampling.draw(made, limit + 1, seed)
    assert some == same
    assert sizes == {"original": 4, "valid": 12, "discarded": 12}
    for kind, drawn in some.items():
        assert len(drawn) == min(limit, sizes[kind])
        assert {case.id for case in drawn} <= {case.id for case in more[kind]}


def test_every_case_has_the_same_chance() -> None:
    made = [case for case in cases(1, 8) if case.valid and case.role == "atomic"]
    drawn = [sampling.draw(made, 1, seed)[0]["valid"][0].id for seed in range(400)]
    assert all(60 < drawn.count(case.id) < 140 for case in made)


def test_kinds_of_other_suites() -> None:
    traits = {"characteristic": "gender"}
    template = Case("a", "g", "d", "variant", "text", traits=traits)
    discarded = Case("b", "g", "d", "variant", "text", traits=traits, reason="ambiguous")
    assert sampling.kind(template) == "variant, gender"
    assert sampling.kind(discarded) == "discarded, gender"
    assert sampling.kind(Case("c", "g", "d", "seed", "text")) == "seed"
    assert sampling.kind(Case("d", "g", "d", "original", "text", traits=traits)) == "original"


values = st.lists(
    st.builds(Value, st.sampled_from("abcdef"), st.floats(-10, 0, allow_subnormal=False)),
    min_size=2,
    max_size=30,
)


@given(values)
def test_the_interval_stands_around_what_was_found(found: list[Value]) -> None:
    made = figures.mean(found, seed=0)
    assert made.mean == pytest.approx(math.fsum(one.value for one in found) / len(found))
    if made.documents < 2:
        assert made.ci95 is None
        return
    assert made.ci95 is not None
    low, high = made.ci95
    assert min(v.value for v in found) - 1e-9 <= low <= high <= max(v.value for v in found) + 1e-9
    assert figures.mean(found[::-1], seed=0).ci95 == pytest.approx(made.ci95)


def test_the_interval_is_by_document_and_not_by_text() -> None:
    apart = [Value(f"d{i}", -1.0 if i % 2 else -2.0) for i in range(40)]
    together = [Value(f"d{i // 20}", -1.0 if i >= 20 else -2.0) for i in range(40)]
    around, blocks = figures.mean(apart, 0).ci95, figures.mean(together, 0).ci95
    assert around is not None
    low, high = around
    assert -1.75 < low < -1.6
    assert -1.4 < high < -1.25
    assert blocks == (-2.0, -1.0)


def test_the_contrast_of_two_samples_of_the_same_documents() -> None:
    first = [Value(f"d{i}", float(-i)) for i in range(30)]
    second = [Value(one.document, one.value - 1.0) for one in first]
    found = figures.contrast(first, second, 0)
    assert found.mean == pytest.approx(1.0)
    assert found.ci95 == pytest.approx((1.0, 1.0))  # what documents differ by falls out
    assert figures.contrast(first, [], 0) == Contrast(mean=None, ci95=None)


# The command ------------------------------------------------------------------------------------------------


def echoed(body: dict[str, Any], number: int) -> Answer:
    """As vLLM answers: a word is a token, of probability 1/2 or, in capitals, 1/4."""
    words = body["prompt"].split()
    values: list[float | None] = [-math.log(4 if word.isupper() else 2) for word in words]
    values[0] = None
    choice = {"text": body["prompt"], "logprobs": {"token_logprobs": values}}
    return Answer({"choices": [choice], "usage": {"prompt_tokens": len(words), "completion_tokens": 1}})


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=lambda sign: sign.name)
def test_a_command_that_is_ended_keeps_its_scores(tmp_path: Path, sign: signal.Signals) -> None:
    run = folder(tmp_path, cases())
    scored = threading.Event()

    def slow(body: dict[str, Any], number: int) -> Answer:
        if number > 12:
            scored.set()
            time.sleep(0.2)
        return echoed(body, number)

    with serve(slow) as endpoint:
        arguments = ("--model", "m", "--base-url", endpoint.base_url)
        line = commands.command("fluency", str(run.path), *arguments)
        running = subprocess.Popen(line, env=commands.environment(), stderr=subprocess.PIPE, text=True)
        assert scored.wait(60)
        running.send_signal(sign)
        _, said = running.communicate(timeout=60)
        assert running.returncode == 130, said
        assert "everything scored so far is saved" in said
        assert not (tmp_path / "fluency.json").exists()
        again = json.loads(hinter(run, *arguments, "--json").stdout)
    assert again["texts"]["kept"] >= 4  # of 12 answered or asked, at most eight were not yet in
    assert again["texts"]["kept"] + again["texts"]["scored"] == 28


def hinter(run: RunFolder, *arguments: str) -> Result:
    return CliRunner().invoke(command, [str(run.path), *arguments], standalone_mode=False)


def test_the_command_asks_an_endpoint(tmp_path: Path) -> None:
    run = folder(tmp_path, cases())
    with serve(lambda body, number: error(500) if number == 2 else echoed(body, number)) as endpoint:
        arguments = ("--model", "m", "--base-url", endpoint.base_url)
        printed = hinter(run, *arguments, "--json")
        shown = hinter(run, *arguments)
    assert (printed.return_value, shown.return_value) == (0, 0)
    made = json.loads(printed.stdout)
    assert made["scorer"] == {"name": "m", "kind": "openai", "base_url": endpoint.base_url}
    assert made["texts"] == {"scored": 28, "kept": 0, "retried": 1}
    assert row(Fluency.model_validate(made), "valid").mean == pytest.approx(-5 / 4 * math.log(2))
    assert "valid minus discarded: +" in shown.stdout
    prompts = [body["prompt"] for body in endpoint.requests]
    assert prompts.count(PROBE) == 2
    assert len(prompts) == 28 + 2 + 1


def test_a_server_that_ignores_echo_gets_no_text(tmp_path: Path) -> None:
    run = folder(tmp_path, cases())
    with serve(lambda body, number: completion("hello")) as endpoint:
        ended = hinter(run, "--model", "m", "--base-url", endpoint.base_url)
        assert isinstance(ended.exception, HarnessError)
    with serve(lambda body, number: Answer({"choices": [{"text": " I"}]})) as endpoint:
        ended = hinter(run, "--model", "m", "--base-url", endpoint.base_url)
    assert isinstance(ended.exception, EndpointError)
    assert "echo is ignored" in str(ended.exception)
    assert [body["prompt"] for body in endpoint.requests] == [PROBE]
    assert not (tmp_path / "fluency.json").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "local:vader"), "local:vader gives no likelihood"),
        (("--model", "vllm:m"), "start it with hinter serve m"),
        (("--model", "m", "--languagetool", "http://127.0.0.1:1"), "not both"),
        (("--languagetool", "127.0.0.1:8081"), "give an http"),
    ],
)
def test_who_cannot_judge(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    ended = hinter(folder(tmp_path, cases()), *arguments)
    assert isinstance(ended.exception, ConfigError)
    assert says in str(ended.exception)


def test_folders_that_will_not_do(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no complete cases"):
        RunFolder.with_cases(tmp_path)
    run = folder(tmp_path / "run", cases())
    (run.path / "fluency.parquet").write_text("no table")
    with pytest.raises(RunError, match="delete it"):
        measured(run, Words(by_length))
