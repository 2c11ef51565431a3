"""A long document is cut before it is mutated: at a sentence end, as late as it fits."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import Document
from harness.documents.shortening import SPECIAL_TOKENS, TOKENS_A_MUTANT_ADDS, Shortener, longest
from harness.errors import ConfigError
from harness.files import DATA, read_toml
from harness.language import sentences


def words(text: str) -> int:
    return len(text.split())


def cut(text: str, limit: int) -> str:
    return next(Shortener(limit, words).shortened(iter([Document("1", text)]))).text


def test_the_cut_is_at_a_sentence_end() -> None:
    text = 'One two three. Four five! "Six seven?" Eight nine ten.'
    assert cut(text, 10) == text
    assert cut(text, 9) == 'One two three. Four five! "Six seven?"'
    assert cut(text, 6) == "One two three. Four five!"
    assert cut(text, 3) == "One two three."


@given(st.integers(-1000, 10**6))
def test_room_is_kept_for_what_mutants_add_and_short_texts_have_a_place(room: int) -> None:
    kept = room - longest(room)
    assert 0 <= kept <= TOKENS_A_MUTANT_ADDS
    assert (longest(room) >= 1) == (room >= 1)
    assert kept in (0, TOKENS_A_MUTANT_ADDS) or longest(room) >= 3 * kept


def test_without_a_sentence_end_it_is_at_a_word() -> None:
    assert cut("one two three four", 3) == "one two three"


def test_without_a_limit_nothing_changes() -> None:
    document = Document("1", "word " * 100_000, frozenset(["x"]))
    assert list(Shortener(None).shortened(iter([document]))) == [document]


def test_a_text_that_fits_for_sure_is_not_counted() -> None:
    def loads_a_model(text: str) -> int:
        raise AssertionError(text)

    short = Document("1", "Seven\nwörds, " * 4)
    shortener = Shortener(len(short.text.encode()) + SPECIAL_TOKENS, loads_a_model)
    assert list(shortener.shortened(iter([short]))) == [short]
    with pytest.raises(AssertionError):
        shortener.fits(Document("2", short.text + "x"))


RUNNING = [
    "It is General Electric Co. v. Joiner, 522 U. S. 136, that decides.",
    "Mr. and Mrs. Smith v. the U.S. Dept. of Justice lost.",
    "See Daubert et al. v. Merrell Dow Pharm., Inc., No. 92-102, at p. 3.",
    "Under Fed. R. Civ. P. 23(a), cf. id. at 5, i.e. the rule.",
    "The Ninth Cir. held, in Doe v. Roe Corp., 5 F. Supp. 2d 3 (Dec. 1998), so.",
    "Dr. J. R. R. Tolkien, Jr. of St. Louis, Ill. came at 5 p.m. sharp.",
    "Art. 6 § 1 and Sec. 12 of vol. 3, pp. 4 ff., Ex. A, say so.",
    "Lt. Col. Brown, Esq. vs. Acme Bros. Ltd. was heard by the Hon. Mr. Justice Gray.",
    "The applicants, [O.H.] and Gy.B. and Yar. B., complained.",
    "5. The applicant was born in 1961.",
    "II. The law is this.",
    "He said ... nothing . . . of it … at all.",
    "Bread, milk, etc. were sold.",
]


@pytest.mark.parametrize("sentence", RUNNING)
def test_abbreviations_and_initials_end_no_sentence(sentence: str) -> None:
    text = f"It began.\n{sentence} That was all."
    places = [0, *sentences.ends(text + " ")]
    assert [text[a:b].strip() for a, b in pairwise(places)] == ["It began.", sentence, "That was all."]


ABBREVIATIONS = read_toml(DATA / "abbreviations.toml", ConfigError)
WORDS = ["the", "court", "of", "appeals", "found", "him", "right", "twice", "children", "law"]
plain = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


def stopped(kind: str) -> st.SearchStrategy[str]:
    return st.sampled_from(ABBREVIATIONS[kind].split())


short = st.one_of(
    stopped("always").map(lambda word: f"{word}."),
    stopped("always").map(lambda word: f"({word.capitalize()}.)"),
    stopped("capitalized").map(lambda word: f"{word}."),
    stopped("numbered").flatmap(lambda word: st.integers(1, 999).map(lambda number: f"{word}. {number}")),
    st.characters(categories=["Lu"]).map(lambda letter: f"{letter}."),
    st.text("ABCDEFGHIJ", min_size=2, max_size=4).map(lambda letters: "".join(f"{one}." for one in letters)),
)


@given(st.lists(st.tuples(plain, short, plain), min_size=1, max_size=4), st.integers(1, 60))
def test_no_cut_is_behind_an_abbreviation(parts: list[tuple[str, str, str]], limit: int) -> None:
    made = [f"So {before} {stop} {after.capitalize()}." for before, stop, after in parts]
    text = "It began. " + " ".join(made)
    whole = ["It began.", *made]
    allowed = {" ".join(whole[:number]) for number in range(1, len(whole) + 1)}
    if limit >= 2:
        assert cut(text, limit) in allowed
    assert len(list(sentences.ends(text + " "))) == len(whole)


@given(st.lists(st.tuples(plain, st.sampled_from([".", "!", "?", ".”", "?)", "!'"])), min_size=1))
def test_plain_sentences_all_end(parts: list[tuple[str, str]]) -> None:
    made = [words.capitalize() + mark for words, mark in parts]
    text = " ".join(made) + " "
    assert [text[a:b].strip() for a, b in pairwise([0, *sentences.ends(text)])] == made


def test_opinions_are_cut_behind_no_abbreviation(shared_data: Path) -> None:
    """Of Supreme Court opinions: every place where one could be cut, against what never ends a sentence."""
    never = re.compile(r"(?:\bv|\bal|\bMr|\bCo|\bInc|\bFed|\bCir|\bSupp|\bStat|\bCf|\b[A-Z])\.$")
    seen = 0
    opinions = (shared_data / "lexglue" / "scotus_unlabelled_2020_2023.jsonl").read_text(encoding="utf-8")
    for line in opinions.splitlines():
        text = json.loads(line)["text"]
        for end in sentences.ends(text):
            seen += 1
            assert not never.search(text[max(0, end - 20) : end]), text[max(0, end - 60) : end + 20]
    assert seen > 10_000


@given(
    st.lists(st.sampled_from(["a", "bb", "ccc.", "d!", "e?", "“f.”", "g\n"]), min_size=1), st.integers(1, 30)
)
def test_what_is_left_is_a_beginning_that_fits_and_no_longer_one_does(tokens: list[str], limit: int) -> None:
    text = " ".join(tokens)
    left = cut(text, limit)
    assert text.startswith(left)
    assert words(left) <= limit
    if words(text) <= limit:
        assert left == text
