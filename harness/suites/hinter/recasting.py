"""Make the variations of a text person by person: all words for one person change together.

A word that describes nobody, and a person of whom it is not clear which words are theirs, are left alone,
each with the reason. A change of gender takes a single person's pronouns, nouns, title and first name with
it; any other changes its own word wherever it describes that person, or inserts a word at the first place.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.core import Span
from harness.language.entities import Resolution
from harness.language.generality import general
from harness.language.people import people
from harness.language.surface import Edit, article_edit, begins_sentence, carry_case, paradigm
from harness.suites.hinter import conflicts, noun_phrase, places
from harness.suites.hinter.gender_change import GenderChange
from harness.suites.hinter.mutation import Occurrences, Variation
from harness.suites.hinter.people_text import MeaningOf, PeopleText
from harness.suites.hinter.persons import Person
from harness.suites.hinter.places import CONTRADICTION, COORDINATION, NOT_A_PERSON, UNCLEAR, Left, Place
from harness.suites.lexicon import Attribute, Exchange, Lexicon

SENSES = frozenset({"blind", "deaf"})
PAINTED = {"black": "black", "white": "white", "Caucasian": "white"}
COLOURS = frozenset({"black", "white"})
STEM = 5  # letters of a demonym that its other forms share: African, Africans
SPELLINGS = (
    ("Jew", "Jewish", "Jews"),
    ("Native", "Indian"),
    ("Pole", "Polish", "Poles"),
    ("Dane", "Danish", "Danes"),
    ("Swede", "Swedish", "Swedes"),
    ("Turk", "Turkish", "Turks"),
    ("Scot", "Scottish", "Scots"),
    ("Brit", "British", "Britons"),
    ("Finn", "Finnish", "Finns"),
    ("Spani", "Spanish", "Spaniard"),
)
"""Words for one people whose beginnings differ, or are short."""


@dataclass
class Recast:
    """The variations of one text by attribute, and the terms left alone."""

    variations: dict[str, list[Variation]] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)


class Recaster:
    """Makes the variations of texts with the dictionaries of ``lexicon``."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        exchanges = (
            e for a in lexicon.attributes.values() for listed in a.exchanges.values() for e in listed
        )
        words = (e.source for e in exchanges if e.form not in ("name", "title"))
        self._demonyms = frozenset(part for word in words for part in word.split() if part[:1].isupper())

    def text(self, resolution: Resolution, meaning: MeaningOf = "person") -> RecastText:
        """Prepare a resolved text; with ``meaning`` off, words that describe nobody change, too."""
        return RecastText(self._lexicon, PeopleText(resolution, people(), self._demonyms, meaning))


class RecastText:
    """One text on its way to its variations."""

    def __init__(self, lexicon: Lexicon, text: PeopleText) -> None:
        self._lexicon = lexicon
        self._text = text

    def tag(self, offset: int) -> str | None:
        """Return the fine part-of-speech tag of the token at ``offset``."""
        index = self._text.reading.at(offset)
        return None if index is None else self._text.reading.tokens[index].tag

    def about_persons(self, occurrences: Occurrences) -> tuple[Occurrences, list[Left]]:
        """Return the occurrences that describe persons, and the others as left alone."""
        about: dict[str, dict[str, list[Span]]] = {}
        others: list[Place] = []
        for name, terms in occurrences.items():
            attribute = self._lexicon.attributes[name]
            for term, spans in terms.items():
                for span in spans:
                    place = self._text.place(attribute, term, span)
                    if place.head is None:
                        others.append(place)
                    else:
                        about.setdefault(name, {}).setdefault(term, []).append(span)
        return about, places.left(NOT_A_PERSON, others)

    def recast(self, occurrences: Occurrences) -> Recast:
        """Return the variations of the text, in which the terms ``occurrences`` occur."""
        result = Recast()
        for name, terms in occurrences.items():
            attribute = self._lexicon.attributes[name]
            found = [
                self._text.place(attribute, term, span)
                for term, spans in terms.items()
                for span in spans
                if not all(exchange.word_only for exchange in attribute.exchanges[term])
            ]
            result.left += places.left(NOT_A_PERSON, [place for place in found if place.head is None])
            variations = list(_Attribute(self._text, attribute, result.left).variations(found))
            if variations:
                result.variations[name] = _told_apart(variations)
        return result


class _Attribute:
    """The changes of one attribute in one text; what is left alone is added to ``left``."""

    def __init__(self, text: PeopleText, attribute: Attribute, left: list[Left]) -> None:
        self._text = text
        self._attribute = attribute
        self._left = left
        self._gender = GenderChange(text, attribute)
        self._found: Sequence[Place] = ()

    def variations(self, found: Sequence[Place]) -> Iterator[Variation]:
        """Yield the variations of the places that describe a person."""
        self._found = found
        by_person: dict[str, tuple[Person, list[Place]]] = {}
        for place in found:
            if place.head is not None:
                person = self._text.persons.of(place.head)
                by_person.setdefault(person.key, (person, []))[1].append(place)
        persons = list(self._settled(by_person.values()))
        yield from self._genders(persons)
        for person, of_person in persons:
            yield from self._of_person(person, of_person)

    def _leave(self, reason: places.Reason, left: Sequence[Place]) -> None:
        self._left += places.left(reason, left)

    def _settled(
        self, by_person: Collection[tuple[Person, list[Place]]]
    ) -> Iterator[tuple[Person, list[Place]]]:
        """Yield persons with their places, without words that a group shares with others."""
        holders: dict[str, list[Person]] = {}
        for person, its_places in by_person:
            for term in dict.fromkeys(place.term for place in its_places):
                holders.setdefault(term, []).append(person)
        shared = {
            term
            for term, persons in holders.items()
            if len(persons) > 1 and not all(p.single for p in persons) and not self._noun(term)
        }
        for person, its_places in by_person:
            self._leave(UNCLEAR, [place for place in its_places if place.term in shared])
            own = [place for place in its_places if place.term not in shared]
            if own:
                yield person, own

    def _noun(self, term: str) -> bool:
        """Return whether a term is a noun or a pronoun, whose places are one group or person each."""
        return paradigm(term) is not None or self._text.words.person(term.lower())

    def _genders(self, persons: Sequence[tuple[Person, list[Place]]]) -> Iterator[Variation]:
        """Yield the changes of gender: of each person, or of all whom the text does not tell apart."""
        companies: dict[str, tuple[Person, list[Place]]] = {}
        for person, its_places in persons:
            gendered = [place for place in its_places if self._gender.concerns(place)]
            if gendered:
                company = self._text.persons.company(person)
                companies.setdefault(company.key, (company, []))[1].extend(gendered)
        for company, gendered in companies.values():
            changes = self._gender.change(company, gendered)
            if isinstance(changes, list):
                yield from changes
            else:
                self._leave(changes, gendered)

    def _of_person(self, person: Person, its_places: Sequence[Place]) -> Iterator[Variation]:
        """Yield the changes that leave the gender of a person."""
        terms: dict[str, list[Place]] = {}
        for place in its_places:
            if self._others(place):
                terms.setdefault(place.term, []).append(place)
        exchanged = [t for t, of_term in terms.items() if any(map(_replaces, self._others(of_term[0])))]
        if person.single and len(exchanged) > 1:
            self._leave(UNCLEAR, [place for term in exchanged for place in terms.pop(term)])
        for of_term in terms.values():
            yield from self._exchanged(person, of_term)

    def _others(self, place: Place) -> list[Exchange]:
        """Return the exchanges of a term that do not change a gender."""
        return [e for e in self._text.exchanges(self._attribute, place) if not self._gender.gendered(e)]

    def _exchanged(self, person: Person, of_term: Sequence[Place]) -> Iterator[Variation]:
        """Yield the changes of one term of a person."""
        first = min(of_term, key=lambda place: place.span)
        exchanges = self._others(of_term[0])
        reason = self._forbids(person, of_term, first, exchanges)
        if reason:
            self._leave(reason, of_term)
            return
        denied = False
        for exchange in exchanges:
            if self._unfit(exchange, of_term, first):
                continue
            variation = self._by(exchange, person, of_term, first)
            denied |= variation is None
            if variation is not None:
                yield variation
        if denied:
            self._leave(CONTRADICTION, of_term[:1])

    def _unfit(self, exchange: Exchange, of_term: Sequence[Place], first: Place) -> bool:
        """Return whether the word of an exchange does not fit the phrase, or a word of the text."""
        text, target = self._text, exchange.target
        stateless = target in conflicts.PEOPLES and noun_phrase.citizen(text, first)
        told = target.split()[0] in SENSES and noun_phrase.of_writer(text, first)
        opposed = PAINTED.get(target, "") in text.vocabulary
        torn = target.startswith(f"{exchange.source} ") and noun_phrase.followed_by_of(text, first)
        return stateless or told or opposed or torn or self._doubles(exchange, of_term)

    def _forbids(
        self, person: Person, of_term: Sequence[Place], first: Place, exchanges: Sequence[Exchange]
    ) -> places.Reason | None:
        """Return why a term of a person cannot change; None if it can."""
        text = self._text
        if conflicts.joined(text, of_term, {term.lower() for term in self._attribute.exchanges}):
            return COORDINATION
        alike = [place for place in self._found if place.term == first.term]
        if noun_phrase.shared(text, alike) or (
            first.term.lower() in conflicts.AGES and len(alike) > len(of_term)
        ):
            return UNCLEAR
        group = not person.single and first.head is not None and text.persons.anaphoric(first.head)
        inserted = any(exchange.operation == "insertion" for exchange in exchanges)
        if inserted and self._general(first):
            return NOT_A_PERSON
        if inserted and (group or noun_phrase.incomplete(text, first)):
            return UNCLEAR
        replaced = any(map(_replaces, exchanges))
        if replaced and self._attribute.name == "race" and noun_phrase.nation(text, first):
            return UNCLEAR
        if replaced and (noun_phrase.graded(text, first) or noun_phrase.addressed(text, first)):
            return NOT_A_PERSON
        forms = {exchange.form for exchange in exchanges}
        if "name" in forms:
            return None if person.clear else UNCLEAR
        described = "adjective" in forms or first.term[:1].isupper()
        if described and conflicts.contrasted(text, of_term, self._found):
            return COORDINATION
        tied = (
            conflicts.at_home(text, first.term)
            or (not text.lenient and self._said_elsewhere(of_term))
            or (conflicts.relative(text, first) and len(of_term) < len(alike))
        )
        if tied and not noun_phrase.citizen(text, first):
            return CONTRADICTION
        name, spans = self._attribute.name, [place.span for place in of_term]
        if conflicts.denied(text, spans, person, name):
            return CONTRADICTION
        told = conflicts.about(text, name) or conflicts.named_for(text, first.term, person)
        return CONTRADICTION if told and not text.lenient else None

    def _general(self, place: Place) -> bool:
        """Return whether a noun is of nobody in particular; never where a reader will decide."""
        text = self._text
        return place.head is not None and not text.lenient and general(text.reading, text.words, place.head)

    def _said_elsewhere(self, of_term: Sequence[Place]) -> bool:
        """Return whether a word for a nation or a colour is said elsewhere: *a Turk … the Turkish mob*.

        Or another form of it of others: *an African woman … Africans*, *a white man … the whites*.
        """
        term = of_term[0].term
        here = {place.span[0] for place in of_term}
        if term[:1].isupper():
            begins = "|".join(map(re.escape, _begins(term)))
            found = re.finditer(rf"(?<![^\W_])(?:{begins})", self._text.text, re.IGNORECASE)
            return any(match.start() not in here for match in found)
        others = any(p.term == term and p.head is not None and p.span[0] not in here for p in self._found)
        forms = rf"\b(?:{'|'.join(COLOURS)})(?:s|st|est)\b"  # the whites
        return term in COLOURS and (others or re.search(forms, self._text.text, re.IGNORECASE) is not None)

    def _doubles(self, exchange: Exchange, of_term: Sequence[Place]) -> bool:
        """Return whether a word would stand there twice: *an Asian American American*."""
        last = exchange.target.split()[-1].lower()
        return any(self._text.text[place.span[1] :].lower().lstrip().startswith(last) for place in of_term)

    def _by(
        self, exchange: Exchange, person: Person, of_term: Sequence[Place], first: Place
    ) -> Variation | None:
        """Return the change by one exchange; None where the text contradicts it."""
        edits = self._inserted(first, exchange) if exchange.operation == "insertion" else None
        words = {place.span: exchange.target for place in ([first] if edits else of_term)}
        if conflicts.denied(self._text, words, person, exchange.target.split()[0].lower()):
            return None
        return self._text.variation(self._attribute.name, words, exchange, None, edits)

    def _inserted(self, place: Place, exchange: Exchange) -> tuple[Edit, ...] | None:
        """Return the edits that put the new words beside the noun, which stays."""
        text = self._text.text
        start, end = place.span
        before, _, after = f" {exchange.target} ".partition(f" {exchange.source} ")
        if not before.strip():
            return (Edit(end, end, f" {after.strip()}"),) if after.strip() else None
        written, initial = text[start:end], begins_sentence(text, start)
        phrase = f"{before.strip()} {written.lower()}"
        word = carry_case(written, exchange.source, phrase, initial)[: len(before.strip())]
        insertion = Edit(start, start, f"{word} ")
        if written[:1].isupper() and not written.isupper() and initial:
            insertion = Edit(start, start + 1, f"{word} {written[:1].lower()}")
        article = article_edit(text, start, written, word)
        return (insertion,) if article is None else (article, insertion)


def _begins(demonym: str) -> tuple[str, ...]:
    """Return how other words for the nation begin: *Jews*, *Jewish*."""
    first = demonym.split()[0]
    return next((words for words in SPELLINGS if first in words), (demonym[:STEM],))


def _replaces(exchange: Exchange) -> bool:
    """Return whether ``exchange`` replaces words that are there."""
    return exchange.operation != "insertion"


def _told_apart(variations: Sequence[Variation]) -> list[Variation]:
    """Number the sources of variations that exchange the same words at different persons."""
    seen: dict[tuple[str, str], int] = {}
    distinct = []
    for variation in variations:
        substitution = variation.substitution
        pair = (substitution.source, substitution.target)
        seen[pair] = number = seen.get(pair, 0) + 1
        if number > 1:
            substitution = replace(substitution, source=f"{substitution.source} ({number})")
        distinct.append(replace(variation, substitution=substitution))
    return distinct
