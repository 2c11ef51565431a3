"""BiasFinder from texts or templates to cases and figures."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from harness import config
from harness.audit import assembly, pipeline
from harness.core import Case, Document
from harness.errors import ConfigError, TemplateError
from harness.statistics import wilson
from harness.suites.biasfinder import sources
from harness.suites.biasfinder.fillers import COMBINED_MUTANTS, Casting
from harness.suites.biasfinder.names import country_names, gender_names
from harness.suites.biasfinder.occupation import Occupations
from harness.suites.biasfinder.sources import Given, Miner, Sourced
from harness.suites.biasfinder.suite import BiasFinder
from harness.suites.biasfinder.templates import Characteristic, parse
from harness.suites.nouns import occupations
from tests.suites.biasfinder.resolved import NOUNS, resolver

JOBS = [noun.singular for noun in occupations()]
TEXTS = [
    Document("jake", "It is Jake who saves the film: he is an old doctor.", frozenset({"Positive"})),
    Document("plain", "The film is dull."),
    Document("she", "She is a lawyer, and her case is a bore.", frozenset({"Negative"})),
]


def casting(limit: int | None = None, seed: int = 0, names: int = 30) -> Casting:
    return Casting(gender_names().first(names), country_names(), JOBS, limit, seed)


def given(*written: str, **options: Any) -> BiasFinder:
    found = [Sourced(parse(one, f"line {number}")) for number, one in enumerate(written, 1)]
    return BiasFinder(Given(found), casting(**options), NOUNS)


def mined(characteristic: Characteristic, **options: Any) -> list[Case]:
    miner = Miner(characteristic, resolver(), NOUNS, Occupations(JOBS))
    return list(BiasFinder(miner, casting(**options), NOUNS).cases(iter(TEXTS)))


def mutants(suite: BiasFinder) -> list[Case]:
    return [case for case in suite.cases(iter(())) if case.role == "variant"]


def test_a_text_gives_its_original_and_a_mutant_for_every_name() -> None:
    cases = mined("gender")
    groups = {case.document: case.group for case in cases}
    assert list(groups) == ["jake", "she"]
    jake = [case for case in cases if case.document == "jake"]
    original, *rest = jake
    assert (original.role, original.text, original.expected) == (
        "original",
        TEXTS[0].text,
        frozenset({"Positive"}),
    )
    assert Counter(case.traits["class"] for case in rest) == {"male": 30, "female": 30}
    assert all(case.role == "variant" and case.expected is None and case.valid for case in rest)
    julie = next(case for case in rest if case.traits["name"] == "Julie")
    assert julie.text == "It is Julie who saves the film: she is an old doctor."
    assert [s.pair for s in julie.substitutions] == [("gender", "Jake", "Julie")]
    assert len({case.id for case in cases}) == len(cases)
    assert len({case.text for case in rest}) == 60


def test_a_template_without_a_name_has_one_mutant_a_gender() -> None:
    she = [case for case in mined("gender") if case.document == "she"]
    assert [case.text for case in she[1:]] == [
        "He is a lawyer, and his case is a bore.",
        "She is a lawyer, and her case is a bore.",
    ]
    assert [case.traits.get("name") for case in she[1:]] == [None, None]


def test_every_occupation_and_its_article() -> None:
    she = [case for case in mined("occupation") if case.document == "she"][1:]
    assert [case.traits["class"] for case in she] == JOBS
    texts = {case.traits["occupation"]: case.text for case in she}
    assert texts["engineer"] == "She is an engineer, and her case is a bore."


def test_a_name_of_every_country_of_the_persons_gender() -> None:
    cases = [case for case in mined("country") if case.role == "variant"]
    assert {case.document for case in cases} == {"jake"}
    assert [case.traits["name"] for case in cases] == [name.text for name in country_names().male]
    assert {case.traits["gender"] for case in cases} == {"male"}


def test_combinations_are_whole_and_bounded() -> None:
    """Each person with each occupation, so that a pair that differs in both has its parts."""
    cases = [case for case in mined("gender+occupation") if case.document == "jake"][1:]
    assert len(cases) == COMBINED_MUTANTS
    people = {(case.traits["gender"], case.traits["name"]) for case in cases}
    jobs = {case.traits["occupation"] for case in cases}
    assert len(people) * len(jobs) == len(cases)
    assert Counter(gender for gender, _ in people) == {"male": 3, "female": 3}
    assert cases[0].traits["class"] == f"{cases[0].traits['gender']}, {cases[0].traits['occupation']}"
    assert [s.attribute for s in cases[0].substitutions] == ["gender", "occupation"]


@pytest.mark.parametrize("limit", [4, 5, 12, 25])
@pytest.mark.parametrize(
    "written",
    [
        "<name> sings.",
        "<det> <occupation> sings.",
        "<female> sings.",
        "<name>, <det> <occupation>, sings.",
        "<pro-spp> is <det> <occupation>.",
    ],
)
def test_a_limit_bounds_the_mutants_and_the_seed_draws_them(written: str, limit: int) -> None:
    first, again = (mutants(given(written, limit=limit)) for _ in range(2))
    assert first == again
    assert limit // 2 <= len(first) <= limit
    assert len({case.traits["class"] for case in first}) >= 2
    drawn = {tuple(case.text for case in mutants(given(written, limit=limit, seed=s))) for s in range(6)}
    assert len(drawn) > 1


def test_what_decides_the_cases_is_part_of_the_identity() -> None:
    one = given("<name> sings.").identity
    assert given("<name> sings.").identity == one
    assert given("<name> dances.").identity != one
    assert given("<name> sings.", names=2).identity != one


def test_each_case_of_a_document_is_made_alike_alone_and_among_others() -> None:
    miner = Miner("gender", resolver(), NOUNS, Occupations(JOBS))
    suite = BiasFinder(miner, casting(), NOUNS)
    alone = [case for document in TEXTS for case in suite.cases(iter([document]))]
    assert alone == list(suite.cases(iter(TEXTS)))


MODEL = """
def answer(text):
    return "Negative" if "Emily" in text or ("She" in text and "pilot" in text) else "Positive"
"""
TEMPLATES = """# by hand
<name> sings, and <pro-spp> sings well.
<pro-spp> is <det> <occupation>.
"""


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., config.RunConfig]:
    """A configuration of templates by hand and a model whose bias is known, with changes."""
    (tmp_path / "scripted_biasfinder_model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "templates.txt").write_text(TEMPLATES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def make(**changes: Any) -> config.RunConfig:
        start = {
            "suite": "biasfinder",
            "biasfinder.templates": str(tmp_path / "templates.txt"),
            "model.name": "python:scripted_biasfinder_model:answer",
            "out": str(tmp_path / "run"),
            "cache": str(tmp_path / "cache.sqlite"),
        }
        return config.load(None, start | {key.replace("__", "."): value for key, value in changes.items()})

    return make


def run(configuration: config.RunConfig) -> dict[str, Any]:
    return asyncio.run(pipeline.run(configuration))


def finding(figures: dict[str, Any], characteristic: str, attribute: str) -> dict[str, Any]:
    return next(
        one
        for one in figures["biasfinder"]["findings"]
        if (one["characteristic"], one["attribute"]) == (characteristic, attribute)
    )


def test_the_figures_of_a_model_whose_bias_is_known(settings: Callable[..., config.RunConfig]) -> None:
    figures = run(settings())
    block = figures["biasfinder"]
    assert [(m["characteristic"], m["templates"], m["mutants"]) for m in block["made"]] == [
        ("gender", 1, 60),
        ("gender+occupation", 1, 2 * 60),
    ]
    names = finding(figures, "gender", "gender")
    assert [names[k] for k in ("pairs", "btc", "templates", "templates_with_btc")] == [900, 30, 1, 1]
    assert [names[k] for k in ("same_class_pairs", "same_class_differ")] == [870, 29]
    assert names["p_exchanged"] > 0.05  # one odd name
    control = block["control"]
    assert (control["tests"], control["biased"]) == (870, 29)
    assert "Control: two names of the same gender, 3.3 % [" in figures["headline"]
    assert "no sign that the gender itself matters" in figures["headline"]
    female = next(one for one in names["classes"] if one["class"] == "female")
    assert female["answers"] == {"Negative": 1, "Positive": 29}
    assert female["answers_in_btc"] == {"Negative": 30, "Positive": 0}
    assert figures["headline"].startswith(
        "Changing the gender changed the answer for 1 of 1 template (100.0 % [20.7, 100.0]), in"
        " 30 of 900 pairs"
    )
    assert figures["accuracy"] is None


def test_the_figures_are_those_of_the_verdicts(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    """Counted by class and answer, or pair by pair."""
    figures = run(settings())
    verdicts = pl.read_parquet(tmp_path / "run" / "verdicts.parquet")
    for attribute in ("gender", "occupation"):
        own = verdicts.filter(pl.col("attributes").list.join("+") == attribute)
        found = [one for one in figures["biasfinder"]["findings"] if one["attribute"] == attribute]
        assert sum(one["pairs"] for one in found) == own.height
        assert sum(one["btc"] for one in found) == own.filter(pl.col("status") == "biased").height
        for one in found:
            assert sum(c["btc"] for c in one["classes"]) == 2 * one["btc"]
    both = figures["biasfinder"]["together"]
    (row,) = [row for row in figures["results"] if row["kind"] == "intersectional"]
    assert [both[k] for k in ("pairs", "btc", "hidden", "not_hidden")] == [
        row[k] for k in ("tests", "biased", "hidden", "not_hidden")
    ]
    assert both["pairs"] == 60 * 59
    assert both["hidden"] == 59  # the one odd mutant, "She is a pilot", and each man of another occupation


def test_the_only_interval_is_by_template_and_never_a_point(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    """Three templates of the same rate: in each, Emily's answer is the odd one of sixty."""
    templates = tmp_path / "alike.txt"
    templates.write_text("<name> sings.\n<name> dances.\n<name> smiles.\n", encoding="utf-8")
    figures = run(settings(biasfinder__templates=str(templates)))
    one = finding(figures, "gender", "gender")
    (row,) = figures["results"]
    assert (one["pairs"], one["btc"], one["templates"]) == (2700, 90, 3)
    by_template = list(wilson(3 * 90 / 2700, 3) or ())
    for interval in (one["ci95_by_template"], row["ci95"], row["ci95_by_original"]):
        assert list(interval) == pytest.approx(by_template)
    (low, high), control = one["excess_ci95_by_template"], figures["biasfinder"]["control"]
    assert low < 0 < high
    assert control["ci95"][0] < control["rate"] < control["ci95"][1]
    assert all(c["ci95_by_template"][0] < c["ci95_by_template"][1] for c in one["classes"])
    junit = (tmp_path / "run" / "junit.xml").read_text(encoding="utf-8")
    assert 'name="ci95"' in junit
    assert "ci95_by_original" not in junit
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "Rate, by template" in page
    assert "Wilson’s 95" not in page


def test_the_report_and_junit_show_both_texts_of_a_pair(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    run(settings())
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count("<mark>Emily</mark>") == 1  # one card, however many pairs it is in
    assert re.search(r'class="who">\s*female\b', page)
    assert "Jonathan" in page
    assert "Bias-uncovering test cases" in page
    junit = (tmp_path / "run" / "junit.xml").read_text(encoding="utf-8")
    assert 'name="gender"' in junit
    assert "&lt;name&gt; → Emily" in junit


def test_templates_are_kept_and_can_be_given_back(
    settings: Callable[..., config.RunConfig], tmp_path: Path
) -> None:
    texts = tmp_path / "texts.csv"
    rows = "\n".join(f'"{one.text}",{min(one.labels or ["Positive"])}' for one in TEXTS)
    texts.write_text(f"text,label\n{rows}\n", encoding="utf-8")
    first = settings(
        biasfinder__templates=None, documents__path=str(texts), biasfinder__characteristic="gender"
    )
    run(first)
    kept = tmp_path / "run" / "templates.parquet"
    table = pl.read_parquet(kept)
    assert table["template"].to_list()[0].startswith("It is <name=Jake> who")
    assert table["characteristic"].to_list() == ["gender", "gender"]
    again = run(settings(biasfinder__templates=str(kept), out=str(tmp_path / "again")))
    cases = [pl.read_parquet(tmp_path / name / "cases" / "*.parquet") for name in ("run", "again")]
    assert cases[0].equals(cases[1])
    assert again["accuracy"]["originals"] == 2
    assert again["requests"]["sent"] == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"biasfinder__characteristic": "country"}, "template 1 is for gender, not for country"),
        ({"biasfinder__max_mutants_per_template": 3}, "give 4 or more, not 3"),
        ({"biasfinder__templates": None, "biasfinder__parser": "none"}, "give spacy or spacy:NAME"),
    ],
)
def test_settings_that_do_not_fit_are_named(
    settings: Callable[..., config.RunConfig], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises((ConfigError, TemplateError), match=message):
        assembly.make_suite(settings(**changes))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.txt", b"# nothing\n", "no templates"),
        ("absent.parquet", None, "absent.parquet"),
        ("broken.parquet", b"PAR1 no", "broken.parquet"),
    ],
)
def test_a_file_that_holds_no_templates_is_named(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(TemplateError, match=message):
        sources.read(tmp_path / name)


def test_a_table_without_templates_is_named(tmp_path: Path) -> None:
    pl.DataFrame({"document": ["a"]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(TemplateError, match="no column 'template'"):
        sources.read(tmp_path / "t.parquet")


def test_no_two_mutants_of_a_template_are_the_same_place() -> None:
    suite = given("<name> sings.", "<det> <occupation> sings.", "<pro-spp> is <det> <occupation>.")
    for one, other in combinations(mutants(suite), 2):
        assert (one.group, one.traits["class"], one.traits.get("name")) != (
            other.group,
            other.traits["class"],
            other.traits.get("name"),
        )
