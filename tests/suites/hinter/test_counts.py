"""What the suite says of the mutants it made: counted by hand, and the section that shows them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.core import Case, Role, Substitution
from harness.folder import RunFolder
from harness.statistics import wilson
from harness.suites import lexicon
from harness.suites.hinter.suite import Hinter

ATTRIBUTES = ("race", "gender")
SUITE = Hinter(
    lexicon.parse('attribute.race.pairs = [["a", "b"]]\nattribute.gender.pairs = [["c", "d"]]'), None
)

Made = tuple[tuple[str, ...], str | None]
"""The attributes of a mutant, and the reason it was discarded."""


def figures_of(tmp_path: Path, mutants: Sequence[Made]) -> dict[str, Any]:
    folder = RunFolder(tmp_path / "run")
    folder.open("", {})
    cases = [Case("d#0", "d", "d", "original", "text")]
    for number, (names, reason) in enumerate(mutants, 1):
        role: Role = "atomic" if len(names) == 1 else "intersectional"
        changed = tuple(Substitution(name, "x", str(number)) for name in names)
        cases.append(Case(f"d#{number}", "d", "d", role, "text", changed, reason=reason))
    list(folder.keep_chunk(0, cases))
    folder.finish()
    return SUITE.figures(folder).plain()


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
