"""Make the variations of a text person by person: all words for one person change together.

A word that describes nobody, and a person of whom it is not clear which words are theirs, are left alone, each
with the reason. An attribute that exchanges genders takes a single person's pronouns, nouns, title and first
name with it; any other changes its own word at every mention of that person, or inserts one at the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.core import Span, Substitution
from harness.language.entities import Resolution
from harness.language.mentions import pronoun_slot
from harness.language.parsed_text import ParsedText
from harness.language.people import People, people
from harness.language.person_names import NAME_TAGS
from harness.language.persons import Gender, Mention
from harness.language.surface import Edit, article_edit, begins_sentence, carry_case, paradigm, pronoun
from harness.suites.hinter.given_names import counterpart
from harness.suites.hinter.meaning import Meaning
from harness.suites.hinter.mutation import Occurrences, Variation
from harness.suites.hinter.persons import Person, Persons
from harness.suites.lexicon import Attribute, Exchange, Lexicon

Reason = Literal["not-a-person", "person-unclear", "coordination", "contradiction"]
NOT_A_PERSON: Reason = "not-a-person"
UNCLEAR: Reason = "person-unclear"
COORDINATION: Reason = "coordination"
CONTRADICTION: Reason = "contradiction"
LEFT = frozenset({NOT_A_PERSON, UNCLEAR, COORDINATION, CONTRADICTION})

GENDERS: dict[str, Gender] = {"masculine": "male", "feminine": "female"}
FORMS: dict[Gender, str] = {"male": "he", "female": "she"}
ADJECTIVES: dict[str, Gender] = {
    "male": "male",
    "female": "female",
    "males": "male",
    "females": "female",
}
HOMES: dict[str, tuple[str, ...]] = {
    "French": ("France", "Paris"),
    "British": ("Britain", "England", "London", "UK", "U.K.", "Scotland", "Wales"),
    "English": ("England", "London", "Britain"),
    "Dutch": ("Netherlands", "Holland", "Amsterdam"),
    "Irish": ("Ireland", "Dublin"),
    "Polish": ("Poland", "Warsaw"),
    "Spanish": ("Spain", "Madrid"),
    "Swedish": ("Sweden",),
    "Danish": ("Denmark",),
    "Welsh": ("Wales",),
    "Scottish": ("Scotland",),
    "Greek": ("Greece",),
    "Swiss": ("Switzerland",),
    "Thai": ("Thailand",),
    "Turkish": ("Turkey", "Istanbul"),
    "German": ("Germany", "Berlin"),
    "Jewish": ("Israel",),
    "Iraqi": ("Iraq", "Baghdad"),
    "Chinese": ("China",),
}
OTHER: dict[Gender, Gender] = {"male": "female", "female": "male"}


@dataclass(frozen=True)
class Place:
    """A term of an attribute where it occurs, with the head of the person it describes, if any."""

    attribute: str
    term: str
    span: Span
    head: int | None


@dataclass(frozen=True)
class Left:
    """A term that is left alone at ``spans``, and why."""

    attribute: str
    term: str
    spans: tuple[Span, ...]
    reason: Reason


@dataclass
class Recast:
    """The variations of one text by attribute, and the terms left alone."""

    variations: dict[str, list[Variation]] = field(default_factory=dict)
    left: list[Left] = field(default_factory=list)


class Recaster:
    """Makes the variations of texts with the dictionaries of ``lexicon``."""

    def __init__(self, lexicon: Lexicon, words: People | None = None) -> None:
        self._lexicon = lexicon
        self._words = words or people()
        self._demonyms = frozenset(
            part
            for attribute in lexicon.attributes.values()
            for word in attribute.words
            for part in word.split()
            if part[:1].isupper()
        )

    def text(self, resolution: Resolution, meaning: Literal["person", "off"] = "person") -> RecastText:
        """Prepare a resolved text; with ``meaning`` off, words that describe nobody change, too."""
        return RecastText(self._lexicon, self._words, self._demonyms, resolution, meaning)


class RecastText:
    """One text on its way to its variations."""

    def __init__(
        self,
        lexicon: Lexicon,
        words: People,
        demonyms: frozenset[str],
        resolution: Resolution,
        meaning: Literal["person", "off"],
    ) -> None:
        self._anything = meaning == "off"
        self._lexicon = lexicon
        self._words = words
        self._reading: ParsedText = resolution.reading
        self._text = resolution.reading.text
        mentions = [m for entity in resolution.entities if entity.person for m in entity.mentions]
        self._meaning = Meaning.of(self._reading, mentions, words, demonyms)
        self._persons = Persons(resolution, words)

    def tag(self, offset: int) -> str | None:
        """Return the fine part-of-speech tag of the token at ``offset``."""
        index = self._reading.at(offset)
        return None if index is None else self._reading.tokens[index].tag

    def about_persons(self, occurrences: Occurrences) -> tuple[Occurrences, list[Left]]:
        """Return the occurrences that describe persons, and the others as left alone."""
        kept: dict[str, dict[str, list[Span]]] = {}
        left: list[Left] = []
        for name, terms in occurrences.items():
            for term, spans in terms.items():
                places = [Place(name, term, span, self._described(span)) for span in spans]
                about = [place.span for place in places if place.head is not None]
                if about:
                    kept.setdefault(name, {})[term] = about
                left += _left(NOT_A_PERSON, [place for place in places if place.head is None])
        return kept, left

    def _described(self, span: Span) -> int | None:
        head = self._meaning.described(span)
        return self._reading.at(span[1] - 1) if head is None and self._anything else head

    def recast(self, occurrences: Occurrences) -> Recast:
        """Return the variations of the text, in which the terms ``occurrences`` occur."""
        result = Recast()
        for name, terms in occurrences.items():
            attribute = self._lexicon.attributes[name]
            terms = {term: spans for term, spans in terms.items() if not _of_words(attribute, term)}
            places = [
                Place(name, term, span, self._described(span))
                for term, spans in terms.items()
                for span in spans
            ]
            result.left += _left(NOT_A_PERSON, [place for place in places if place.head is None])
            variations: list[Variation] = []
            by_person: dict[str, tuple[Person, list[Place]]] = {}
            for place in places:
                if place.head is not None:
                    person = self._persons.of(place.head)
                    by_person.setdefault(person.key, (person, []))[1].append(place)
            for person, its_places in self._settled(by_person.values(), result.left):
                variations += self._of_person(attribute, person, its_places, result.left)
            if variations:
                result.variations[name] = _told_apart(variations)
        return result

    def _settled(
        self, by_person: Collection[tuple[Person, list[Place]]], left: list[Left]
    ) -> Iterator[tuple[Person, list[Place]]]:
        """Yield persons with their places, without a term that a group shares with others: perhaps the same."""
        holders: dict[str, list[Person]] = {}
        for person, places in by_person:
            for term in dict.fromkeys(place.term for place in places):
                holders.setdefault(term, []).append(person)
        shared = {
            term
            for term, persons in holders.items()
            if len(persons) > 1 and not all(p.single for p in persons) and not self._nouns(term)
        }
        for person, places in by_person:
            left += _left(UNCLEAR, [place for place in places if place.term in shared])
            own = [place for place in places if place.term not in shared]
            if own:
                yield person, own

    def _nouns(self, term: str) -> bool:
        """Return whether a term is a noun or a pronoun, whose places are one group or person each."""
        return paradigm(term) is not None or self._words.person(term.lower())

    def _of_person(
        self, attribute: Attribute, person: Person, places: Sequence[Place], left: list[Left]
    ) -> Iterator[Variation]:
        gendered = [place for place in places if self._gendered(attribute, place)]
        if gendered:
            change = self._regender(attribute, person, gendered)
            if isinstance(change, Variation):
                yield change
            else:
                left += _left(change, gendered)
        terms: dict[str, list[Place]] = {}
        for place in places:
            if any(not self._is_gendered(e) for e in self._exchanges(attribute, place)):
                terms.setdefault(place.term, []).append(place)
        exchanged = [
            t
            for t, its in terms.items()
            if any(e.operation != "insertion" for e in self._exchanges(attribute, its[0]))
        ]
        if person.single and len(exchanged) > 1:
            left += _left(UNCLEAR, [place for term in exchanged for place in terms[term]])
            terms = {term: its for term, its in terms.items() if term not in exchanged}
        for its_places in terms.values():
            yield from self._exchange(attribute, person, its_places, left)

    def _exchanges(self, attribute: Attribute, place: Place) -> list[Exchange]:
        """Return the exchanges of a term that fit its form where it stands."""
        last = self._reading.at(place.span[1] - 1)
        noun = last == place.head and last is not None and not paradigm(self._reading.lower(last))
        plural = noun and last is not None and self._plural(last)
        allowed = {None, "nouns" if plural else "noun"} if noun else {None, "adjective", "pronoun", "title"}
        return [
            exchange
            for exchange in attribute.exchanges.get(place.term, ())
            if not exchange.word_only and exchange.form in allowed
        ]

    def _plural(self, index: int) -> bool:
        return (
            self._reading.tokens[index].tag in ("NNS", "NNPS")
            or self._words.singular(self._reading.lower(index)) is not None
        )

    # --- gender

    def _is_gendered(self, exchange: Exchange) -> bool:
        return (
            self._gender(exchange.source, exchange.source_group)
            != self._gender(exchange.target, exchange.target_group)
            and self._gender(exchange.target, exchange.target_group) is not None
        )

    def _gender(self, word: str, group: str) -> Gender | None:
        if group in ("male", "female"):
            return "male" if group == "male" else "female"
        form = GENDERS.get(paradigm(word.lower()) or "")
        return form or self._words.gender(word.lower())

    def _gendered(self, attribute: Attribute, place: Place) -> bool:
        return any(self._is_gendered(e) for e in self._exchanges(attribute, place))

    def _regender(self, attribute: Attribute, person: Person, places: Sequence[Place]) -> Variation | Reason:
        """Return the change of a person's or a group's gender, or the reason for none."""
        gender = person.gender or self._stated(attribute, places)
        if gender is None or not person.clear:
            return UNCLEAR
        if not person.single and any(
            place.head is not None and self._persons.anaphoric(place.head) for place in places
        ):
            return UNCLEAR
        edits: dict[Span, str] = {}
        for place in places:
            target = self._target(attribute, place.term, gender, place)
            if target is None:
                if place.span in edits or self._gender_of(place, attribute) == OTHER[gender]:
                    return UNCLEAR
                continue
            edits[place.span] = target
        for mention in person.mentions:
            of_mention = self._of_mention(attribute, mention, gender)
            if of_mention is None:
                return UNCLEAR
            edits |= {span: word for span, word in of_mention.items() if span not in edits}
        if not edits:
            return UNCLEAR
        if self._coordinated(edits, gender):
            return COORDINATION
        if self._denied(edits, person, "gender") or (person.single and self._sexed()):
            return CONTRADICTION
        exchange = next(
            e for place in places for e in self._exchanges(attribute, place) if self._is_gendered(e)
        )
        return self._variation(attribute.name, edits, exchange, (gender, OTHER[gender]))

    def _stated(self, attribute: Attribute, places: Sequence[Place]) -> Gender | None:
        """Return the gender of the words themselves if they agree; *actors* may be both where anybody is named."""
        genders = {self._stated_by(attribute, place) for place in places}
        return next(iter(genders)) if len(genders) == 1 else None

    def _stated_by(self, attribute: Attribute, place: Place) -> Gender | None:
        word = place.term.lower()
        stated = self._words.gender(word) or ADJECTIVES.get(word)
        plural = place.head is not None and self._plural(place.head)
        return stated or (None if plural and self._persons.anybody else self._gender_of(place, attribute))

    def _gender_of(self, place: Place, attribute: Attribute) -> Gender | None:
        exchanges = [e for e in self._exchanges(attribute, place) if self._is_gendered(e)]
        if not exchanges:
            return None
        source = self._gender(exchanges[0].source, exchanges[0].source_group)
        target = self._gender(exchanges[0].target, exchanges[0].target_group)
        return source or (OTHER[target] if target else None)

    def _target(self, attribute: Attribute, term: str, gender: Gender, place: Place) -> str | None:
        """Return the counterpart of ``term`` for the other gender in its form at ``place``."""
        index = self._reading.at(place.span[0])
        if paradigm(term):
            if GENDERS.get(paradigm(term) or "") != gender or index is None:
                return None
            return pronoun(FORMS[OTHER[gender]], pronoun_slot(self._reading, index))
        targets = [
            e.target
            for e in self._exchanges(attribute, place)
            if self._gender(e.target, e.target_group) == OTHER[gender] and self._is_gendered(e)
        ]
        return next((t for t in targets if t in ("Ms.", "Ms")), targets[0] if targets else None)

    def _of_mention(self, attribute: Attribute, mention: Mention, gender: Gender) -> dict[Span, str] | None:
        """Return what must change at one mention; None where it cannot follow."""
        token = self._reading.tokens[mention.head]
        if mention.kind == "pronoun" and self._meaning.described((token.start, token.end)) is None:
            return {}
        if mention.kind == "pronoun":
            return {
                (token.start, token.end): pronoun(
                    FORMS[OTHER[gender]], pronoun_slot(self._reading, mention.head)
                )
            }
        if mention.kind == "nominal":
            return self._of_noun(attribute, mention, gender)
        return self._of_name(attribute, mention, gender)

    def _of_noun(self, attribute: Attribute, mention: Mention, gender: Gender) -> dict[Span, str] | None:
        token, word = self._reading.tokens[mention.head], self._reading.lower(mention.head)
        if self._words.gender(word) and self._meaning.described((token.start, token.end)) is None:
            return None
        place = Place(attribute.name, word, (token.start, token.end), mention.head)
        if self._words.gender(word) is None:
            target = self._target(attribute, word, gender, place)
            return {place.span: target} if target and self._gender_of(place, attribute) == gender else {}
        target = self._target(attribute, word, gender, place)
        return {place.span: target} if target else None

    def _of_name(self, attribute: Attribute, mention: Mention, gender: Gender) -> dict[Span, str] | None:
        edits: dict[Span, str] = {}
        if mention.title:
            title = self._text[slice(*mention.title)]
            place = Place(attribute.name, title, mention.title, mention.head)
            target = self._target(attribute, title, gender, place)
            if target is None:
                return None
            edits[mention.title] = target
        first, _, last = self._text[mention.start : mention.end].partition(" ")
        changed = counterpart(first, gender, self._text)
        if changed:
            edits[mention.start, mention.start + len(first)] = changed
            return edits
        return edits if mention.title or (not last and self._surname(first)) else None

    def _surname(self, word: str) -> bool:
        """Return whether the text has ``word`` after a first name or a title."""
        return any(
            word in self._text[m.start : m.end].split()[1:]
            or (m.title and self._text[m.start : m.end] == word)
            for m in self._meaning.names.values()
        )

    # --- other attributes

    def _exchange(
        self, attribute: Attribute, person: Person, places: Sequence[Place], left: list[Left]
    ) -> Iterator[Variation]:
        exchanges = [e for e in self._exchanges(attribute, places[0]) if not self._is_gendered(e)]
        inserting = [e for e in exchanges if e.operation == "insertion"]
        first = min(places, key=lambda place: place.span)
        if self._joined(places):
            left += _left(COORDINATION, places)
            return
        if not person.single and inserting and first.head is not None and self._persons.anaphoric(first.head):
            left += _left(UNCLEAR, places)
            return
        if self._at_home(first.term):
            left += _left(CONTRADICTION, places)
            return
        for exchange in exchanges:
            edits = self._inserted(first, exchange) if exchange in inserting else None
            spans = (
                {first.span: exchange.target} if edits else {place.span: exchange.target for place in places}
            )
            if self._denied(spans, person, exchange.target.split()[0].lower()):
                left += _left(CONTRADICTION, places[:1])
                continue
            yield self._variation(attribute.name, spans, exchange, None, edits)

    def _at_home(self, term: str) -> bool:
        """Return whether the text names the country of a demonym, to which it ties the person."""
        countries = HOMES.get(term, ())
        return term[:1].isupper() and any(
            self._reading.tokens[entity.first].tag in NAME_TAGS
            and (
                self._reading.word(entity.first)[:4] == term[:4]
                or self._reading.word(entity.first) in countries
            )
            and self._reading.word(entity.first) not in (term, f"{term}s")
            for entity in self._reading.named
            if entity.label in ("GPE", "LOC")
        )

    def _inserted(self, place: Place, exchange: Exchange) -> tuple[Edit, ...] | None:
        """Return the edits that put the new words beside the noun, which stays."""
        start, end = place.span
        before, _, after = f" {exchange.target} ".partition(f" {exchange.source} ")
        written = self._text[start:end]
        if before.strip():
            word = before.strip()
            new = carry_case(
                written, exchange.source, f"{word} {written.lower()}", begins_sentence(self._text, start)
            )
            word = new[: len(word)]
            article = article_edit(self._text, start, written, word)
            edits = [article, Edit(start, start, f"{word} ")]
            if written[:1].isupper() and not written.isupper() and begins_sentence(self._text, start):
                edits = [article, Edit(start, start + 1, f"{word} {written[:1].lower()}")]
            return tuple(e for e in edits if e is not None)
        return (Edit(end, end, f" {after.strip()}"),) if after.strip() else None

    def _variation(
        self,
        attribute: str,
        words: Mapping[Span, str],
        exchange: Exchange,
        groups: tuple[str, str] | None,
        edits: tuple[Edit, ...] | None = None,
    ) -> Variation:
        ordered = sorted(words.items())
        if edits is None:
            edits = tuple(e for span, word in ordered for e in self._edits(span, word, exchange))
        sources = dict.fromkeys(self._plain(span, exchange) for span, _ in ordered)
        source_group, target_group = groups or (exchange.source_group, exchange.target_group)
        return Variation(
            Substitution(
                attribute,
                "/".join(sources),
                "/".join(dict.fromkeys(word for _, word in ordered)),
                tuple(span for span, _ in ordered),
                exchange.operation,
                source_group,
                target_group,
            ),
            edits,
            persons=frozenset(self._heads(span) for span, _ in ordered),
        )

    def _plain(self, span: Span, exchange: Exchange) -> str:
        written = self._text[slice(*span)]
        return (
            exchange.source
            if written.lower() == exchange.source.lower()
            else written.lower()
            if not written.istitle() or begins_sentence(self._text, span[0])
            else written
        )

    def _heads(self, span: Span) -> str:
        head = self._meaning.described(span)
        if head is None:
            head = self._reading.at(span[0])
        return self._persons.of(head).key if head is not None else ""

    def _edits(self, span: Span, word: str, exchange: Exchange) -> Iterator[Edit]:
        start, end = span
        written = self._text[start:end]
        source = exchange.source if written.lower() == exchange.source.lower() else written.lower()
        if word[:1].isupper() and written[:1].isupper():
            new = word.upper() if written.isupper() and len(written) > 1 else word
        else:
            new = carry_case(written, source, word, begins_sentence(self._text, start))
        article = article_edit(self._text, start, written, new)
        if article is not None:
            yield article
        yield Edit(start, end, new)

    # --- what forbids a change

    def _coordinated(self, edits: Mapping[Span, str], gender: Gender) -> bool:
        """Return whether a changed word is coordinated with, or stands beside, its counterpart."""
        for span, target in edits.items():
            index = self._reading.at(span[0])
            if index is None:
                continue
            if any(self._gender_at(other) == OTHER[gender] for other in self._conjuncts(index)):
                return True
            sentence = self._reading.tokens[index].sentence
            nouns = self._reading.tokens[index].tag in ("NN", "NNS")
            if nouns and any(self._reading.lower(i) == target.lower() for i in self._sentence(sentence)):
                return True
        return False

    def _conjuncts(self, index: int) -> Iterator[int]:
        """Yield the tokens coordinated with ``index``, and those beyond a slash or an *or* beside it."""
        top = index
        while self._reading.tokens[top].dep == "conj":
            top = self._reading.tokens[top].head
        waiting = [top]
        while waiting:
            current = waiting.pop()
            if current != index:
                yield current
            waiting += [c for c in self._reading.children[current] if self._reading.tokens[c].dep == "conj"]
        tokens = len(self._reading.tokens)
        for joint, other in ((index + 1, index + 2), (index - 1, index - 2)):
            if 0 <= other < tokens and self._reading.lower(joint) in ("/", "or", "and", "&", "vs", "vs."):
                yield other

    def _gender_at(self, index: int) -> Gender | None:
        word = self._reading.lower(index)
        return GENDERS.get(paradigm(word) or "") or self._words.gender(word)

    def _joined(self, places: Sequence[Place]) -> bool:
        """Return whether a described noun is coordinated with one of the other gender."""
        for place in places:
            last = self._reading.at(place.span[1] - 1)
            if place.head is None or last is None:
                continue
            if last != place.head and any(self._alike(place, i) for i in self._conjuncts(last)):
                return True
            gender = self._gender_at(place.head)
            others = {self._gender_at(i) for i in self._conjuncts(place.head)}
            if gender and OTHER[gender] in others and self._reading.at(place.span[1] - 1) == place.head:
                return True
        return False

    def _alike(self, place: Place, index: int) -> bool:
        """Return whether the token at ``index`` is a word like the term: *Jewish and Christian parents*."""
        terms = self._lexicon.attributes[place.attribute].exchanges
        return self._reading.word(index)[:1].isupper() or self._reading.lower(index) in terms

    def _denied(self, edits: Mapping[Span, str], person: Person, topic: str) -> bool:
        """Return whether a word near the person contradicts the change."""
        facts = self._words.facts.get(topic)
        if not facts:
            return False
        sentences = {self._reading.tokens[m.head].sentence for m in person.mentions}
        indices = {self._reading.at(start) for start, _ in edits}
        sentences |= {self._reading.tokens[i].sentence for i in indices if i is not None}
        if topic == "gender":
            sentences |= {s + side for s in sentences for side in (-1, 1)}
        return any(
            self._reading.lower(i) in facts and i not in indices for s in sentences for i in self._sentence(s)
        )

    def _sexed(self) -> bool:
        """Return whether the text says of somebody what only one sex can have or do."""
        return any(
            self._reading.lower(i) in self._words.facts["sex"] for i in range(len(self._reading.tokens))
        )

    def _sentence(self, number: int) -> list[int]:
        return [i for i, token in enumerate(self._reading.tokens) if token.sentence == number]


def _of_words(attribute: Attribute, term: str) -> bool:
    """Return whether every exchange of ``term`` is one of words alone, which no person's attribute changes."""
    return all(exchange.word_only for exchange in attribute.exchanges[term])


def _left(reason: Reason, places: Sequence[Place]) -> list[Left]:
    by_term: dict[tuple[str, str], list[Span]] = {}
    for place in places:
        by_term.setdefault((place.attribute, place.term), []).append(place.span)
    return [Left(attribute, term, tuple(spans), reason) for (attribute, term), spans in by_term.items()]


def _told_apart(variations: Sequence[Variation]) -> list[Variation]:
    """Number the sources of variations that exchange the same words at different persons."""
    from dataclasses import replace

    seen: dict[tuple[str, str], int] = {}
    result = []
    for variation in variations:
        substitution = variation.substitution
        pair = (substitution.source, substitution.target)
        seen[pair] = number = seen.get(pair, 0) + 1
        if number > 1:
            substitution = replace(substitution, source=f"{substitution.source} ({number})")
        result.append(replace(variation, substitution=substitution))
    return result
