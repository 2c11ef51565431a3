"""What the page lists: every text as it is, every flip once, with its parts."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import CONTROL, Outcome
from harness.language.differences import spliced, splices
from harness.report import listing, packing, relations
from tests.report.test_html import (
    GENDER,
    NATION,
    NEGATIVE,
    ORIGINAL,
    Maker,
    Row,
    make,
    mutant,
    original,
)

__all__ = ["make"]  # the fixture

WORDS = st.lists(
    st.sampled_from(["a", "man", "woman.", "(he)", "she", "\n", "😀", "old", "é,", ""]), max_size=30
)
FLIPPED: list[Row] = [
    original(),
    mutant(NATION, outcome=NEGATIVE, status="biased"),
    mutant(GENDER),
    mutant(NATION, GENDER, outcome=NEGATIVE, status="biased", hidden="no"),
]


@given(WORDS, WORDS)
def test_splices_make_one_text_into_the_other(old: Sequence[str], new: Sequence[str]) -> None:
    base, text = " ".join(old), " ".join(new)
    found = splices(base, text)
    assert spliced(base, found) == text
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(found))
    assert bool(found) == (base != text)


@given(WORDS, st.integers(0, 29), st.sampled_from(["woman", "👩", "x y"]))
def test_places_are_counted_as_a_browser_counts(words: list[str], place: int, word: str) -> None:
    changed = [word if number == place else old for number, old in enumerate(words)]
    base, text = " ".join(words), " ".join(changed)
    units, at, made = base.encode("utf-16-le"), 0, b""
    for start, end, put in packing._in_units(base, splices(base, text)):
        made += units[2 * at : 2 * start] + put.encode("utf-16-le")
        at = end
    assert (made + units[2 * at :]).decode("utf-16-le") == text


def unpacked(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_a_row_has_its_texts_its_answers_and_its_parts(make: Maker) -> None:
    listed = listing.read(make(FLIPPED), ["Positive"])
    first, both = listed.rows
    assert listed.totals == {"changed": 2, "unread": 0, "control": 0}
    assert listed.complete
    assert [listed.text(case) for case in both.cases] == [
        "A British man wrote it. He is fat.",
        "A Kenyan man wrote it. He is fat.",
        "A British woman wrote it. He is fat.",
        "A Kenyan woman wrote it. He is fat.",
    ]
    shown = [listed.cases[case] for case in both.cases]
    assert [case.answer.text for case in shown] == ["Positive", "Negative", "Positive", "Negative"]
    assert [case.biased for case in shown] == [False, True, False, True]
    assert shown[-1].title == "British → Kenyan, man → woman"
    assert (first.parts, first.flip["direction"]) == ([], "worse")
    assert relations.badges(both) == ["not hidden"]


def test_the_data_of_the_page_is_the_listing(make: Maker) -> None:
    listed = listing.read(make(FLIPPED), ["Positive"])
    rows = unpacked(packing.packed(packing.rows_of(listed)))
    assert [rows["cases"]["id"][number] for number in rows["case"]] == [
        row.flip["case"] for row in listed.rows
    ]
    answers = rows["coded"]["answers"]
    assert [answers["values"][code] for code in answers["codes"]] == ["Positive → Negative"] * 2
    assert rows["parts"] == {"starts": [0, 0, 2], "items": [1, 2]}
    assert unpacked(packing.packed(listed.texts)) == ["A British man wrote it. He is fat."]


def test_refusals_that_leave_a_test_open_are_listed_after_the_flips(make: Maker) -> None:
    refused = Outcome(reason="refused")
    quiet, spoken = original("quiet"), original("spoken")
    listed = listing.read(
        make(
            [
                (quiet[0], refused, None, None),
                mutant(GENDER, document="quiet", status="undetermined"),
                spoken,
                mutant(GENDER, document="spoken", outcome=refused, status="undetermined"),
                mutant(NATION, document="spoken", outcome=Outcome(reason="failed"), status="undetermined"),
                mutant(NATION, GENDER, document="spoken", outcome=NEGATIVE, status="biased"),
            ]
        ),
        [],
    )
    assert [(row.flip["kind"], row.flip["document"]) for row in listed.rows] == [
        ("changed", "spoken"),
        ("unread", "quiet"),
        ("unread", "spoken"),
    ]
    assert relations.answers(listed.rows[2], listed) == "Positive → refused"
    assert relations.badges(listed.rows[2]) == ["refused or filtered"]


@pytest.mark.parametrize("most", [0, 1, 2])
def test_rows_whose_texts_do_not_fit_are_not_listed(make: Maker, most: int) -> None:
    rows = [
        row
        for name in ("a", "b")
        for row in (original(name), mutant(GENDER, document=name, outcome=NEGATIVE, status="biased"))
    ]
    listed = listing.read(make(rows), [], characters=45 * most)
    assert len(listed.rows) == most
    assert listed.complete == (most == 2)
    assert listing.read(make(rows), [], most=most).totals["changed"] == 2


def test_a_list_that_is_too_large_is_cut_to_what_fits(make: Maker) -> None:
    rows = []
    for number in range(40):
        name = f"d{number}"
        rows += [original(name, f"{ORIGINAL} {number} {hash((number, 7)):x}" * 20)]
        rows.append(mutant(GENDER, document=name, text=rows[-1][0].text, outcome=NEGATIVE, status="biased"))
    whole = listing.read(make(rows), [])
    _, data = packing.fitted(whole)
    size = sum(map(len, data.values()))
    listed, data = packing.fitted(whole, most=int(0.7 * size))
    assert sum(map(len, data.values())) <= 0.7 * size
    assert 5 < len(listed.rows) < 40
    assert not listed.complete
    assert len(unpacked(data["texts"])) == len(listed.rows)
    for row in listed.rows:
        assert [listed.text(case) for case in row.cases] == [whole.text(case) for case in row.cases]
    assert packing.fitted(whole, most=1)[1] == {}


def test_traits_that_tell_rows_apart_are_filters_and_those_of_the_machinery_are_not(make: Maker) -> None:
    rows = []
    for name, tone in (("a", "low"), ("b", "high")):
        case, *rest = mutant(GENDER, document=name, outcome=NEGATIVE, status="biased")
        traits = {"tone": tone, CONTROL: tone, "gender": tone, "same": "x"}
        changed = type(case)(
            case.id, case.group, case.document, case.role, case.text, case.substitutions, traits
        )
        rows += [original(name), (changed, *rest)]
    values = packing.rows_of(listing.read(make(rows), []))  # type: ignore[arg-type]
    assert [facet["key"] for facet in values["facets"] if facet["key"].startswith("trait:")] == ["trait:tone"]


def test_words_are_those_of_the_relation() -> None:
    assert relations.mark("star") == "changed"
    assert relations.mark("pairs") == "differs"
    assert relations.mark("expected") == "not as expected"
    assert relations.heading([]) == "Cases"
