"""Who a text speaks of: single persons with all their mentions, and groups named by one plural noun.

A person is *clear* if no mention of another could be of them: no pronoun has a second plausible antecedent,
and no definite noun may take them up again. Only clear persons change their gender, because all words for one
person have to change together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.language.entities import Entity, Resolution
from harness.language.mentions import who_clause
from harness.language.parsed_text import ParsedText
from harness.language.people import People
from harness.language.person_names import NAME_TAGS, left_over, strangers
from harness.language.persons import Gender, Mention

WINDOW = 2  # sentences back in which another person may be meant
REFLEXIVES = frozenset({"himself", "herself"})
PLAIN = frozenset("man woman guy gal boy girl lady gentleman fellow chap dude bloke lad lass".split())  # noqa: SIM905
ROLES = frozenset(
    """as play plays played playing portray portrays portrayed portraying role roles character characters star stars
    starring cast casting performance performances""".split()  # noqa: SIM905
)
PLAYED = frozenset({"played", "portrayed", "performed", "voiced", "acted", "named", "called"})
ANAPHORIC = frozenset({"both", "these", "those", "other", "neither", "either"})
DEFINITE = frozenset({"the", "this", "that"})


@dataclass(frozen=True)
class Person:
    """A single person, or a group where ``mentions`` is empty; ``key`` tells it from others of the text."""

    key: str
    mentions: tuple[Mention, ...] = ()
    gender: Gender | None = None
    clear: bool = True

    @property
    def single(self) -> bool:
        """Whether this is one person."""
        return bool(self.mentions)


class Persons:
    """The persons of one resolved text."""

    def __init__(self, resolution: Resolution, words: People) -> None:
        self._reading = resolution.reading
        self._words = words
        persons = [(index, entity) for index, entity in enumerate(resolution.entities) if entity.person]
        self._entities = [entity for _, entity in persons]
        self._place = {index: number for number, (index, _) in enumerate(persons)}
        self._rivals_of = resolution.rivals
        self._unclear = set(self._doubts())
        self._number = {m.head: n for n, entity in enumerate(self._entities) for m in entity.mentions}

    def of(self, head: int) -> Person:
        """Return the person or group whose mention has its head at token ``head``."""
        number = self._number.get(head)
        if number is not None:
            entity = self._entities[number]
            gender = next(iter(entity.genders)) if len(entity.genders) == 1 else None
            return Person(f"person {number + 1}", entity.mentions, gender, number not in self._unclear)
        word = self._reading.lower(head)
        if self._words.singular(word) is not None or self._reading.tokens[head].tag in ("NNS", "NNPS"):
            return Person(f"group {word}")
        return Person(f"noun {head}", clear=False)

    @cached_property
    def _mentions(self) -> list[tuple[Mention, int]]:
        return sorted(
            ((m, n) for n, entity in enumerate(self._entities) for m in entity.mentions),
            key=lambda pair: pair[0].start,
        )

    def _doubts(self) -> Iterator[int]:
        """Yield the numbers of entities that are not clear."""
        others = self._others
        for mention, number in self._mentions:
            if mention.kind == "pronoun" and mention.gender:
                rivals = set(self._rivals(mention, number))
                if rivals or self._stranger(mention, others) or not self._near(mention, number):
                    yield number
                    yield from rivals
            elif mention.kind == "nominal" and mention.gender and self._resumes(mention, number):
                yield number
                yield from (
                    n
                    for n, entity in enumerate(self._entities)
                    if n != number
                    and _agrees(entity, mention.gender)
                    and entity.mentions[0].start < mention.start
                )
        yield from self._alike()
        yield from self._repeated()
        yield from self._strangers_alone()
        for number, entity in enumerate(self._entities):
            if any(self._named_elsewhere(m) for m in entity.mentions if m.kind == "nominal"):
                yield number
            if any(self._acts(m) for m in entity.mentions if m.kind == "name"):
                yield number
            if len(entity.genders) > 1 or any(left_over(self._reading, entity.mentions)):
                yield number

    @property
    def anybody(self) -> bool:
        """Whether the text names somebody or says anybody's gender."""
        return any(m.kind == "name" or m.gender for m, _ in self._mentions)

    def _alike(self) -> Iterator[int]:
        """Yield entities that nouns such as *man* name near to one another: perhaps the same person."""
        plain = [
            (m, n) for m, n in self._mentions if m.kind == "nominal" and self._reading.lower(m.head) in PLAIN
        ]
        for mention, number in plain:
            here = self._reading.tokens[mention.head].sentence
            for other, its_number in plain:
                there = self._reading.tokens[other.head].sentence
                if its_number != number and other.gender == mention.gender and abs(here - there) <= WINDOW:
                    yield number

    def _repeated(self) -> Iterator[int]:
        """Yield entities that one gendered noun names, although they are not linked: *his wife … his wife*."""
        by_word: dict[str, set[int]] = {}
        for mention, number in self._mentions:
            if mention.kind == "nominal" and mention.gender:
                by_word.setdefault(self._reading.lower(mention.head), set()).add(number)
        for numbers in by_word.values():
            if len(numbers) > 1:
                yield from numbers

    def _strangers_alone(self) -> Iterator[int]:
        """Yield entities of pronouns alone in a text that names somebody: perhaps the person meant."""
        named = any(m.kind == "name" for m, _ in self._mentions) or bool(self._others)
        for number, entity in enumerate(self._entities):
            if all(m.kind == "pronoun" for m in entity.mentions) and (named or self._after_group(entity)):
                yield number

    def _after_group(self, entity: Entity) -> bool:
        """Return whether several persons of the gender are named before the pronouns of ``entity``."""
        first = entity.mentions[0]
        return any(
            token.tag == "NNS"
            and token.start < first.start
            and self._words.gender(self._reading.lower(i)) == first.gender
            for i, token in enumerate(self._reading.tokens)
        )

    def _named_elsewhere(self, mention: Mention) -> bool:
        """Return whether words beside a noun say who it is, without being mentions of the same person.

        *His girl, Jada*; *the Baroness Emilia, a woman*; *Ted as a Russian guy*; *a son played by Joel*.
        """
        reading, head = self._reading, mention.head
        token = reading.tokens[head]
        number = self._number_of(head)
        after = next(
            (i for i in (head + 1, head + 2) if i < len(reading.tokens) and reading.word(i)[:1].isalnum()),
            None,
        )
        if after is not None and reading.tokens[after].tag in NAME_TAGS and self._number_of(after) != number:
            between = reading.text[token.end : reading.tokens[after].start].strip()
            if between in ("", ",", "(", ":", "-") and reading.tokens[after].sentence == token.sentence:
                return True
        if token.dep in ("appos", "attr", "conj") and reading.tokens[token.head].tag in NAME_TAGS:
            if self._number_of(token.head) != number:
                return True
        if token.dep == "attr" and not any(
            self._number_of(c) == number or reading.lower(c) in ("this", "that", "it", "there")
            for c in reading.children[token.head]
            if reading.tokens[c].dep in ("nsubj", "nsubjpass", "expl")
        ):
            return True
        if any(reading.lower(c) == "same" for c in reading.children[head]):
            return True
        if token.dep == "pobj" and reading.lower(token.head) in ("as", "like"):
            return True
        return any(
            reading.tokens[c].dep in ("acl", "relcl") and reading.lower(c) in PLAYED
            for c in reading.children[head]
        )

    def _acts(self, name: Mention) -> bool:
        """Return whether a name is that of a performer or a role, which tie it to another person's gender."""
        reading = self._reading
        following = reading.text[name.end : name.end + 12].lstrip()
        here = reading.tokens[name.head].sentence
        governor = reading.lower(reading.tokens[name.head].head)
        return (
            following.startswith("(")
            or governor in ("like", "as")
            or any(
                reading.lower(i) in ROLES for i, token in enumerate(reading.tokens) if token.sentence == here
            )
        )

    def _number_of(self, head: int) -> int | None:
        return next((n for m, n in self._mentions if m.head == head), None)

    def anaphoric(self, head: int) -> bool:
        """Return whether a plural noun takes up persons mentioned before: *both men*, *these people*."""
        reading = self._reading
        children = {reading.lower(c): reading.tokens[c].dep for c in reading.children[head] if c < head}
        if "poss" in children.values() or not self._anybody_before(head):
            return False
        if children.keys() & ANAPHORIC:
            return True
        modified = any(
            reading.tokens[c].dep in ("amod", "compound", "prep", "relcl", "acl")
            for c in reading.children[head]
        )
        return "the" in children and not modified

    def _anybody_before(self, head: int) -> bool:
        return any(m.head < head for m, _ in self._mentions) or any(
            self._words.person(self._reading.lower(i)) and self._reading.tokens[i].tag == "NNS"
            for i in range(head)
        )

    def _rivals(self, pronoun: Mention, number: int) -> Iterator[int]:
        """Yield the other entities that ``pronoun`` might refer to.

        One whose gender is not known is no rival of one whose nouns or names have just said it, nor is anybody
        a rival in a relative clause (*a man who hid his debts*).
        """
        if self._reading.lower(pronoun.head) in REFLEXIVES or self._relative(pronoun, number):
            return
        here = self._reading.tokens[pronoun.head].sentence
        stated = any(
            m.kind != "pronoun"
            and m.gender
            and m.start < pronoun.start
            and here - self._reading.tokens[m.head].sentence <= 1
            for m in self._entities[number].mentions
        )
        for other in self._rivals_of.get(pronoun.head, ()):
            if other in self._place and not (stated and not self._entities[self._place[other]].genders):
                yield self._place[other]

    def _relative(self, pronoun: Mention, number: int) -> bool:
        """Return whether ``pronoun`` is in a relative clause about its person."""
        above = set(self._reading.ancestors(pronoun.head))
        return any(
            (verb := who_clause(self._reading, m.head)) is not None and verb in above
            for m in self._entities[number].mentions
            if m.kind == "nominal"
        )

    @cached_property
    def _others(self) -> list[int]:
        """The tokens of animals and of names that were not recognised."""
        reading = self._reading
        mentions = [mention for mention, _ in self._mentions]
        tokens = [
            index for start, _ in strangers(reading, mentions) if (index := reading.at(start)) is not None
        ]
        return tokens + [i for i in range(len(reading.tokens)) if self._animal(i)]

    def _animal(self, index: int) -> bool:
        word = self._reading.lower(index)
        return word in self._words.animals and index not in {m.head for m, _ in self._mentions}

    def _stranger(self, pronoun: Mention, others: Sequence[int]) -> bool:
        here = self._reading.tokens[pronoun.head].sentence
        return any(
            self._reading.tokens[i].start < pronoun.start
            and here - self._reading.tokens[i].sentence <= WINDOW
            for i in others
        )

    def _near(self, pronoun: Mention, number: int) -> bool:
        """Return whether the person is mentioned shortly before ``pronoun``, or not at all before."""
        before = [m for m in self._entities[number].mentions if m.start < pronoun.start]
        here = self._reading.tokens[pronoun.head].sentence
        return not before or here - self._reading.tokens[before[-1].head].sentence <= WINDOW

    def _resumes(self, mention: Mention, number: int) -> bool:
        """Return whether a definite noun begins an entity although it may be a person mentioned before."""
        first = self._entities[number].mentions[0] is mention
        children = self._reading.children[mention.head]
        definite = any(self._reading.lower(c) in DEFINITE for c in children)
        return (
            first
            and definite
            and any(
                entity.mentions[0].start < mention.start and _agrees(entity, mention.gender)
                for n, entity in enumerate(self._entities)
                if n != number
            )
        )


def between(reading: ParsedText, start: int, end: int) -> Iterator[int]:
    """Yield the tokens in ``[start, end)``."""
    index = reading.at(start)
    while index is not None and index < len(reading.tokens) and reading.tokens[index].start < end:
        yield index
        index += 1


def _agrees(entity: Entity, gender: Gender | None) -> bool:
    return gender is None or not entity.genders or entity.genders == {gender}


def sentences(reading: ParsedText, person: Person) -> set[int]:
    """Return the sentences in which ``person`` is mentioned."""
    return {reading.tokens[mention.head].sentence for mention in person.mentions}
