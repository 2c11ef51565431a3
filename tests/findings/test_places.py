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


def test_a_place_tells_which_group_its_text_speaks_of() -> None:
    found = list(places(family("t", spoken="female")))
    assert {(place.attribute, place.spoken) for place in found} == {("gender", "female"), ("body", "plain")}
    assert {place.document for place in found} == {"t"}
    assert {version.case for place in found for version in place.versions} == {
        case.id for case in family("t", spoken="female") if case.role != "control"
    }


def test_one_group_alone_is_no_place() -> None:
    cases = [case("t", "atomic", "body:blind"), replace(case("t", "atomic", "body:blind"), id="again")]
    assert not list(places(cases))


def test_a_mutant_alone_is_at_no_place() -> None:
    assert not list(places([case("t", "atomic", "body:blind")]))
    assert not list(places([]))


def test_places_of_different_words_of_one_attribute_are_apart() -> None:
    """Two men in one text: what each is changed to is compared with himself."""
    him, other = (replace(substitution("gender:female"), source=source) for source in ("he", "father"))
    versions = [
        case("t", "original"),
        *(
            replace(case("t", "atomic", "gender:female"), id=s.source, substitutions=(s,))
            for s in (him, other)
        ),
    ]
    assert [[version.case for version in place.versions] for place in places(versions)] == [
        ["t#0", "he"],
        ["t#0", "father"],
    ]


def test_versions_of_a_template_without_all_its_traits_are_at_no_place() -> None:
    traits = [{"gender": "f", "country": "x"}, {"gender": "m", "country": "x"}, {"gender": "m"}]
    versions = [
        replace(case("t", "variant"), id=str(number), traits=each) for number, each in enumerate(traits)
    ]
    [place] = places(versions, ("gender", "country"))
    assert (place.attribute, place.document, place.spoken) == ("gender", "t", None)
    assert [version.case for version in place.versions] == ["0", "1"]


def test_a_meeting_names_its_versions_and_skips_larger_ones() -> None:
    larger = case("t", "intersectional", "gender:female", "body:blind", "age:old")
    unread = [replace(c, reason="pos") if c.role == "intersectional" else c for c in family("t")]
    [meeting] = meetings([larger, *family("t")])
    assert (meeting.document, meeting.first, meeting.second) == ("t", "t#gender:female", "t#body:blind")
    assert not list(meetings(unread))
    together = [replace(c, traits={SAME_PERSON: "yes"}) for c in family("t")]
    assert len(list(meetings(together))) == 1


def test_controls_do_not_meet() -> None:
    assert not list(meetings([c for c in family("t") if c.role in ("original", "control")]))
