"""Find what makes it doubtful that a text is about one person alone.

A doubtful text is rejected: one template fewer is better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from harness.core import Span
from harness.language.antecedents import REACH, SUBJECTS
from harness.language.entities import Entity, Resolution
from harness.language.mentions import pronoun_slot
from harness.language.parsed_text import ParsedText
from harness.language.people import people
from harness.language.person_names import NAME_TAGS, left_over, quotations, strangers
from harness.language.persons import Mention
from harness.language.surface import begins_sentence

# Words that a pronoun in the same sentence may refer to: *everyone should see this once in his life*.
EACH = frozenset("everyone everybody anyone anybody nobody each every whoever".split())  # noqa: SIM905
CHARACTERS = frozenset({"character", "characters", "someone", "somebody"})
# A name after one of these and *of* is a work's title: *the 2000 version of Lorna Doone*.
WORKS = frozenset(
    """version versions adaptation adaptations remake remakes retelling story tale film movie book novel
    series show episode episodes sequel prequel reminiscent""".split()  # noqa: SIM905
)
_OR_BEFORE = re.compile(r"(?:\bor\s|[/(])$", re.IGNORECASE)
_OR_AFTER = re.compile(r"\s?/|\sor\b", re.IGNORECASE)
_CHRISTENED = re.compile(r"\s+(?:(?:named|called|nicknamed|dubbed)\b|[\"'“‘]+[^\W\d_a-z])")
_NO_NAME = re.compile(r"[^\w\s.'’-]|['’]s\b|\d")
PLACED = frozenset({"GPE", "LOC", "DATE", "TIME", "NORP", "CARDINAL", "ORDINAL", "LANGUAGE", "EVENT"})
THINGS = frozenset("it this that there everything nothing something music dialogue acting".split())  # noqa: SIM905
SHORTEST = 3  # letters of a nickname, at least one more
QUOTES = "\"'“”‘’"
INVOKED = frozenset({"jesus", "christ", "god", "lord"})


def doubt(resolution: Resolution, person: Entity) -> Span | None:
    """Return the words that suggest ``person`` is not the only person, or no person; None if none do."""
    reading = resolution.reading
    doubts = chain(
        strangers(reading, person.mentions),
        left_over(reading, person.mentions),
        _one_by_one(reading, person),
        _characters(reading, person),
        _coordinated(reading, person),
        _unmatched(reading, person),
        _unclear(resolution, person),
        _either(reading, person),
        _in_titles(reading, person),
        _christened(reading, person),
        _unnamed(reading, person),
        _nicknames(reading, person),
        _animals(reading, person),
        *(_no_name(reading, m, len(person.mentions)) for m in person.mentions if m.kind == "name"),
    )
    return next(doubts, None)


def _one_by_one(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield *everyone* and the like before a pronoun in its sentence; but not in *nobody visits her*."""
    pronouns = (m.head for m in person.mentions if m.kind == "pronoun")
    for head in (h for h in pronouns if pronoun_slot(reading, h) != "accusative"):
        sentence, index = reading.tokens[head].sentence, head - 1
        while index >= 0 and reading.tokens[index].sentence == sentence:
            if reading.lower(index) in EACH | INVOKED:
                yield reading.tokens[index].start, reading.tokens[index].end
            index -= 1


def _characters(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield *character* without a possessor, *someone*, *one of them*, nearer to a pronoun than a mention."""
    heads = sorted(m.head for m in person.mentions)
    pronouns = {m.head for m in person.mentions if m.kind == "pronoun"}
    for before, after in pairwise(heads):
        for index in range(before + 1, after if after in pronouns else before):
            possessed = any(reading.tokens[child].dep == "poss" for child in reading.children[index])
            if (reading.lower(index) in CHARACTERS and not possessed) or _one_of_many(reading, index):
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


def _unnamed(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield what may name a person of whom only pronouns tell: *DMX talks about his dogs*."""
    if any(mention.kind != "pronoun" for mention in person.mentions):
        return
    near = {reading.tokens[m.head].sentence - back for m in person.mentions for back in range(REACH + 1)}
    apart = {i for named in reading.named if named.label in PLACED for i in range(named.first, named.last)}
    quoted = quotations(reading.text)
    last = max(mention.head for mention in person.mentions)
    for index, token in enumerate(reading.tokens[:last]):
        if token.sentence not in near or index in apart or _within(quoted, token.start):
            continue
        bare = token.tag == "NN" and token.dep in SUBJECTS and not reading.children[index]
        if token.tag in NAME_TAGS or (bare and reading.lower(index) not in THINGS):
            yield token.start, token.end


def _within(spans: Sequence[Span], at: int) -> bool:
    return any(low <= at < high for low, high in spans)


def _nicknames(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield the beginning of a name that stands by itself: *Hitch* for Hitchcock."""
    names = [(m.start, m.end) for m in person.mentions if m.kind == "name"]
    parts = {part.lower() for start, end in names for part in reading.text[start:end].split()}
    for index, token in enumerate(reading.tokens):
        word = reading.lower(index)
        starts = len(word) > SHORTEST and any(part.startswith(word) for part in parts)
        if starts and token.tag in NAME_TAGS and not _within(names, token.start):
            yield token.start, token.end


def _animals(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield an animal between a pronoun and the mention before it, in one sentence."""
    animals = people().animals | {"pet", "pets"}
    for before, after in pairwise(sorted(person.mentions, key=lambda m: m.head)):
        for index in range(before.head + 1, after.head if after.kind == "pronoun" else 0):
            same = reading.tokens[index].sentence == reading.tokens[after.head].sentence
            if same and reading.lower(index) in animals:
                yield reading.tokens[index].start, reading.tokens[index].end


def _unmatched(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield a name that holds more than a name, and words of names that stand elsewhere, too: *Joey's(i*."""
    spans = [(m.start, m.end) for m in person.mentions if m.kind == "name"]
    written = {part for start, end in spans for part in re.findall(r"\w{3,}", reading.text[start:end])}
    yield from ((start, end) for start, end in spans if _NO_NAME.search(reading.text[start:end]))
    for part in written:
        for match in re.finditer(rf"\b{re.escape(part)}", reading.text):
            if part[0].isupper() and not any(low <= match.start() < high for low, high in spans):
                yield match.span()


def _no_name(reading: ParsedText, name: Mention, mentions: int) -> Iterator[Span]:
    """Yield the span of a name that is a work's title, an invocation, or only part of a longer name."""
    span = name.start, name.end
    written = reading.text[slice(*span)]
    around = reading.text[max(0, name.start - 1) : name.end + 1]
    shouted = written.isupper() and len(written.split()) > 1 and not reading.text.isupper()
    quoted = mentions == 1 and around[0] in QUOTES and around[-1] in QUOTES
    if shouted or quoted or written.lower() in INVOKED or _of_work(reading, name) or _goes_on(reading, name):
        yield span


def _of_work(reading: ParsedText, name: Mention) -> bool:
    token = reading.tokens[name.head]
    above = reading.tokens[token.head]
    of = token.dep == "pobj" and reading.lower(token.head) == "of" and above.head != token.head
    is_work = any(
        reading.lower(i) in WORKS | {"masterpiece", "classic"} for i in _predicates(reading, name.head)
    )
    return is_work or (of and reading.lower(above.head) in WORKS)


def _predicates(reading: ParsedText, subject: int) -> Iterator[int]:
    """Yield the nouns that the sentence equates with its subject: *is a film*, *is seen as a film*."""
    token = reading.tokens[subject]
    if token.dep not in SUBJECTS:
        return
    for child in reading.children[token.head]:
        if reading.tokens[child].dep == "attr":
            yield child
        elif reading.lower(child) == "as":
            yield from reading.children[child]


def _goes_on(reading: ParsedText, name: Mention) -> bool:
    """Return whether another capitalised proper noun follows directly: *Danny* of *Danny Glover*."""
    after = reading.at(name.end + 1) if reading.text[name.end : name.end + 1] == " " else None
    return after is not None and reading.word(after).istitle() and reading.tokens[after].tag == "NNP"
