"""Antecedents of pronouns: which chain a pronoun may refer to by grammar, and which it refers to most likely.

The factors are those of Lappin and Leass 1994, *An Algorithm for Pronominal Anaphora Resolution*, with fewer
of them: agreement, binding, recency, grammatical role, the kind of mention, how often a person is mentioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from harness.language.entities import Entity
from harness.language.mentions import pronoun_slot, who_clause
from harness.language.parsed_text import ParsedText
from harness.language.persons import Gender, Mention

SUBJECTS = frozenset({"nsubj", "nsubjpass"})
CLAUSES = frozenset({"relcl", "acl", "advcl", "ccomp"})
PLACES = frozenset("behind around beside near before after over under with".split())  # noqa: SIM905
REACH = 2  # sentences back in which another person mentioned is a rival


@dataclass(slots=True)
class Chain:
    """The mentions put together so far, in text order, and the genders they express."""

    mentions: list[Mention] = field(default_factory=list)
    genders: set[Gender] = field(default_factory=set)

    def add(self, mention: Mention) -> None:
        """Add ``mention`` and the gender it expresses."""
        self.mentions.append(mention)
        if mention.gender:
            self.genders.add(mention.gender)

    def agrees(self, gender: Gender | None) -> bool:
        """Return whether a mention of ``gender`` may belong to the chain."""
        return gender is None or not self.genders or self.genders == {gender}


def most_salient(reading: ParsedText, pronoun: Mention, chains: Sequence[Chain]) -> Chain | None:
    """Return the chain to which ``pronoun`` refers most likely, None where none may be meant."""
    scored = [
        (score, i)
        for i, chain in enumerate(chains)
        if chain.agrees(pronoun.gender) and (score := _salience(reading, pronoun, chain)) is not None
    ]
    return chains[max(scored)[1]] if scored else None


def _salience(reading: ParsedText, pronoun: Mention, chain: Chain) -> float | None:
    """Score how likely ``pronoun`` refers to ``chain``; None where grammar rules it out."""
    last = chain.mentions[-1]
    place, here = reading.tokens[last.head], reading.tokens[pronoun.head]
    if not allowed(reading, pronoun, last):
        return None
    return (
        -1.0 * (here.sentence - place.sentence)
        + 1.0 * log(len(chain.mentions))
        + 0.8 * (place.dep in SUBJECTS)
        + 0.6 * (last.kind == "name")
        + 0.4 * (last.kind == "pronoun")
        + 0.5 * (last.kind == "nominal" and last.gender is not None)
        + 1.0 * bool(chain.genders)
        - 1.0 * (place.dep in ("compound", "nmod"))
        + 3.0 * any(tells_of(reading, m.head, pronoun.head) for m in chain.mentions)
    )


def tells_of(reading: ParsedText, noun: int, pronoun: int) -> bool:
    """Return whether the pronoun is in the noun's relative clause: *one who survives with his fears*."""
    verb = who_clause(reading, noun)
    return verb is not None and verb in reading.ancestors(pronoun)


def allowed(reading: ParsedText, pronoun: Mention, other: Mention) -> bool:
    """Return whether grammar allows ``pronoun`` to refer to what the earlier mention ``other`` refers to."""
    if reading.tokens[other.head].sentence == reading.tokens[pronoun.head].sentence:
        return not _bound(reading, pronoun, other)
    return pronoun_slot(reading, pronoun.head) != "reflexive"


def _bound(reading: ParsedText, pronoun: Mention, other: Mention) -> bool:
    """Return whether grammar forbids coreference: *Jake saw him*, *his mother* for *his*."""
    if other.kind == "nominal" and other.start <= pronoun.start < other.end:
        return not _clause_between(reading, pronoun.head, other.head)
    there = reading.tokens[other.head]
    if _owns(reading, pronoun.head, other.head):
        return True
    if reading.lower(reading.tokens[pronoun.head].head) in PLACES:
        return False  # he locked the door behind him
    object_of = (
        _clause(reading, pronoun.head) if pronoun_slot(reading, pronoun.head) == "accusative" else None
    )
    return (there.dep in SUBJECTS and there.head == object_of) or _helped(reading, object_of, other.head)


def _helped(reading: ParsedText, object_of: int | None, noun: int) -> bool:
    """Return whether the noun does to the pronoun what its clause says: *a student who tries to help him*."""
    verb = who_clause(reading, noun)
    if verb is None or object_of is None:
        return False
    while object_of != verb and reading.tokens[object_of].dep in ("xcomp", "conj"):
        object_of = reading.tokens[object_of].head
    whose = (c for c in reading.children[verb] if reading.lower(c) == "who")
    return object_of == verb and any(reading.tokens[c].dep in SUBJECTS for c in whose)


def _owns(reading: ParsedText, pronoun: int, name: int) -> bool:
    """Return whether the pronoun owns an apposition of the name: *Craig, his guard*."""
    above = reading.tokens[reading.tokens[pronoun].head]
    return reading.tokens[pronoun].dep == "poss" and above.dep == "appos" and above.head == name


def _clause_between(reading: ParsedText, pronoun: int, noun: int) -> bool:
    """Return whether the pronoun is in a clause within the phrase: *a woman with a past that she hides*."""
    for above in (pronoun, *reading.ancestors(pronoun)):
        if above == noun:
            return False
        if reading.tokens[above].dep in CLAUSES:
            return True
    return False


def _clause(reading: ParsedText, index: int) -> int:
    """Return the verb that governs ``index``, looking through prepositions."""
    for above in reading.ancestors(index):
        if reading.tokens[above].tag[:2] in ("VB", "MD"):
            return above
    return index


def subordinate(reading: ParsedText, pronoun: int, name: int) -> bool:
    """Return whether the pronoun is in a clause or phrase below the one to which the name belongs."""
    return (
        reading.tokens[name].dep in SUBJECTS
        and reading.tokens[name].head in set(reading.ancestors(pronoun))
        and (reading.tokens[pronoun].head != reading.tokens[name].head)
    )


def rivals(reading: ParsedText, entities: Sequence[Entity]) -> Mapping[int, tuple[int, ...]]:
    """Return, for the head token of each pronoun, the indices of the other entities that it may refer to.

    Such an entity is a person of the same gender, or of one that is not known, whom a mention in the same
    sentence or the ``REACH`` sentences before names without grammar ruling it out. The gender of a person
    is known by names, nouns and those earlier pronouns that have no rival themselves.
    """
    genders = [{m.gender for m in e.mentions if m.kind != "pronoun" and m.gender} for e in entities]
    pronouns = [(m, i) for i, entity in enumerate(entities) for m in entity.mentions if m.kind == "pronoun"]
    rivals_of: dict[int, tuple[int, ...]] = {}
    for pronoun, home in sorted(pronouns, key=lambda pair: pair[0].start):
        others = tuple(
            i
            for i, entity in enumerate(entities)
            if i != home
            and (not genders[i] or pronoun.gender in genders[i])
            and _within_reach(reading, pronoun, entity)
        )
        rivals_of[pronoun.head] = others
        if not others and pronoun.gender:
            genders[home].add(pronoun.gender)
    return rivals_of


def _within_reach(reading: ParsedText, pronoun: Mention, entity: Entity) -> bool:
    """Return whether a mention of ``entity`` is near enough to ``pronoun``, and none rules the entity out."""
    here = reading.tokens[pronoun.head].sentence
    near = False
    for mention in entity.mentions:
        distance = here - reading.tokens[mention.head].sentence
        if mention.kind == "other" or not 0 <= distance <= REACH:
            continue
        if distance == 0 and _bound(reading, pronoun, mention):
            return False
        if mention.start < pronoun.start:
            near = near or allowed(reading, pronoun, mention)
        elif mention.kind != "pronoun":
            near = near or subordinate(reading, pronoun.head, mention.head)
    return near
