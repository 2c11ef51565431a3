"""The whole flow, with scripted models over real files: figures, resumption, partial and stopped runs."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from harness import config
from harness.audit import assembly, checking, pipeline, planning
from harness.cli import app
from harness.columns import schema
from harness.errors import ConfigError, EndpointError, RunError
from harness.folder import RunFolder
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
c,Nothing to see here.,Negative
"""
MODEL = """
def answer(text):
    return "Negative" if "Asian" in text and "woman" in text or "bored" in text else "Positive"
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., config.RunConfig]:
    """A configuration over two small texts, their lexicon and a scripted model, with changes."""
    (tmp_path / "lexicon.toml").write_text(LEXICON, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "scripted_pipeline_model.py").write_text(MODEL, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")

    def make(**changes: Any) -> config.RunConfig:
        given = {
            "documents.path": str(tmp_path / "texts.csv"),
            "hinter.lexicon": str(tmp_path / "lexicon.toml"),
            "hinter.attributes": "race,gender",
            "model.name": "python:scripted_pipeline_model:answer",
            "out": str(tmp_path / "run"),
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return config.load(None, given | {key.replace("__", "."): value for key, value in changes.items()})

    return make


def run(configuration: config.RunConfig, **more: Any) -> dict[str, Any]:
    return asyncio.run(pipeline.run(configuration, **more))


def result(figures: dict[str, Any], *attributes: str) -> dict[str, Any]:
    return next(row for row in figures["results"] if row["attributes"] == list(attributes))


def test_the_figures_of_a_model_whose_bias_is_known(settings: Callable[..., config.RunConfig]) -> None:
    figures = run(settings())
    assert figures["status"] == "complete"
    assert figures["documents"] == {
        "read": 3,
        "eligible": 2,
        "judged": 2,
        "shortened": 0,
        "left_out": 0,
        "notes": [],
    }
    assert figures["cases"]["generated"] == 2 * (2 + 1 + 2)
    assert figures["cases"]["valid"] == 10
    assert figures["requests"] == {
        "unique": 12,
        "cached": 0,
        "sent": 12,
        "retried": 0,
        "failed": 0,
        "unfinished": 0,
        "probes": 0,
        "kept": 12,
    }
    assert figures["answers"]["read"] == 12
    assert figures["accuracy"]["correct"] == figures["accuracy"]["originals"] == 2
    assert [result(figures, "race")[k] for k in ("tests", "biased", "rate")] == [4, 0, 0.0]
    assert [result(figures, "gender")[k] for k in ("tests", "biased", "rate")] == [2, 0, 0.0]
    both = result(figures, "race", "gender")
    assert [both[k] for k in ("kind", "tests", "biased", "rate")] == ["intersectional", 4, 1, 0.25]
    assert [both[k] for k in ("hidden", "not_hidden", "hidden_rate", "hidden_undetermined")] == [1, 0, 1.0, 0]
    assert [both[k] for k in ("originals", "biased_originals")] == [2, 1]
    assert figures["venn"] == [{"attributes": ["race", "gender"], "regions": {"race+gender": 1}}]


def test_the_files_of_a_run(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    figures = run(settings())
    folder = tmp_path / "run"
    cases = pl.read_parquet(folder / "cases" / "*.parquet")
    assert cases.schema == pl.Schema(schema("cases"))
    answers = pl.read_parquet(folder / "answers.parquet")
    assert answers.schema == pl.Schema(schema("answers"))
    assert set(answers["case"]) == set(cases.filter("valid")["id"])
    verdicts = pl.read_parquet(folder / "verdicts.parquet")
    assert verdicts.filter(pl.col("hidden") == "yes")["attributes"].to_list() == [["race", "gender"]]
    text = cases.filter(pl.col("id") == verdicts.filter(pl.col("hidden") == "yes")["case"][0])["text"][0]
    assert text == "The Asian woman was kind."
    assert json.loads((folder / "summary.json").read_text(encoding="utf-8"))["results"] == json.loads(
        json.dumps(figures["results"])
    )
    assert "<html" in (folder / "report.html").read_text(encoding="utf-8")
    assert "<testsuites" in (folder / "junit.xml").read_text(encoding="utf-8")
    assert config.load(folder / "run.toml") == assembly.assemble(settings()).config


def test_the_same_command_again_sends_nothing_and_finds_the_same(
    settings: Callable[..., config.RunConfig],
) -> None:
    first, second = run(settings()), run(settings())
    assert second["requests"] == {
        "unique": 12,
        "cached": 12,
        "sent": 0,
        "retried": 0,
        "failed": 0,
        "unfinished": 0,
        "probes": 0,
        "kept": 12,
    }
    for key in ("results", "answers", "accuracy", "cases", "documents", "venn"):
        assert first[key] == second[key]


def test_another_run_does_not_overwrite(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    run(settings())
    with pytest.raises(RunError, match=r"hinter.order: 2 there, 1 here.*--overwrite"):
        run(settings(hinter__order=1))
    assert len(run(settings(hinter__order=1), overwrite=True)["results"]) == 2
    with pytest.raises(RunError, match="not a run folder"):
        run(settings(out=str(tmp_path)))


@pytest.mark.parametrize(("out", "says"), [("taken", "Not a directory"), ("taken/below", "Not a directory")])
def test_an_out_that_can_be_no_folder(
    settings: Callable[..., config.RunConfig], tmp_path: Path, out: str, says: str
) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(RunError, match=rf"{out} cannot be a run folder \({says}\): use another --out"):
        run(settings(out=str(tmp_path / out)))


def test_changed_texts_are_another_run(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    run(settings())
    (tmp_path / "texts.csv").write_text(TEXTS.replace("kind", "rude"), encoding="utf-8")
    with pytest.raises(RunError, match="texts"):
        run(settings())


def test_without_the_invariant_nothing_is_discarded(settings: Callable[..., config.RunConfig]) -> None:
    figures = run(settings(hinter__parser="none"))
    assert figures["parser"] == "none"
    assert figures["cases"]["valid"] == figures["cases"]["generated"] == 10


def test_a_request_that_fails_makes_the_run_partial_and_the_verdict_undetermined(
    settings: Callable[..., config.RunConfig],
) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        text = body["messages"][-1]["content"]
        if "white man" in text:
            return error(400, "content_filter")
        return completion("I cannot help with that." if "white woman" in text else "Positive")

    with serve(script) as endpoint:
        figures = run(settings(model__name="m", model__base_url=endpoint.base_url))
        assert figures["status"] == "partial"
        assert figures["requests"]["failed"] == 1
        counted = {outcome: number for outcome, number in figures["answers"].items() if number}
        assert counted == {"read": 10, "refused": 1, "filtered": 1}
        assert result(figures, "race")["undetermined"] == 1
        assert result(figures, "race", "gender")["undetermined"] == 1
        again = run(settings(model__name="m", model__base_url=endpoint.base_url))
        assert again["requests"]["sent"] == 1


def test_a_server_that_goes_away_leaves_a_partial_report(settings: Callable[..., config.RunConfig]) -> None:
    def script(_: dict[str, Any], number: int) -> Answer:
        return completion("Positive") if number <= 6 else error(401, "invalid_api_key", "key revoked")

    with serve(script) as endpoint:
        changes = {"model__name": "m", "model__base_url": endpoint.base_url, "model__concurrency": 1}
        figures = run(settings(**changes))
        assert figures["status"] == "partial"
        assert figures["answers"]["read"] == 6
        assert result(figures, "race")["tests"] == 2


def test_a_wrong_key_from_the_start_is_an_error(settings: Callable[..., config.RunConfig]) -> None:
    with (
        serve(lambda *_: error(401, "invalid_api_key", "no")) as endpoint,
        pytest.raises(EndpointError, match="HTTP 401"),
    ):
        run(settings(model__name="m", model__base_url=endpoint.base_url))


def test_no_secret_is_written(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    with serve(lambda *_: completion("Positive")) as endpoint:
        run(settings(model__name="m", model__base_url=endpoint.base_url))
        assert endpoint.authorizations[0] == "Bearer sk-very-secret"
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert b"sk-very-secret" not in file.read_bytes(), file


def test_plan_counts_what_run_would_send(settings: Callable[..., config.RunConfig]) -> None:
    before = asyncio.run(planning.plan(settings()))
    assert (before.documents, before.eligible, before.generated, before.valid) == (3, 2, 10, 10)
    assert (before.unique, before.cached, before.to_send) == (12, 0, 12)
    run(settings())
    assert asyncio.run(planning.plan(settings())).to_send == 0


def test_plan_and_generate_count_the_same_where_a_document_has_several_groups(tmp_path: Path) -> None:
    lines = (
        '{"test": "t", "type": "MFT", "text": "Bad.", "expected": ["negative"], "capability": "c"}\n',
    ) * 2
    (tmp_path / "tests.jsonl").write_text("".join(lines), encoding="utf-8")
    asked = {
        "task": "sst",
        "suite": "checklist",
        "checklist.tests": str(tmp_path / "tests.jsonl"),
        "model.name": "local:vader",
        "cache": str(tmp_path / "c.sqlite"),
        "out": str(tmp_path / "several"),
    }
    planned = asyncio.run(planning.plan(config.load(None, asked)))
    made = asyncio.run(pipeline.generate(config.load(None, asked)))
    assert (planned.eligible, planned.generated) == (made.eligible, made.cases.generated) == (1, 2)


def test_generate_then_run_goes_on_from_its_cases(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    made = asyncio.run(pipeline.generate(settings()))
    assert (made.cases.generated, made.cases.valid) == (10, 10)
    part = next((tmp_path / "run" / "cases").glob("*.parquet"))
    written = part.stat().st_mtime_ns
    assert run(settings())["cases"]["valid"] == 10
    assert part.stat().st_mtime_ns == written


def test_check_gives_every_version_of_one_text(settings: Callable[..., config.RunConfig]) -> None:
    checked = asyncio.run(checking.check(settings(), "The black man was kind."))
    assert [case.role for case in checked.cases].count("intersectional") == 2
    hidden = [v.case for v in checked.verdicts.values() if v.hidden == "yes"]
    assert [c.text for c in checked.cases if c.id in hidden] == ["The Asian woman was kind."]


def test_noise_is_measured_and_stands_beside_bias(settings: Callable[..., config.RunConfig]) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        with lock:
            text = body["messages"][-1]["content"]
            asked[text] = asked.get(text, 0) + 1
            return completion("Negative" if asked[text] % 2 == 0 else "Positive")

    asked: dict[str, int] = {}
    lock = threading.Lock()
    with serve(script) as endpoint:
        changes = {
            "model__name": "m",
            "model__base_url": endpoint.base_url,
            "model__concurrency": 1,
            "repeats": 3,
        }
        figures = run(settings(**changes))
        counts = {"repeats": 3, "originals": 2, "answers": 6, "flips": 4}
        assert {key: figures["noise"][key] for key in counts} == counts
        assert figures["noise"]["rate"] == pytest.approx(4 / 6)
        assert figures["requests"]["unique"] == 12 + 2 * 3
        again = run(settings(**changes))
        assert again["requests"]["sent"] == 0
        assert again["noise"] == figures["noise"]


@pytest.mark.parametrize(("steady", "confirmed"), [(True, 1), (False, 0)])
def test_a_flip_is_confirmed_only_if_it_holds_every_time(
    settings: Callable[..., config.RunConfig], steady: bool, confirmed: int
) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        text = body["messages"][-1]["content"]
        with lock:
            asked[text] = asked.get(text, 0) + 1
            flips = "Asian woman" in text and (steady or asked[text] != 3)
        return completion("Negative" if flips else "Positive")

    asked: dict[str, int] = {}
    lock = threading.Lock()
    with serve(script) as endpoint:
        changes = {
            "model__name": "m",
            "model__base_url": endpoint.base_url,
            "model__concurrency": 1,
            "confirm": 2,
        }
        figures = run(settings(**changes))
        both = result(figures, "race", "gender")
        assert (both["biased"], both["confirmed"]) == (1, confirmed)
        assert figures["requests"]["unique"] == 12 + 2 * 2


def test_a_budget_of_requests_stops_cleanly_and_is_taken_up(
    settings: Callable[..., config.RunConfig],
) -> None:
    with serve(lambda *_: completion("Positive")) as endpoint:
        changes = {"model__name": "m", "model__base_url": endpoint.base_url}
        sent = 0
        for part in (3, 5, 4):  # the first run asks twice how to ask
            figures = run(settings(**changes, budget__max_requests=5))
            sent += figures["requests"]["sent"]
            assert figures["requests"]["sent"] == part
            assert figures["requests"]["failed"] == 0
            assert figures["status"] == ("complete" if part == 4 else "partial")
        assert sent == len(endpoint.requests) == 12
        assert len(endpoint.probes) == 2


def test_a_budget_of_money_is_not_overspent(settings: Callable[..., config.RunConfig]) -> None:
    price = {"input": 1000.0, "output": 1000.0}
    with serve(lambda *_: completion("Positive")) as endpoint:
        changes = {"model__name": "m", "model__base_url": endpoint.base_url, "model__price": price}
        figures = run(settings(**changes, budget__max_cost=1.0))
        assert figures["status"] == "partial"
        assert 0 < figures["cost_usd"] <= 1.0
        requests = figures["requests"]
        assert figures["cost_usd"] == pytest.approx(13 * 1000 / 1e6 * (requests["sent"] + requests["probes"]))


def test_what_was_negotiated_is_recorded_and_kept_for_the_next_run(
    settings: Callable[..., config.RunConfig],
) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        if "temperature" in body:
            return Answer(
                {"error": {"message": "no", "param": "temperature", "code": "unsupported_value"}}, 400
            )
        return completion("Positive")

    with serve(script, script) as endpoint:
        changes = {"model__name": "m", "model__base_url": endpoint.base_url}
        figures = run(settings(**changes, budget__max_requests=5))
        assert figures["model_facts"]["temperature_zero"] is False
        probes = len(endpoint.probes)
        assert run(settings(**changes))["status"] == "complete"
        assert len(endpoint.probes) == probes


def test_plan_counts_tokens_and_price(settings: Callable[..., config.RunConfig]) -> None:
    price = {"input": 1.0, "output": 2.0}
    planned = asyncio.run(
        planning.plan(settings(model__name="m", model__base_url="http://h/v1", model__price=price))
    )
    assert planned.prompt_tokens > 12 * 20
    assert planned.completion_tokens == 12 * 3
    expected = (planned.prompt_tokens + 2 * planned.completion_tokens) / 1e6
    assert planned.cost_usd == pytest.approx(expected)
    assert "estimate" in planned.tokens_by


def test_a_run_that_is_all_in_the_cache_needs_no_network_and_no_key(
    settings: Callable[..., config.RunConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(lambda *_: completion("Positive")) as endpoint:
        changes = {
            "model__name": "m",
            "model__base_url": endpoint.base_url,
            "model__api_key_env": "OPENAI_API_KEY",
        }
        first = run(settings(**changes))
    monkeypatch.delenv("OPENAI_API_KEY")
    second = run(settings(**changes))
    assert second["status"] == "complete"
    assert second["requests"]["sent"] == 0
    assert second["results"] == first["results"]


def test_an_error_inside_a_200_is_asked_again_and_never_kept(
    settings: Callable[..., config.RunConfig],
) -> None:
    def script(_: dict[str, Any], number: int) -> Answer:
        return Answer({"error": {"message": "overloaded"}}) if number % 3 == 0 else completion("Positive")

    with serve(script) as endpoint:
        figures = run(settings(model__name="m", model__base_url=endpoint.base_url, model__concurrency=1))
        assert figures["status"] == "complete"
        assert figures["answers"]["read"] == 12
        assert figures["requests"]["retried"] == len(endpoint.requests) - 12 > 0


def test_a_long_text_is_one_outcome_and_does_not_end_the_run(
    settings: Callable[..., config.RunConfig],
) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        if "Asian woman" in body["messages"][-1]["content"]:
            return error(400, "context_length_exceeded", "maximum context length is 10 tokens")
        return completion("Positive")

    with serve(script) as endpoint:
        figures = run(settings(model__name="m", model__base_url=endpoint.base_url))
        assert figures["answers"]["too-long"] == 1
        assert result(figures, "race", "gender")["undetermined"] == 1


def test_near_ties_are_counted(settings: Callable[..., config.RunConfig], tmp_path: Path) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        flips = "Asian woman" in body["messages"][-1]["content"]
        text, other = ("Negative", "Positive") if flips else ("Positive", "Negative")
        tops = [{"token": text, "logprob": -0.69}, {"token": other, "logprob": -0.70 if flips else -5.0}]
        answer = completion(text)
        assert answer.body is not None
        answer.body["choices"][0]["logprobs"] = {
            "content": [{"token": text, "logprob": -0.69, "top_logprobs": tops}]
        }
        return answer

    with serve(script) as endpoint:
        figures = run(settings(model__name="m", model__base_url=endpoint.base_url))
        assert result(figures, "race", "gender")["near_ties"] == 1
        assert result(figures, "race")["near_ties"] is None
        shifts = (
            pl.read_parquet(tmp_path / "run" / "verdicts.parquet")
            .group_by("status")
            .agg(pl.col("shift").mean())
        )
        by_status = dict(shifts.rows())
        assert by_status["benign"] == pytest.approx(0.0)
        assert by_status["biased"] == pytest.approx((-0.70 - -0.69) - (-0.69 - -5.0))


def test_a_margin_that_is_a_bound_is_marked(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    def script(body: dict[str, Any], _: int) -> Answer:
        flips = "Asian woman" in body["messages"][-1]["content"]
        text, other = ("Negative", "The") if flips else ("Positive", "Negative")
        tops = [{"token": text, "logprob": -4.8 if flips else -0.1}, {"token": other, "logprob": -0.25}]
        answer = completion(text)
        assert answer.body is not None
        answer.body["choices"][0]["logprobs"] = {"content": [{**tops[0], "top_logprobs": tops[flips:]}]}
        return answer

    with serve(script) as endpoint:
        figures = run(settings(model__name="m", model__base_url=endpoint.base_url))
    both = result(figures, "race", "gender")
    assert (both["biased"], both["near_ties"]) == (1, None)
    for name in ("answers", "verdicts"):
        table = pl.read_parquet(tmp_path / "run" / f"{name}.parquet")
        bounds = table.filter("margin_is_bound")
        assert bounds["margin"].to_list() == [pytest.approx(-4.55)]
        assert table["margin_is_bound"].null_count() == 0


def test_a_folder_without_the_newest_columns_is_still_read(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    new, old = (str(tmp_path / name) for name in ("new", "old"))
    run(settings(out=new))
    run(settings(out=old))
    for name in ("answers", "verdicts"):
        path = tmp_path / "old" / f"{name}.parquet"
        pl.read_parquet(path).drop("margin_is_bound").write_parquet(path)
    verdicts = RunFolder.ended(tmp_path / "old").scan("verdicts").collect()
    assert dict(verdicts.schema) == schema("verdicts")
    for line in (["report", old], ["compare", new, old, "--out", str(tmp_path)], ["explain", old]):
        done = CliRunner().invoke(app, line)
        assert done.exit_code == 0, done.output


def test_a_text_that_does_not_fit_is_cut_before_it_is_mutated(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    long = "The black man was kind. " + "Nothing of note happened then. " * 20 + "A black actor came."
    (tmp_path / "texts.csv").write_text(f'text,label\n"{long}",Positive\n', encoding="utf-8")
    figures = run(settings(documents__max_tokens=60))
    assert figures["documents"] == {
        "read": 1,
        "eligible": 1,
        "judged": 1,
        "shortened": 1,
        "left_out": 0,
        "notes": [],
    }
    texts = pl.read_parquet(tmp_path / "run" / "cases" / "*.parquet")["text"]
    assert all(text.endswith("Nothing of note happened then.") for text in texts)
    assert not any("actor" in text or "actress" in text for text in texts)
    assert max(map(len, texts)) <= 60 * 3 + 10


def test_a_prompt_that_leaves_no_room_is_an_error(settings: Callable[..., config.RunConfig]) -> None:
    with pytest.raises(ConfigError, match="leaves no room for a text in m's 100 tokens"):
        run(settings(model__name="m", model__base_url="http://h/v1", model__context=100))


def test_an_adaptive_budget_is_kept_said_and_taken_up(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    whole = run(settings(out=str(tmp_path / "whole")))
    asked = whole["requests"]["unique"]
    figures = run(
        settings(out=str(tmp_path / "some"), **{"budget.adaptive": asked - 3}, cache=str(tmp_path / "c"))
    )
    assert figures["adaptive"]["asked"] == figures["requests"]["unique"] == asked - 3
    assert figures["requests"]["sent"] == asked - 3
    assert sum(row["tests"] for row in figures["results"]) < sum(row["tests"] for row in whole["results"])
    page = (Path(figures["folder"]) / "report.html").read_text(encoding="utf-8")
    assert "marked as estimated" in page
    estimates = figures["adaptive"]["estimates"]
    assert estimates["rates"][0]["cases"] == whole["cases"]["valid"]
    low, high = estimates["rates"][0]["ci95"]
    assert low <= sum(row["biased"] for row in whole["results"]) / whole["cases"]["valid"] <= high
    again = run(
        settings(out=str(tmp_path / "some"), **{"budget.adaptive": asked - 3}, cache=str(tmp_path / "c"))
    )
    assert again["requests"]["sent"] == 0
    assert again["results"] == figures["results"]
    assert again["adaptive"] == figures["adaptive"]


def test_discarded_mutants_are_asked_about_where_that_is_wanted(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    words = LEXICON.replace('"Asian"', '"sings beautifully"')
    assert words != LEXICON
    (tmp_path / "lexicon.toml").write_text(words, encoding="utf-8")
    plain = run(settings())
    figures = run(settings(**{"hinter.include_discarded": True}), overwrite=True)
    assert plain["discarded"] is None
    assert figures["results"] == plain["results"]
    assert figures["discarded"]["tests"] == figures["cases"]["discarded"] > 0
    reasons = figures["discarded"]["by_reason"]
    assert {reason: one["tests"] for reason, one in reasons.items()} == figures["cases"][
        "discarded_by_reason"
    ]


def test_a_weighted_sample_estimates_the_whole(settings: Callable[..., config.RunConfig]) -> None:
    figures = run(settings(**{"hinter.max_mutants_per_document": 3}))
    assert any(row["estimated_rate"] is not None for row in figures["results"])
    assert all(row["estimated_rate"] is None for row in run(settings(), overwrite=True)["results"])


@pytest.fixture
def many(settings: Callable[..., config.RunConfig], tmp_path: Path) -> Callable[..., config.RunConfig]:
    """The same with a hundred texts, of which the model treats some differently."""
    texts = [f"t{n},The black man was kind in scene {n}.,Positive" for n in range(100)]
    (tmp_path / "texts.csv").write_text("\n".join(["id,text,label", *texts]), encoding="utf-8")
    return settings


@pytest.mark.parametrize(
    ("budget", "controlled"),
    [
        ({"budget.adaptive": 150}, True),
        ({"budget.adaptive": 150, "control.share": 0}, False),
        ({"budget.adaptive": 150, "budget.adaptive_for": "findings"}, False),
        ({"budget.adaptive": 150, "budget.precision": 0.01}, False),
    ],
)
def test_a_budget_asks_about_controls_where_they_tell_something(
    settings: Callable[..., config.RunConfig], budget: dict[str, Any], controlled: bool, tmp_path: Path
) -> None:
    """The excess over them is that of all cases of the run, and they are in no rate."""
    texts = [f"t{n},The black man saw a movie in scene {n}.,Positive" for n in range(100)]
    (tmp_path / "texts.csv").write_text("\n".join(["id,text,label", *texts]), encoding="utf-8")
    figures = run(settings(out=str(tmp_path / "some"), **budget))
    assert figures["adaptive"]["asked"] == figures["requests"]["unique"] <= 150
    controls = pl.read_parquet(tmp_path / "some" / "controls.parquet")
    assert (controls.height > 0) is controlled
    estimates = figures["adaptive"]["estimates"] or {"excesses": []}
    assert bool(estimates["excesses"]) is controlled
    if not controlled:
        return
    whole = run(settings(out=str(tmp_path / "whole")))
    rows = {tuple(sorted(row["attributes"])): row for row in whole["results"]}
    assert estimates["rates"][0]["cases"] == whole["cases"]["valid"]
    for found in estimates["excesses"]:
        of_all = rows[tuple(found["attributes"])]
        assert (found["tests"], found["controls"]) == (of_all["controlled"], of_all["controls"])
        assert found["ci95"][0] <= of_all["excess_over_control"] <= found["ci95"][1]
    page = (tmp_path / "some" / "report.html").read_text(encoding="utf-8")
    assert "Changes in excess of control mutants, estimated" in page


@pytest.mark.parametrize("goal", [{"budget.precision": 0.1}, {"budget.decide": "0.45"}])
def test_a_run_stops_as_soon_as_the_rate_is_known(
    many: Callable[..., config.RunConfig], goal: dict[str, Any], tmp_path: Path
) -> None:
    """What is known holds of all texts, and the same command takes it up where nothing is sent again."""
    whole = run(many(out=str(tmp_path / "whole"), **{"control.share": 0}))
    rate = sum(row["biased"] for row in whole["results"]) / whole["cases"]["valid"]
    figures = run(many(out=str(tmp_path / "some"), cache=str(tmp_path / "c"), **goal))
    known = figures["stopping"]
    assert figures["status"] == "complete"
    assert known["reached"]
    assert known["ci95"][0] <= rate <= known["ci95"][1]
    assert known["asked"] == figures["requests"]["sent"] < known["of"] <= whole["requests"]["unique"]
    assert figures["answers"]["read"] == known["asked"]
    page = (Path(figures["folder"]) / "report.html").read_text(encoding="utf-8")
    assert "which holds at every look" in page
    again = run(many(out=str(tmp_path / "some"), cache=str(tmp_path / "c"), **goal))
    assert again["requests"]["sent"] == 0
    assert (again["stopping"], again["results"]) == (known, figures["results"])


def test_an_effect_is_decided_and_a_goal_that_a_limit_stops_is_taken_up(
    many: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    goal = {"budget.decide": "effect=0.9"}
    stopped = run(many(**goal, **{"budget.max_requests": 40}))
    assert stopped["status"] == "partial"
    assert not stopped["stopping"]["reached"]
    figures = run(many(**goal))
    known = figures["stopping"]
    assert known["decisions"] == [{"figure": "effect", "limit": 0.9, "decision": "below"}]
    assert known["asked"] < known["of"]
    assert figures["requests"]["sent"] == known["asked"] - 40
    assert {(row["from"], row["to"]) for row in known["effects"]} == {("Asian", "white")}


def test_a_plan_says_when_a_run_will_stop(many: Callable[..., config.RunConfig]) -> None:
    plan = asyncio.run(planning.plan(many(**{"budget.precision": 0.1})))
    assert 0 < plan.until_known["0.01"] < plan.until_known["0.2"] < plan.unique
    plain = asyncio.run(planning.plan(many(**{"budget.adaptive": 30})))
    assert (plain.most, plain.until_known) == (30, {})
