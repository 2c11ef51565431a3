"""The bundled dictionaries are curated, and these tests say what that means."""

from __future__ import annotations

from hashlib import sha256

import pytest

from harness.language.parsers import Parser
from harness.suites import lexicon
from harness.suites.hinter import validation
from harness.suites.lexicon import Attribute, Exchange

BUNDLED = lexicon.load()
ATTRIBUTES = tuple(BUNDLED.attributes.values())
OPTIONAL = tuple(a for a in ATTRIBUTES if a.name not in lexicon.USUAL_ATTRIBUTES)

each_attribute = pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)
each_optional_attribute = pytest.mark.parametrize("attribute", OPTIONAL, ids=lambda a: a.name)


def exchanges(attribute: Attribute) -> list[Exchange]:
    return [exchange for of_word in attribute.exchanges.values() for exchange in of_word]


def test_the_three_attributes_of_the_paper_at_least_in_its_sizes() -> None:
    assert set(lexicon.USUAL_ATTRIBUTES) <= set(BUNDLED.attributes)
    sizes = {a.name: len({word.lower() for word in a.words}) for a in ATTRIBUTES}
    assert sizes["race"] >= 116
    assert sizes["gender"] >= 230
    assert sizes["body"] >= 98


def test_no_fault() -> None:
    assert list(validation.faults(BUNDLED)) == []


def test_the_only_terms_of_two_attributes_are_the_plain_nouns() -> None:
    usual = BUNDLED.select(lexicon.USUAL_ATTRIBUTES)
    shared = {line.split("'")[1] for line in validation.notes(usual)}
    assert shared == {"man", "men", "woman", "women"}


def test_the_other_attributes_are_used_only_where_they_are_named() -> None:
    assert {a.name for a in OPTIONAL} == {
        "age",
        "appearance",
        "disability",
        "names",
        "occupation",
        "religion",
        "sexual_orientation",
        "social_class",
    }
    assert tuple(lexicon.choose([]).attributes) == lexicon.USUAL_ATTRIBUTES
    assert list(lexicon.choose([], ["names", "religion"]).attributes) == ["names", "religion"]


@pytest.mark.parametrize("name", [a.name for a in OPTIONAL])
def test_a_file_says_where_its_words_are_from(name: str) -> None:
    text = (lexicon.BUNDLED / f"{name}.toml").read_text(encoding="utf-8")
    header = text.partition("[attribute.")[0].replace("\n# ", " ")
    assert "Source" in header
    assert any(licence in header for licence in ("MIT", "CC BY 4.0", "no published list was copied"))


@each_attribute
def test_every_exchange_names_its_groups_and_what_its_words_are(attribute: Attribute) -> None:
    for exchange in exchanges(attribute):
        assert exchange.source in attribute.groups[exchange.source_group]
        assert exchange.target in attribute.groups[exchange.target_group]
        assert exchange.source_group != exchange.target_group
        assert exchange.form is not None


def test_only_what_is_no_change_of_a_persons_gender_stands_by_itself() -> None:
    word_only = {e.source for a in ATTRIBUTES for e in exchanges(a) if e.word_only}
    assert {"CEO", "nurse", "brotherhood", "maternity"} <= word_only
    assert not word_only & {"he", "Mr.", "brother", "actress", "male"}


@each_attribute
def test_nouns_for_several_persons_are_plural_and_the_others_are_not(attribute: Attribute) -> None:
    wrong = {e.source for e in exchanges(attribute) if plural(e.source) != (e.form == "nouns")}
    assert wrong - PRONOUNS - SINGULAR_IN_S - NAMES == set()


@each_optional_attribute
def test_a_word_has_few_replacements(attribute: Attribute) -> None:
    assert max(len(targets) for targets in attribute.targets.values()) <= 12


@pytest.mark.parametrize(
    ("attribute", "source", "target"),
    [
        ("age", "young woman", "elderly woman"),
        ("age", "teenagers", "pensioners"),
        ("religion", "Muslim woman", "Christian woman"),
        ("religion", "Muslim", "Buddhist"),
        ("religion", "Muslims", "Christians"),
        ("sexual_orientation", "woman", "lesbian woman"),
        ("sexual_orientation", "the couple", "the gay couple"),
        ("sexual_orientation", "lesbians", "straight women"),
        ("social_class", "poor man", "wealthy man"),
        ("disability", "woman in a wheelchair", "woman"),
        ("disability", "men", "men with mental illness"),
        ("appearance", "man", "blond man"),
        ("appearance", "brunette", "redhead"),
        ("occupation", "electrician", "receptionist"),
        ("occupation", "nurses", "surgeons"),
        ("names", "Emily", "Aisha"),
        ("names", "Emily", "Matthew"),
    ],
)
def test_what_is_exchanged(attribute: str, source: str, target: str) -> None:
    assert target in BUNDLED.attributes[attribute].targets[source]


@each_optional_attribute
def test_words_for_anybody_are_not_described(attribute: Attribute) -> None:
    assert not {"person", "people", "couple"} & attribute.targets.keys()


def test_names_change_ethnicity_or_gender_and_never_both() -> None:
    def signals(group: str) -> tuple[str, str]:
        ethnicity, _, gender = group.rpartition("_")
        return ethnicity, gender

    for exchange in exchanges(BUNDLED.attributes["names"]):
        left, entered = signals(exchange.source_group), signals(exchange.target_group)
        assert (left[0] == entered[0]) != (left[1] == entered[1]), exchange


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
NAMES = frozenset(BUNDLED.attributes["names"].words)  # "Carlos"


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
    changed = [(a, b) for a, b in attribute.pairs if a not in PRONOUNS | NAMES and plural(a) != plural(b)]
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
