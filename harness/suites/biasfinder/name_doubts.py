"""Find names that are no person's, and words that may be a person's name and are not exchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.core import Span
from harness.language.antecedents import REACH, SUBJECTS
from harness.language.entities import Entity
from harness.language.parsed_text import ParsedText
from harness.language.person_names import NAME_TAGS, quotations
from harness.language.persons import Mention

# A name after one of these and *of* is a work's title: *the 2000 version of Lorna Doone*.
WORKS = frozenset(
    """version versions adaptation adaptations remake remakes retelling story tale film movie book novel
    series show episode episodes sequel prequel reminiscent films movies books shows stories""".split()  # noqa: SIM905
)
_LIKE_A_TITLE = re.compile(r"['’]s [A-Z][a-z]+|-\w")
_NO_NAME = re.compile(r"[^\w\s.'’-]|['’]s\b|\d")
PLACED = frozenset({"GPE", "LOC", "DATE", "TIME", "NORP", "CARDINAL", "ORDINAL", "LANGUAGE", "EVENT"})
THINGS = frozenset("it this that there everything nothing something music dialogue acting".split())  # noqa: SIM905
SHORTEST = 3  # letters of a nickname, at least one more
INVOKED = frozenset({"jesus", "christ", "god", "lord", "moses", "oscar", "emmy", "satan"})
QUOTES = "\"'“”‘’"


def unnamed(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield what may name a person of whom only pronouns tell: *DMX talks about his dogs*."""
    if any(mention.kind != "pronoun" for mention in person.mentions):
        return
    near = {reading.tokens[m.head].sentence - back for m in person.mentions for back in range(REACH + 1)}
    label = {i: named.label for named in reading.named for i in range(named.first, named.last)}
    quoted = quotations(reading.text)
    last = max(mention.head for mention in person.mentions)
    for index, token in enumerate(reading.tokens[:last]):
        if (
            token.sentence not in near
            or label.get(index) in PLACED
            or any(low <= token.start < high for low, high in quoted)
        ):
            continue
        bare = token.tag == "NN" and token.dep in SUBJECTS and not reading.children[index]
        bare = bare or _opens_before_verb(reading, index)
        if (
            token.tag in NAME_TAGS
            or label.get(index) in ("PERSON", "ORG")
            or (bare and reading.lower(index) not in THINGS)
        ):
            yield token.start, token.end


def _opens_before_verb(reading: ParsedText, index: int) -> bool:
    """Return whether a misread word begins a sentence where its subject stands: *Streep glows*."""
    token = reading.tokens[index]
    first = index == 0 or reading.tokens[index - 1].sentence != token.sentence
    follows = reading.tokens[index + 1].tag if index + 1 < len(reading.tokens) else ""
    return first and token.tag in ("JJ", "NN", "UH", "FW", "VB", "VBP") and follows in ("VBZ", "VBD", "MD")


def nicknames(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield the beginning of a name that stands by itself: *Hitch* for Hitchcock."""
    names = [(m.start, m.end) for m in person.mentions if m.kind == "name"]
    parts = {part.lower() for start, end in names for part in reading.text[start:end].split()}
    for index, token in enumerate(reading.tokens):
        word = reading.lower(index)
        starts = len(word) > SHORTEST and any(part.startswith(word) for part in parts)
        if starts and token.tag in NAME_TAGS and not any(low <= token.start < high for low, high in names):
            yield token.start, token.end


def unmatched(reading: ParsedText, person: Entity) -> Iterator[Span]:
    """Yield a name that holds more than a name, and words of names that stand elsewhere, too: *Joey's(i*."""
    spans = [(m.start, m.end) for m in person.mentions if m.kind == "name"]
    written = {part for start, end in spans for part in re.findall(r"\w{3,}", reading.text[start:end])}
    yield from ((start, end) for start, end in spans if _NO_NAME.search(reading.text[start:end]))
    for part in written:
        for match in re.finditer(rf"\b{re.escape(part)}", reading.text):
            if part[0].isupper() and not any(low <= match.start() < high for low, high in spans):
                yield match.span()


def no_name(reading: ParsedText, name: Mention, mentions: int) -> Iterator[Span]:
    """Yield the span of a name that is a title, an invocation, part of a longer name, or owns a thing."""
    span = name.start, name.end
    written = reading.text[slice(*span)]
    around = reading.text[max(0, name.start - 1) : name.end + 1]
    shouted = written.isupper() and len(written.split()) > 1 and not reading.text.isupper()
    quoted = mentions == 1 and around[0] in QUOTES and around[-1] in QUOTES
    title = _LIKE_A_TITLE.match(reading.text, name.end) is not None or around.startswith("-")
    title = title or (mentions == 1 and _described(reading, name))
    if (
        shouted
        or quoted
        or title
        or written.lower() in INVOKED
        or _of_work(reading, name)
        or _goes_on(reading, name)
        or _owns(reading, name)
    ):
        yield span


def _described(reading: ParsedText, name: Mention) -> bool:
    """Return whether a name has an article and an adjective: *the otherwise admirable Roger Dodger*."""
    before = [c for c in reading.children[name.head] if reading.tokens[c].start < name.start]
    return {"det", "amod"} <= {reading.tokens[c].dep for c in before}


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
            yield from (i for i in reading.subtree(child) if reading.lower(child) == "one")
        elif reading.lower(child) == "as":
            yield from reading.children[child]


def _goes_on(reading: ParsedText, name: Mention) -> bool:
    """Return whether another capitalised proper noun follows directly: *Danny* of *Danny Glover*."""
    after = reading.at(name.end + 1) if reading.text[name.end : name.end + 1] == " " else None
    return after is not None and reading.word(after).istitle() and reading.tokens[after].tag == "NNP"


def _owns(reading: ParsedText, name: Mention) -> bool:
    """Return whether a name owns what follows, with its apostrophe left out: *Dana Andrews best role*."""
    after = reading.at(name.end + 1) if reading.text[name.end : name.end + 1] == " " else None
    ends_in_s = reading.text[name.end - 1 : name.end] == "s"
    return ends_in_s and after is not None and reading.tokens[after].tag[:2] in ("JJ", "NN")
