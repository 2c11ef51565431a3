"""What the suite says of the mutants it made: counted by hand, and the section that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from harness.core import Case, Role, Substitution
from harness.folder import RunFolder
from harness.language.parse import Parse, Parser, Split
from harness.statistics import wilson
from harness.suites import lexicon
from harness.suites.hinter.suite import Hinter

ATTRIBUTES = ("race", "gender")
SUITE = Hinter(
    lexicon.parse('attribute.race.pairs = [["a", "b"]]\nattribute.gender.pairs = [["c", "d"]]'), None
)

Made = tuple[tuple[str, ...], str | None]
"""The attributes of a mutant, and the reason it was discarded."""


@dataclass
class Named(Parser):
    """A parser that is only named."""

    name: str

    def split(self, text: str) -> Split:
        raise NotImplementedError

    def parse(self, sentences: Sequence[str]) -> list[Parse]:
        raise NotImplementedError


def figures_of(tmp_path: Path, mutants: Sequence[Made], suite: Hinter = SUITE) -> dict[str, Any]:
    folder = RunFolder(tmp_path / "run")
    folder.open("", {})
    cases = [Case("d#0", "d", "d", "original", "text")]
    for number, (names, reason) in enumerate(mutants, 1):
        role: Role = "atomic" if len(names) == 1 else "intersectional"
        changed = tuple(Substitution(name, "x", str(number)) for name in names)
        cases.append(Case(f"d#{number}", "d", "d", role, "text", changed, reason=reason))
    list(folder.keep_chunk(0, cases))
    folder.finish()
    return suite.figures(folder).plain()


MUTANTS: list[Made] = [
    *[(("gender",), None)] * 2,
    (("gender",), "pos"),
    (("gender",), "duplicate"),
    *[(("race",), None)] * 3,
    (("race", "gender"), None),
    (("race", "gender"), "dependency"),
    *[(("race", "gender"), "pos")] * 2,
]


def test_mutants_are_counted_by_the_attributes_changed_together(tmp_path: Path) -> None:
    race, gender, both = figures_of(tmp_path, MUTANTS)["mutants"]
    assert race == {
        "kind": "atomic",
        "attributes": ["race"],
        "generated": 3,
        "valid": 3,
        "discarded": 0,
        "discarded_by_reason": {},
        "duplicate": 0,
        "valid_rate": 1.0,
        "valid_ci95": wilson(3, 3),
    }
    assert (gender["generated"], gender["valid"], gender["discarded"], gender["duplicate"]) == (4, 2, 1, 1)
    assert gender["valid_rate"] == pytest.approx(2 / 3)  # a duplicate is neither valid nor discarded
    assert (both["kind"], both["attributes"]) == ("intersectional", ["race", "gender"])
    assert both["discarded_by_reason"] == {"dependency": 1, "pos": 2}
    assert (both["valid_rate"], both["valid_ci95"]) == (0.25, wilson(1, 4))


def test_the_section_has_a_row_and_a_bar_a_set(tmp_path: Path) -> None:
    figures = figures_of(tmp_path, MUTANTS)
    section, operations = figures["sections"]
    assert figures["operations"] == {"race": {"exchange": 3}, "gender": {"exchange": 2}}
    assert operations["table"]["rows"] == [["race", 3], ["gender", 2]]
    assert section["page_only"]
    assert section["table"]["columns"] == [
        "changed",
        "generated",
        "valid",
        "discarded, dependency",
        "discarded, pos",
        "duplicates",
        "valid share",
    ]
    assert section["table"]["rows"][2] == ["race + gender", 4, 1, 1, 2, 0, "25.0 % [4.6, 69.9]"]
    (plot,) = section["plots"]
    assert [(bar["name"], bar["value"], bar["kind"]) for bar in plot["bars"]] == [
        ("race", 1.0, 0),
        ("gender", pytest.approx(2 / 3), 0),
        ("race + gender", 0.25, 1),
    ]


def test_nothing_discarded_no_plot_and_no_mutant_no_section(tmp_path: Path) -> None:
    kept = figures_of(tmp_path / "kept", [(("race",), None), (("race",), "duplicate")])
    assert [section["plots"] for section in kept["sections"][:1]] == [[]]
    assert figures_of(tmp_path / "none", []) == {"mutants": [], "operations": {}, "sections": []}
    (row,) = figures_of(tmp_path / "same", [(("race",), "duplicate")])["mutants"]
    assert (row["valid_rate"], row["valid_ci95"]) == (None, None)


TWO_PARSERS = replace(SUITE, parser=Named("small 1"), second=Named("medium 1"), invariant="agreed")
DECIDED: list[Made] = [
    *[(("gender",), None)] * 3,
    (("gender",), "first-parser-only"),
    (("gender",), "pos"),
    (("gender",), "not-a-person"),
    (("gender",), "duplicate"),
    (("race",), "pos"),
    *[(("race", "gender"), None)] * 2,
    *[(("race", "gender"), "second-parser-only")] * 2,
    (("race", "gender"), "first-parser-only"),
    (("race", "gender"), "dependency"),
]


def test_two_parsers_are_counted_by_who_passes_a_mutant(tmp_path: Path) -> None:
    block = figures_of(tmp_path, DECIDED, TWO_PARSERS)["parsers"]
    race, gender, both = block["mutants"]
    assert block["names"] == ["small 1", "medium 1"]
    assert gender == {
        "kind": "atomic",
        "attributes": ["gender"],
        "passed_by_any": 4,
        "passed_by_both": 3,
        "first_only": 1,
        "second_only": 0,
        "disagreed": 1,
        "disagreed_rate": 0.25,
        "disagreed_ci95": wilson(1, 4),
    }
    assert (both["first_only"], both["second_only"], both["disagreed"], both["passed_by_any"]) == (1, 2, 3, 5)
    assert (race["passed_by_any"], race["disagreed_rate"], race["disagreed_ci95"]) == (0, None, None)


def test_the_section_on_parsers_names_them(tmp_path: Path) -> None:
    section = figures_of(tmp_path / "two", DECIDED, TWO_PARSERS)["sections"][-1]
    assert section["title"] == "Parsers"
    assert section["text"] == (
        "Of the intersectional mutants that at least one of the two parsers passes, one alone passes 3 of 5"
        " (60.0 %, 95 % interval 23.1 to 88.2 %). Of the atomic mutants that at least one of the two parsers"
        " passes, one alone passes 1 of 4 (25.0 %, 95 % interval 4.6 to 69.9 %)."
    )
    assert section["table"]["columns"][3:5] == ["only by small 1", "only by medium 1"]
    assert section["table"]["rows"][2] == ["race + gender", 5, 2, 1, 2, "3 of 5, 60.0 % [23.1, 88.2]"]
    assert section["table"]["rows"][0] == ["race", 0, 0, 0, 0, "–"]
    assert [bar["name"] for bar in section["plots"][0]["bars"]] == ["gender", "race + gender"]


def test_one_parser_has_no_section_on_parsers_and_two_that_always_agree_have(tmp_path: Path) -> None:
    figures = figures_of(tmp_path / "one", MUTANTS)
    assert "parsers" not in figures
    assert "Parsers" not in {section["title"] for section in figures["sections"]}
    agreeing = figures_of(tmp_path / "two", [(("race",), None)], TWO_PARSERS)
    assert agreeing["sections"][-1]["table"]["rows"] == [["race", 1, 1, 0, 0, "0 of 1, 0.0 % [0.0, 79.3]"]]
