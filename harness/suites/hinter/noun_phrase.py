"""What the phrase around a noun for a person says against a change of it."""

from __future__ import annotations

from collections.abc import Sequence

from harness.suites.hinter.people_text import PeopleText
from harness.suites.hinter.places import Place

CITIZENS = frozenset({"national", "citizen"})
LIKE = frozenset({"another", "also", "fellow", "too"})
RANKS = frozenset(
    """other another only same elder younger fellow real typical stereotypical average different changed
    native indigenous primitive foster military naval hard grown leading hired enlisted usual red""".split()  # noqa: SIM905
)
WHOLE = frozenset("man men woman women person people guy guys gal gals".split())  # noqa: SIM905
CONDITIONS = frozenset({"if", "unless", "when"})
MANY = frozenset({"many", "most"})


def incomplete(text: PeopleText, place: Place) -> bool:
    """Return whether a noun alone does not say whom it means, so that a word beside it splits the phrase."""
    return ranked(text, place) or compounded(text, place) or completed(text, place)


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
    """Return whether a noun is one of several of its kind: *the youngest child*, *a man like you*."""
    reading = text.reading
    return place.head is not None and any(
        reading.lower(c) == "like"
        or ((reading.lower(c) in RANKS or reading.tokens[c].tag in ("JJR", "JJS")) and c < place.head)
        for c in reading.children[place.head]
    )


def compounded(text: PeopleText, place: Place) -> bool:
    """Return whether a noun makes one word with that before it: *foster child*, *casting people*."""
    reading, head = text.reading, place.head
    if not head or head - 1 not in reading.children[head]:
        return False
    before = reading.tokens[head - 1]
    joined = before.dep == "compound" or before.tag == "VBG"
    return joined and not reading.word(head - 1)[:1].isupper()


def completed(text: PeopleText, place: Place) -> bool:
    """Return whether a plain noun needs its owner: *their men*, *the woman of their dreams*."""
    reading, head = text.reading, place.head
    if head is None or reading.lower(head) not in WHOLE:
        return False
    return followed_by_of(text, place) or reading.owned(head)


def followed_by_of(text: PeopleText, place: Place) -> bool:
    """Return whether an *of* follows the noun of ``place``, but for that of an age: *a man of fifty*."""
    reading, head = text.reading, place.head
    if head is None or head + 2 >= len(reading.tokens) or reading.lower(head + 1) != "of":
        return False
    return reading.tokens[head + 2].tag != "CD"


def graded(text: PeopleText, place: Place) -> bool:
    """Return whether a word has a measure that others have not: *severely disabled*, *skinny as a rail*."""
    reading, last = text.reading, text.reading.at(place.span[1] - 1)
    first = reading.at(place.span[0])
    if first is None or last is None:
        return False
    below = (
        reading.lower(c)
        for i in range(first, last + 1)
        if i != place.head
        for c in reading.children[i]
        if reading.tokens[c].dep == "advmod"
    )
    compared = last + 1 < len(reading.tokens) and reading.lower(last + 1) == "as"
    return compared or any(word.endswith("ly") for word in below)


def nation(text: PeopleText, place: Place) -> bool:
    """Return whether a word tells a whole nation, or all of one origin: *the Germans*, *the black miners*."""
    reading, head = text.reading, place.head
    last = reading.at(place.span[1] - 1)
    if head is None or last is None or last > head or reading.tokens[head].tag not in ("NNS", "NNPS"):
        return False
    below = {reading.lower(c) for c in reading.children[head]}
    counted = any(reading.tokens[c].dep == "nummod" for c in reading.children[head])
    few = any(reading.lower(c) == "only" for child in reading.children[head] for c in reading.children[child])
    return few or bool(below & MANY) or ("the" in below and not counted)


def addressed(text: PeopleText, place: Place) -> bool:
    """Return whether a word is said of any reader: *unless you are blind*, not of somebody asked."""
    reading, head = text.reading, place.head
    if head is None or reading.lower(head) != "you":
        return False
    return any(reading.lower(i) in CONDITIONS for i in reading.sentence(reading.tokens[head].sentence))


def of_writer(text: PeopleText, place: Place) -> bool:
    """Return whether a noun is said of the writer, who saw and heard: *when I was a child*."""
    reading, head = text.reading, place.head
    if head is None:
        return False
    above = reading.tokens[head].head
    if reading.lower(above) == "as":
        above = reading.tokens[above].head
    return any(
        reading.lower(c) == "i" and reading.tokens[c].dep in ("nsubj", "nsubjpass")
        for c in reading.children[above]
    )


def beloved(text: PeopleText, place: Place) -> bool:
    """Return whether *his girl*, a sweetheart, would become *his boy*, a son."""
    reading, head = text.reading, place.head
    return head is not None and reading.lower(head) in ("girl", "boy") and reading.owned(head)
