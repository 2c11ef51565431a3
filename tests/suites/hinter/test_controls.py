"""Control mutants change as much as mutants and name nobody; how many there are, and what they stand for."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.core import CONTROL, MIRRORS, Case, Document
from harness.language.differences import changes
from harness.language.entities import Entity, Resolution
from harness.language.parsers import CachedParser
from harness.language.people import people
from harness.settings import Controls
from harness.statistics import wilson
from harness.suites import lexicon
from harness.suites.hinter import persons
from harness.suites.hinter.conformity import Conformity
from harness.suites.hinter.suite import Hinter
from harness.suites.hinter.tag_comparison import DEPENDENCY, POS
from harness.suites.linguistic import sentiment
from harness.suites.neutral import neutral

ATTRIBUTES = ("race", "gender", "body")
BUNDLED = lexicon.load().select(ATTRIBUTES)


class Kept:
    """The resolver of persons, asked once for each text."""

    name = "kept"

    def __init__(self) -> None:
        self._resolver = persons.resolver()
        self._kept: dict[str, Resolution] = {}

    def resolve(self, texts: Iterable[str]) -> Iterator[Resolution]:
        asked = list(texts)
        new = [text for text in dict.fromkeys(asked) if text not in self._kept]
        self._kept |= dict(zip(new, self._resolver.resolve(new), strict=True))
        yield from (self._kept[text] for text in asked)

    def entities(self, text: str) -> tuple[Entity, ...]:
        return self._resolver.entities(text)


RESOLVER = Kept()
LABELS = ("Negative", "Positive")
SENTENCES = (
    "The Irish waitress lost her book and she was rude.",
    "A tall man began to talk about the movie.",
    "The film was shown in June, and people usually saw it twice.",
    "Perhaps the old woman bought the house, although it wasn't in the village.",
    "In Monday Night, Mr. Cole plays a black doctor.",
    "It's a film that the men have seen, and I don't think it is long.",
    "Two French actors met in a shop, and the script was great.",
    "His own story is a movie about movies.",
    "It also takes the script from the French women.",
    "The photo was in the letter, and the letter was in the apartment.",
    "The positive answer of the boy was published recently.",
)
texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6, unique=True).map(" ".join)
slow = settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow])


def suite(parser: CachedParser | None, share: float = 1 / 3, **options: object) -> Hinter:
    resolver = RESOLVER if parser is not None else None
    control = Controls(share=share)
    return Hinter(BUNDLED, parser, 2, resolver=resolver, control=control, labels=LABELS, **options)  # type: ignore[arg-type]


def made(made_by: Hinter, *documents: str) -> list[Case]:
    return list(made_by.cases(iter([Document(str(n), text) for n, text in enumerate(documents)])))


def split(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """The valid mutants and the controls."""
    mutants = [case for case in cases if case.role in ("atomic", "intersectional") and case.valid]
    return mutants, [case for case in cases if case.role == "control"]


def several() -> list[str]:
    """Texts of one to six sentences: every run of them."""
    size = len(SENTENCES)
    return [" ".join(SENTENCES[at % size :][: 1 + at % 6]) for at in range(2 * size)]


# How many


@slow
@given(text=texts, share=st.sampled_from([0.1, 1 / 3, 1.0]), seed=st.integers(0, 9))
def test_a_text_has_as_many_controls_as_its_share_or_one_unit(
    parser: CachedParser, text: str, share: float, seed: int
) -> None:
    mutants, controls = split(made(suite(parser, share, seed=seed), text))
    unit = 2 ** max((len(case.substitutions) for case in mutants), default=1) - 1
    assert len(controls) <= max(unit, share * len(mutants) + 1)


@pytest.mark.parametrize("share", [0.1, 1 / 3])
def test_over_many_draws_the_share_is_not_exceeded(parser: CachedParser, share: float) -> None:
    documents, seeds, sums = several(), range(6), Counter[str]()
    for seed in seeds:
        mutants, controls = split(made(suite(parser, share, seed=seed), *documents))
        sums["mutants"] += len(mutants)
        sums["controls"] += len(controls)
    # A text's number is drawn between two that are at most a unit (3) apart: its deviation is at most half.
    deviation = 1.5 * math.sqrt(len(seeds) * len(documents))
    assert 0 < sums["controls"] <= share * sums["mutants"] + 3 * deviation


def test_without_a_share_there_are_none(parser: CachedParser) -> None:
    mutants, controls = split(made(suite(parser, 0), *several()))
    assert mutants
    assert controls == []


# What belongs together


@slow
@given(text=texts, seed=st.integers(0, 9))
def test_the_parts_of_a_control_are_controls_and_mirror_parts_of_what_it_mirrors(
    parser: CachedParser, text: str, seed: int
) -> None:
    cases = made(suite(parser, 1.0, seed=seed), text)
    by_id = {case.id: case for case in cases}
    _, controls = split(cases)
    changed = {frozenset(case.substitutions) for case in controls}
    for case in controls:
        assert len(case.substitutions) == len(by_id[case.traits[MIRRORS]].substitutions)
        for size in range(1, len(case.substitutions)):
            assert all(frozenset(part) in changed for part in combinations(case.substitutions, size))


@slow
@given(text=texts, seed=st.integers(0, 9))
def test_no_text_occurs_twice(parser: CachedParser, text: str, seed: int) -> None:
    cases = made(suite(parser, 1.0, seed=seed), text)
    mutants, controls = split(cases)
    written = [case.text for case in controls]
    assert len({*written, text}) == len(written) + 1
    assert {case.text for case in mutants}.isdisjoint(written)
    assert len({case.id for case in cases}) == len(cases)


def test_a_text_whose_share_is_below_one_unit_is_drawn_now_and_then(parser: CachedParser) -> None:
    text, share, seeds = "The film was shown in June, and a man usually saw it twice.", 0.05, range(200)
    mutants, _ = split(made(suite(parser, 0), text))
    drawn = sum(bool(split(made(suite(parser, share, seed=seed), text))[1]) for seed in seeds)
    chance = share * len(mutants) / (2 ** max(len(c.substitutions) for c in mutants) - 1)
    low, high = wilson(drawn, len(seeds), 0.999) or (0.0, 1.0)
    assert low <= chance <= high


# What they change


@slow
@given(text=texts)
def test_controls_pass_the_invariant(parser: CachedParser, text: str) -> None:
    check = Conformity(parser, None, (POS, DEPENDENCY))
    _, controls = split(made(suite(parser, 1.0), text))
    assert [case.text for case in controls if check.check(text, case.text) is not None] == []


def touched(original: str, case: Case) -> Iterator[str]:
    """The words that differ between an original and a control."""
    before, after = changes(original, case.text)
    for text, spans in ((original, before), (case.text, after)):
        for start, end in spans:
            yield from re.findall(r"[\w'-]+", text[start:end].lower())


@slow
@given(text=texts, seed=st.integers(0, 9))
def test_no_control_touches_a_person_a_name_or_a_label(parser: CachedParser, text: str, seed: int) -> None:
    every = {part for a in lexicon.load().attributes.values() for w in a.words for part in w.lower().split()}
    _, controls = split(made(suite(parser, 1.0, seed=seed), text))
    for case in controls:
        if case.traits[CONTROL] == "group":
            continue
        words = set(touched(text, case))
        assert words.isdisjoint({"monday", "night", "cole", "mr", "positive"})
        assert not [word for word in words if people().person(word)]
        assert words.isdisjoint(every - FUNCTION)


FUNCTION = frozenset(
    ["a", "an", "the", "of", "in", "on", "not", "with", "who", "is", "from", "for", "and", "to"]
)
"""Words of phrases in the dictionaries that stand for nothing by themselves."""


def test_words_of_the_labels_stay(parser: CachedParser) -> None:
    text = "A man bought the script and sent the photo."
    for label, free in (("The script", False), ("Photo", True)):
        dictionary = Hinter(BUNDLED, parser, 2, resolver=RESOLVER, control=Controls(share=9), labels=[label])
        words = {w for case in split(made(dictionary, text))[1] for w in touched(text, case)}
        assert ("script" in words) == free


# By the seed alone


def identities(cases: Sequence[Case]) -> list[tuple[str, str]]:
    return [(case.id, case.text) for case in split(cases)[1]]


def test_controls_depend_on_the_seed_and_the_text_alone(parser: CachedParser) -> None:
    documents = several()
    whole = identities(made(suite(parser), *documents))
    assert whole == identities(made(suite(parser), *documents))
    one_by_one = [
        each
        for number, text in enumerate(documents)
        for each in identities(list(suite(parser).cases(iter([Document(str(number), text)]))))
    ]
    assert whole == one_by_one
    assert whole != identities(made(suite(parser, seed=1), *documents))


def test_without_a_parser_there_are_controls_too() -> None:
    mutants, controls = split(made(suite(None), *several()[:8]))
    assert 0 < len(controls) <= 0.4 * len(mutants)


# The dictionary


def pairs() -> Iterator[tuple[str, str, str]]:
    """Each word with what stands in for it, by tag."""
    for word, tags in neutral().stand_ins.items():
        for tag, stand_ins in tags.items():
            yield from ((word, each.target, tag) for each in stand_ins)


ENDINGS = {"n't": " not", "'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "'s": " is"}
IRREGULAR = {"can't": "cannot", "ca n't": "can not", "won't": "will not", "wo n't": "will not"}


def contraction(word: str) -> bool:
    return word.endswith(tuple(ENDINGS))


def test_a_contraction_stands_for_its_words() -> None:
    for word, target, _ in pairs():
        if contraction(word):
            ending = next(ending for ending in ENDINGS if word.endswith(ending))
            stem = word.removesuffix(ending).rstrip()
            assert target == IRREGULAR.get(word, stem + ENDINGS[ending])


def test_no_word_of_the_dictionary_has_sentiment() -> None:
    scores = sentiment.load("bundled")
    laden = {
        (word, tag)
        for first, second, tag in pairs()
        for word in (*first.split(), *second.split())
        if not contraction(first) and abs(score(scores, word, tag)) > sentiment.NEAR_ZERO
    }
    inserted = {
        (word, tag) for word, tag in insertions() if abs(score(scores, word, tag)) > sentiment.NEAR_ZERO
    }
    assert laden | inserted == set()


def score(scores: sentiment.SentimentLexicon, word: str, tag: str) -> float:
    kind = sentiment.word_class(word, tag)
    return scores.scores.get((word.lower(), kind), 0.0) if kind else 0.0


def insertions() -> Iterator[tuple[str, str]]:
    for insertion in neutral().insertions:
        yield from ((word, "JJ" if insertion.before else "RB") for word in insertion.words)


def test_words_stand_in_for_one_another_with_the_same_valence() -> None:
    valences = pytest.importorskip("vaderSentiment.vaderSentiment").SentimentIntensityAnalyzer().lexicon

    def valence(phrase: str) -> float:
        return sum(float(valences.get(word.lower(), 0.0)) for word in phrase.split())

    assert [(a, b) for a, b, _ in pairs() if valence(a) != valence(b)] == []
    assert [word for word, _ in insertions() if valence(word)] == []


def test_no_word_of_the_dictionary_is_about_persons() -> None:
    attributes = lexicon.load().attributes.values()
    about = {word.lower() for attribute in attributes for word in attribute.words}
    words = {part for a, b, _ in pairs() if not contraction(a) for part in (a, b, *a.split(), *b.split())}
    words |= {word for word, _ in insertions()}
    assert {word for word in words if word.lower() in about or people().person(word.lower())} == set()
