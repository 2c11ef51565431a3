"""Batches: each exported request ends as a kept reply or one classified failure, and none is bought twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tenacity import wait_none

from harness import config
from harness.answering import batch_files
from harness.answering.batch_files import BatchFiles, Taken
from harness.answering.cache import ResponseCache
from harness.audit import pipeline, planning
from harness.audit.assembly import Audit, assemble
from harness.audit.batching import files as batching
from harness.audit.batching.jobs import Ledger, Pace
from harness.audit.batching.run import answered, outstanding
from harness.cli import app
from harness.core import Failure, JsonObject, Message, Reply, Request, canonical
from harness.errors import CacheError, ConfigError, EndpointError
from harness.retrying import PATIENT
from tests.batch_server import (
    BatchServer,
    Line,
    Script,
    envelope,
    refused,
    reply,
    serve_batches,
    text_of,
    unexecuted,
    vllm_run_batch,
)
from tests.commands import called
from tests.json_values import inside
from tests.servers import Answer, completion, error, serve

LEXICON = """
[attribute.race]
pairs = [["black", "white"], ["black", "Asian"]]
[attribute.gender.groups]
male = ["man", "actor"]
female = ["woman", "actress"]
"""
TEXTS = """id,text,label
a,The black man was kind.,Positive
b,A black actor bored us.,Negative
c,The black man was kind.,Positive
"""
KEY = "sk-very-secret"
UNIQUE = 12
FAST = Pace(0.01, 0.01, replace(PATIENT, back_off=wait_none()))

Settings = Callable[..., config.RunConfig]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A configuration over three small texts, two of them equal, with changes."""
    (tmp_path / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def make(base_url: str, **changes: Any) -> config.RunConfig:
        given = {
            "documents.path": str(tmp_path / "texts.csv"),
            "hinter.lexicon": str(tmp_path / "lexicon.toml"),
            "hinter.attributes": "race,gender",
            "hinter.parser": "none",
            "model.name": "m",
            "model.base_url": base_url,
            "model.api_key_env": "OPENAI_API_KEY",
            "out": str(tmp_path / "run"),
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


async def work(
    configuration: config.RunConfig, said: list[str], pace: Pace = FAST
) -> tuple[Audit, pipeline.RunState]:
    audit = await asyncio.to_thread(assemble, configuration)
    folder = audit.folder
    folder.open(audit.resolved, audit.identity)
    progress = pipeline.RunState(audit.total)
    try:
        audit = await answered(audit, folder, said.append, pace)
        await pipeline._flow(audit, folder, progress)
    finally:
        await audit.model.close()
    return audit, progress


def run(configuration: config.RunConfig) -> tuple[Audit, pipeline.RunState]:
    """What ``hinter run --batch`` does: first the jobs, then the flow with a model that sends nothing."""
    return asyncio.run(work(configuration, []))


def facts(audit: Audit) -> dict[str, Any]:
    return dict(inside(audit.model.facts, "batch"))


def all_positive(line: Line) -> list[tuple[str, Line | str]]:
    return [reply(line)]


def kept(path: Path, keys: Sequence[str]) -> dict[str, Reply]:
    async def look() -> dict[str, Reply]:
        async with ResponseCache(path) as cache:
            return (await cache.look_up(keys))[0]

    return asyncio.run(look())


def expected(path: Path, keys: Sequence[str]) -> set[str]:
    async def look() -> set[str]:
        async with ResponseCache(path) as cache:
            return set(await cache.expected(keys))

    return asyncio.run(look())


def test_a_job_answers_a_run(settings: Settings, tmp_path: Path) -> None:
    with serve_batches(BatchServer(all_positive)) as server:
        audit, progress = run(settings(server.base_url))
        assert (progress.counts.unique, progress.counts.cached, progress.counts.sent) == (UNIQUE, UNIQUE, 0)
        assert [len(lines) for lines in server.uploads] == [UNIQUE]
        (job,) = server.jobs
        assert (job["endpoint"], job["completion_window"]) == ("/v1/chat/completions", "24h")
        assert len({line["custom_id"] for line in server.uploads[0]}) == UNIQUE
        assert server.uploads[0][0]["body"]["temperature"] == 0.0
        assert facts(audit)["jobs"][0]["status"] == "completed"
        keys = [line["custom_id"] for line in server.uploads[0]]
        assert not expected(tmp_path / "cache.sqlite", keys)
        assert outstanding(tmp_path / "run") == 0
        run(settings(server.base_url))
        assert len(server.jobs) == 1


def test_what_is_answered_needs_no_key(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_batches(BatchServer(all_positive)) as server:
        run(settings(server.base_url))
        monkeypatch.delenv("OPENAI_API_KEY")
        _, progress = run(settings(server.base_url))
        assert progress.counts.cached == UNIQUE


def mixed(line: Line) -> list[tuple[str, Line | str]]:
    text = text_of(line)
    if "white man" in text:
        return [refused(line, 400, "content_filter", "filtered")]
    if "white woman" in text:
        return [refused(line, 429, "rate_limit_exceeded", "slow down")]
    if "Asian woman" in text:
        return [("output", envelope(line, 200, {"error": {"message": "overloaded", "code": "server_error"}}))]
    if "Asian man" in text:
        return [("output", "{ this is no line"), ("output", "\udcff"), refused(line, 400, "", "too long")]
    return [reply(line, None) if "actress" in text else reply(line)]


def test_each_line_of_a_job_is_classified(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serve_batches(BatchServer(mixed)) as server:
        audit, progress = run(settings(server.base_url))
        assert (progress.counts.cached, progress.counts.sent, progress.counts.failed) == (8, 4, 4)
        assert facts(audit)["failed"] == {"filtered": 1, "too-long": 1, "failed": 2}
        assert facts(audit)["unreadable"] == 2
        assert "batch job batch_0: 4 of 12 requests failed" in caplog.text
        assert "1 filtered: filtered" in caplog.text
        assert "2 failed: HTTP 200: overloaded" in caplog.text
        assert "001.output.jsonl line 1" in " ".join(facts(audit)["messages"])
        folder = audit.folder
        folder.merge("answers")
        counted = Counter(folder.scan("answers").collect()["outcome"].to_list())
        assert counted["filtered"] == counted["too-long"] == 2
        assert counted["failed"] == 4
        server.script = all_positive
        _, again = run(settings(server.base_url))
        assert [len(lines) for lines in server.uploads] == [UNIQUE, 4]
        assert again.counts.failed == 0


def test_a_completed_job_may_hold_nothing_but_errors(settings: Settings, tmp_path: Path) -> None:
    script = lambda line: [refused(line, 404, "model_not_found", "no such model")]  # noqa: E731
    with serve_batches(BatchServer(script)) as server:
        audit, progress = run(settings(server.base_url))
        assert "output_file_id" not in server.jobs[0]
        assert progress.counts.failed == UNIQUE
        assert facts(audit)["messages"] == ["12 failed: HTTP 404: no such model"]
        assert not kept(tmp_path / "cache.sqlite", [line["custom_id"] for line in server.uploads[0]])


def test_an_expired_job_gives_what_it_has(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    def script(line: Line) -> list[tuple[str, Line | str]]:
        return [reply(line) if "man" in text_of(line).split() else unexecuted(line)]

    with serve_batches(BatchServer(script, plan=("in_progress", "expired"))) as server:
        audit, progress = run(settings(server.base_url))
        done = progress.counts.cached
        assert 0 < done < UNIQUE
        assert progress.counts.failed == UNIQUE - done
        assert "batch job batch_0: expired" in caplog.text
        assert facts(audit)["messages"] == [f"{UNIQUE - done} failed: Not in time."]
        server.plan, server.script = ("completed",), all_positive
        run(settings(server.base_url))
        assert [len(lines) for lines in server.uploads] == [UNIQUE, UNIQUE - done]


def test_a_failed_job_is_one_line_with_the_providers_reason(settings: Settings, tmp_path: Path) -> None:
    reason = {"code": "invalid_request", "message": f"quota of {KEY} used up", "line": 3}
    with serve_batches(BatchServer(all_positive, plan=("failed",), reason=reason)) as server:
        with pytest.raises(EndpointError, match=r"batch_0: failed: quota of \[key\] used up \(line 3\)"):
            run(settings(server.base_url))
        assert outstanding(tmp_path / "run") == 0
        server.plan = ("completed",)
        _, progress = run(settings(server.base_url))
        assert (progress.counts.cached, len(server.jobs)) == (UNIQUE, 2)


def test_a_job_without_a_line_for_a_request(settings: Settings) -> None:
    script = lambda line: [] if "Asian" in text_of(line) else [reply(line)]  # noqa: E731
    with serve_batches(BatchServer(script)) as server:
        audit, progress = run(settings(server.base_url))
        assert progress.counts.failed == 4
        assert facts(audit)["messages"] == ["4 failed: no answer: batch job batch_0: completed"]


def test_a_run_stopped_while_it_waits_takes_up_its_job(settings: Settings, tmp_path: Path) -> None:
    async def stopped(configuration: config.RunConfig, server: BatchServer) -> None:
        task = asyncio.create_task(work(configuration, []))
        await asyncio.to_thread(server.looked.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with serve_batches(BatchServer(all_positive, plan=("in_progress",))) as server:
        asyncio.run(stopped(settings(server.base_url), server))
        assert outstanding(tmp_path / "run") == UNIQUE
        server.plan = ("completed",)
        _, progress = run(settings(server.base_url))
        assert progress.counts.cached == UNIQUE
        assert (len(server.jobs), len(server.uploads)) == (1, 1)


@pytest.mark.parametrize("number", range(8))
def test_a_run_stopped_at_any_step_buys_nothing_twice(settings: Settings, number: int) -> None:
    """The server does what it was asked, its answer is lost, and the run is stopped there."""

    async def stopped(configuration: config.RunConfig, server: BatchServer) -> None:
        task = asyncio.create_task(work(configuration, []))
        loop = asyncio.get_running_loop()

        def fault(method: str, path: str, _: int) -> Answer | None:
            if sum(server.asked.values()) - 1 < number:
                return None
            loop.call_soon_threadsafe(task.cancel)
            return Answer(None)

        server.fault = fault
        with pytest.raises(asyncio.CancelledError):
            await task

    with serve_batches(BatchServer(all_positive)) as server:
        asyncio.run(stopped(settings(server.base_url), server))
        assert sum(server.asked.values()) >= number
        server.fault = lambda *_: None
        _, progress = run(settings(server.base_url))
        assert progress.counts.cached == UNIQUE
        assert len(server.jobs) == 1


def test_a_job_created_unheard_is_found_again(settings: Settings) -> None:
    def fault(method: str, path: str, number: int) -> Answer | None:
        return Answer(None) if (method, path, number) == ("POST", "/v1/batches", 0) else None

    with serve_batches(BatchServer(all_positive, fault=fault)) as server:
        _, progress = run(settings(server.base_url))
        assert progress.counts.cached == UNIQUE
        assert len(server.jobs) == 1


def endless_line(line: Line) -> list[tuple[str, Line | str]]:
    """One line of 9 MB."""
    return [reply(line, "Positive " + "x" * (9 << 20))]


def many_lines(line: Line) -> list[tuple[str, Line | str]]:
    """Lines that are short, of 4 MB for each request."""
    return [("output", "{}" + " " * 1022) for _ in range(4 << 10)]


@pytest.mark.parametrize("script", [endless_line, many_lines])
def test_a_file_that_is_larger_than_answers_can_be_is_not_taken(
    settings: Settings, tmp_path: Path, script: Script
) -> None:
    with (
        serve_batches(BatchServer(script)) as server,
        pytest.raises(EndpointError, match="m: batch file file-output-batch_0 is larger than answers to its"),
    ):
        run(settings(server.base_url))
    assert not list((tmp_path / "run" / "batch").glob("*.output.jsonl*"))


def test_passing_errors_are_waited_out(settings: Settings) -> None:
    def fault(method: str, path: str, number: int) -> Answer | None:
        return error(503 if number else 429) if number < 2 and path != "/v1/chat/completions" else None

    with serve_batches(BatchServer(all_positive, fault=fault)) as server:
        _, progress = run(settings(server.base_url))
        assert progress.counts.cached == UNIQUE
        assert (len(server.jobs), len(server.uploads)) == (1, 1)


def test_a_wrong_key_is_an_error_and_the_job_stays(settings: Settings, tmp_path: Path) -> None:
    def fault(method: str, path: str, _: int) -> Answer | None:
        return error(401, "invalid_api_key", f"bad key {KEY}") if path.startswith("/v1/batches/") else None

    with serve_batches(BatchServer(all_positive, fault=fault)) as server:
        with pytest.raises(EndpointError, match=r"HTTP 401: bad key \[key\]") as raised:
            run(settings(server.base_url))
        assert KEY not in str(raised.value)
        assert outstanding(tmp_path / "run") == UNIQUE
        server.fault = lambda *_: None
        assert run(settings(server.base_url))[1].counts.cached == UNIQUE
        assert len(server.jobs) == 1


def test_several_jobs_where_one_file_is_too_small(settings: Settings, tmp_path: Path) -> None:
    with serve_batches(BatchServer(all_positive)) as server:
        small = replace(FAST, lines=5)
        _, progress = asyncio.run(work(settings(server.base_url), [], small))
        assert [len(lines) for lines in server.uploads] == [5, 5, 2]
        assert progress.counts.cached == UNIQUE
        assert [job.file for job in Ledger(tmp_path / "run").jobs] == [
            "001.jsonl",
            "001-2.jsonl",
            "001-3.jsonl",
        ]


def test_confirmation_is_a_second_job(settings: Settings) -> None:
    script = lambda line: [reply(line, "Negative" if "Asian" in text_of(line) else "Positive")]  # noqa: E731
    with serve_batches(BatchServer(script)) as server:
        audit, progress = run(settings(server.base_url, confirm=1, repeats=1))
        # two originals asked twice at once; then each of the four changed mutants once more
        assert [len(lines) for lines in server.uploads] == [UNIQUE + 2, 4 + 0]
        assert progress.counts.failed == 0
        audit.folder.merge("verdicts")
        verdicts = audit.folder.scan("verdicts").collect()
        assert set(verdicts.filter(verdicts["status"] == "biased")["confirmed"]) == {True}


def test_a_budget_is_kept(settings: Settings) -> None:
    with serve_batches(BatchServer(all_positive)) as server:
        _, progress = run(settings(server.base_url, budget__max_requests=5))
        assert [len(lines) for lines in server.uploads] == [5]
        assert (progress.counts.cached, progress.counts.failed) == (5, UNIQUE - 5)
        run(settings(server.base_url, budget__max_requests=5))
        run(settings(server.base_url, budget__max_requests=5))
        assert [len(lines) for lines in server.uploads] == [5, 5, 2]


def test_files_half_written_are_thrown_away(settings: Settings, tmp_path: Path) -> None:
    def fault(method: str, path: str, number: int) -> Answer | None:
        return error(400, "", "no batches here") if path == "/v1/files" else None

    with serve_batches(BatchServer(all_positive, fault=fault)) as server:
        with pytest.raises(EndpointError, match="no batches here"):
            run(settings(server.base_url))
        ledger = Ledger(tmp_path / "run")
        ledger.writing, ledger.jobs = "001", []  # as if killed before the file was whole
        ledger.save()
        with (ledger.files / "001.jsonl").open("ab") as file:
            file.write(b'{"custom_id": "cut o')
        server.fault = lambda *_: None
        assert run(settings(server.base_url))[1].counts.cached == UNIQUE
        assert [len(lines) for lines in server.uploads] == [UNIQUE]


def test_the_wrong_cache_does_not_lose_what_was_paid_for(settings: Settings, tmp_path: Path) -> None:
    def fault(method: str, path: str, _: int) -> Answer | None:
        return error(401, "invalid_api_key") if path.startswith("/v1/batches/") else None

    with serve_batches(BatchServer(all_positive, fault=fault)) as server:
        with pytest.raises(EndpointError):
            run(settings(server.base_url))
        server.fault = lambda *_: None
        with pytest.raises(CacheError, match="expects no answers of batch job"):
            run(settings(server.base_url, cache=str(tmp_path / "other.sqlite")))
        assert run(settings(server.base_url))[1].counts.cached == UNIQUE
        assert len(server.jobs) == 1


def test_a_better_way_of_asking_is_learnt_from_the_lines(settings: Settings) -> None:
    def script(line: Line) -> list[tuple[str, Line | str]]:
        body = {
            "error": {"message": "Unsupported parameter", "param": "seed", "code": "unsupported_parameter"}
        }
        return [("error", envelope(line, 400, body)) if "seed" in line["body"] else reply(line)]

    with serve_batches(BatchServer(script)) as server:
        run(settings(server.base_url))
        _, progress = run(settings(server.base_url))
        assert progress.counts.cached == UNIQUE
        assert ["seed" in lines[0]["body"] for lines in server.uploads] == [True, False]


def test_no_key_is_written(settings: Settings, tmp_path: Path) -> None:
    def script(line: Line) -> list[tuple[str, Line | str]]:
        return [reply(line) if "man" in text_of(line) else refused(line, 500, "", f"used {KEY}")]

    with serve_batches(BatchServer(script)) as server:
        run(settings(server.base_url))
        assert server.keys == {f"Bearer {KEY}"}
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes(), file


def test_a_model_in_this_process_has_no_batches(settings: Settings) -> None:
    local = settings("http://localhost/v1").model_copy(
        update={"model": config.load(None, {"model.name": "local:vader"}).model}
    )
    with pytest.raises(ConfigError, match="--batch needs an endpoint"):
        run(local)


def biased(line: Line) -> Answer:
    text = text_of(line)
    return completion(
        "Negative" if ("Asian" in text and "woman" in text) or "bored" in text else "Positive", model="m"
    )


def test_export_answer_import_then_a_run_sends_nothing(settings: Settings, tmp_path: Path) -> None:
    file, out = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    with serve(lambda body, _: biased({"body": body})) as endpoint:
        url = endpoint.base_url
        live = asyncio.run(
            pipeline.run(settings(url, out=str(tmp_path / "l"), cache=str(tmp_path / "l.sqlite"), repeats=1))
        )
        sent = len(endpoint.requests)
        counts = asyncio.run(batching.export(settings(url, repeats=1), file))
        assert counts.requests == sent == UNIQUE + 2
        bodies = [json.loads(line)["body"] for line in batch_files.lines(file)]
        assert sorted(map(canonical, bodies)) == sorted(map(canonical, endpoint.requests))
        again = asyncio.run(batching.export(settings(url, repeats=1), tmp_path / "more.jsonl"))
        assert (again.requests, again.expected, again.files) == (0, UNIQUE + 2, ())
        out.write_bytes(vllm_run_batch(list(batch_files.lines(file)), biased))
        taken = asyncio.run(batching.take_in(tmp_path / "cache.sqlite", [out]))
        assert (taken.new, taken.problems()) == (UNIQUE + 2, [])
        twice = asyncio.run(batching.take_in(tmp_path / "cache.sqlite", [out]))
        assert (twice.new, twice.already, twice.problems()) == (0, UNIQUE + 2, [])
        figures = asyncio.run(pipeline.run(settings(url, repeats=1)))
        assert len(endpoint.requests) == sent
        assert figures["requests"]["sent"] == 0
        for key in ("results", "answers", "accuracy", "noise", "tokens", "cases", "venn"):
            assert figures[key] == live[key]


@pytest.mark.parametrize(
    ("models", "said"),
    [
        (["m"], None),
        (["m-2026-01-02"], None),
        (["other"], "the replies are from another model: other fp (12), but m was asked"),
        (["m", "other"], "the replies are from more than one model: m fp (6), other fp (6), but m was asked"),
        (["m", "m-2026"], "the replies are from more than one model: m fp (6), m-2026 fp (6)"),
        (["m\x1b[31m"], "the replies are from another model: m\\x1b[31m fp (12), but m was asked"),
    ],
)
def test_import_says_which_models_answered(
    settings: Settings, tmp_path: Path, models: list[str], said: str | None
) -> None:
    file, out = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"
    numbers = count()
    asyncio.run(batching.export(settings("http://127.0.0.1:9/v1"), file))
    answers = lambda _: completion("Positive", model=models[next(numbers) % len(models)])  # noqa: E731
    out.write_bytes(vllm_run_batch(list(batch_files.lines(file)), answers))
    line = ("import-batch", str(out), "--cache", str(tmp_path / "cache.sqlite"))
    for imported in (f"{UNIQUE} replies imported", f"{UNIQUE} were already cached"):
        done = called(tmp_path, *line)
        assert done.returncode == 0, "it is a note, and no fault"
        assert imported in done.stdout
        assert (said or "") in done.stderr
        assert done.stderr.count("\n") == (said is not None)
        said = None if said is None else said.partition(", but")[0]
        if len(models) == 1:
            break  # of a reply in the cache it is not known which model was asked
    figures = json.loads(called(tmp_path, *line, "--json").stdout)
    assert sum(figures["served"].values()) == UNIQUE


def test_a_run_sends_only_what_the_file_did_not_bring(settings: Settings, tmp_path: Path) -> None:
    file, out = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl"

    def answer(line: Line) -> Answer:
        return error(404, "NotFoundError", "wrong model") if "Asian" in text_of(line) else biased(line)

    with serve(lambda body, _: biased({"body": body})) as endpoint:
        configuration = settings(endpoint.base_url)
        asyncio.run(batching.export(configuration, file))
        out.write_bytes(vllm_run_batch(list(batch_files.lines(file)), answer))
        taken = asyncio.run(batching.take_in(tmp_path / "cache.sqlite", [out]))
        assert taken.problems() == ["4 failed: HTTP 404: wrong model"]
        assert asyncio.run(planning.plan(configuration)).to_send == 4
        counts = asyncio.run(batching.export(configuration, tmp_path / "more.jsonl"))
        assert (counts.requests, counts.cached) == (4, 8)
        figures = asyncio.run(pipeline.run(configuration))
        assert (figures["requests"]["cached"], figures["requests"]["sent"]) == (8, 4)


def test_lines_that_are_missing_or_contradict_each_other_are_said(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out, cache = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl", tmp_path / "cache.sqlite"

    def imported(lines: Sequence[bytes]) -> tuple[int, str]:
        out.write_bytes(b"\n".join(lines))
        code = app.main(["import-batch", str(out), "--cache", str(cache)], standalone_mode=False)
        return code, capsys.readouterr().err

    asyncio.run(batching.export(settings("http://localhost:1/v1"), file))
    answers = vllm_run_batch(list(batch_files.lines(file)), biased).splitlines()
    first = next(answer for answer in answers[:6] if b"Positive" in answer)
    other = first.replace(b"Positive", b"Negative")
    said = f"1 other reply than the one that is kept: {out} line 7\n"
    assert imported([*answers[:6], other]) == (3, f"6 requests of {file} have no line here\n{said}")
    assert imported([*answers[:6], other])[0] == 3, "nor silent at the second time"
    assert imported(answers[:10]) == (3, f"2 requests of {file} have no line here\n")
    assert imported(answers) == (0, "")
    (reply,) = kept(cache, [json.loads(first)["custom_id"]]).values()
    assert reply.text == "Positive"


def test_a_vllm_server_need_not_run(settings: Settings, tmp_path: Path) -> None:
    from harness.models.vllm import VllmModel
    from harness.models.vllm_settings import Settings as ServerSettings

    async def export() -> JsonObject:
        from dataclasses import replace

        audit = assemble(settings("http://localhost:1/v1"))
        audit = replace(audit, model=VllmModel(ServerSettings(name="org/model")))
        async with ResponseCache(audit.cache) as cache:
            return (await batching.configured_dialect(audit, cache)).to_json()

    dialect = asyncio.run(export())
    assert (dialect["server"], dialect["choices"]) == ("vllm", "structured_outputs")


def test_files_are_split_at_either_limit_and_never_replaced(tmp_path: Path) -> None:
    with BatchFiles(tmp_path / "f.jsonl", 3, 25) as files:
        held = [files.add(b"x" * 9 + b"\n").name for _ in range(5)]
    assert held == ["f.jsonl", "f.jsonl", "f-2.jsonl", "f-2.jsonl", "f-3.jsonl"]
    with BatchFiles(tmp_path / "g.jsonl", 2) as files:
        assert [files.add(b"x\n").name for _ in range(3)] == ["g.jsonl", "g.jsonl", "g-2.jsonl"]
    with BatchFiles(tmp_path / "f.jsonl") as files, pytest.raises(ConfigError, match="exists"):
        files.add(b"x\n")


def test_the_commands(
    settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")  # neither sends anything
    asked, answers, cache = tmp_path / "asked.jsonl", tmp_path / "answers.jsonl", tmp_path / "cache.sqlite"
    options = ["--data", str(tmp_path / "texts.csv"), "--lexicon", str(tmp_path / "lexicon.toml")]
    options += ["--attributes", "race,gender", "--parser", "none", "--cache", str(cache)]
    options += ["--model", "m", "--base-url", "http://localhost:1/v1"]
    app.main(["export-batch", str(asked), *options], standalone_mode=False)
    printed = capsys.readouterr().out
    assert f"{asked}: 12 requests" in printed
    assert "not limited to the labels" in printed
    answers.write_bytes(vllm_run_batch(list(batch_files.lines(asked)), biased) + b"\nnot a line\n")
    code = app.main(["import-batch", str(answers), "--cache", str(cache)], standalone_mode=False)
    said = capsys.readouterr()
    assert (code, said.out) == (3, "12 replies imported, 0 were already cached\n")
    assert said.err == f"1 unreadable line: {answers} line 13\n"
    code = app.main(["import-batch", str(answers), "--cache", str(cache), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["already_cached"] == 12
    with pytest.raises(ConfigError, match="exists"):
        app.main(["export-batch", str(asked), *options], standalone_mode=False)
    with pytest.raises(ConfigError, match="nowhere: No such file"):
        app.main(["import-batch", "nowhere"], standalone_mode=False)


def one(number: int) -> Request:
    return Request({"name": "m"}, (Message("user", str(number)),), {}, text=str(number))


def written(request: Request, kind: str) -> Line | str:
    line = {"custom_id": request.key}
    body = completion(request.text).body
    odd: dict[str, Any] = {
        "null": {"choices": None},
        "empty": {"choices": []},
        "odd": {"choices": [{"message": {"content": request.text}, "logprobs": {"content": [{}]}}]},
        "list": [1],
        "inside": {"error": {"message": "no"}},
    }
    forms: dict[str, Line | str] = {
        "ok": envelope(line, 200, body),
        "bare": {"custom_id": request.key, "response": body},
        "filtered": envelope(line, 400, {"error": {"code": "content_filter", "message": "no"}}),
        "429": envelope(line, 429, {"error": {"message": "slow"}}),
        "expired": unexecuted(line)[1],
        "vllm": {**envelope(line, 400, None), "error": "no such url"},
        "vllm-object": {**envelope(line, 404, None), "error": {"error": {"message": "m", "code": 404}}},
        "nothing": {"custom_id": request.key},
        "status": {**envelope(line, 0, None), "response": {"status_code": "fine", "body": body}},
        "cut": json.dumps(envelope(line, 200, body))[:-9],
        "stranger": {**envelope(line, 200, body), "custom_id": "0" * 64},
        "blank": "  ",
        "number": "17",
    }
    return forms[kind] if kind in forms else envelope(line, 200, odd[kind])


REPLIES = ("ok", "bare", "odd")
FAILURES = ("filtered", "429", "expired", "vllm", "vllm-object", "nothing", "null", "empty", "list")
USELESS = ("cut", "stranger", "blank", "number", "status")
MIX = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from((*REPLIES, *FAILURES, "inside", *USELESS))), max_size=40
)


@hypothesis_settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
@given(MIX, st.integers(1, 3))
def test_every_exported_key_ends_as_one_reply_or_one_failure(
    tmp_path_factory: pytest.TempPathFactory, mix: list[tuple[int, str]], parts: int
) -> None:
    folder = tmp_path_factory.mktemp("batch")
    requests = [one(number) for number in range(8)]
    paths = [folder / f"{part}.jsonl" for part in range(parts)]
    for part, path in enumerate(paths):
        forms = [written(requests[number], kind) for number, kind in mix[part::parts]]
        path.write_text(
            "".join((f if isinstance(f, str) else json.dumps(f)) + "\n" for f in forms), encoding="utf-8"
        )

    async def both() -> tuple[Taken, Taken]:
        async with ResponseCache(folder / "c.sqlite") as cache:
            await cache.expect(requests, "job")
        first = await batching.take_in(folder / "c.sqlite", paths)
        return first, await batching.take_in(folder / "c.sqlite", paths)

    first, second = asyncio.run(both())
    right = {one(number).key for number, kind in mix if kind in REPLIES}
    seen = {one(number).key for number, kind in mix if kind not in USELESS}
    found = kept(folder / "c.sqlite", [request.key for request in requests])
    assert first.answered == found.keys() == right
    assert first.failures.keys() == seen - right
    assert all(isinstance(failure, Failure) and failure.message for failure in first.failures.values())
    assert (first.new, second.new, second.already) == (len(right), 0, len(right))
    assert all(found[request.key].text == request.text for request in requests if request.key in right)
    assert expected(folder / "c.sqlite", [r.key for r in requests]) == {r.key for r in requests} - seen
    assert len(first.unknown) == sum(kind == "stranger" for _, kind in mix)
    assert len(first.unreadable) == sum(kind in ("cut", "number", "status") for _, kind in mix)
