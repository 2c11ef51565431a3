"""Find what makes it doubtful that a text is about one person alone.

A doubtful text is rejected: one template fewer is better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from harness.core import Span
from harness.language.antecedents import SUBJECTS
from harness.language.entities import Entity, Resolution
from harness.language.mentions import pronoun_slot
from harness.language.parsed_text import ParsedText
from harness.language.people import people
from harness.language.person_names import left_over, quotations, strangers
from harness.language.persons import Mention
from harness.language.surface import begins_sentence
from harness.suites.biasfinder import name_doubts

# Words that a pronoun in the same sentence may refer to: *everyone should see this once in his life*.
EACH = frozenset("everyone everybody anyone anybody nobody each every whoever".split())  # noqa: SIM905
CHARACTERS = frozenset({"character", "characters", "someone", "somebody"})
_OR_BEFORE = re.compile(r"(?:\bor\s|[/(])$", re.IGNORECASE)
_OR_AFTER = re.compile(r"\s?/|\sor\b", re.IGNORECASE)
_CHRISTENED = re.compile(r"\s+(?:(?:named|called|nicknamed|dubbed)\b|[\"'“‘]+[^\W\d_a-z])")
LEAST_SENTENCES = 2  # more, and how they begin is a habit


def doubt(resolution: Resolution, person: Entity) -> Span | None:
    """Return the words that suggest ``person`` is not the only person, or no person; None if none do."""
    reading = resolution.reading
    doubts = chain(
        strangers(reading, person.mentions),
        left_over(reading, person.mentions),
        _one_by_one(reading, person),
        _characters(reading, person),
        _coordinated(reading, person),
        name_doubts.unmatched(reading, person),
        _unclear(resolution, person),
        _either(reading, person),
        _in_titles(reading, person),
        _christened(reading, person),
        name_doubts.unnamed(reading, person),
        name_doubts.nicknames(reading, person),
        _animals(reading, person),
        _generic(reading, person),
        _in_lower_case(reading, person),
        *(name_doubts.no_name(reading, m, len(person.mentions)) for m in person.mentions if m.kind == "name"),
    )
    return next(doubts, None)


def _one_by_one(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield *everyone* and the like before a pronoun in its sentence; but not in *nobody visits her*."""
    pronouns = (m.head for m in person.mentions if m.kind == "pronoun")
    for head in (h for h in pronouns if pronoun_slot(reading, h) != "accusative"):
        sentence, index = reading.tokens[head].sentence, head - 1
        while index >= 0 and reading.tokens[index].sentence == sentence:
            if reading.lower(index) in EACH | name_doubts.INVOKED:
                yield reading.tokens[index].start, reading.tokens[index].end
            index -= 1


def _characters(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield *character* without a possessor, *someone*, *one of them*, nearer to a pronoun than a mention."""
    heads = sorted(m.head for m in person.mentions)
    pronouns = {m.head for m in person.mentions if m.kind == "pronoun"}
    for before, after in pairwise(heads):
        for index in range(before + 1, after if after in pronouns else before):
            somebody = reading.lower(index) in CHARACTERS and not reading.owned(index)
            if somebody or _one_of_many(reading, index):
                yield reading.tokens[index].start, reading.tokens[index].end


def _one_of_many(reading: ParsedText, index: int) -> bool:
    """Return whether *one* of several persons begins at ``index``: *one of them*, *one of the boys*."""
    if reading.lower(index) != "one":
        return False
    below = (reading.lower(i) for i in reading.subtree(index))
    return any(word in ("them", "these", "those") or people().singular(word) is not None for word in below)


def _coordinated(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield a mention coordinated with another noun, name or *I*: *my mom, dad, and I*; *he and his dog*."""
    for mention in person.mentions:
        token = reading.tokens[mention.head]
        children = [c for c in reading.children[mention.head] if reading.tokens[c].dep == "conj"]
        others = [*children, *([token.head] if token.dep == "conj" else [])]
        beside = any(reading.tokens[i].tag[:2] in ("NN", "PR") for i in others)
        if beside or _listed(reading, reading.at(mention.end - 1) or mention.head):
            yield mention.start, mention.end


def _listed(reading: ParsedText, index: int) -> bool:
    """Return whether a comma or *and*, and then another person, follow the token at ``index``."""
    following = [reading.lower(i) for i in range(index + 1, min(index + 4, len(reading.tokens)))]
    if not following or following[0] not in (",", "and", "or", "&"):
        return False
    rest = [word for word in following[1:] if word not in ("my", "his", "her", "the", "a", "and")]
    return bool(rest) and (rest[0] in ("i", "me") or people().person(rest[0]))


def _unclear(resolution: Resolution, person: Entity) -> Iterator[Span]:
    """Yield pronouns that may refer to another person mentioned: *the boss wipes the blood off his glasses*.

    The subject of a pronoun's own sentence is whom it refers to, unless a rival is a subject in it, too.
    """
    for mention in person.mentions:
        rivals = [resolution.entities[i] for i in resolution.rivals.get(mention.head, ())]
        leading = _heads(resolution.reading, person, mention)
        if rivals and not (leading and not any(_heads(resolution.reading, r, mention) for r in rivals)):
            yield mention.start, mention.end


def _heads(reading: ParsedText, entity: Entity, pronoun: Mention) -> bool:
    """Return whether ``entity`` is a subject before ``pronoun`` in its sentence."""
    sentence = reading.tokens[pronoun.head].sentence
    return any(
        m.head < pronoun.head
        and reading.tokens[m.head].sentence == sentence
        and reading.tokens[m.head].dep in SUBJECTS
        for m in entity.mentions
    )


def _either(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield pronouns for a person of any gender: *he or she*, *s/he*."""
    for mention in person.mentions:
        around = reading.text[max(0, mention.start - 4) : mention.start], reading.text[mention.end :][:4]
        if mention.kind == "pronoun" and (_OR_BEFORE.search(around[0]) or _OR_AFTER.match(around[1])):
            yield mention.start, mention.end


def _in_titles(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield nouns in a title: *"Tank Girl" is fun*, *the film The Invisible Man*."""
    quoted = quotations(reading.text)
    for mention in person.mentions:
        token = reading.tokens[mention.head]
        inside = any(low <= token.start < high for low, high in quoted)
        opens = begins_sentence(reading.text, token.start)
        article = reading.text[mention.start : mention.start + 3].istitle()
        titled = reading.word(mention.head).istitle() and not opens
        titled = titled or (article and not begins_sentence(reading.text, mention.start))
        if mention.kind == "nominal" and (inside or titled):
            yield mention.start, mention.end


def _christened(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield nouns with a name that is not exchanged: *my next daughter "Adelaide"*, *a girl named Nikita*."""
    for mention in person.mentions:
        if mention.kind == "nominal" and _CHRISTENED.match(reading.text, reading.tokens[mention.head].end):
            yield mention.start, mention.end


def _generic(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield a noun for everybody: *the cruelty that man is capable of*."""
    for mention in person.mentions:
        alone = mention.kind == "nominal" and not reading.children[mention.head]
        if alone and reading.lower(mention.head) in ("man", "woman"):
            yield mention.start, mention.end


def _in_lower_case(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield the person's first mention where sentences begin in lower case: so may unseen names."""
    firsts = [
        reading.word(i)
        for i, token in enumerate(reading.tokens)
        if i == 0 or reading.tokens[i - 1].sentence != token.sentence
    ]
    small = sum(word[:1].islower() for word in firsts)
    if len(firsts) > LEAST_SENTENCES and small > len(firsts) / 2 and person.mentions[0].kind != "name":
        yield person.mentions[0].start, person.mentions[0].end


def _animals(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield an animal between a pronoun and the mention before it, in one sentence."""
    animals = people().animals | {"pet", "pets"}
    for before, after in pairwise(sorted(person.mentions, key=lambda m: m.head)):
        for index in range(before.head + 1, after.head if after.kind == "pronoun" else 0):
            same = reading.tokens[index].sentence == reading.tokens[after.head].sentence
            if same and reading.lower(index) in animals:
                yield reading.tokens[index].start, reading.tokens[index].end
