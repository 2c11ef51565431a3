"""Change the gender of a person or a group: pronouns, nouns, titles and first names together."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.core import Span
from harness.language.generality import general
from harness.language.mentions import PARADIGM_GENDER, pronoun_slot
from harness.language.persons import Gender, Mention
from harness.language.surface import paradigm, pronoun
from harness.suites.hinter import conflicts, noun_phrase
from harness.suites.hinter.conflicts import OTHER
from harness.suites.hinter.given_names import counterpart
from harness.suites.hinter.mutation import Variation
from harness.suites.hinter.people_text import PeopleText
from harness.suites.hinter.persons import GENERIC, PARTNERS, Person
from harness.suites.hinter.places import CONTRADICTION, COORDINATION, NOT_A_PERSON, UNCLEAR, Place, Reason
from harness.suites.lexicon import Attribute, Exchange

FORMS: dict[Gender, str] = {"male": "he", "female": "she"}

INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?|[^\W\d_]")
"""A first name of which only initials are given, which tells no gender."""

Words = dict[Span, str]
"""The words that change, by place."""


class GenderChange:
    """Changes genders in ``text`` with the dictionary of ``attribute``."""

    def __init__(self, text: PeopleText, attribute: Attribute) -> None:
        self._text = text
        self._reading = text.reading
        self._attribute = attribute

    def concerns(self, place: Place) -> bool:
        """Return whether an exchange of the term at ``place`` changes the gender."""
        return any(map(self.gendered, self._text.exchanges(self._attribute, place)))

    def gendered(self, exchange: Exchange) -> bool:
        """Return whether ``exchange`` changes the gender."""
        target = self._gender(exchange.target, exchange.target_group)
        return target is not None and self._gender(exchange.source, exchange.source_group) != target

    def change(self, person: Person, places: Sequence[Place]) -> list[Variation] | Reason:
        """Return the changes of a person whose gendered terms are at ``places``, or the reason for none.

        There are several where a title (*Mr.*: *Mrs.*, *Ms.*) or a first name has several counterparts.
        """
        gender = person.gender or self._stated(places)
        generic = person.single and person.gender is None and self._text.persons.anybody
        if gender is None or generic or not person.clear or self._resumes(person, places):
            return UNCLEAR
        if not self._text.lenient and any(
            general(self._reading, self._text.words, place.head) for place in places if place.head is not None
        ):
            return NOT_A_PERSON
        if any(noun_phrase.beloved(self._text, place) for place in places):
            return UNCLEAR
        if conflicts.about(self._text, "gender") and not self._text.lenient:
            return CONTRADICTION
        choices: list[str | None] = [*self._choices(person, places, gender)] or [None]
        changes = [self._words(person, places, gender, choice) for choice in choices]
        words = [change for change in changes if change]
        if not words or self._left_behind(words[0], person, gender):
            return UNCLEAR
        if conflicts.coordinated(self._text, words[0], gender):
            return COORDINATION
        denied = conflicts.denied(self._text, words[0], person, "gender")
        if denied or (person.single and conflicts.sexed(self._text)):
            return CONTRADICTION
        exchange = next(
            e for place in places for e in self._text.exchanges(self._attribute, place) if self.gendered(e)
        )
        groups = None if exchange.form == "name" else (gender, OTHER[gender])
        return [self._text.variation(self._attribute.name, change, exchange, groups) for change in words]

    def _left_behind(self, words: Words, person: Person, gender: Gender) -> bool:
        """Return whether words for the person may stay as they are."""
        if person.everybody:
            return conflicts.left_behind(self._text, words, gender)
        if self._text.lenient:
            return False
        return conflicts.met(self._text, words) or conflicts.elsewhere(self._text, words, person, gender)

    def _resumes(self, person: Person, places: Sequence[Place]) -> bool:
        """Return whether a group may be persons mentioned before, or elsewhere by other words."""
        persons = self._text.persons
        words = {place.term.lower() for place in places}
        if person.single:
            if person.gender and words & GENERIC and persons.owned(person.gender):
                return True
            return any(map(persons.in_general, words & PARTNERS))
        first = min(place.head for place in places if place.head is not None)
        return persons.anaphoric(first) or persons.members(first) or any(map(persons.in_general, words))

    def _words(
        self, person: Person, places: Sequence[Place], gender: Gender, choice: str | None
    ) -> Words | None:
        """Return the words that change with the person; None if one of them cannot follow."""
        words: Words = {}
        names: dict[str, str] = {}
        for place in places:
            target = self._target(place, gender, choice)
            if target is not None:
                words[place.span] = target
            elif self._gender_of(place) == OTHER[gender]:
                return None
        for mention in person.mentions:
            of_mention = self._of_mention(mention, gender, choice, names)
            if of_mention is None:
                return None
            words = of_mention | words
        return words

    def _choices(self, person: Person, places: Sequence[Place], gender: Gender) -> list[str]:
        """Return the counterparts of the person's title, or of the first name if the dictionary has it."""
        spans = [mention.title for mention in person.mentions if mention.title]
        if spans:
            title = self._text.text[slice(*spans[0])]
            return self._targets(
                Place(self._attribute.name, title, spans[0], person.mentions[0].head), gender
            )
        names = [place for place in places if self._text.meaning.named(place.span) is not None]
        return self._targets(names[0], gender) if names else []

    # The gender of words

    def _gender(self, word: str, group: str) -> Gender | None:
        signalled = group.rpartition("_")[2]
        if signalled in ("male", "female"):
            return "male" if signalled == "male" else "female"
        return self._text.gender_of(word.lower())

    def _stated(self, places: Sequence[Place]) -> Gender | None:
        """Return the gender of the words themselves if they agree."""
        genders = {self._stated_by(place) for place in places}
        return next(iter(genders)) if len(genders) == 1 else None

    def _stated_by(self, place: Place) -> Gender | None:
        """Return the gender of a word; *actors* may be of both where the text names anybody."""
        stated = self._text.words.gender(place.term.lower())
        generic = (
            place.head is not None and self._text.persons.plural(place.head) and self._text.persons.anybody
        )
        return stated or (None if generic else self._gender_of(place))

    def _gender_of(self, place: Place) -> Gender | None:
        """Return the gender that the dictionary gives to the term at ``place``."""
        exchange = next(filter(self.gendered, self._text.exchanges(self._attribute, place)), None)
        if exchange is None:
            return None
        target = self._gender(exchange.target, exchange.target_group)
        return self._gender(exchange.source, exchange.source_group) or (OTHER[target] if target else None)

    # What becomes of them

    def _target(self, place: Place, gender: Gender, choice: str | None) -> str | None:
        """Return the counterpart of the term at ``place`` in the form that it needs there."""
        index = self._reading.at(place.span[0])
        form = paradigm(place.term)
        if form is not None:
            if index is None or PARADIGM_GENDER.get(form) != gender:
                return None
            return pronoun(FORMS[OTHER[gender]], pronoun_slot(self._reading, index))
        targets = self._targets(place, gender)
        return choice if choice in targets else next(iter(targets), None)

    def _targets(self, place: Place, gender: Gender) -> list[str]:
        targets = (
            e.target
            for e in self._text.exchanges(self._attribute, place)
            if self.gendered(e) and self._gender(e.target, e.target_group) == OTHER[gender]
        )
        return list(dict.fromkeys(targets))

    def _of_mention(
        self, mention: Mention, gender: Gender, choice: str | None, names: dict[str, str]
    ) -> Words | None:
        """Return what must change at one mention; None where it cannot follow.

        ``names`` has the first names exchanged so far.
        """
        token = self._reading.tokens[mention.head]
        span = (token.start, token.end)
        if mention.kind == "name":
            return self._of_name(mention, gender, choice, names)
        about = self._text.meaning.described(span) is not None
        if mention.kind == "pronoun":
            form = pronoun(FORMS[OTHER[gender]], pronoun_slot(self._reading, mention.head))
            return {span: form} if about else None
        word = self._reading.lower(mention.head)
        place = Place(self._attribute.name, word, span, mention.head)
        target = self._target(place, gender, None)
        if self._text.words.gender(word) is None:
            return {span: target} if target and self._gender_of(place) == gender else {}
        return {span: target} if target and about else None

    def _of_name(
        self, mention: Mention, gender: Gender, choice: str | None, names: dict[str, str]
    ) -> Words | None:
        text = self._text.text
        words: Words = {}
        if mention.title:
            if not text[mention.title[1] : mention.end].strip(".")[:1].isspace():
                return None  # Mr.Bungle
            written = text[slice(*mention.title)]
            target = self._target(
                Place(self._attribute.name, written, mention.title, mention.head), gender, choice
            )
            if target is None:
                return None
            words[mention.title] = target
        first, _, more = text[mention.start : mention.end].partition(" ")
        named = Place(self._attribute.name, first, (mention.start, mention.start + len(first)), mention.head)
        changed = self._target(named, gender, choice) or names.get(first)
        changed = changed or counterpart(first, gender, " ".join([text, *names.values()]))
        if changed:
            names[first] = changed
        if changed and (more or not mention.title):  # after a title, a single name is a surname
            words[mention.start, mention.start + len(first)] = changed
        elif not self._may_stay(mention, first, more):
            return None
        return words

    def _may_stay(self, mention: Mention, first: str, more: str) -> bool:
        """Return whether a name tells no gender: a surname, or one with initials."""
        if more:
            return mention.title is not None and INITIALS.fullmatch(first) is not None
        return mention.title is not None or self._surname(first)

    def _surname(self, word: str) -> bool:
        """Return whether the text has ``word`` after a first name or a title."""
        text = self._text.text
        return any(
            word in text[m.start : m.end].split()[1:] or (m.title and text[m.start : m.end] == word)
            for m in self._text.meaning.names.values()
        )
