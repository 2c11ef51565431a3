"""The suite as a whole: groups of a seed with its expansions, and what the summary says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import polars as pl

from harness.core import Case, Document, Outcome, Verdict
from harness.language import constituency
from harness.language.parsers import CachedParser
from harness.suites import sentiment_oracle as oracle
from harness.suites.linguistic import capabilities, counts, exhibits, grammar, modifiers
from harness.suites.linguistic.expansion import Expander
from harness.suites.linguistic.suite import Linguistic
from tests.suites.linguistic.fixed import LEXICON, FixedSuggester

LABELS = oracle.labels(["negative", "neutral", "positive"])
DOCUMENTS = [
    Document("a", "The jokes are good .", frozenset(["positive"])),
    Document("b", "The jokes are a great mess of sad scenes .", frozenset(["negative"])),
    Document("c", "It was made in a wooden town .", frozenset(["neutral"])),
    Document("d", "This is a failure .", frozenset(["negative"])),
    Document("e", "These are scenes of a town .", frozenset(["neutral"])),
    Document("f", "This is a bad film .", frozenset(["negative"])),
    Document("g", "The songs are lovely .", frozenset(["positive"])),
    Document("h", "The plot is dull .", frozenset(["negative"])),
]


def suite(parser: CachedParser, seed: int = 0, expand: bool = True) -> Linguistic:
    expander = None
    if expand:
        trees = constituency.load("flat")
        words = FixedSuggester(["old", "new", "also", "really", "the", "a", "film"])
        expander = Expander(grammar.load(), trees, words, parser, LEXICON, modifiers.load())
    return Linguistic(capabilities.load(), LABELS, parser, LEXICON, expander, seeds=3, seed=seed)


def test_a_group_is_a_seed_and_its_expansions(parser: CachedParser) -> None:
    cases = list(suite(parser).cases(iter(DOCUMENTS)))
    groups = [list(group) for _, group in groupby(cases, key=lambda case: case.group)]
    assert len({group[0].group for group in groups}) == len(groups)
    assert {first.traits["capability"] for first, *_ in groups} == set(capabilities.load().by_name)
    for first, *rest in groups:
        assert (first.role, first.valid, first.group) == ("seed", True, first.traits["seed"])
        assert all(case.role == "expansion" and case.expected == first.expected for case in rest)
    assert len({case.id for case in cases}) == len(cases)
    assert any(case.valid for case in cases if case.role == "expansion")


def test_cases_say_where_they_come_from(parser: CachedParser) -> None:
    cases = list(suite(parser).cases(iter(DOCUMENTS)))
    negated = next(case for case in cases if case.traits["capability"] == "LC5")
    assert negated.traits["transformation"] == "negation"
    assert negated.expected == frozenset(["neutral"])
    assert (negated.document, negated.traits["documents"]) == (negated.document, negated.document)
    both = next(case for case in cases if case.traits["capability"] == "LC8")
    assert len(set(both.traits["documents"].split())) == 2
    expansion = next(case for case in cases if case.role == "expansion" and case.valid)
    word, symbol = expansion.traits["inserted"].split("/")
    assert word in expansion.text
    assert f"[{symbol}]" in expansion.traits["production"]


def test_the_same_seed_gives_the_same_cases(parser: CachedParser) -> None:
    assert list(suite(parser).cases(iter(DOCUMENTS))) == list(suite(parser).cases(iter(DOCUMENTS[::-1])))
    assert list(suite(parser).cases(iter(DOCUMENTS))) != list(suite(parser, 1).cases(iter(DOCUMENTS)))


def test_without_an_expander_there_are_seeds_alone(parser: CachedParser) -> None:
    made = suite(parser, expand=False)
    assert {case.role for case in made.cases(iter(DOCUMENTS))} == {"seed"}
    assert "grammar" not in made.identity
    assert made.settings["trees"] is None


def test_the_suggester_learns_every_document(parser: CachedParser) -> None:
    made = suite(parser)
    list(made.cases(iter(DOCUMENTS)))
    assert made.expander is not None
    assert isinstance(made.expander.suggester, FixedSuggester)
    assert made.expander.suggester.learnt == [d.text.replace(" .", ".") for d in DOCUMENTS]


def test_what_decides_the_cases_is_in_the_identity(parser: CachedParser) -> None:
    identity = suite(parser).identity
    assert {"parser", "capabilities", "sentiment", "grammar", "trees", "suggester"} <= identity.keys()
    assert str(identity["trees"]).startswith("flat phrases of spacy:")
    assert json.loads(json.dumps(identity)) == identity


class Frames:
    """A run's tables in memory."""

    def __init__(self, cases: list[Case], verdicts: list[Verdict]) -> None:
        self._frames: Mapping[str, pl.LazyFrame] = {
            "cases": pl.LazyFrame(
                [
                    {
                        "id": c.id,
                        "group": c.group,
                        "role": c.role,
                        "text": c.text,
                        "reason": c.reason,
                        "traits": json.dumps(dict(c.traits)),
                    }
                    for c in cases
                ],
                schema_overrides={"reason": pl.String},
            ),
            "verdicts": pl.LazyFrame([{"case": v.case, "status": v.status} for v in verdicts]),
        }

    def scan(self, name: str) -> Any:
        return self._frames[name]


def group(
    name: str, seed: str, expansions: list[str], documents: str = "", capability: str = "LC9"
) -> tuple[list[Case], dict[str, Outcome]]:
    """A group that expects *positive*, with its answers ("" was not read)."""
    cases, outcomes = [], {}
    for number, label in enumerate([seed, *expansions]):
        case = Case(
            f"{name}#{number}",
            name,
            "d",
            "expansion" if number else "seed",
            "",
            traits={"capability": capability, "documents": documents or name},
            expected=frozenset(["positive"]),
        )
        cases.append(case)
        outcomes[case.id] = Outcome(frozenset([label])) if label else Outcome(reason="unparsed")
    return cases, outcomes


def test_rates_have_their_counts_and_pass_to_fail_its_own_denominator() -> None:
    good, bad = "positive", "negative"
    groups = [
        group("one", good, [good, bad, bad]),
        group("two", bad, [bad, bad]),
        group("three", good, [good, ""]),
        group("four", "", [bad]),
    ]
    cases = [case for some, _ in groups for case in some]
    verdicts = [v for some, outcomes in groups for v in oracle.judge(some, outcomes, LABELS)]
    (row,) = counts.count(Frames(cases, verdicts))
    assert (row.seeds, row.seeds_failed) == (3, 1)
    assert (row.expansions, row.expansions_failed) == (7, 5)
    assert (row.pass_to_fail, row.expansions_of_passed) == (2, 4)
    assert row.undetermined == 2
    plain = row.plain()
    for rate, interval in (
        (plain["seeds_rate"], row.seeds_ci95),
        (plain["expansions_rate"], row.expansions_ci95),
    ):
        assert isinstance(rate, float)
        assert interval is not None
        assert interval[0] <= rate <= interval[1]
    assert sum(v.hidden == "yes" for v in verdicts) == 2
    assert sum(v.hidden == "undetermined" for v in verdicts) == 1


def rows_of(*groups: tuple[list[Case], dict[str, Outcome]]) -> list[counts.Row]:
    cases = [case for some, _ in groups for case in some]
    verdicts = [v for some, outcomes in groups for v in oracle.judge(some, outcomes, LABELS)]
    return counts.count(Frames(cases, verdicts))


def test_what_comes_from_one_sentence_counts_once_for_an_interval() -> None:
    good, bad = "positive", "negative"
    apart = [group(f"g{n}", bad if n % 2 else good, [], f"d{n}") for n in range(40)]
    twice = [group(f"g{n}", bad if n // 2 % 2 else good, [], f"x{n} d{n // 2}") for n in range(40)]
    (one,), (two,) = rows_of(*apart), rows_of(*twice)
    assert (one.sentences, two.sentences) == (40, 60)
    assert one.seeds_failed == two.seeds_failed == 20
    assert one.seeds_ci95 is not None
    assert two.seeds_ci95 is not None
    assert two.seeds_ci95[1] - two.seeds_ci95[0] > one.seeds_ci95[1] - one.seeds_ci95[0]


def test_sentences_of_several_capabilities_are_counted() -> None:
    first, second = rows_of(
        group("a", "positive", [], "d1 d2"),
        group("b", "positive", [], "d3"),
        group("c", "positive", [], "d2", "LC10"),
    )
    assert (first.sentences, first.shared) == (3, 1)
    assert (second.sentences, second.shared) == (1, 1)


def test_the_summary_has_a_block_a_headline_and_a_section(parser: CachedParser) -> None:
    cases, outcomes = group("one", "positive", ["negative"])
    tables = Frames(cases, list(oracle.judge(cases, outcomes, LABELS)))
    figures = suite(parser).figures(tables).plain()
    assert [row["capability"] for row in figures["linguistic"]["capabilities"]] == ["LC9"]
    assert figures["headline"].startswith("1 of 2 cases failed in 1 linguistic capability;")
    assert [section["title"] for section in figures["sections"]] == [
        "Linguistic capabilities",
        "Syntactic diversity",
    ]
    for section in figures["sections"]:
        assert {"title", "text", "table", "plots", "notes", "page_only"} == section.keys()
        assert all(len(row) == len(section["table"]["columns"]) for row in section["table"]["rows"])
    assert json.loads(json.dumps(figures)) == figures


def test_a_run_that_found_no_seed_says_so() -> None:
    figures = exhibits.figures([], {}, {}, True).plain()
    assert figures["headline"].startswith("No seed was found")
    assert figures["sections"] == []
