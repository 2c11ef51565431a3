"""The bundled dictionaries are curated, and these tests say what that means."""

from __future__ import annotations

from hashlib import sha256

import pytest

from harness.language.parsers import Parser
from harness.suites.hinter import lexicon, validation
from harness.suites.hinter.lexicon import Attribute

BUNDLED = lexicon.load()
ATTRIBUTES = tuple(BUNDLED.attributes.values())

each_attribute = pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)


def test_the_three_attributes_of_the_paper_at_least_in_its_sizes() -> None:
    assert set(lexicon.USUAL_ATTRIBUTES) <= set(BUNDLED.attributes)
    sizes = {a.name: len({word.lower() for word in a.words}) for a in ATTRIBUTES}
    assert sizes["race"] >= 116
    assert sizes["gender"] >= 230
    assert sizes["body"] >= 98


def test_no_fault() -> None:
    assert list(validation.faults(BUNDLED)) == []


def test_the_only_terms_of_two_attributes_are_the_plain_nouns() -> None:
    shared = {line.split("'")[1] for line in validation.notes(BUNDLED)}
    assert shared == {"man", "men", "woman", "women"}


# First 12 hex digits of the SHA-256 of slurs and of insults in lower case; they need not be spelled here.
OFFENSIVE = """
08a841e99678 120f6e5b4ea3 158869a97379 16ea09fc78ca 22fc75e65a0e 3b1e0d7c5dd4 4b18aefe826a
566f532d486c 886d51e97ad7 8f5083e3e5c7 98b52c4b6b7d 9915ba2d8222 9ae315a94e42 bb87adf8aa78
c2c3b68b4883 c3de533e9b7f cc02032349c8 e84dde508a60 eef3bd091670 f9d0d9b18ae9
"""
LEFT_OUT = ("colored", "oriental", "bitch", "jerk", "ugly", "hysterical", "retarded", "crippled", "midget")


def test_no_slurs_and_no_insults() -> None:
    words = {part.lower() for a in ATTRIBUTES for word in a.words for part in (word, *word.split())}
    assert not words & set(LEFT_OUT)
    assert not {sha256(word.encode()).hexdigest()[:12] for word in words} & set(OFFENSIVE.split())


def test_no_everyday_words() -> None:
    # T11: "Go", "You" and "Do" stood in a list of names.
    everyday = "go you do will may can i it they the a of us no yes god lord count chief miss page"
    found = {a.name: a.find(f"{everyday} {everyday.title()}".replace("Miss", "")) for a in ATTRIBUTES}
    assert found == {a.name: {} for a in ATTRIBUTES}


@pytest.mark.parametrize(
    "text",
    [
        "Mrs. White and Jack Black met Stephen King and Prince.",
        "a Danish pastry is no danish, polish the pole, french fries",
        "I miss Guy Ritchie and Lady Gaga, and the Queen",
        "nonwhite whiteness, a whitewashed blackboard",
    ],
)
def test_names_and_things_are_not_persons(text: str) -> None:
    terms = {term for a in ATTRIBUTES for term in a.find(text)}
    assert terms <= {"Mrs.", "Danish"}


IRREGULAR = {"women", "men", "children", "people", "folks"}
PRONOUNS = {"he", "him", "his", "himself", "she", "her", "hers", "herself"}
SINGULAR_IN_S = {"mrs", "ms", "missus", "indigenous"}


def plural(word: str) -> bool:
    """Whether the head noun of ``word`` is plural, by its form."""
    heads = {*IRREGULAR, "woman", "man", "child", "person"}
    parts = word.lower().rstrip(".").split()
    head = next((part for part in parts if part in heads), parts[-1])
    if head.endswith("men") or head in IRREGULAR:
        return True
    return head.endswith("s") and not head.endswith(("ss", "ese")) and head not in SINGULAR_IN_S


@each_attribute
def test_no_pair_changes_number(attribute: Attribute) -> None:
    changed = [(a, b) for a, b in attribute.pairs if a not in PRONOUNS and plural(a) != plural(b)]
    assert changed == []


NOUN_LIKE = {"NN", "NNS", "NNP", "NNPS", "JJ", "VBN", "VBG"}


@each_attribute
def test_most_pairs_keep_the_part_of_speech_in_a_frame(attribute: Attribute, parser: Parser) -> None:
    """Before a noun and in place of one: at one of the two, the tags of the frame around must not move."""
    words = [word for word in attribute.words if word.lower() not in PRONOUNS]
    frames = ("We met the {} in town.", "We met the {} teacher in town.")
    conforming: set[str] = set()
    for frame in frames:
        for word, parse in zip(words, parser.parse([frame.format(w) for w in words]), strict=True):
            tail = parse.pos[-3:] if "teacher" not in frame else parse.pos[-4:]
            if tail in (("IN", "NN", "."), ("NN", "IN", "NN", ".")) and parse.pos[:3] == ("PRP", "VBD", "DT"):
                conforming.add(word)
    assert len(conforming) >= 0.97 * len(words), sorted(set(words) - conforming)


@each_attribute
def test_every_exchange_can_be_undone(attribute: Attribute) -> None:
    assert {(b, a) for a, b in attribute.pairs} == set(attribute.pairs)


def test_the_genders_of_body_phrases_stay() -> None:
    def nouns(phrase: str) -> set[str]:
        return {"man", "men", "woman", "women", "child", "children"} & set(phrase.split())

    body = BUNDLED.attributes["body"]
    assert [(a, b) for a, b in body.pairs if nouns(a) != nouns(b)] == []
