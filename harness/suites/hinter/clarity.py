"""Which persons of a text are clear: it is certain which words refer to them.

All words for one person have to change together. A person may be mistaken for another if a pronoun has a
second plausible antecedent or a noun may take the person up again. A person may be a stranger if a name or a
role beside it ties it to somebody whose words are not known. Persons who are not clear keep the gender, but
for two cases, in which it is right whoever is meant (``Persons.company``): those of a gender who may be
mistaken change together if they may be one person, and in a long legal text everybody of a gender does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from harness.language.antecedents import tells_of
from harness.language.entities import Entity, Resolution
from harness.language.people import People, family
from harness.language.person_names import NAME_TAGS, left_over, strangers
from harness.language.persons import Mention

LONG = 15  # sentences; in longer texts, pronouns alone mean somebody said by other words elsewhere
WINDOW = 2  # sentences back in which another person may be meant
REFLEXIVES = frozenset({"himself", "herself"})
PLAIN = frozenset("man woman guy gal boy girl lady gentleman fellow chap dude bloke lad lass".split())  # noqa: SIM905
PLAYED = frozenset({"played", "portrayed", "performed", "voiced", "acted", "named", "called"})
ROLES = frozenset(
    """as play plays played playing portray portrays portrayed portraying role roles character characters star
    stars starring cast casting performance performances""".split()  # noqa: SIM905
)
SOMEBODY = frozenset({"one", "another", "someone", "somebody"})
ARGUMENTS = frozenset({"nsubj", "nsubjpass", "dobj", "pobj"})
DEFINITE = frozenset({"the", "this", "that"})
SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
IMPERSONAL = frozenset({"this", "that", "it", "there"})
_PLAYED_BY = re.compile(r"[^.!?]{0,60}\b(?:played|portrayed|voiced) by\b")


@dataclass(frozen=True)
class Doubts:
    """The indices of the entities that are persons and not clear.

    ``mistakable``: it is uncertain to which of the text's persons some words refer. ``strangers``: some of
    their words may refer to somebody else, or words for somebody else to them.
    """

    mistakable: frozenset[int]
    strangers: frozenset[int]

    @property
    def all(self) -> frozenset[int]:
        """All persons that are not clear."""
        return self.mistakable | self.strangers


def doubts(resolution: Resolution, words: People) -> Doubts:
    """Return which persons of ``resolution`` are not clear, and why."""
    clarity = _Clarity(resolution, words)
    return Doubts(frozenset(clarity.mistakable()), frozenset(clarity.strangers()))


class _Clarity:
    def __init__(self, resolution: Resolution, words: People) -> None:
        self._reading = resolution.reading
        self._words = words
        self._rivals = resolution.rivals
        self._entities = {n: entity for n, entity in enumerate(resolution.entities) if entity.person}
        self._mentions = sorted(
            ((m, n) for n, entity in self._entities.items() for m in entity.mentions),
            key=lambda pair: pair[0].start,
        )
        self._number = {m.head: n for m, n in self._mentions}
        self._unrecognised = sorted(set(self._unrecognised_names()))
        self._animals = list(self._nouns(words.animals))
        self._others = sorted({*self._unrecognised, *self._animals})
        self._somebody = list(self._indefinite())
        places = (
            i
            for e in self._reading.named
            if e.label == "GPE"
            for i in range(e.first, e.last)
            if self._reading.tokens[i].dep in SUBJECTS
        )
        self._called_she = [*places, *self._nouns(words.called_she)]

    def mistakable(self) -> Iterator[int]:
        """Yield the entities that may be each other, with repetitions."""
        for mention, number in self._mentions:
            if mention.kind == "pronoun" and mention.gender:
                yield from self._of_pronoun(mention, number)
            elif mention.kind == "nominal" and mention.gender:
                yield from self._of_noun(mention, number)
        yield from self._repeated()
        for number, entity in self._entities.items():
            if all(m.kind == "pronoun" for m in entity.mentions):
                others = [*self._before(entity.mentions[0], number), *self._named_after(entity)]
                if others or self._stranger_to(entity):
                    yield from (number, *others)

    def strangers(self) -> Iterator[int]:
        """Yield the entities that may be somebody else, with repetitions."""
        for mention, number in self._mentions:
            doubtful = (
                (mention.kind == "pronoun" and mention.gender and self._meets(mention, number))
                or self._of_itself(mention, number)
                or (mention.kind == "nominal" and self._unnamed(mention, number))
                or (mention.kind == "name" and self._acts(mention))
            )
            if doubtful:
                yield number
        for number, entity in self._entities.items():
            named = any(m.kind == "name" for m in entity.mentions)
            if len(entity.genders) > 1 or (named and any(left_over(self._reading, entity.mentions))):
                yield number
            if not named and self._presupposed(entity) and self._name_after(entity):
                yield number

    def _of_itself(self, mention: Mention, number: int) -> bool:
        """Return whether a reflexive begins its entity, so that whoever it means was not recognised."""
        first = self._entities[number].mentions[0]
        return mention is first and self._reading.lower(mention.head) in REFLEXIVES

    def _presupposed(self, entity: Entity) -> bool:
        """Return whether a text speaks of somebody as known to the reader: *he*, *this sick woman*."""
        first = entity.mentions[0]
        return first.kind == "pronoun" or self._definite(first.head)

    def _name_after(self, entity: Entity) -> bool:
        """Return whether a name of no known gender follows shortly after the last mention of ``entity``."""
        last = entity.mentions[-1]
        nameless = (m.head for m, _ in self._mentions if m.kind == "name" and not m.gender)
        return any(
            i > last.head and self._reading.tokens[i].sentence - self._sentence(last) <= WINDOW
            for i in (*self._unrecognised, *nameless)
        )

    def _sentence(self, mention: Mention) -> int:
        return self._reading.tokens[mention.head].sentence

    # Pronouns

    def _bound(self, pronoun: Mention, number: int) -> bool:
        """Return whether grammar says to whom ``pronoun`` refers."""
        return self._reading.lower(pronoun.head) in REFLEXIVES or self._relative(pronoun, number)

    def _of_pronoun(self, pronoun: Mention, number: int) -> Iterator[int]:
        """Yield the entities to which ``pronoun`` may refer if there are several, or a long way back."""
        if self._bound(pronoun, number):
            return
        stated = self._stated(pronoun, number)
        rivals = {
            other
            for other in self._rivals.get(pronoun.head, ())
            if other in self._entities and (self._entities[other].genders or not stated)
        }
        if rivals or self._met(pronoun, self._somebody) or not self._near(pronoun, number):
            yield number
            yield from rivals

    def _meets(self, pronoun: Mention, number: int) -> bool:
        """Return whether ``pronoun`` may refer to an animal, an unrecognised name or, as *she*, a country."""
        if self._bound(pronoun, number):
            return False
        she = pronoun.gender == "female" and not self._stated(pronoun, number)
        things = [i for i in self._animals if not self._subject_since(i, pronoun, number)]
        return self._met(pronoun, [*self._unrecognised, *things, *(self._called_she if she else ())])

    def _subject_since(self, index: int, pronoun: Mention, number: int) -> bool:
        """Return whether the person is the subject of something between token ``index`` and ``pronoun``."""
        return any(
            index < m.head < pronoun.head and self._reading.tokens[m.head].dep in SUBJECTS
            for m in self._entities[number].mentions
            if m.kind != "pronoun"
        )

    def _stated(self, pronoun: Mention, number: int) -> bool:
        """Return whether a noun or a name has just told the gender of the person."""
        return any(
            m.kind != "pronoun"
            and m.gender is not None
            and m.start < pronoun.start
            and self._sentence(pronoun) - self._sentence(m) <= 1
            for m in self._entities[number].mentions
        )

    def _relative(self, pronoun: Mention, number: int) -> bool:
        """Return whether ``pronoun`` is in a relative clause about its person: *a man who hid his debts*."""
        return any(
            m.kind == "nominal" and tells_of(self._reading, m.head, pronoun.head)
            for m in self._entities[number].mentions
        )

    def _met(self, pronoun: Mention, others: Collection[int]) -> bool:
        """Return whether one of the tokens ``others`` is shortly before ``pronoun``."""
        return any(
            i < pronoun.head and self._sentence(pronoun) - self._reading.tokens[i].sentence <= WINDOW
            for i in others
        )

    def _near(self, pronoun: Mention, number: int) -> bool:
        """Return whether the person is mentioned shortly before ``pronoun``, or not at all before."""
        before = [m for m in self._entities[number].mentions if m.start < pronoun.start]
        return not before or self._sentence(pronoun) - self._sentence(before[-1]) <= WINDOW

    def _stranger_to(self, entity: Entity) -> bool:
        """Return whether pronouns alone may mean somebody named in the text, or one of a group before."""
        first = entity.mentions[0]
        return (
            bool(self._others)
            or self._reading.tokens[-1].sentence >= LONG
            or any(m.kind == "name" for m, _ in self._mentions)
            or any(
                token.tag == "NNS" and self._words.gender(self._reading.lower(i)) == first.gender
                for i, token in enumerate(self._reading.tokens[: first.head])
            )
        )

    def _unrecognised_names(self) -> Iterator[int]:
        """Yield tokens of names that were not recognised."""
        reading = self._reading
        mentions = [mention for mention, _ in self._mentions]
        covered = {i for m in mentions for i in reading.between(*m.span)}
        for start, _ in strangers(reading, mentions):
            index = reading.at(start)
            if (
                index is not None
                and not self._words.person(reading.lower(index))
                and not self._definite(index)
            ):
                yield index
        for index in range(len(reading.tokens)):
            word = reading.word(index)
            if index not in covered and word.istitle() and self._words.given_names.get(word.lower()):
                yield index

    def _indefinite(self) -> Iterator[int]:
        """Yield tokens that stand for somebody who is not named: *someone*, *one of them*."""
        for index, token in enumerate(self._reading.tokens):
            word = self._reading.lower(index)
            of = any(self._reading.lower(c) == "of" for c in self._reading.children[index])
            if word in SOMEBODY and token.dep in ARGUMENTS and (of or word != "one"):
                yield index

    def _definite(self, index: int) -> bool:
        return any(self._reading.lower(c) in DEFINITE for c in self._reading.children[index])

    def _nouns(self, words: Collection[str]) -> Iterator[int]:
        """Yield the tokens of nouns among ``words`` that refer to no person."""
        for index, token in enumerate(self._reading.tokens):
            if token.tag[:2] == "NN" and self._reading.lower(index) in words and index not in self._number:
                yield index

    # Nouns and names

    def _of_noun(self, mention: Mention, number: int) -> Iterator[int]:
        """Yield the entity of a gendered noun that may be somebody else of the text, and who that may be."""
        if self._resumes(mention, number):
            yield number
            yield from self._before(mention, number)
        if self._reading.lower(mention.head) in PLAIN:
            for other, its_number in self._mentions:
                alike = other.kind == "nominal" and self._reading.lower(other.head) in PLAIN
                near = abs(self._sentence(other) - self._sentence(mention)) <= WINDOW
                if alike and near and its_number != number and other.gender == mention.gender:
                    yield number

    def _unnamed(self, mention: Mention, number: int) -> bool:
        """Return whether the person of a noun may have a name that is not among the mentions."""
        return (
            self._named_elsewhere(mention, number)
            or self._kin(mention, number)
            or (not mention.gender and self._may_be_named(mention, number))
        )

    def _kin(self, mention: Mention, number: int) -> bool:
        """Return whether *the brother*, of nobody in particular, may be somebody whom a name tells."""
        reading, head = self._reading, mention.head
        if not family(reading.lower(head)) or not self._definite(head):
            return False
        owned = any(reading.lower(c) == "of" for c in reading.children[head])
        return not owned and any(
            m.kind == "name" and n != number and m.gender in (None, mention.gender) for m, n in self._mentions
        )

    def _may_be_named(self, mention: Mention, number: int) -> bool:
        """Return whether a definite noun may be somebody named before: *Reba … the singer*."""
        entity = self._entities[number]
        names = [m.head for m, _ in self._mentions if m.kind == "name"]
        return (
            entity.mentions[0] is mention
            and self._definite(mention.head)
            and not any(m.kind == "name" for m in entity.mentions)
            and any(i < mention.head for i in (*names, *self._others))
        )

    def _before(self, mention: Mention, number: int) -> list[int]:
        return [
            n
            for n, entity in self._entities.items()
            if n != number and entity.agrees(mention.gender) and entity.mentions[0].start < mention.start
        ]

    def _named_after(self, entity: Entity) -> Iterator[int]:
        """Yield whoever is named only after ``entity``, which is called by pronouns alone."""
        first = entity.mentions[0]
        for number, other in self._entities.items():
            begins = other.mentions[0]
            if begins.kind == "name" and begins.start > first.start and other.agrees(first.gender):
                yield number

    def _resumes(self, mention: Mention, number: int) -> bool:
        """Return whether a definite noun begins an entity although it may be a person mentioned before."""
        first = self._entities[number].mentions[0] is mention
        plain = self._reading.lower(mention.head) in PLAIN
        told = any(
            c > mention.head or self._reading.tokens[c].dep != "det"
            for c in self._reading.children[mention.head]
        )
        return (
            first
            and self._definite(mention.head)
            and (plain or not told)
            and bool(self._before(mention, number))
        )

    def _repeated(self) -> Iterator[int]:
        """Yield entities that share a gendered noun although they are not linked: *his wife … his wife*."""
        by_word: dict[str, set[int]] = {}
        for mention, number in self._mentions:
            if mention.kind == "nominal" and mention.gender:
                word = self._reading.lower(mention.head)
                by_word.setdefault(min(family(word), default=word), set()).add(number)
        for numbers in by_word.values():
            if len(numbers) > 1:
                yield from numbers

    def _named_elsewhere(self, mention: Mention, number: int) -> bool:
        """Return whether words beside a noun say who it is, without being mentions of the same person.

        *His girl, Jada*; *the Baroness Emilia, a woman*; *Ted as a Russian guy*; *a son played by Joel*.
        """
        reading, head = self._reading, mention.head
        token = reading.tokens[head]
        if token.dep == "pobj" and reading.lower(token.head) in ("as", "like", "into"):
            return True
        if _PLAYED_BY.match(reading.text, token.end, token.end + 80):
            return True
        above = reading.tokens[token.head]
        if token.dep == "pobj" and reading.lower(token.head) == "of" and reading.lower(above.head) in ROLES:
            return True  # in the role of his wife
        if token.dep == "dobj" and reading.lower(token.head) in ROLES:
            return True  # Eva plays the sister
        if token.dep in ("appos", "attr", "conj") and self._other_name(token.head, number):
            return True
        predicate = self._predicate(head)
        if predicate is not None and not self._subject_agrees(predicate, number):
            return True
        children = [(reading.lower(c), reading.tokens[c].dep) for c in reading.children[head]]
        if any(
            word in ("same", "also", "another") or (dep in ("acl", "relcl") and word in PLAYED)
            for word, dep in children
        ):
            return True
        names = any(m.kind == "name" and m.head < head for m, _ in self._mentions)
        if names and any(
            word in ("this", "that", "one") and dep in ("det", "nummod") for word, dep in children
        ):
            return True  # the basis of one man's view
        rest = reading.text[token.end :]
        if rest.lstrip().startswith("("):
            aside = range(token.end, token.end + rest.find(")") + 1)
            if any(m.kind == "name" and m.start in aside for m, _ in self._mentions):
                return True
        if reading.text[: reading.tokens[min([head, *reading.children[head]])].start].endswith("(") and any(
            m.kind == "name" or m.head in self._unrecognised for m, _ in self._mentions if m.head < head
        ):
            return True  # Louis Garrel (his son)
        near = (reading.lower(i) for i in range(head + 1, min(head + 5, len(reading.tokens))))
        return any(word in ("named", "called") for word in near) or self._name_follows(head, number)

    def _other_name(self, index: int, number: int) -> bool:
        return self._reading.tokens[index].tag in NAME_TAGS and self._number.get(index) != number

    def _predicate(self, head: int) -> int | None:
        """Return the verb of which a noun is the predicate, also after *alive and*."""
        tokens = self._reading.tokens
        while tokens[head].dep == "conj" and tokens[tokens[head].head].dep in ("attr", "acomp", "conj"):
            head = tokens[head].head
        return tokens[head].head if tokens[head].dep in ("attr", "acomp") else None

    def _subject_agrees(self, verb: int, number: int) -> bool:
        """Return whether the subject of a predicate is the same person, or says nothing of who it is."""
        subjects = [c for c in self._reading.children[verb] if self._reading.tokens[c].dep in SUBJECTS]
        return any(self._number.get(c) == number or self._reading.lower(c) in IMPERSONAL for c in subjects)

    def _name_follows(self, head: int, number: int) -> bool:
        """Return whether the name of another entity, or of none, follows directly or after a comma."""
        reading = self._reading
        last = len(reading.tokens) - 1
        after = next((i for i in (head + 1, head + 2) if i <= last and reading.word(i)[:1].isalnum()), None)
        if after is None or reading.tokens[after].sentence != reading.tokens[head].sentence:
            return False
        between = reading.text[reading.tokens[head].end : reading.tokens[after].start].strip()
        named = {self._number.get(i) for i in range(after, min(after + 3, last + 1))}
        return between in ("", ",", "(", ":", "-") and self._other_name(after, number) and number not in named

    def _acts(self, name: Mention) -> bool:
        """Return whether a name is that of a performer or a role, tied to the gender of another person."""
        reading = self._reading
        if reading.text[name.end : name.end + 12].lstrip().startswith("("):
            return True
        if reading.lower(reading.tokens[name.head].head) in ("like", "as"):
            return True
        if any(reading.tokens[c].dep in ("amod", "det", "nummod") for c in reading.children[name.head]):
            return True  # dirty Harry
        if self._is_somebody(name):
            return True
        return any(reading.lower(i) in ROLES for i in reading.sentence(self._sentence(name)))

    def _is_somebody(self, name: Mention) -> bool:
        """Return whether a name is said to be somebody definite: *Rains is the cop*, *Suchet is Poirot*."""
        reading = self._reading
        token = reading.tokens[name.head]
        if token.dep not in SUBJECTS:
            return False
        said = (c for c in reading.children[token.head] if reading.tokens[c].dep in ("attr", "acomp"))
        return any(self._definite(c) or reading.tokens[c].tag in NAME_TAGS for c in said)
