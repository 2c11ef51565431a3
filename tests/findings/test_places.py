"""Places: versions of one text that differ in one attribute alone; meetings: where two change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.core import SAME_PERSON
from harness.findings.places import edits_of, meetings, places
from tests.findings.runs import case, family, substitution


def described(found: object) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
    return {(p.attribute, tuple((v.group, v.edits) for v in p.versions)) for p in found}  # type: ignore[attr-defined]


def test_versions_that_differ_in_one_attribute_alone_share_a_place() -> None:
    assert described(places(family("t"))) == {
        ("gender", (("male", ""), ("female", "1"))),
        ("body", (("plain", ""), ("blind", "1"))),
        ("gender", (("male", "1"), ("female", "2"))),  # both blind
        ("body", (("plain", "1"), ("blind", "2"))),  # both female
    }


def test_mutants_of_one_word_are_at_one_place_without_their_original_too() -> None:
    cases = [case("t", "atomic", "body:blind"), case("t", "atomic", "body:deaf")]
    assert described(places(cases)) == {("body", (("blind", "1"), ("deaf", "1")))}


def test_invalid_cases_and_controls_are_at_no_place() -> None:
    original, *mutants = family("t")
    invalid = [original, *(replace(mutant, reason="pos") for mutant in mutants)]
    assert not list(places(invalid))


def test_words_without_groups_are_groups_of_their_own() -> None:
    bare = replace(substitution("gender:female"), source_group="", target_group="")
    cases = [case("t", "original"), replace(case("t", "atomic", "gender:female"), substitutions=(bare,))]
    assert described(places(cases)) == {("gender", (("male", ""), ("female!", "1")))}


def test_traits_tell_the_groups_of_a_template() -> None:
    versions = [
        replace(case("t", "variant"), id=name, traits={"gender": gender, "country": country})
        for name, gender, country in (("a", "f", "x"), ("b", "m", "x"), ("c", "f", "y"))
    ]
    assert described(places(versions, ("gender", "country"))) == {
        ("gender", (("f", ""), ("m", ""))),
        ("country", (("x", ""), ("y", ""))),
    }


def test_a_meeting_has_four_versions_and_is_on_one_person() -> None:
    cases = family("t")
    [meeting] = meetings(cases)
    assert meeting.groups == (("gender", "female"), ("body", "blind"))
    assert (meeting.both, meeting.original) == ("t#gender:female+body:blind", "t#0")
    assert meeting.edits == ("2", "1", "1")
    apart = [replace(c, traits={SAME_PERSON: "no"}) for c in cases]
    assert not list(meetings(apart))


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_there_is_no_meeting_without_all_four_versions(left_out: int) -> None:
    cases = family("t")
    del cases[left_out]
    assert not list(meetings(cases))


def test_inserted_words_mark_the_kind_of_edits() -> None:
    inserted = replace(substitution("body:blind"), operation="insertion")
    assert edits_of([]) == ""
    assert edits_of([substitution("gender:female")]) == "1"
    assert edits_of([inserted, substitution("gender:female")]) == "2+"
