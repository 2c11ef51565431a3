"""From a configuration to the suite, its run and its report."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from harness import config, registry
from harness.audit import assembly, pipeline
from harness.cli.generate import command as generate
from harness.core import DocumentOptions
from harness.errors import ConfigError, EndpointError, HarnessError, LexiconError, ModelError, ParserError
from harness.folder import RunFolder
from harness.suites.linguistic.suite import Linguistic

FLAT = {
    "task": "sst",
    "suite": "linguistic",
    "linguistic.trees": "flat",
    "linguistic.suggester": "ngram",
    "linguistic.fit": "none",
}


REASONS = ("article", "negation", "place", "pos", "repeated", "sentiment", "syntax", "unlikely", "weakening")


def made(**given: Any) -> Linguistic:
    settings = FLAT | {key.replace("__", "."): value for key, value in given.items()}
    suite = assembly.make_suite(config.load(None, settings))
    assert isinstance(suite, Linguistic)
    return suite


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return FLAT | {
        "linguistic.seeds": 2,
        "model.name": "local:vader",
        "cache": str(tmp_path / "cache.sqlite"),
        "out": str(tmp_path / "run"),
    }


def test_what_is_configured_is_what_is_made() -> None:
    suite = made(
        linguistic__capabilities="LC4, LC1",
        linguistic__seeds=7,
        linguistic__expansions=3,
        linguistic__masks=4,
        linguistic__words=9,
        linguistic__sentiment="bundled",
        seed=5,
    )
    assert list(suite.capabilities.by_name) == ["LC4", "LC1"]
    assert (suite.seeds, suite.expansions, suite.seed) == (7, 3, 5)
    assert suite.lexicon.source == "bundled"
    assert suite.expander is not None
    assert (suite.expander.masks, suite.expander.words, suite.expander.suggester.name) == (4, 9, "ngram")
    assert suite.expander.constituency.name.startswith("flat")
    assert set(suite.labels) == {"negative", "neutral", "positive"}


def test_without_expansions_there_is_no_expander() -> None:
    suite = made(linguistic__expansions=0)
    assert suite.expander is None
    assert suite.settings["expansions"] == 0
    assert len(suite.capabilities.by_name) == 11


def test_an_address_makes_an_endpoint_the_suggester(monkeypatch: pytest.MonkeyPatch) -> None:
    url = {"linguistic__suggester": "auto", "linguistic__suggester_model": "some-model"}
    suite = made(**url, linguistic__suggester_base_url="http://127.0.0.1:9/v1")
    assert suite.expander is not None
    assert suite.expander.suggester.name == "endpoint:some-model"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EndpointError, match="no API key: set the environment variable OPENAI_API_KEY"):
        made(**url, linguistic__suggester_base_url="https://example.org/v1")


@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        ({"task": "scotus"}, ConfigError, "suite linguistic needs a task with the labels positive"),
        ({"task": "ledgar"}, ConfigError, r"Agreements, Amendments, … \(100 in all\)$"),
        (
            {"linguistic__capabilities": "LC1,LC99"},
            ConfigError,
            "unknown capability 'LC99', known capabilities: LC1",
        ),
        ({"linguistic__parser": "none"}, ConfigError, "linguistic.parser: suite linguistic needs a parser"),
        ({"linguistic__trees": "bush"}, ParserError, "unknown kind of trees 'bush'"),
        ({"linguistic__sentiment": "none.tsv"}, LexiconError, "none.tsv: No such file"),
        ({"linguistic__grammar": "none.tsv"}, ConfigError, "none.tsv: No such file"),
        ({"linguistic__definitions": "none.toml"}, ConfigError, "none.toml: No such file"),
        ({"linguistic__suggester": "mlm"}, ModelError, "suggester mlm: name a masked language model"),
        ({"linguistic__suggester": "endpoint"}, ModelError, "suggester endpoint: name its model"),
        (
            {"linguistic__suggester": "endpoint", "linguistic__suggester_base_url": "http://localhost/v1"},
            ConfigError,
            "linguistic.suggester_model: name the model of the endpoint",
        ),
        ({"linguistic__suggester_base_url": "ftp://x"}, ConfigError, "give an http:// or https:// address"),
        ({"linguistic__suggester_api_key_env": "sk-123 45"}, ConfigError, "not the key itself$"),
        ({"linguistic__expansions": -1}, ConfigError, "linguistic.expansions: "),
    ],
)
def test_what_is_wrong_is_one_line(given: dict[str, Any], kind: type[HarnessError], says: str) -> None:
    with pytest.raises(kind, match=says) as raised:
        made(**given)
    assert "\n" not in str(raised.value)


def test_options_reach_the_cases(tmp_path: Path, smollm2_file: Path) -> None:
    options = ["--task", "sst", "--suite", "linguistic", "--trees", "flat", "--suggester", "local"]
    few = ["--capability", "LC4,LC9", "--seeds", "2", "--expansions", "1", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(generate, [*options, *few, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    cases = RunFolder(tmp_path / "run").read_cases()
    valid = [case for case in cases if case.valid]
    assert {case.traits["capability"] for case in valid} == {"LC4", "LC9"}
    assert not {case.reason for case in cases} - {None, *REASONS}
    groups = [case.group for case in valid if case.role == "expansion"]
    assert groups
    assert len(set(groups)) == len(groups)


def test_the_kept_expansions_are_some_of_all() -> None:
    task = registry.task("sst")
    documents = list(task.documents(DocumentOptions(path=task.sample)))
    few, all_ = (
        list(
            made(linguistic__capabilities="LC9", linguistic__seeds=2, linguistic__expansions=n).cases(
                iter(documents)
            )
        )
        for n in (2, 100)
    )
    assert {case.id for case in few} < {case.id for case in all_}
    assert [case.id for case in few if not case.valid] == [case.id for case in all_ if not case.valid]


def test_a_run_ends_in_a_table_by_capability(settings: dict[str, Any]) -> None:
    found = asyncio.run(pipeline.run(config.load(None, settings)))
    rows = {row["capability"]: row for row in found["linguistic"]["capabilities"]}
    assert set(rows) >= {
        f"LC{n}" for n in range(3, 12)
    }  # the sample's few short sentences may not do for two
    assert all(row["seeds_ci95"] for row in rows.values())
    assert "linguistic capabilities" in found["headline"]
    table, diversity = found["sections"]
    names = [column if isinstance(column, str) else column["name"] for column in table["table"]["columns"]]
    assert names[:4] == ["capability", "sentences", "shared", "seeds"]
    assert [row[0] for row in diversity["table"]["rows"]] == ["seed", "expansion"]
    report = (Path(found["folder"]) / "report.html").read_text(encoding="utf-8")
    assert "LC4: Negated negative should be positive or neutral" in report
    summary = json.loads((Path(found["folder"]) / "summary.json").read_text(encoding="utf-8"))
    seeds, expansions = summary["linguistic"]["diversity"]
    assert seeds["texts"] == sum(row["seeds"] for row in rows.values())
    assert seeds["distinct"] <= seeds["texts"]
    assert expansions["trees"] >= 1


def test_the_embedded_model_is_the_default_of_the_base_install(smollm2_file: Path) -> None:
    suite = made(linguistic__suggester="auto", linguistic__fit="auto")
    assert suite.settings["suggester"] == suite.settings["judge"] == "local:smollm2"
    assert made(linguistic__suggester="auto", linguistic__fit="none").settings["judge"] is None
    assert made(linguistic__fit="local").settings["suggester"] == "ngram"


def test_a_masked_model_expands_the_seeds(shared_data: Path) -> None:
    for needed in ("torch", "transformers"):
        pytest.importorskip(needed)
    folder = shared_data.parent / "fixtures" / "tiny-convbert-mlm"
    suite = made(
        linguistic__suggester="mlm", linguistic__suggester_model=str(folder), linguistic__capabilities="LC9"
    )
    task = registry.task("sst")
    cases = list(suite.cases(task.documents(DocumentOptions(path=task.sample))))
    assert str(suite.settings["suggester"]).startswith("mlm:")
    assert {case.role for case in cases} == {"seed", "expansion"}
