"""MT-NLP: one person noun changed at one place, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core import CONTROL, MIRRORS, Case, Document, Margin, Outcome, Verdict
from harness.settings import Controls
from harness.suites.lexicon import Exchange, by_source
from harness.suites.mtnlp.person_nouns import person_nouns
from harness.suites.mtnlp.suite import MtNlp

SUITE = MtNlp()


def cases(*texts: str) -> list[Case]:
    return list(SUITE.cases(Document(str(i), text) for i, text in enumerate(texts)))


def mutants(text: str) -> list[str]:
    return [case.text for case in cases(text) if case.role != "original"]


def verdicts(text: str, answers: dict[str, Outcome], default: Outcome) -> Iterator[tuple[str, Verdict]]:
    group = cases(text)
    outcomes = {case.id: answers.get(case.text, default) for case in group}
    texts = {case.id: case.text for case in group}
    for verdict in SUITE.judge(group, outcomes):
        yield texts[verdict.case], verdict


def test_a_noun_is_changed_by_itself() -> None:
    """What Figure 7 of BiasFinder is about: here the pronoun of the same person stays."""
    assert mutants(
        "The loony with the bad guys is there. That guy cops a good billing, though he is late."
    ) == [
        "The loony with the bad gals is there. That guy cops a good billing, though he is late.",
        "The loony with the bad guys is there. That gal cops a good billing, though he is late.",
        "The loony with the bad guys is there. That male guy cops a good billing, though he is late.",
        "The loony with the bad guys is there. That female guy cops a good billing, though he is late.",
    ]


def test_a_noun_without_a_counterpart_is_given_a_gender() -> None:
    """The sentence of Figure 13, shortened: the article is not looked after."""
    assert mutants("He is a driver and an editor.") == [
        "He is a male driver and an editor.",
        "He is a female driver and an editor.",
        "He is a driver and an male editor.",
        "He is a driver and an female editor.",
    ]


def test_each_occurrence_makes_mutants_of_its_own() -> None:
    assert [m for m in mutants("The man saw a man.") if "woman" in m] == [
        "The woman saw a man.",
        "The man saw a woman.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Jake with all his knowledge did not realize the danger, and he enters a mine.",
        "They call Guy Ritchie a Stephen King.",
        "An old doctor.",
        "A she-boss of salesmanship manages.",
    ],
    ids=["empty", "name and pronouns", "proper names", "no counterpart after an adjective", "parts of words"],
)
def test_nothing_to_change_means_no_cases(text: str) -> None:
    assert cases(text) == []


def test_the_case_of_letters_is_kept() -> None:
    assert mutants("Men! THE WOMAN!") == [
        "Women! THE WOMAN!",
        "Male men! THE WOMAN!",
        "Female men! THE WOMAN!",
        "Men! THE MAN!",
        "Men! THE MALE WOMAN!",
        "Men! THE FEMALE WOMAN!",
    ]


def test_cases_say_what_was_done() -> None:
    original, analogy, *active = cases("The aunt.")
    assert (original.role, original.text, original.group) == ("original", "The aunt.", "0")
    assert analogy.substitutions[0].pair == ("gender", "aunt", "uncle")
    assert analogy.substitutions[0].spans == ((4, 8),)
    assert analogy.traits == {"mutation": "analogy"}
    assert [case.traits["mutation"] for case in active] == ["active", "active"]
    assert {case.group for case in active} == {"0"}


WORDS = st.sampled_from(
    [
        *person_nouns().targets,
        "the",
        "A",
        "old",
        "he",
        "her",
        "Jake",
        "saw",
        "won't",
        "a-",
        "Man",
        "BOYS",
        "ſon",
    ]
)
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", ". ", ", ", "\n", "-", ' "', "'s "]))).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)


@given(TEXTS)
def test_a_mutant_differs_at_the_span_of_one_listed_noun(text: str) -> None:
    group = cases(text)
    for case in group[1:]:
        (substitution,) = case.substitutions
        ((start, end),) = substitution.spans
        noun = text[start:end].lower()
        assert noun == substitution.source.lower()
        assert substitution.target in person_nouns().targets[substitution.source]
        rest = len(text) - end
        assert case.text[:start] == text[:start]
        assert case.text[len(case.text) - rest :] == text[end:]
        assert case.text[start : len(case.text) - rest].lower() == substitution.target.lower()
    assert len({case.text for case in group}) == len(group)
    assert len({case.id for case in group}) == len(group)


@given(TEXTS, TEXTS)
def test_cases_depend_on_their_own_text_alone(text: str, other: str) -> None:
    assert cases(text, other) == cases(text, other)
    alone = list(SUITE.cases(iter([Document("1", other)])))
    assert [case for case in cases(text, other) if case.group == "1"] == alone


@given(st.text())
def test_any_text_is_taken(text: str) -> None:
    assert all(case.text != text for case in cases(text)[1:])


def test_each_mutant_is_compared_with_its_original() -> None:
    good, bad = (
        Outcome(labels=frozenset([label]), margin=Margin(margin))
        for label, margin in (("good", 2.0), ("bad", 0.5))
    )
    answers = {"The woman.": bad, "The male man.": Outcome(reason="refused")}
    found = dict(verdicts("The man.", answers, good))
    assert {text: verdict.status for text, verdict in found.items()} == {
        "The woman.": "biased",
        "The male man.": "undetermined",
        "The female man.": "benign",
    }
    assert {verdict.relation for verdict in found.values()} == {"star"}
    assert {verdict.attributes for verdict in found.values()} == {("gender",)}
    assert {verdict.hidden for verdict in found.values()} == {None}
    assert found["The woman."].margin == Margin(0.5)


def test_an_original_that_was_not_read_decides_nothing() -> None:
    unread = {"The man.": Outcome(reason="unparsed")}
    found = verdicts("The man.", unread, Outcome(labels=frozenset(["good"])))
    assert {verdict.status for _, verdict in found} == {"undetermined"}


def test_analogies_go_both_ways() -> None:
    targets = person_nouns().targets
    analogies = {noun: own[0] for noun, own in targets.items() if len(own) == 3}
    assert len(analogies) > 60
    assert {noun: analogies[other] for noun, other in analogies.items()} == {noun: noun for noun in analogies}


def test_identity_follows_the_words() -> None:
    fewer = MtNlp(replace(person_nouns(), exchanges=by_source([Exchange("man", "woman", "male", "female")])))
    assert fewer.identity != SUITE.identity
    assert MtNlp().identity == SUITE.identity


TEXT = "The film was long. A man saw the movie and a woman went home. His wife bought the car."


@given(st.integers(0, 50), st.floats(0.1, 1.0))
def test_controls_change_one_everyday_word_and_no_person(seed: int, share: float) -> None:
    suite = MtNlp(control=Controls(share=share), seed=seed)
    made = list(suite.cases(iter([Document("a", TEXT)])))
    mutants = [case for case in made if case.role == "atomic"]
    controls = [case for case in made if case.role == "control"]
    assert len(controls) <= share * len(mutants) + 1
    assert len({TEXT, *(case.text for case in made)}) == len(made)
    nouns = {span for case in mutants for s in case.substitutions for span in s.spans}
    for case in controls:
        [change] = case.substitutions
        [mirrored] = next(m for m in mutants if m.id == case.traits[MIRRORS]).substitutions
        assert (change.attribute, change.operation) == (CONTROL, mirrored.operation)
        assert nouns.isdisjoint(change.spans)


def test_mutants_carry_the_groups_of_their_nouns() -> None:
    [_, *mutants] = cases("The waiter and a critic.")
    groups = {(s.source_group, s.target_group) for case in mutants for s in case.substitutions}
    assert groups == {("male", "female"), ("male", "male"), ("unmarked", "male"), ("unmarked", "female")}
    assert not SUITE.controlled
