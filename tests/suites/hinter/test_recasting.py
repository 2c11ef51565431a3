"""Persons change as a whole, and what is left alone has a reason: the suite with a resolver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import SAME_PERSON, Case, Document
from harness.language.parsers import Parser
from harness.suites import lexicon
from harness.suites.hinter import persons
from harness.suites.hinter.places import REASONS
from harness.suites.hinter.suite import Hinter

BUNDLED = lexicon.load()
RESOLVER = persons.resolver()
TEXT = "The Irish waitress lost her English book and she was rude."


def cases(text: str, *attributes: str, **options: object) -> list[Case]:
    suite = Hinter(BUNDLED.select(attributes), None, len(attributes), resolver=RESOLVER, **options)  # type: ignore[arg-type]
    return list(suite.cases(iter([Document("t", text)])))


def valid(made: Sequence[Case], role: str = "atomic") -> list[Case]:
    return [case for case in made if case.role == role and case.reason is None]


def test_a_word_that_describes_nobody_stays() -> None:
    made = cases(TEXT, "race")
    assert "The Pakistani waitress lost her English book and she was rude." in [c.text for c in valid(made)]
    assert all("her English book" in case.text for case in valid(made))
    english = [case for case in made if case.substitutions and case.substitutions[0].source == "English"]
    assert {case.reason for case in english} == {"not-a-person"}


def test_all_words_for_a_person_are_one_variation() -> None:
    [case] = valid(cases(TEXT, "gender"))
    assert case.text == "The Irish waiter lost his English book and he was rude."
    [substitution] = case.substitutions
    assert (substitution.source, substitution.target) == ("waitress/her/she", "waiter/his/he")
    assert (substitution.source_group, substitution.target_group) == ("female", "male")


@pytest.mark.parametrize(
    ("text", "meets"),
    [
        ("The Irish waitress lost her book.", {"yes"}),
        ("The waitress met an Irish doctor, and she smiled.", {"no"}),
        ("Irish waitresses serve here.", {"yes"}),
    ],
)
def test_an_intersectional_mutant_tells_whether_its_attributes_meet_on_one_person(
    text: str, meets: set[str]
) -> None:
    assert {
        case.traits[SAME_PERSON] for case in valid(cases(text, "race", "gender"), "intersectional")
    } == meets


def test_two_persons_are_two_variations() -> None:
    texts = {case.text for case in valid(cases("Mrs. Cole met Mr. Reyes, and he lost his hat.", "gender"))}
    assert "Mr. Cole met Mr. Reyes, and he lost his hat." in texts
    assert "Mrs. Cole met Ms. Reyes, and she lost her hat." in texts


def test_the_same_pair_at_two_persons_has_two_names() -> None:
    made = valid(cases("A blind doctor met a blind nurse.", "body"))
    assert len({case.id for case in made}) == len(made)
    assert len({case.substitutions[0].pair for case in made}) == len(made)
    assert {case.text.count("blind") for case in made} == {1}


@pytest.mark.parametrize(
    ("text", "attribute", "reason"),
    [
        ("Two men came in. Then he sat down.", "gender", "person-unclear"),
        ("The brother and sister argued.", "gender", "coordination"),
        ("The woman was pregnant.", "gender", "contradiction"),
        ("She spoke perfect Greek.", "race", "not-a-person"),
        ("A woman watched the parade.", "body", "contradiction"),
    ],
)
def test_what_is_left_alone_has_a_reason(text: str, attribute: str, reason: str) -> None:
    made = cases(text, attribute)
    assert reason in {case.reason for case in made if case.reason in REASONS}


def test_an_insertion_and_a_change_of_gender_meet_on_one_noun() -> None:
    made = valid(cases("A woman sat down.", "gender", "body"), "intersectional")
    texts = {case.text: case for case in made}
    case = texts["An autistic man sat down."]
    assert [s.operation for s in case.substitutions] == ["exchange", "insertion"]
    assert case.traits[SAME_PERSON] == "yes"


def test_a_first_name_takes_its_pronouns_with_it() -> None:
    texts = {case.text for case in valid(cases("Emily Walsh lost her keys. Emily was late.", "names"))}
    assert "Aisha Walsh lost her keys. Aisha was late." in texts
    assert "Matthew Walsh lost his keys. Matthew was late." in texts


GLUED = st.lists(
    st.sampled_from(
        ["Mr", "Mrs", "Mr.", ".", " ", "-", "'", "Bungle", "John", "he", "his", " met ", "A waiter"]
    ),
    min_size=2,
    max_size=8,
).map("".join)


@given(GLUED)
def test_whatever_is_glued_together_no_change_touches_a_character_twice(text: str) -> None:
    for case in cases(f"{text} sang. Mr.Bungle met Mr. Bungle.", "gender", "race"):
        assert case.text  # two edits of one character would be an error


def test_as_in_the_paper_each_pair_stands_by_itself() -> None:
    made = valid(cases(TEXT, "gender", consistency="word", meaning="person"))
    assert "The Irish waitress lost her English book and he was rude." in [case.text for case in made]
    literal = Hinter(BUNDLED.select(["race"]), None, 1)
    made = valid(list(literal.cases(iter([Document("t", TEXT)]))))
    assert "The Irish waitress lost her Pakistani book and she was rude." in [case.text for case in made]


def test_a_word_anywhere_changes_where_meaning_is_off() -> None:
    made = valid(cases("She spoke perfect Greek.", "race", meaning="off"))
    assert "She spoke perfect Pakistani." in [case.text for case in made]


def test_at_most_so_many_words_are_left_out_for_a_reason() -> None:
    made = cases("She spoke perfect Greek, Dutch and Polish.", "race", max_pairs=2)
    assert Counter(case.reason for case in made if case.reason)["not-a-person"] == 2


SUBJECTS = st.sampled_from(["waiter", "widower", "landlord", "policeman", "prince", "nephew"])
VERBS = st.sampled_from(
    ["lost {d} hat", "blamed {r}", "said that {n} was late", "told us that {d} car was old"]
)
FORMS = {"male": {"n": "he", "d": "his", "r": "himself"}, "female": {"n": "she", "d": "her", "r": "herself"}}


@given(SUBJECTS, st.lists(VERBS, min_size=1, max_size=3, unique=True))
def test_a_change_of_gender_is_undone_by_another(noun: str, verbs: list[str]) -> None:
    """What holds for every person of whom it is clear who is meant: there and back is the same text."""
    text = f"The {noun} " + " and ".join(verb.format(**FORMS["male"]) for verb in verbs) + "."
    [there] = valid(cases(text, "gender"))
    assert not set(there.text.lower().replace(".", "").split()) & {"he", "his", "him", "himself", noun}
    assert text in [case.text for case in valid(cases(there.text, "gender"))]


@pytest.fixture
def by_sentence(parser: Parser) -> Callable[[str], list[Case]]:
    suite = Hinter(BUNDLED.select(["race", "gender"]), parser, 2, resolver=RESOLVER)
    return lambda text: list(suite.cases(iter([Document("t", text)])))


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("The blond British actor left.", "race"),
        ("The British actor wrote of racism.", "race"),
        ("The man saw the band and heard each song.", "body"),
    ],
)
def test_each_contradicted_version_is_counted_once(text: str, attribute: str) -> None:
    made = cases(text, attribute)
    assert "contradiction" in {case.reason for case in made}
    assert max(Counter(case.id for case in made).values()) == 1


def test_the_invariant_still_decides(by_sentence: Callable[[str], list[Case]]) -> None:
    made = by_sentence("A British man walked in and lost his hat.")
    assert {"pos", None} <= {case.reason for case in made}


SENTENCES = [
    "The applicant was born in 1960 and complained to the Court.",
    "He relied on Article 8 of the Convention.",
    "On 3 May the judge heard him and dismissed his appeal pursuant to Section 4.",
    *[f"On {day} June the file was sent to another court." for day in range(1, 14)],
]


def legal(*more: str) -> str:
    """A long legal text with the sentences ``more`` in it."""
    return " ".join([*SENTENCES[:3], *more, *SENTENCES[3:]])


def genders(text: str) -> list[str]:
    return [case.text for case in valid(cases(text, "gender"))]


def test_in_a_long_legal_text_everybody_of_a_gender_changes() -> None:
    [changed] = genders(legal("The clerk said that he had told Mr Brown of it."))[:1]
    assert "She relied on" in changed
    assert "heard her and dismissed her appeal" in changed
    assert "that she had told Mrs Brown" in changed


def test_in_a_long_legal_text_a_pronoun_of_either_gender_stays() -> None:
    [changed] = genders(legal("Each party or his or her lawyer was heard."))
    assert "She relied on" in changed
    assert "his or her lawyer" in changed


@pytest.mark.parametrize(
    "sentence",
    [
        "His wife lived elsewhere.",
        "He was sent to a prison for men.",
        "Ganna Gavrylyuk told the court that he was ill.",
        "The seller of the flat, Mr V., was not heard.",
        "He was pregnant.",
    ],
)
def test_in_a_long_legal_text_nobody_changes_who_may_be_told_by_other_words(sentence: str) -> None:
    assert all("He relied on" in text for text in genders(legal(sentence)))


def test_two_persons_of_a_short_text_do_not_change_together() -> None:
    assert not genders("John met Peter in the hall. He was late.")


def test_first_names_with_one_initial_get_different_counterparts() -> None:
    names = genders(legal("James Malone met John Malone, and he was late."))
    assert names
    assert "James" not in names[0]
    assert "John" not in names[0]
    first, second = names[0].split("met ")[0].split()[-2], names[0].split("met ")[1].split()[0]
    assert first != second


def test_a_nation_of_whoever_has_a_citizenship_is_another_nation() -> None:
    made = {case.text for case in valid(cases("He is a Polish citizen and lives in Poland.", "race"))}
    assert "He is a Nigerian citizen and lives in Poland." in made
    assert not any(people in text for text in made for people in ("Arab", "Jewish", "Native American"))
