"""Names of persons in a text: the pipeline's entity recogniser, corrected.

A small model misses names and mistakes other words for names. Further evidence comes from a list of first
names, from full names elsewhere in the text, and from words that the text also writes in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from harness.core import Span
from harness.language.parsed_text import Named, ParsedText
from harness.language.persons import Gender, Mention, Vocabulary

NAME_TAGS = frozenset({"NNP", "NNPS"})
PARTICLES = frozenset("de da di du del della der den van von la le el al bin ibn ten ter".split())  # noqa: SIM905
MISREAD_LABELS = frozenset({"NORP", "ORG", "PRODUCT"})  # labels that a small model gives to some persons
ODD_LABELS = MISREAD_LABELS | {
    "DATE",
    "TIME",
    "FAC",
    "EVENT",
    "ORDINAL",
    "CARDINAL",
}  # of a subject or possessor
ACTING = frozenset({"nsubj", "nsubjpass", "poss"})
OBJECTS = frozenset({"dobj", "pobj"})
ARTICLES = frozenset({"the", "a", "an"})
TITLE_WORDS = 8  # longer quotations are speech, not the title of a work
_QUOTED = re.compile(
    r"[\"“«](?!\s)([^\"“”«»\n]{1,80})(?<!\s)[\"”»]|(?<!\w)['‘](?!\s)([^'‘’\n]{1,60})(?<!\s)['’](?!\w)"
)


def find(reading: ParsedText, words: Vocabulary) -> list[Mention]:
    """Return the mentions of persons by name, in order.

    Titles and possessive endings are not part of a name; names within the quoted title of a work are not
    persons.
    """
    inside = _inside(reading)
    spans = [
        span
        for candidate in _candidates(reading, words, inside)
        if (span := _trimmed(reading, *candidate, words))
    ]
    quoted = quotations(reading.text)
    lower = _common_words(reading)
    persons = [span for span in spans if span and _is_person(reading, span, words, quoted, lower)]
    persons += _again(reading, persons, inside)
    return [_mention(reading, span, words) for span in sorted(persons)]


def strangers(reading: ParsedText, mentions: Sequence[Mention]) -> Iterator[Span]:
    """Yield unrecognised proper nouns in positions where a person may stand: possibly missed persons.

    Where no mention in ``mentions`` is a name, the pronouns may well refer to a proper noun in any position.
    """
    inside = _inside(reading)
    named = any(m.kind == "name" for m in mentions)
    taken = {i for m in mentions for i in reading.between(m.start, m.end)}
    names = {i for m in mentions if m.kind == "name" for i in reading.between(m.start, m.end)}
    quoted = quotations(reading.text)
    lower = _common_words(reading)
    places = frozenset[str]() if named else frozenset({"GPE", "LOC"})
    for index, token in enumerate(reading.tokens):
        entity = inside.get(index)
        acting = token.dep in ACTING
        owner = token.dep == "poss" and index not in names  # Eva Ray's character
        placed = acting or ((entity is None or not named) and token.dep in OBJECTS)
        if token.tag not in NAME_TAGS or not (placed or _who(reading, index)):
            continue
        if reading.word(index).islower() or (entity and entity.label == "PERSON"):
            stranger = (
                acting and reading.word(index).islower() and index not in names
            )  # karl, no name to the parser
        else:
            labels = ODD_LABELS | places if acting else MISREAD_LABELS
            stranger = (
                (index not in taken or owner)
                and (entity is None or entity.label in labels)
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
    """Yield words of names in ``mentions`` that recur outside any mention: in a show's title, or misread."""
    covered = {i for m in mentions for i in reading.between(m.start, m.end)}
    of_names = {i for m in mentions if m.kind == "name" for i in reading.between(m.start, m.end)}
    parts = {reading.lower(i) for i in of_names if len(reading.word(i)) > 2} - PARTICLES
    for index, token in enumerate(reading.tokens):
        verb = token.tag[:2] in ("VB", "MD") and reading.word(index).islower()  # will, mark
        word = reading.lower(index)
        if index not in covered and not verb and (word in parts or word.removesuffix("s") in parts):
            yield token.start, token.end


def quotations(text: str) -> list[Span]:
    """Return the spans of short quoted passages that are not sentences: titles of works, nicknames."""
    spans = []
    for match in _QUOTED.finditer(text):
        inner = match[1] or match[2]
        speech = re.search(r"[.,!?]$|\b(?:I|you|is|was)\b", inner) and not inner.istitle()
        if len(inner.split()) <= TITLE_WORDS and not speech:
            spans.append(match.span())
    return spans


def _inside(reading: ParsedText) -> Mapping[int, Named]:
    return {i: entity for entity in reading.named for i in range(entity.first, entity.last)}


def _candidates(
    reading: ParsedText, words: Vocabulary, inside: Mapping[int, Named]
) -> Iterator[tuple[int, int]]:
    """Yield token ranges of recognised persons, and of others that start with a first name (not places)."""
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
    named = tags[0] in NAME_TAGS or tags in (
        ["MD", "VBZ"],
        ["MD", "VBD"],
    )  # a name, not a modal: *Will plays*
    is_given = named and reading.lower(index) in words.given_names
    after_article = index > 0 and reading.lower(index - 1) in ("the", "a", "an")
    return is_given and reading.word(index)[:1].isupper() and not after_article


def _goes_on(reading: ParsedText, index: int, inside: Mapping[int, Named]) -> bool:
    entity = inside.get(index)
    return (
        reading.tokens[index].tag in NAME_TAGS
        and reading.tokens[index].start == reading.tokens[index - 1].end + 1
        and (entity is None or entity.label in MISREAD_LABELS)
    )


def _trimmed(reading: ParsedText, first: int, last: int, words: Vocabulary) -> tuple[int, int] | None:
    """Strip titles before a name and non-name words at either end; None if nothing remains."""
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
    has_given = any(reading.lower(i) in words.given_names for i in range(first, last))
    start, end = reading.tokens[first].start, reading.tokens[last - 1].end
    title = first > 0 and reading.lower(first - 1).rstrip(".") in words.titles
    if last - first == 1 and not title:
        word = reading.lower(first).rstrip(".")
        the = any(reading.lower(c) in ARTICLES for c in reading.children[first] if c < first)
        the = the or (first > 0 and reading.lower(first - 1) == "the")
        if word in words.titles or word in words.nouns or (not has_given and (the or word in lower)):
            return False
    for low, high in quoted:
        nickname = has_given and last - first == 1 and (low, high) == (start - 1, end + 1)  # "Nicole"
        if low <= start and end <= high and not nickname:
            return False
    return re.search(r"[^\W\d_]{2}", reading.text[start:end]) is not None


def _common_words(reading: ParsedText) -> frozenset[str]:
    """Return the words that the text writes in lower case somewhere, with their plurals and singulars."""
    plain = (i for i, token in enumerate(reading.tokens) if token.tag not in NAME_TAGS)
    lower = {w for i in plain if (w := reading.word(i)).islower()}
    return frozenset(lower | {w + "s" for w in lower} | {w.removesuffix("s") for w in lower})


def _again(
    reading: ParsedText, spans: Sequence[tuple[int, int]], inside: Mapping[int, Named]
) -> Iterator[tuple[int, int]]:
    """Yield recurrences of the words of recognised names that the recogniser missed."""
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
    return Mention(start, end, "name", head, words.given_names.get(reading.lower(first)))


def _title(reading: ParsedText, first: int, words: Vocabulary) -> tuple[Span, Gender] | None:
    """Return the title before the name that begins at token ``first`` if it expresses a gender."""
    if not first or not reading.word(first - 1)[:1].isupper():
        return None
    token = reading.tokens[first - 1]
    gender = words.titles.get(reading.lower(first - 1).rstrip("."))
    if gender is None or reading.tokens[first].start - token.end > 1:
        return None
    return (token.start, token.end), gender


def _root(reading: ParsedText, first: int, last: int) -> int:
    """Return the token of ``[first, last)`` whose head lies outside: the root of the phrase."""
    for index in range(first, last):
        head = reading.tokens[index].head
        if head == index or not first <= head < last:
            return index
    return last - 1
