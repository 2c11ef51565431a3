"""Persons' names in a text: what the pipeline's entity recogniser finds, mended.

A small model misses names and takes other words for names; a first name on the list, a name that stands
in full elsewhere in the text, and a word that also stands there in lower case say more.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.core import Span
from harness.language.parsed_text import Named, ParsedText
from harness.language.persons import Gender, Mention, Vocabulary

NAME_TAGS = frozenset({"NNP", "NNPS"})
PARTICLES = frozenset("de da di du del della der den van von la le el al bin ibn ten ter".split())  # noqa: SIM905
MISREAD_LABELS = frozenset({"NORP", "ORG", "PRODUCT"})  # what a small model calls some names
ACTING = frozenset({"nsubj", "nsubjpass", "poss"})
OBJECTS = frozenset({"dobj", "pobj"})
ARTICLES = frozenset({"the", "a", "an"})
TITLE_WORDS = 8  # a quotation of at most so many words is the title of a work, not speech
_QUOTED = re.compile(
    r"[\"“«](?!\s)([^\"“”«»\n]{1,80})(?<!\s)[\"”»]|(?<!\w)['‘](?!\s)([^'‘’\n]{1,60})(?<!\s)['’](?!\w)"
)


def find(reading: ParsedText, words: Vocabulary) -> list[Mention]:
    """The mentions of persons by name, in order. Titles and possessive endings are no part of a name;
    names within the quoted title of a work are no persons."""
    inside = _inside(reading)
    spans = [
        span for some in _candidates(reading, words, inside) if (span := _trimmed(reading, *some, words))
    ]
    quoted = quotations(reading.text)
    lower = _common_words(reading)
    kept = [span for span in spans if span and _is_person(reading, span, words, quoted, lower)]
    kept += _again(reading, kept, inside)
    return [_mention(reading, span, words) for span in sorted(kept)]


def strangers(reading: ParsedText, known: Sequence[Mention]) -> Iterator[Span]:
    """Proper nouns that nothing knows and that stand where a person may: perhaps missed persons.

    Where nothing ``known`` is a name, the pronouns may well mean one of them, in whatever place it stands.
    """
    inside = _inside(reading)
    named = any(m.kind == "name" for m in known)
    taken = {i for m in known for i in _between(reading, m.start, m.end)}
    names = {i for m in known if m.kind == "name" for i in _between(reading, m.start, m.end)}
    quoted = quotations(reading.text)
    lower = _common_words(reading)
    for index, token in enumerate(reading.tokens):
        entity = inside.get(index)
        owner = token.dep == "poss" and index not in names  # Eva Ray's character
        placed = token.dep in ACTING or ((entity is None or not named) and token.dep in OBJECTS)
        if token.tag not in NAME_TAGS or not (placed or _who(reading, index)):
            continue
        if entity and entity.label == "PERSON":
            stranger = token.dep in ACTING and reading.word(index).islower()  # karl, not taken for a name
        else:
            stranger = (
                (index not in taken or owner)
                and (entity is None or entity.label in MISREAD_LABELS)
                and reading.word(index).istitle()
                and reading.lower(index) not in lower
                and not any(low <= token.start < high for low, high in quoted)
            )
        if stranger:
            yield token.start, token.end


def _who(reading: ParsedText, index: int) -> bool:
    clauses = (c for c in reading.children[index] if reading.tokens[c].dep == "relcl")
    return any(reading.lower(w) == "who" for clause in clauses for w in reading.children[clause])


def left_over(reading: ParsedText, mentions: Sequence[Mention]) -> Iterator[Span]:
    """Words of the names among ``mentions`` that stand elsewhere: in the title of a show, or misread."""
    own = {i for m in mentions for i in _between(reading, m.start, m.end)}
    of_names = {i for m in mentions if m.kind == "name" for i in _between(reading, m.start, m.end)}
    parts = {reading.lower(i) for i in of_names if len(reading.word(i)) > 2} - PARTICLES
    for index, token in enumerate(reading.tokens):
        verb = token.tag[:2] in ("VB", "MD") and reading.word(index).islower()  # will, mark
        word = reading.lower(index)
        if index not in own and not verb and (word in parts or word.removesuffix("s") in parts):
            yield token.start, token.end


def quotations(text: str) -> list[Span]:
    """Short passages in quotation marks that hold no sentence: titles of works, nicknames."""
    found = []
    for match in _QUOTED.finditer(text):
        inner = match[1] or match[2]
        speech = re.search(r"[.,!?]$|\b(?:I|you|is|was)\b", inner) and not inner.istitle()
        if len(inner.split()) <= TITLE_WORDS and not speech:
            found.append(match.span())
    return found


def _inside(reading: ParsedText) -> Mapping[int, Named]:
    return {i: entity for entity in reading.named for i in range(entity.first, entity.last)}


def _candidates(
    reading: ParsedText, words: Vocabulary, inside: Mapping[int, Named]
) -> Iterator[tuple[int, int]]:
    """Tokens of persons' names, and of what begins with a known first name and is called no place."""
    index = 0
    while index < len(reading.tokens):
        entity = inside.get(index)
        if entity and entity.label == "PERSON":
            end = entity.last
        elif _begins_with_given(reading, index, entity, words):
            end = index + 1
            while end < len(reading.tokens) and _goes_on(reading, end, inside):
                end += 1
        else:
            index += 1
            continue
        yield index, end
        index = end


def _begins_with_given(reading: ParsedText, index: int, entity: Named | None, words: Vocabulary) -> bool:
    if entity and (entity.label not in MISREAD_LABELS or index != entity.first):
        return False
    tags = [token.tag for token in reading.tokens[index : index + 2]]
    named = tags[0] in NAME_TAGS or tags in (["MD", "VBZ"], ["MD", "VBD"])  # no modal: *Will plays*
    known = named and reading.lower(index) in words.given
    after_article = index > 0 and reading.lower(index - 1) in ("the", "a", "an")
    return known and reading.word(index)[:1].isupper() and not after_article


def _goes_on(reading: ParsedText, index: int, inside: Mapping[int, Named]) -> bool:
    entity = inside.get(index)
    return (
        reading.tokens[index].tag in NAME_TAGS
        and reading.tokens[index].start == reading.tokens[index - 1].end + 1
        and (entity is None or entity.label in MISREAD_LABELS)
    )


def _trimmed(reading: ParsedText, first: int, last: int, words: Vocabulary) -> tuple[int, int] | None:
    """Without titles before it and without what is no word of a name at either end."""
    while first < last - 1 and reading.lower(first).rstrip(".") in words.titles:
        first += 1
    while last > first and not _is_name_word(reading, last - 1):
        last -= 1
    while first < last and not _is_name_word(reading, first):
        first += 1
    return (first, last) if first < last else None


def _is_name_word(reading: ParsedText, index: int) -> bool:
    word = reading.word(index)
    return word[:1].isalpha() and word[:1].isupper()


def _is_person(
    reading: ParsedText,
    span: tuple[int, int],
    words: Vocabulary,
    quoted: Sequence[Span],
    lower: Collection[str],
) -> bool:
    first, last = span
    known = any(reading.lower(i) in words.given for i in range(first, last))
    start, end = reading.tokens[first].start, reading.tokens[last - 1].end
    title = first > 0 and reading.lower(first - 1).rstrip(".") in words.titles
    if last - first == 1 and not title:
        word = reading.lower(first).rstrip(".")
        the = any(reading.lower(c) in ARTICLES for c in reading.children[first] if c < first)
        the = the or (first > 0 and reading.lower(first - 1) == "the")
        if word in words.titles or word in words.nouns or (not known and (the or word in lower)):
            return False
    for low, high in quoted:
        nickname = known and last - first == 1 and (low, high) == (start - 1, end + 1)  # "Nicole"
        if low <= start and end <= high and not nickname:
            return False
    return re.search(r"[^\W\d_]{2}", reading.text[start:end]) is not None


def _common_words(reading: ParsedText) -> frozenset[str]:
    """The words that the text writes in lower case somewhere, and their plurals."""
    found = {w for i in range(len(reading.tokens)) if (w := reading.word(i)).islower()}
    return frozenset(found | {w + "s" for w in found} | {w.removesuffix("s") for w in found})


def _again(
    reading: ParsedText, spans: Sequence[tuple[int, int]], inside: Mapping[int, Named]
) -> Iterator[tuple[int, int]]:
    """The words of known names where the recogniser missed them."""
    taken = {i for span in spans for i in range(*span)}
    parts = {
        reading.word(i)
        for first, last in spans
        for i in range(first, last)
        if len(reading.word(i)) > 2 and reading.lower(i) not in PARTICLES
    }
    index = 0
    while index < len(reading.tokens):
        end = index
        while end < len(reading.tokens) and end not in taken and _repeats(reading, end, parts, inside):
            end += 1
        if end > index:
            yield index, end
        index = max(end, index + 1)


def _repeats(reading: ParsedText, index: int, parts: Collection[str], inside: Mapping[int, Named]) -> bool:
    named = reading.tokens[index].tag in NAME_TAGS and reading.word(index) in parts
    return named and (index not in inside or inside[index].label in MISREAD_LABELS)


def _mention(reading: ParsedText, span: tuple[int, int], words: Vocabulary) -> Mention:
    first, last = span
    start, end = reading.tokens[first].start, reading.tokens[last - 1].end
    head = _root(reading, first, last)
    title = _title(reading, first, words)
    if title:
        return Mention(start, end, "name", head, title[1], title[0])
    return Mention(start, end, "name", head, words.given.get(reading.lower(first)))


def _title(reading: ParsedText, first: int, words: Vocabulary) -> tuple[Span, Gender] | None:
    """The title before the name that begins at token ``first`` where it says a gender."""
    if not first or not reading.word(first - 1)[:1].isupper():
        return None
    token = reading.tokens[first - 1]
    gender = words.titles.get(reading.lower(first - 1).rstrip("."))
    if gender is None or reading.tokens[first].start - token.end > 1:
        return None
    return (token.start, token.end), gender


def _root(reading: ParsedText, first: int, last: int) -> int:
    """The token of ``[first, last)`` whose head lies outside: the root word of the phrase."""
    for index in range(first, last):
        head = reading.tokens[index].head
        if head == index or not first <= head < last:
            return index
    return last - 1


def _between(reading: ParsedText, start: int, end: int) -> Iterator[int]:
    index = reading.at(start)
    while index is not None and index < len(reading.tokens) and reading.tokens[index].start < end:
        yield index
        index += 1
