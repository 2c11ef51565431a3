"""What forbids a change of a person: a counterpart beside the word, or a fact that the text states."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.core import Span
from harness.language.people import KINSHIP, family
from harness.language.person_names import NAME_TAGS
from harness.language.persons import Gender, vocabulary
from harness.language.surface import paradigm
from harness.suites.hinter.people_text import PeopleText
from harness.suites.hinter.persons import Person
from harness.suites.hinter.places import Place

OTHER: dict[Gender, Gender] = {"male": "female", "female": "male"}
SPOUSES = frozenset(
    "husband wife husbands wives spouse spouses boyfriend girlfriend fiancé fiancée married marriage".split()  # noqa: SIM905
)
CITIZENS = frozenset({"national", "citizen"})
PEOPLES = frozenset(
    {"African", "Native American", "Arab", "Jewish", "Middle Eastern", "Asian", "European", "Puerto Rican"}
)
"""Demonyms without a citizenship."""
LIKE = frozenset({"another", "also", "fellow", "too"})
RANKS = frozenset("other another only same elder younger fellow".split())  # noqa: SIM905
OFFSPRING = frozenset("son daughter sons daughters child children grandson granddaughter".split())  # noqa: SIM905
JOINTS = frozenset({"/", "or", "and", "&", "vs", "vs."})


def coordinated(text: PeopleText, edits: Mapping[Span, str], gender: Gender) -> bool:
    """Return whether a word of ``gender`` that changes stands beside its counterpart: *husband and wife*."""
    tokens = text.reading.tokens
    changed = {start for start, _ in edits}
    for (start, _), target in edits.items():
        index = text.reading.at(start)
        if index is None:
            continue
        token = tokens[index]
        if paradigm(text.reading.lower(index)) and index and text.reading.lower(index - 1) == "or":
            return True
        others = [other for other in _conjuncts(text, index) if tokens[other].start not in changed]
        if token.tag[:2] == "NN" and any(
            text.gender_at(other) and not _apart(text, index, other) for other in others
        ):
            return True
        if any(text.gender_at(other) == OTHER[gender] for other in others):
            return True
        words = (text.reading.lower(i) for i in text.reading.sentence(token.sentence))
        another = target.lower() in words and not _indefinite(text, index)  # the woman saw the man
        if token.tag in ("NN", "NNS") and (another or _relative(text, target.lower())):
            return True
    return False


def _indefinite(text: PeopleText, index: int) -> bool:
    """Return whether a noun introduces somebody: *a woman who loves a rich man*."""
    return any(text.reading.lower(c) in ("a", "an") for c in text.reading.children[index])


def _apart(text: PeopleText, index: int, other: int) -> bool:
    """Return whether two nouns are for a spouse or parent and for a child: *his wife and daughter*."""
    return len({text.reading.lower(i) in OFFSPRING for i in (index, other)}) > 1 and any(
        text.reading.tokens[c].dep == "poss" for i in (index, other) for c in text.reading.children[i]
    )


def left_behind(text: PeopleText, edits: Mapping[Span, str], gender: Gender) -> bool:
    """Return whether a word of ``gender`` stays that may be for one of those who change, or their spouse."""
    changed = {start for start, _ in edits}
    titles = vocabulary().titles
    for index, token in enumerate(text.reading.tokens):
        word = text.reading.lower(index)
        if word in SPOUSES:
            return True
        if paradigm(word) or token.start in changed:
            continue  # every pronoun of the gender is a mention, but for *he or she*
        if text.gender_at(index) == gender or titles.get(word.rstrip(".")) == gender:
            return True
    return False


def _relative(text: PeopleText, target: str) -> bool:
    """Return whether the text already speaks of a relative of the kind of ``target``."""
    alike = family(target)
    return any(text.reading.lower(i) in alike for i in range(len(text.reading.tokens)))


def joined(text: PeopleText, places: Sequence[Place], terms: Collection[str]) -> bool:
    """Return whether a word is coordinated with a word like it.

    *Jewish and Christian parents*, *men and women*. ``terms`` are those of the attribute, in lower case.
    """
    for place in places:
        last = text.reading.at(place.span[1] - 1)
        if place.head is None or last is None:
            continue
        if last != place.head:
            alike = (
                text.reading.word(i)[:1].isupper() or text.reading.lower(i) in terms
                for i in _conjuncts(text, last)
            )
            if any(alike):
                return True
            continue
        if text.reading.word(last)[:1].isupper() and any(
            text.reading.tokens[i].tag in ("NNPS", "NNS") and text.reading.word(i)[:1].isupper()
            for i in _conjuncts(text, last)
        ):
            return True
        gender = text.gender_at(last)
        if gender and any(text.gender_at(i) == OTHER[gender] for i in _conjuncts(text, last)):
            return True
    return False


def contrasted(text: PeopleText, places: Sequence[Place], others: Collection[Place]) -> bool:
    """Return whether a sentence has another word of the attribute: *a white man … black women*."""
    tokens = text.reading.tokens

    def sentence(place: Place) -> int:
        index = text.reading.at(place.span[0])
        return -1 if index is None else tokens[index].sentence

    term = places[0].term
    unlike = [other for other in others if other.term != term]
    common = [other for other in unlike if other.term.islower()]
    if term.islower() and common:
        return any(other.head is not None for other in common)
    here = {sentence(place) for place in places}
    return any(other.head is not None and sentence(other) in here for other in unlike)


def _conjuncts(text: PeopleText, index: int) -> Iterator[int]:
    """Yield the tokens coordinated with ``index``, and those beyond a slash or an *or* beside it."""
    tokens = text.reading.tokens
    top = index
    while tokens[top].dep == "conj":
        top = tokens[top].head
    waiting = [top]
    while waiting:
        current = waiting.pop()
        if current != index:
            yield current
        waiting += [c for c in text.reading.children[current] if tokens[c].dep == "conj"]
    for joint, other in ((index + 1, index + 2), (index - 1, index - 2)):
        if 0 <= other < len(tokens) and text.reading.lower(joint) in JOINTS:
            yield other


def denied(text: PeopleText, edits: Collection[Span], person: Person, topic: str) -> bool:
    """Return whether a word near the person contradicts a change to ``topic``: *blind*, or a gender."""
    facts = text.words.facts.get(topic)
    if not facts:
        return False
    tokens = text.reading.tokens
    changed = {index for start, _ in edits if (index := text.reading.at(start)) is not None}
    sentences = {tokens[i].sentence for i in (*changed, *(m.head for m in person.mentions))}
    if topic == "gender":
        sentences |= {number + side for number in sentences for side in (-1, 1)}
    return any(
        token.sentence in sentences and i not in changed and text.reading.lower(i) in facts
        for i, token in enumerate(tokens)
    )


def sexed(text: PeopleText) -> bool:
    """Return whether the text says of somebody what only one sex can have or do."""
    return any(text.reading.lower(i) in text.words.facts["sex"] for i in range(len(text.reading.tokens)))


def at_home(text: PeopleText, demonym: str) -> bool:
    """Return whether the text names the country of ``demonym``, to which it ties the person."""
    if not demonym[:1].isupper():
        return False
    reading = text.reading
    countries = text.words.homes.get(demonym, frozenset())
    for entity in reading.named:
        word = reading.word(entity.first)
        place = entity.label in ("GPE", "LOC") and reading.tokens[entity.first].tag in NAME_TAGS
        related = word[:4] == demonym[:4] and word not in (demonym, f"{demonym}s")
        if place and (word in countries or related):
            return True
    return False


def citizen(text: PeopleText, place: Place) -> bool:
    """Return whether a word tells the citizenship of one person, which may be another wherever they live."""
    return place.head is not None and text.reading.lower(place.head) in CITIZENS


def shared(text: PeopleText, places: Sequence[Place]) -> bool:
    """Return whether a word is said of one of several: *another Polish national*, *also a Swiss citizen*."""
    reading = text.reading
    return any(
        place.head is not None and LIKE & {reading.lower(c) for c in reading.children[place.head]}
        for place in places
    )


def ranked(text: PeopleText, place: Place) -> bool:
    """Return whether a noun is one of several of its kind: *the youngest child*, *other people*."""
    reading = text.reading
    return place.head is not None and any(
        (reading.lower(c) in RANKS or reading.tokens[c].tag == "JJS") and c < place.head
        for c in reading.children[place.head]
    )


def relative(text: PeopleText, place: Place) -> bool:
    """Return whether a word describes a relative, whose origin is that of the family."""
    word = "" if place.head is None else text.reading.lower(place.head)
    return word in KINSHIP or bool(family(word))
