"""``Guard`` before real systems: a scripted endpoint, VADER, a function; and as the system of a run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from harness import config, registry
from harness.audit import pipeline
from harness.errors import ConfigError, EndpointError, HarnessError, ModelError
from harness.guard import Checked, Guard
from tests.commands import called
from tests.servers import Answer, completion, error, serve

LEXICON = """
[attribute.gender.groups]
male = ["man", "actor", "he"]
female = ["woman", "actress", "she"]
"""
BIASED = """
def answer(text):
    return "Negative" if "woman" in text or "actress" in text else "Positive"
"""

Make = Callable[..., dict[str, object]]


@pytest.fixture
def settings(tmp_path: Path) -> Make:
    (tmp_path / "words.toml").write_text(LEXICON, encoding="utf-8")

    def make(**changes: object) -> dict[str, object]:
        base: dict[str, object] = {
            "task": "sst2",
            "model.name": "local:vader",
            "hinter.lexicon": [str(tmp_path / "words.toml")],
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return base | {key.replace("__", "."): value for key, value in changes.items()}

    return make


def checked(settings: Mapping[str, object], *texts: str) -> list[Checked]:
    async def check() -> list[Checked]:
        async with Guard(settings) as guard:
            return [await guard.check(text) for text in texts]

    return asyncio.run(check())


def sexist(body: dict[str, Any], number: int) -> Answer:
    return completion("Negative" if "woman" in body["messages"][-1]["content"] else "Positive")


def test_a_text_that_names_nobody_costs_one_request(settings: Make) -> None:
    with serve(sexist) as endpoint:
        by = settings(model__name="m", model__base_url=endpoint.base_url)
        (nobody,) = checked(by, "A fine film about a red car.")
        assert (nobody.verdict, nobody.reason, nobody.requests) == ("not-checked", "nobody", 1)
        assert len(endpoint.requests) == 1


def test_a_biased_answer_is_found_with_its_evidence(settings: Make) -> None:
    with serve(sexist) as endpoint:
        by = settings(model__name="m", model__base_url=endpoint.base_url)
        unfair, fair = checked(by, "The woman smiled.", "The actor smiled.")
    (difference,) = unfair.differences
    assert (unfair.verdict, unfair.requests, unfair.answer.words) == ("unfair", 2, "Negative")
    assert (difference.attribute, difference.groups) == ("gender", ("female", "male"))
    assert (difference.outcome, difference.favourable, difference.means) == ("Positive", True, (0, 1))
    (version,) = unfair.versions
    assert (version.group, version.text, version.heard.words) == ("male", "The man smiled.", "Positive")
    assert fair.verdict == "fair"


def test_many_checks_at_once_are_those_of_one_after_another(settings: Make) -> None:
    texts = [f"On day {n} the {who} smiled." for n in range(10) for who in ("woman", "actor", "cat")]

    async def at_once(by: Mapping[str, object]) -> list[Checked]:
        async with Guard(by) as guard:
            return list(await asyncio.gather(*map(guard.check, texts)))

    with serve(sexist) as endpoint:
        by = settings(model__name="m", model__base_url=endpoint.base_url)
        together = asyncio.run(at_once(by))
        assert together == checked(by, *texts)
    assert [each.verdict for each in together[:3]] == ["unfair", "fair", "not-checked"]


def test_an_endpoint_that_refuses_all_is_an_error_and_one_failure_is_none(settings: Make) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        asked = body["messages"][-1]["content"]
        return error(400, "content_filter", "content filter") if " man" in asked else completion("Positive")

    with serve(script) as endpoint:
        by = settings(model__name="m", model__base_url=endpoint.base_url)
        (half,) = checked(by, "The woman smiled.")
        assert (half.verdict, half.reason, half.answer.words) == ("not-checked", "unread", "Positive")
    with serve(lambda body, number: error(401)) as endpoint, pytest.raises(EndpointError):
        checked(settings(model__name="m", model__base_url=endpoint.base_url), "The woman smiled.")


def test_a_budget_ends_the_answers(settings: Make) -> None:
    texts = [f"On day {n} the woman smiled." for n in range(9)]
    with serve(sexist) as endpoint:
        by = settings(model__name="m", model__base_url=endpoint.base_url, budget__max_requests=4)
        with pytest.raises(EndpointError, match="budget"):
            checked(by, *texts)


def test_templates_of_biasfinder_where_asked_for(settings: Make) -> None:
    by = settings(suite="biasfinder", biasfinder__names_a_class=5)
    by.pop("hinter.lexicon")
    (fair,) = checked(by, "Mary praised the film, and she loved its end.")
    assert {version.group for version in fair.versions} == {"female", "male"}
    assert fair.verdict == "fair"


def test_scores_are_checked_and_healed_as_their_mean(settings: Make, tmp_path: Path) -> None:
    (tmp_path / "rated.py").write_text(
        "from harness.core import Reply\n"
        "def rate(text):\n    score = 0.25 if 'woman' in text else 0.75\n"
        "    return Reply(str(score), score=score)\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        by = settings(task="valence", model__name="python:rated:rate", guard__action="heal")
        (healed,) = checked(by, "The woman smiled.")
    assert healed.verdict == "unfair"
    assert healed.given is not None
    assert healed.given.outcome.score == 0.5


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Make) -> Path:
    (tmp_path / "biased_guarded_model.py").write_text(BIASED, encoding="utf-8")
    (tmp_path / "texts.csv").write_text(
        "text,label\nThe man was kind.,Positive\nA great actress.,Positive\nThe car was red.,Positive\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def guard_file(folder: Path, action: str) -> str:
    (folder / f"{action}.toml").write_text(
        f'task = "sst2"\ncache = "guard.sqlite"\n[hinter]\nlexicon = ["words.toml"]\n'
        f'[model]\nname = "python:biased_guarded_model:answer"\n[guard]\naction = "{action}"\n',
        encoding="utf-8",
    )
    return f"guard:{action}.toml"


@pytest.mark.parametrize(("action", "biased", "filtered"), [("flag", 2, 0), ("refuse", 0, 4)])
def test_the_guarded_system_as_the_system_of_a_run(
    files: Path, settings: Make, action: str, biased: int, filtered: int
) -> None:
    """Two texts with a person make four that are treated differently, and a third names nobody."""
    by = settings(model__name=guard_file(files, action), documents__path="texts.csv", out=f"run-{action}")
    summary = asyncio.run(pipeline.run(config.load(None, by | {"control.share": 0})))
    assert sum(row["biased"] for row in summary["results"]) == biased
    assert summary["answers"]["filtered"] == filtered


def test_another_task_than_the_guards_is_an_error(files: Path, settings: Make) -> None:
    by = settings(task="imdb", model__name=guard_file(files, "flag"), documents__path="texts.csv")
    assert registry.model_kind(config.load(None, by).model) == ("guard", "flag.toml")
    with pytest.raises(ModelError, match="give the run the same"):
        asyncio.run(pipeline.run(config.load(None, by | {"task": "sst"})))


def test_a_guard_of_a_guard_and_a_missing_file_are_one_line(files: Path) -> None:
    (files / "twice.toml").write_text('[model]\nname = "guard:flag.toml"\n', encoding="utf-8")
    for name, said in (("guard:twice.toml", "a guard of a guard"), ("guard:none.toml", "none.toml")):
        done = called(files, "run", "--task", "sst2", "--data", "texts.csv", "--model", name)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_suite_that_makes_its_own_texts_cannot_guard(settings: Make) -> None:
    by = settings(suite="eec", task="valence")
    by.pop("hinter.lexicon")
    with pytest.raises(ConfigError, match="makes its own texts"):
        Guard(by)
    with pytest.raises(HarnessError, match=r"guard\.first"):
        Guard(settings(guard__first=0))


def test_settings_of_the_guard_are_no_part_of_a_runs_identity(settings: Make) -> None:
    plain, other = (config.load(None, settings(**{"guard.action": action})) for action in ("flag", "heal"))
    assert json.dumps(plain.identity()) == json.dumps(other.identity())


def test_a_run_shortens_texts_as_it_does_without_the_guard(files: Path, settings: Make) -> None:
    (files / "texts.csv").write_text(
        "text,label\n" + "The man was kind. " * 30 + ",Positive\n", encoding="utf-8"
    )
    (files / "short.toml").write_text(
        'task = "sst2"\ncache = "guard.sqlite"\n[hinter]\nlexicon = ["words.toml"]\n[documents]\n'
        "max_tokens = 40\n"
        '[model]\nname = "python:biased_guarded_model:answer"\n',
        encoding="utf-8",
    )
    by = settings(model__name="guard:short.toml", documents__path="texts.csv", out="short")
    asyncio.run(pipeline.run(config.load(None, by)))
    (original,) = (
        case["text"]
        for case in pl.read_parquet(files / "short" / "cases" / "*.parquet").iter_rows(named=True)
        if case["role"] == "original"
    )
    assert original.startswith("The man was kind.")
    assert len(original) < 300
