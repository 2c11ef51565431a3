"""Build gender templates (BiasFinder, section 4.1, Algorithm 1) and find the one person of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.core import Document, Span
from harness.language.entities import Entity, Resolution
from harness.language.mentions import pronoun_slot
from harness.language.parsed_text import ParsedText
from harness.language.people import people
from harness.language.persons import Mention
from harness.suites.biasfinder.gender_nouns import MARKED, PRONOUN_KINDS, TITLES, GenderNouns
from harness.suites.biasfinder.rejections import doubt
from harness.suites.biasfinder.templates import Kind, Refusal, Slot, Template, cut

GROUPS = frozenset({"group", "bunch", "gang", "band", "team", "pair", "trio"})
ACTRESSES = frozenset({"actress", "actresses", "heroine", "heroines", "starlet", "starlets"})
PARTITIVES = frozenset({"one", "kind", "sort", "type", "part"})


def template(document: Document, resolution: Resolution, nouns: GenderNouns) -> Template | Refusal:
    """Return the gender template of a text, or a refusal.

    Its placeholders are each name, gendered pronoun and gender noun of the text's one person.
    """
    person = the_person(resolution, nouns)
    if isinstance(person, Refusal):
        return person
    reading = resolution.reading
    slots: list[Slot] = []
    for mention in person.mentions:
        of_mention = list(_slots(reading, mention, nouns))
        if not of_mention and mention.gender is not None:
            return Refusal("gendered-word", reading.text[mention.start : mention.end])
        if mention.title and _title_kind(reading, mention.title, nouns) is None:
            return Refusal("gendered-word", reading.text[slice(*mention.title)])
        slots += [*of_mention, *_among(reading, mention, nouns)]
    if slots and (word := _contradicted(reading, person, nouns, slots)):
        return Refusal("gendered-word", reading.word(word))
    return cut(document, "gender", slots) if slots else Refusal("no-person")


def _contradicted(
    reading: ParsedText, person: Entity, nouns: GenderNouns, slots: Sequence[Slot]
) -> int | None:
    """Return a word that would tell the former gender: *bearded*, *(Mrs. Stark)*, *this group of boys*."""
    telling = people().facts["gender"]
    near = {reading.tokens[mention.head].sentence for mention in person.mentions}
    starts = {slot.start for slot in slots}
    roles = ACTRESSES if "female" in person.genders else frozenset()
    for index, token in enumerate(reading.tokens):
        word = reading.lower(index)
        if (word in MARKED and token.tag in ("JJ", "NN", "NNP")) or (
            token.sentence in near and word in telling
        ):
            return index
        titled = word.rstrip(".") in TITLES and reading.word(index).istitle()
        if token.start not in starts and (
            titled
            or word in roles
            or (word in nouns and _group(reading, index))
            or (token.sentence in near and word not in nouns and people().genders.get(word) in person.genders)
        ):
            return index
    return None


def _group(reading: ParsedText, noun: int) -> bool:
    """Return whether a gender noun tells who belongs to a group: *this group of boys*, *like other women*."""
    if any(reading.lower(child) == "other" for child in reading.children[noun]):
        return True
    token = reading.tokens[noun]
    above = reading.tokens[token.head].head
    return token.dep == "pobj" and reading.lower(token.head) == "of" and reading.lower(above) in GROUPS


def the_person(resolution: Resolution, nouns: GenderNouns) -> Entity | Refusal:
    """Return the only person of a text (*filter* of Algorithm 1), or a refusal.

    A person is referred to by a name, by a gendered pronoun or by a noun that implies a gender. A noun that
    implies none (*the doctor*) may be among these, but does not make a person by itself. A name that is on no
    list and that nothing but names refers to is refused, since it is too often the title of a work; so is a
    text with another proper noun that may be a person.
    """
    reading = resolution.reading
    persons = [e for e in resolution.entities if any(_refers(reading, m, nouns) for m in e.mentions)]
    if not persons:
        return Refusal("no-person")
    if len(persons) > 1:
        heads = (e.mentions[0] for e in persons[:2])
        return Refusal("two-persons", ", ".join(reading.text[m.start : m.end] for m in heads))
    person = persons[0]
    certain = person.person and any(_proves(reading, m) for m in person.mentions)
    if not certain or len(person.genders) > 1:
        return Refusal("unclear", ", ".join(reading.text[m.start : m.end] for m in person.mentions))
    against = doubt(resolution, person)
    return Refusal("unclear", reading.text[slice(*against)]) if against else person


def names(reading: ParsedText, person: Entity) -> Iterator[tuple[int, int]]:
    """Yield the spans of a person's names, including the lone apostrophe of a possessive (*James'*)."""
    for mention in person.mentions:
        if mention.kind == "name":
            yield mention.start, _possessive_end(reading.text, mention.end)


def _proves(reading: ParsedText, mention: Mention) -> bool:
    """Return whether a mention alone shows that there is a person: *she*, *the guy*, *Mr. Fox*, *Steven*."""
    modifies = mention.kind == "name" and reading.tokens[mention.head].dep == "compound"
    return mention.gender is not None and not modifies


def _refers(reading: ParsedText, mention: Mention, nouns: GenderNouns) -> bool:
    if mention.kind == "other":
        return False
    return mention.kind != "nominal" or mention.gender is not None or reading.lower(mention.head) in nouns


def _slots(reading: ParsedText, mention: Mention, nouns: GenderNouns) -> Iterator[Slot]:
    if mention.kind == "name":
        yield Slot(mention.start, _possessive_end(reading.text, mention.end), "name")
        kind = _title_kind(reading, mention.title, nouns) if mention.title else None
        if mention.title and kind:
            yield Slot(*mention.title, kind)
    elif mention.kind == "pronoun":
        yield Slot(mention.start, mention.end, PRONOUN_KINDS[pronoun_slot(reading, mention.head)])
    elif reading.lower(mention.head) in nouns:
        yield from _noun_slots(reading, mention.head, nouns)


def _noun_slots(reading: ParsedText, index: int, nouns: GenderNouns) -> Iterator[Slot]:
    token = reading.tokens[index]
    form = nouns.get(reading.word(index))
    yield Slot(token.start, token.end, "gaw" if form and form.number == "singular" else "gaw-pl")
    if index and reading.lower(index - 1) in ("a", "an"):
        article = reading.tokens[index - 1]
        yield Slot(article.start, article.end, "det")


def _possessive_end(text: str, end: int) -> int:
    return end + 1 if text[end - 1].lower() == "s" and re.match(r"['’] ", text[end : end + 2]) else end


def _title_kind(reading: ParsedText, title: Span, nouns: GenderNouns) -> Kind | None:
    """Return the placeholder of a gendered title, None for a title without a counterpart."""
    word = reading.text[slice(*title)].lower().rstrip(".")
    if word in TITLES:
        return "title"
    return "gaw" if word in nouns else None


def _among(reading: ParsedText, mention: Mention, nouns: GenderNouns) -> Iterator[Slot]:
    """Yield slots for the plural noun in *she is one of the funniest women*."""
    token = reading.tokens[mention.head]
    if token.dep != "nsubj":
        return
    for child in reading.children[token.head]:
        if reading.tokens[child].dep == "attr" and reading.lower(child) in PARTITIVES:
            for index in reading.subtree(child):
                if reading.tokens[index].tag in ("NN", "NNS") and reading.lower(index) in nouns:
                    yield from _noun_slots(reading, index, nouns)
