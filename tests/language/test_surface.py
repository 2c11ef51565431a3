"""Words keep their surface: case, the indefinite article, the form of a pronoun, and their place."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.language.parsers import Parser
from harness.language.surface import (
    PARADIGMS,
    SLOTS,
    Edit,
    Slot,
    apply,
    article_edit,
    begins_sentence,
    carry_case,
    containing,
    disjoint,
    paradigm,
    pronoun,
    slot,
    takes_an,
)
from harness.suites import lexicon
from harness.suites.hinter import mutation


def mutants(text: str, pairs: Sequence[tuple[str, str]], parser: Parser | None = None) -> list[str]:
    """``text`` mutated by each pair of one attribute, tags as ``parser`` gives them."""
    rows = ", ".join(f'["{source}", "{target}"]' for source, target in pairs)
    words = lexicon.parse(f"[attribute.one]\npairs = [{rows}]")
    tags: dict[int, str] = {}
    if parser is not None:
        for start, end in parser.split(text).spans:
            parse = parser.parse([text[start:end]])[0]
            tags |= {start + at: tag for at, tag in zip(parse.offsets, parse.pos, strict=True)}
    found = mutation.variations(text, words, words.find(text), tags.get)
    return [mutation.mutant(text, (one,)) for one in found.get("one", ())]


def mutate(text: str, source: str, target: str, parser: Parser | None = None) -> str:
    (result,) = mutants(text, [(source, target)], parser)
    return result


# Case


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("so the man left", "man", "woman", "so the woman left"),
        ("Men cheat. So do I.", "men", "women", "Women cheat. So do I."),
        ("It ended. Men left.", "men", "women", "It ended. Women left."),
        ("He said: “Men left.”", "men", "women", "He said: “Women left.”"),
        ("THE MAN LEFT", "man", "disabled man", "THE DISABLED MAN LEFT"),
        ("The Young Man", "young man", "old man", "The Old Man"),
        ("The Invisible Man returns", "man", "disabled man", "The Invisible Disabled Man returns"),
        ("Man is cruel", "man", "disabled man", "Disabled man is cruel"),
        ("the british crew", "British", "Pakistani", "the pakistani crew"),
        ("the British crew", "British", "white", "the white crew"),
        ("British crews", "British", "white", "White crews"),
        ("the white crew", "white", "Caucasian", "the Caucasian crew"),
        ("BRITISH CREWS", "British", "white", "WHITE CREWS"),
        ("the CEO left", "CEO", "nurse", "the nurse left"),
        ("CEO wanted", "CEO", "nurse", "Nurse wanted"),
        ("the nurse left", "nurse", "CEO", "the CEO left"),
        ("MR. Smith", "Mr.", "Mrs.", "MRS. Smith"),
        ("The man's dog and the man’s cat", "man", "woman", "The woman's dog and the woman’s cat"),
    ],
)
def test_case_is_carried_over(text: str, source: str, target: str, expected: str) -> None:
    assert mutate(text, source, target) == expected


@given(st.sampled_from(["man", "waiter", "young man"]), st.sampled_from(["woman", "old woman"]))
def test_case_goes_there_and_back(source: str, target: str) -> None:
    for shape in (str.lower, str.upper, str.title):
        there = carry_case(shape(source), source, target, initial=False)
        assert there == shape(target)
        assert carry_case(there, target, source, initial=False) == shape(source)


@pytest.mark.parametrize(
    ("before", "begins"),
    [
        ("", True),
        ('"', True),
        ("It ended. ", True),
        ("It ended.) ", True),
        ("Really?! ", True),
        ("line\n", True),
        ("It said: ", True),
        ("the ", False),
        ("well, ", False),
        ("It ended.", False),
    ],
)
def test_beginning_of_a_sentence(before: str, begins: bool) -> None:
    assert begins_sentence(before + "man", len(before)) is begins


# The indefinite article


@pytest.mark.parametrize(
    "phrase",
    [
        *("heir", "honest man", "hour", "honour", "heiress", "heirloom", "unusual man", "umbrella"),
        *("Asian", "American", "Indian", "Egyptian", "overweight man", "uncle", "aunt", "usher"),
        *("Irish", "Ethiopian", "Uzbek", "unmarried man", "uninsured man", "“old” man", "only child"),
    ],
)
def test_phrases_that_take_an(phrase: str) -> None:
    assert takes_an(phrase)
    assert takes_an(phrase.upper())


@pytest.mark.parametrize(
    "phrase",
    [
        *("British", "European", "one-legged man", "unique man", "uniform", "Ukrainian", "Uruguayan"),
        *("university", "union", "user", "utopia", "eunuch", "ewe", "house", "herd", "one", "once-rich man"),
        *("host", "hostess", "Ugandan", "hero", "heroine", "young man", "Yemeni", "white man", "usual man"),
    ],
)
def test_phrases_that_take_a(phrase: str) -> None:
    assert not takes_an(phrase)
    assert not takes_an(phrase.upper())


AN = ["American", "heir", "honest man", "hour", "unusual man", "umbrella", "Asian"]
A = ["British", "European", "one-legged man", "unique man", "uniform", "Ukrainian"]


@pytest.mark.parametrize("consonant", A)
@pytest.mark.parametrize("vowel", AN)
def test_the_article_follows_the_word_and_back(consonant: str, vowel: str) -> None:
    text = f"It was a {consonant}, or even a {consonant}."
    there = mutate(text, consonant, vowel)
    assert there == f"It was an {vowel}, or even an {vowel}."
    assert mutate(there, vowel, consonant) == text


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("A British man", "British", "American", "An American man"),
        ("An American man", "American", "British", "A British man"),
        ("A BRITISH MAN", "British", "American", "AN AMERICAN MAN"),
        ("AN AMERICAN MAN", "American", "British", "A BRITISH MAN"),
        ("a “British” man", "British", "American", "an “American” man"),
        ("a\nBritish man", "British", "American", "an\nAmerican man"),
        # The author's own wrong article is not ours to mend.
        ("an British man", "British", "American", "an American man"),
        ("an British man", "British", "Danish", "an Danish man"),
        ("a American man", "American", "Indian", "a Indian man"),
        # No article, or none of this word.
        ("the British man", "British", "American", "the American man"),
        ("pasta British man", "British", "American", "pasta American man"),
        ("a tall British man", "British", "American", "a tall American man"),
    ],
)
def test_articles_in_context(text: str, source: str, target: str, expected: str) -> None:
    assert mutate(text, source, target) == expected


def test_an_article_that_fits_needs_no_edit() -> None:
    assert article_edit("a man", 2, "man", "woman") is None
    assert article_edit("a man", 2, "man", "old man") == Edit(0, 1, "an")


# Pronouns

TO_HIM, TO_HER = [("her", "him"), ("her", "his")], [("his", "her"), ("his", "hers")]


@pytest.mark.parametrize(
    ("text", "pairs", "expected"),
    [
        ("I saw her and her dog.", TO_HIM, "I saw him and his dog."),
        ("I saw his dog, and the cat is his.", TO_HER, "I saw her dog, and the cat is hers."),
        ("She left.", [("she", "he")], "He left."),
        ("They gave it to him.", [("him", "her")], "They gave it to her."),
        ("He hurt himself.", [("himself", "herself")], "He hurt herself."),
        ("The book is hers.", [("hers", "his")], "The book is his."),
        ("HER DOG SAW HER", TO_HIM, "HIS DOG SAW HIM"),
    ],
)
def test_pronoun_forms_follow_the_part_of_speech(
    parser: Parser, text: str, pairs: Sequence[tuple[str, str]], expected: str
) -> None:
    assert mutants(text, pairs, parser) == [expected]
    assert mutants(text, pairs) == [expected], "and the guess without a parser is right here too"


@pytest.mark.parametrize(
    ("word", "tag", "after", "expected"),
    [
        ("her", "PRP$", "", "determiner"),
        ("her", "PRP", " dog", "accusative"),
        ("his", "PRP$", "", "determiner"),
        ("his", "PRP", " dog", "possessive"),
        ("her", None, " dog", "determiner"),
        ("her", None, " and left", "accusative"),
        ("her", None, ".", "accusative"),
        ("his", None, " dog", "determiner"),
        ("his", None, ", not mine", "possessive"),
        ("her", "NN", " old dog", "determiner"),
        ("Him", None, "", "accusative"),
        ("hers", "PRP", "", "possessive"),
        ("themselves", None, "", "reflexive"),
    ],
)
def test_slots(word: str, tag: str | None, after: str, expected: Slot) -> None:
    assert slot(word, tag, after) == expected


def test_every_form_of_every_paradigm() -> None:
    for name, forms in PARADIGMS.items():
        for where, form in zip(SLOTS, forms, strict=True):
            assert paradigm(form.upper()) == name
            assert [pronoun(other, where) for other in forms] == [form] * len(forms)
    assert paradigm("man") is None
    with pytest.raises(ValueError, match="no pronoun"):
        pronoun("man", "nominative")


# Edits


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text and disjoint edits of it, in any order; touching and empty ones among them."""
    text = draw(st.text(max_size=40))
    borders = sorted(draw(st.lists(st.integers(0, len(text)), unique=True, max_size=12)))
    spans = list(zip(borders[::2], borders[1::2], strict=False))
    edits = [Edit(start, end, draw(st.text(max_size=6))) for start, end in spans]
    return text, draw(st.permutations(edits))


@given(texts_and_edits())
def test_edits_at_once_are_replacements_from_the_right(given_: tuple[str, list[Edit]]) -> None:
    text, edits = given_
    expected = text
    for edit in sorted(edits, reverse=True):
        expected = expected[: edit.start] + edit.text + expected[edit.end :]
    assert disjoint(edits)
    assert apply(text, edits) == expected


@given(texts_and_edits())
def test_the_inverse_edits_restore_the_text(given_: tuple[str, list[Edit]]) -> None:
    text, edits = given_
    inverse, moved = [], 0
    for edit in sorted(edits):
        start = edit.start + moved
        inverse.append(Edit(start, start + len(edit.text), text[edit.start : edit.end]))
        moved += len(edit.text) - (edit.end - edit.start)
    assert apply(apply(text, edits), inverse) == text


def test_edits_never_see_each_others_output() -> None:
    # T1: with one after the other, "man" -> "black man" -> "white man" would come out.
    text = "a man and a black dog"
    edits = [Edit(2, 5, "black man"), Edit(12, 17, "white")]
    assert apply(text, edits) == "a black man and a white dog"


def test_overlapping_edits_are_refused() -> None:
    edits = [Edit(0, 4, "x"), Edit(3, 5, "y")]
    assert not disjoint(edits)
    with pytest.raises(ValueError, match="overlapping edits at 3"):
        apply("abcdef", edits)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(0, 40), st.integers(1, 6))
def test_the_containing_span_is_found(sizes: list[int], start: int, length: int) -> None:
    spans, at = [], 0
    for size in sizes:
        spans.append((at, at + size))
        at += size + size % 2  # some spans touch, some do not
    end = start + length
    inside = [i for i, (a, b) in enumerate(spans) if a <= start and end <= b]
    assert containing(spans, start, end) == (inside[0] if inside else None)
