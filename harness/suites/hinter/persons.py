"""Who a text speaks of: single persons with all their mentions, and groups named by one plural noun."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.language import person_names
from harness.language.coreference import RuleResolver
from harness.language.entities import Resolution
from harness.language.people import People, person_vocabulary
from harness.language.persons import Gender, Mention
from harness.language.spacy_docs import SpacyReader
from harness.suites.hinter.clarity import SUBJECTS, doubts

RELATIVES = frozenset("sons daughters boys girls brothers sisters twins wives husbands".split())  # noqa: SIM905
SEXES = frozenset("male males female females".split())  # noqa: SIM905
GENERIC = SEXES | frozenset(
    "man men woman women guy guys gal gals girl girls boy boys lady ladies chick chicks".split()  # noqa: SIM905
)
PARTNERS = frozenset({"girlfriend", "boyfriend"})
YOUNG = frozenset("children kids boys girls babies teenagers sons daughters students".split())  # noqa: SIM905
ANAPHORIC = frozenset({"such", "both", "these", "those", "other", "neither", "either"})
ACTING = person_names.ACTING | {"appos"}
MODIFIERS = frozenset({"amod", "compound", "prep", "relcl", "acl"})


@dataclass(frozen=True)
class Person:
    """A single person, or a group where ``mentions`` is empty; ``key`` tells it from others of the text.

    A person is ``clear`` if it is certain which words refer to it. Several persons are one where the text
    does not tell them apart (``Persons.company``), and ``everybody`` where these are all of their gender.
    """

    key: str
    mentions: tuple[Mention, ...] = ()
    gender: Gender | None = None
    clear: bool = True
    everybody: bool = False

    @property
    def single(self) -> bool:
        """Whether this is one person."""
        return bool(self.mentions)


def resolver(pipeline: str | None = None) -> RuleResolver:
    """Return the coreference rules over spaCy's ``pipeline``, with all nouns for people."""
    words = person_vocabulary()
    return RuleResolver(SpacyReader(pipeline, words.given_names), words)


class Persons:
    """The persons of one resolved text; ``apart``: whether they can be told apart at all."""

    def __init__(self, resolution: Resolution, words: People, *, apart: bool = True) -> None:
        self._reading = resolution.reading
        self._words = words
        self._entities = resolution.entities
        self._doubts = doubts(resolution, words)
        self._apart = apart
        self._number = {
            mention.head: number
            for number, entity in enumerate(resolution.entities)
            if entity.person
            for mention in entity.mentions
        }
        mentions = [m for entity in resolution.entities if entity.person for m in entity.mentions]
        self.anybody = any(m.kind == "name" or m.gender for m in mentions)
        self._names = [m.head for m in mentions if m.kind == "name"]
        self._companies: dict[Gender, Person] = {}

    def of(self, head: int) -> Person:
        """Return the person or group whose mention has its head at token ``head``."""
        number = self._number.get(head)
        if number is not None:
            entity = self._entities[number]
            gender = next(iter(entity.genders)) if len(entity.genders) == 1 else None
            clear = self._apart and number not in self._doubts.all
            return Person(f"person {number + 1}", entity.mentions, gender, clear)
        if self.plural(head):
            return Person(f"group {self._reading.lower(head)}")
        return Person(f"noun {head}", clear=False)

    def company(self, person: Person) -> Person:
        """Return ``person`` with everybody else who may be the same person, as one.

        Who is not clear and has no other name or noun is the same, as far as anybody can tell. In a text
        whose persons cannot be told apart at all, everybody of a gender is one: whoever is meant by a
        pronoun, it is right if they change together.
        """
        if person.clear or not person.single or person.gender is None:
            return person
        gender = person.gender
        if gender not in self._companies:
            self._companies[gender] = self._as_one(gender) if self._apart else self._everybody(gender)
        return self._companies[gender]

    def _as_one(self, gender: Gender) -> Person:
        """Return all persons who are not clear and may be of ``gender`` as one person."""
        numbers = [n for n in sorted(self._doubts.all) if self._entities[n].agrees(gender)]
        mentions = self._mentions(numbers)
        clear = (
            self._doubts.strangers.isdisjoint(numbers)
            and len(self._called(mentions)) <= 1
            and not self._groups(gender)
            and not self._nameless_beside(numbers)
        )
        return Person(f"persons {gender}", tuple(mentions), gender, clear)

    def _nameless_beside(self, numbers: Sequence[int]) -> bool:
        """Return whether another person has a name of no known gender, and so may be one of them."""
        return any(
            entity.person and not entity.genders and any(m.kind == "name" for m in entity.mentions)
            for n, entity in enumerate(self._entities)
            if n not in numbers
        )

    def _everybody(self, gender: Gender) -> Person:
        """Return everybody of ``gender`` as one; a single name of no known gender is a surname, and stays."""
        numbers = [n for n, entity in enumerate(self._entities) if entity.person and gender in entity.genders]
        mentions = [m for m in self._mentions(numbers) if m.gender or m.kind != "name" or self._full(m)]
        clear = not self._nameless() and not self._groups(gender)
        return Person(f"persons {gender}", tuple(mentions), gender, clear, everybody=True)

    def _mentions(self, numbers: Iterable[int]) -> list[Mention]:
        """Return the mentions of entities in text order."""
        return sorted((m for n in numbers for m in self._entities[n].mentions), key=lambda m: m.start)

    def _nameless(self) -> bool:
        """Return whether somebody of no known gender has a first name, which may tell it to a reader."""
        return any(
            mention.kind == "name"
            and self._full(mention)
            and self._reading.tokens[mention.head].dep in ACTING
            for entity in self._entities
            if entity.person and not entity.genders
            for mention in entity.mentions
        )

    def _full(self, name: Mention) -> bool:
        """Return whether a name has several words."""
        return " " in self._reading.text[name.start : name.end]

    def _called(self, mentions: Sequence[Mention]) -> set[str]:
        """Return by what nouns or names ``mentions`` call a person, each as one word."""
        return {
            self._reading.lower(m.head)
            for m in mentions
            if m.kind == "name" or (m.kind == "nominal" and self._reading.tokens[m.head].dep != "attr")
        }

    def _groups(self, gender: Gender) -> bool:
        """Return whether the text has a noun for several persons of ``gender``."""
        return any(self._words.gender(self._reading.lower(i)) == gender for i in self._plurals)

    def members(self, head: int) -> bool:
        """Return whether a plural noun may be of persons whom the text names or speaks of one by one.

        *The sisters* have names elsewhere, and one of *her sons* is *the boy*. In a text whose persons cannot
        be told apart, anybody of the gender may be one of them.
        """
        word = self._reading.lower(head)
        gender = self._words.gender(word)
        if gender and not self._apart and any(gender in entity.genders for entity in self._entities):
            return True
        if word not in RELATIVES:
            counted = any(self._reading.tokens[c].dep == "nummod" for c in self._reading.children[head])
            return counted and bool(self._names)
        kin = {w for w in RELATIVES | set(map(self._words.singular, RELATIVES)) if w and w != word}
        others = (self._reading.lower(i) in kin for i in range(len(self._reading.tokens)))
        return bool(self._names) or any(others)

    def in_general(self, word: str) -> bool:
        """Return whether ``word`` means persons in general of whom the text speaks by other words, too.

        *Women* in general are the same as *a woman* or *girls* elsewhere, whoever wanted *a girl* has a
        *girlfriend*, and *she* may be one of the *female protagonists*.
        """
        gender = self._words.gender(word)
        if word in SEXES and any(gender in entity.genders for entity in self._entities):
            return True
        return word in GENERIC | PARTNERS and any(
            other != word and other in GENERIC and self._words.gender(other) == gender
            for other in map(self._reading.lower, range(len(self._reading.tokens)))
        )

    def owned(self, gender: Gender) -> bool:
        """Return whether a noun in general owns something without an apostrophe: *the girls soul*."""
        return any(
            token.dep in ("compound", "nmod", "poss")
            and token.tag == "NNS"
            and self._reading.lower(i) in GENERIC
            and self._words.gender(self._reading.lower(i)) == gender
            for i, token in enumerate(self._reading.tokens)
        )

    def anaphoric(self, head: int) -> bool:
        """Return whether a plural noun takes up persons mentioned before: *both men*, *these people*."""
        reading = self._reading
        children = {reading.lower(c): reading.tokens[c].dep for c in reading.children[head] if c < head}
        if self._told_of(head):
            return True
        before = self._number if "both" in children else self._names
        if children.keys() & {"these", "those", "both"} and any(i < head for i in before):
            return True
        if "poss" in children.values() or not self._several_before(head):
            return False
        if children.keys() & ANAPHORIC:
            return True
        modified = any(reading.tokens[c].dep in MODIFIERS for c in reading.children[head])
        return "the" in children and not modified

    def _told_of(self, head: int) -> bool:
        """Return whether a plural noun is said of somebody: *these are two men*, *one of the men*."""
        reading = self._reading
        token = reading.tokens[head]
        above = reading.lower(token.head)
        if token.dep in ("attr", "appos"):
            subjects = (
                reading.lower(c) for c in reading.children[token.head] if reading.tokens[c].dep in SUBJECTS
            )
            return token.dep == "appos" or not any(subject == "there" for subject in subjects)
        if token.dep == "pobj" and above == "of":
            return reading.lower(reading.tokens[token.head].head) in (
                "one",
                "two",
                "role",
                "roles",
                "part",
                "parts",
            )
        return token.dep == "pobj" and above in ("as", "like")

    def _several_before(self, head: int) -> bool:
        """Return whether names, or a noun for several persons, come before; for *the children*, another."""
        words = [self._reading.lower(i) for i in self._plurals if i < head]
        if self._reading.lower(head) in YOUNG:
            return bool(self._names) or not YOUNG.isdisjoint(words)
        return any(name < head for name in self._names) or any(map(self._words.person, words))

    @cached_property
    def _plurals(self) -> Sequence[int]:
        """The plural nouns in order, looked for when they are first asked for."""
        return [i for i in range(len(self._reading.tokens)) if self.plural(i)]

    def plural(self, index: int) -> bool:
        """Return whether the token at ``index`` is a plural noun."""
        tag, word = self._reading.tokens[index].tag, self._reading.lower(index)
        return tag in ("NNS", "NNPS") or self._words.singular(word) is not None
