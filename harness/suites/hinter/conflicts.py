"""What forbids a change of a person: a counterpart beside the word, or a fact that the text states."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.core import Span
from harness.language.people import KINSHIP, family
from harness.language.person_names import NAME_TAGS
from harness.language.persons import Gender, Mention, vocabulary
from harness.language.surface import paradigm
from harness.suites.hinter.clarity import PLAIN
from harness.suites.hinter.people_text import PeopleText
from harness.suites.hinter.persons import Person
from harness.suites.hinter.places import Place

OTHER: dict[Gender, Gender] = {"male": "female", "female": "male"}
SPOUSES = frozenset(
    "husband wife husbands wives spouse spouses boyfriend girlfriend fiancé fiancée married marriage".split()  # noqa: SIM905
)
PEOPLES = frozenset(
    {"African", "Native American", "Arab", "Jewish", "Middle Eastern", "Asian", "European", "Puerto Rican"}
)
"""Demonyms without a citizenship."""
ENGLISH_NAMES = frozenset(
    ["American", "British", "English", "Scottish", "Welsh", "Australian", "Canadian", "Jamaican", "African"]
)
AGES = frozenset("young old elderly middle-aged teenage adolescent".split())  # noqa: SIM905
KIN = frozenset("father son brother nephew uncle cousin mother daughter sister niece aunt".split())  # noqa: SIM905
RELATIVES = (
    KIN
    | SPOUSES
    | frozenset(
        """dad mom mum daddy mommy grandfather grandmother grandpa grandma grandson granddaughter stepfather
    stepmother fiancé fiancée fiance fiancee""".split()  # noqa: SIM905
    )
)
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
    parted = len({text.reading.lower(i) in OFFSPRING for i in (index, other)}) > 1
    return parted and any(text.reading.owned(i) for i in (index, other))


def left_behind(text: PeopleText, edits: Mapping[Span, str], gender: Gender) -> bool:
    """Return whether a word of ``gender`` stays that may be for one of those who change, or their spouse."""
    return bool(SPOUSES & text.vocabulary) or any(
        not paradigm(text.reading.lower(i)) for i in staying(text, edits, gender)
    )


def staying(text: PeopleText, edits: Collection[Span], gender: Gender) -> Iterator[int]:
    """Yield the pronouns, nouns and titles of ``gender`` that a change with ``edits`` leaves as they are."""
    changed = {start for start, _ in edits}
    titles = vocabulary().titles
    for index, token in enumerate(text.reading.tokens):
        word = text.reading.lower(index)
        told = (text.gender_at(index), titles.get(word.rstrip(".")), _compound_gender(word))
        if token.start not in changed and gender in told:
            yield index


def _compound_gender(word: str) -> Gender | None:
    """Return the gender that the end of a word tells: *catwoman*, *cowgirls*, *Irishman*."""
    if word.endswith(("woman", "women", "girl", "girls", "bride")):
        return "female"
    men = ("shman", "shmen", "chman", "chmen", "tsman", "tsmen")  # Irishman, Frenchman, Scotsman
    return "male" if word == "everyman" or word.endswith(men) else None


def elsewhere(text: PeopleText, edits: Collection[Span], person: Person, gender: Gender) -> bool:
    """Return whether words of ``gender`` that stay may be for the person, or for one of the group.

    A single person is told from others by a name, as a spouse, or by whose relative it is; any other *woman*
    may be *the actress*, or *she*, elsewhere in the text. A group may be told by its members.
    """
    changed = {text.reading.at(start) for start, _ in edits}
    stay = [i for i in staying(text, edits, gender) if text.reading.tokens[i].head not in changed]
    if not person.single:
        return bool(stay)
    nouns = [i for i in stay if not paradigm(text.reading.lower(i))]
    heads = {text.reading.lower(mention.head) for mention in person.mentions}
    names = [text.text[m.start : m.end] for m in person.mentions if m.kind == "name"]
    if names or heads & SPOUSES:
        called = bool(names) and not any(" " in name for name in names)  # somebody's first name, or surname
        words = SPOUSES if heads & SPOUSES else PLAIN
        told = any(text.reading.lower(i) in words or _told_of(text, i) for i in nouns)
        return told or (called and len(nouns) < len(stay))
    if any(_relative_of(text, mention) for mention in person.mentions):
        kin = bool(heads & KIN)
        return any(text.reading.lower(i) not in RELATIVES - (KIN if kin else frozenset()) for i in nouns)
    return bool(stay)


def _told_of(text: PeopleText, index: int) -> bool:
    """Return whether a noun says who somebody is: *the owner (also a woman)*."""
    return text.reading.tokens[index].dep in ("attr", "appos", "ROOT")


def _relative_of(text: PeopleText, mention: Mention) -> bool:
    """Return whether a mention is a noun for somebody's relative: *Lulu's mother*."""
    noun = mention.kind == "nominal" and text.reading.owned(mention.head)
    return noun and text.reading.lower(mention.head) in RELATIVES


def met(text: PeopleText, edits: Mapping[Span, str]) -> bool:
    """Return whether *the woman* would become *the man* of whom the text speaks, too."""
    reading = text.reading
    for (start, _), target in edits.items():
        index = reading.at(start)
        if index is not None and target.lower() in PLAIN & text.vocabulary:
            return any(reading.lower(c) == "the" for c in reading.children[index])
    return False


def _relative(text: PeopleText, target: str) -> bool:
    """Return whether the text already speaks of a relative of the kind of ``target``."""
    return bool(family(target) & text.vocabulary)


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
    beside = [other for other in unlike if sentence(other) in here]
    return len(beside) > 2 or any(other.head is not None for other in beside)


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
    """Return whether a word contradicts a change to ``topic``: an age anywhere, *blind* nearby."""
    facts = text.words.facts.get(topic)
    if not facts:
        return False
    tokens = text.reading.tokens
    changed = {index for start, _ in edits if (index := text.reading.at(start)) is not None}
    sentences = {tokens[i].sentence for i in (*changed, *(m.head for m in person.mentions))}
    sentences |= {number + side for number in sentences for side in (-2, -1, 1, 2)}
    return any(
        (topic in AGES or token.sentence in sentences) and i not in changed and text.reading.lower(i) in facts
        for i, token in enumerate(tokens)
    )


def about(text: PeopleText, attribute: str) -> bool:
    """Return whether the text is about ``attribute`` itself: *racism*, say."""
    return bool(text.words.about.get(attribute, frozenset()) & text.vocabulary)


def sexed(text: PeopleText) -> bool:
    """Return whether the text says of somebody what only one sex can have or do."""
    return bool(text.words.facts["sex"] & text.vocabulary)


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


def named_for(text: PeopleText, term: str, person: Person) -> bool:
    """Return whether the person's name may tell the nation ``term``: *Thuy Nguyen, a Vietnamese actress*."""
    named = any(m.kind == "name" and " " in text.text[m.start : m.end] for m in person.mentions)
    return named and term[:1].isupper() and term.split()[0] not in ENGLISH_NAMES


def relative(text: PeopleText, place: Place) -> bool:
    """Return whether a word describes a relative, whose origin is that of the family."""
    word = "" if place.head is None else text.reading.lower(place.head)
    return word in KINSHIP or bool(family(word))
