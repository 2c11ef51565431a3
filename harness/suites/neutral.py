"""Everyday words that describe nobody, and where in a text one can stand in for another.

The dictionary (``data/control.toml``) has sets of words by part of speech, and words to insert before a noun.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from hashlib import sha256
from typing import Any

from harness.core import Operation, Span, canonical
from harness.errors import LexiconError
from harness.files import DATA, read_toml
from harness.language.people import people, phrase_pattern
from harness.language.person_names import quotations
from harness.language.surface import (
    Edit,
    article_edit,
    carry_case,
    replaced,
)
from harness.suites.ground import AFTER, BEFORE, NOUNS, Ground
from harness.suites.matching import Matcher, Terms

ALONE = ("also", "any", "no", "n't", "not", "born")
"""Words before which nothing is inserted."""
SUBJECTS = ("NN", "NNS", "PRP", "NNP", "EX")


@dataclass(frozen=True, slots=True)
class StandIn:
    """A word that may stand in for another; ``rivals`` are words that must not be in the text beside it.

    With rivals, the word is exchanged at all its places or not at all.
    """

    target: str
    rivals: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a word is meant: the part of a compound that a noun may be (first, last or any), or neighbours.

    ``after`` and ``before`` are the tags that the words directly before and after it must have; after a noun,
    it must be none of ``except_after`` and no person.
    """

    compounds: str = ""
    after: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    except_after: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Insertion:
    """Words to insert between one of the words ``after`` and one of the nouns ``before``.

    Without nouns, ``after`` are verbs: with ``tags``, the words are inserted after the verb, and a word with
    one of these must follow; without, between the verb and a subject that begins its sentence. With
    ``again``, the text must have the noun before.
    """

    words: tuple[str, ...]
    after: frozenset[str]
    before: frozenset[str]
    tags: frozenset[str]
    again: bool


@dataclass(frozen=True, slots=True)
class Swap:
    """A change of everyday words: what it writes where. ``source`` is numbered from its second place on."""

    source: str
    target: str
    spans: tuple[Span, ...]
    edits: tuple[Edit, ...]
    tag: str
    sentence: int
    operation: Operation = "exchange"
    group: str = ""


@dataclass(frozen=True)
class Neutral:
    """The dictionary: by word and tag what may stand in for it, and where; and what may be inserted.

    ``different`` are words for persons that share a group with others and do not say the same.
    """

    stand_ins: Mapping[str, Mapping[str, tuple[StandIn, ...]]]
    places: Mapping[tuple[str, str], Place]
    insertions: tuple[Insertion, ...]
    phrases: re.Pattern[str]
    different: frozenset[str]
    closed: frozenset[str] = field(default=frozenset())

    @property
    def digest(self) -> str:
        """SHA-256 of the bundled file, as it decides the controls."""
        return sha256(canonical(_table()).encode()).hexdigest()

    @cached_property
    def words(self) -> frozenset[str]:
        """All words that are exchanged, stand in or are inserted, in lower case."""
        standing = {s.target for tags in self.stand_ins.values() for each in tags.values() for s in each}
        inserted = {word for insertion in self.insertions for word in insertion.words}
        return frozenset(word.lower() for word in {*self.stand_ins, *standing, *inserted})

    @cached_property
    def _matcher(self) -> Matcher:
        nouns = {noun for insertion in self.insertions for noun in insertion.before}
        verbs = {verb for insertion in self.insertions if not insertion.before for verb in insertion.after}
        return Matcher({"words": Terms(self.stand_ins), "nouns": Terms(nouns), "verbs": Terms(verbs)})

    def without(self, words: Collection[str]) -> Neutral:
        """Return the dictionary without ``words``, which are in lower case, on either side."""
        return replace(self, closed=frozenset(words))

    def offsets(self, text: str) -> Iterator[int]:
        """Yield the offsets of all words of the dictionary in ``text``, whose tags ``swaps`` asks for.

        The words that directly follow or precede one count, too.
        """
        for terms in self._matcher.find(text).values():
            for spans in terms.values():
                for start, end in spans:
                    yield start
                    after, before = AFTER.match(text, end), BEFORE.search(text, max(0, start - 40), start)
                    if after:
                        yield after.start(1)
                    if before:
                        yield before.start(1)

    def swaps(self, ground: Ground) -> list[Swap]:
        """Return all changes that ``ground`` allows: exchanges, then insertions."""
        found = self._matcher.find(ground.text)
        closed = [
            *ground.closed,
            *quotations(ground.text),
            *(match.span() for match in self.phrases.finditer(ground.text)),
        ]
        exchanged = self._exchanges(ground, found.get("words", {}), closed)
        before = self._before_nouns(ground, found.get("nouns", {}), closed)
        return [*exchanged, *before, *self._beside_verbs(ground, found.get("verbs", {}), closed)]

    def _exchanges(
        self, ground: Ground, found: Mapping[str, Sequence[Span]], closed: Sequence[Span]
    ) -> Iterator[Swap]:
        present = {word.lower() for word in found}
        for word, spans in found.items():
            if word.lower() in self.closed:
                continue
            free = {span: n for n, span in enumerate(spans, 1) if ground.free(span, word, closed)}
            by_tag: dict[str, list[Span]] = {}
            for span in free:
                for tag in self._tags(ground, word, span):
                    by_tag.setdefault(tag, []).append(span)
            for tag, places in by_tag.items():
                for stand_in in self.stand_ins[word][tag]:
                    if stand_in.target.lower() in self.closed:
                        continue
                    if not stand_in.rivals:
                        for span in places:
                            yield _exchange(ground, word, stand_in.target, [span], tag, free[span])
                    elif len(places) == len(spans) and not stand_in.rivals & present:
                        yield _exchange(ground, word, stand_in.target, places, tag, 1)

    def _tags(self, ground: Ground, word: str, span: Span) -> Iterator[str]:
        """Yield the tag of the word at ``span`` if the dictionary means it; each meant one if unknown."""
        meant = self.stand_ins[word]
        if ground.tag is None:
            yield next(iter(meant))
            return
        tag = ground.tag(span[0])
        if tag is not None and tag in meant and self._placed(ground, word, tag, span):
            yield tag

    def _placed(self, ground: Ground, word: str, tag: str, span: Span) -> bool:
        """Return whether a word stands where it is meant: a noun in no compound, another beside its like."""
        place = self.places[word, tag]
        after = AFTER.match(ground.text, span[1])
        before = BEFORE.search(ground.text, max(0, span[0] - 40), span[0])
        if tag in NOUNS:
            first = after is not None and ground.noun(after.start(1))
            last = before is not None and ground.noun(before.start(1))
            allowed = place.compounds
            return (not first or allowed in ("first", "any")) and (not last or allowed in ("last", "any"))
        if place.after and (before is None or not ground.one_of(before, place.after)):
            return False
        if place.except_after and before is not None:
            host = before[1].lower()
            if host in place.except_after or not host.isalpha() or people().person(host):
                return False
        return not place.before or (after is not None and ground.one_of(after, place.before))

    def _before_nouns(
        self, ground: Ground, found: Mapping[str, Sequence[Span]], closed: Sequence[Span]
    ) -> Iterator[Swap]:
        for noun, spans in found.items():
            for number, span in enumerate(spans, 1):
                before = BEFORE.search(ground.text, max(0, span[0] - 40), span[0])
                if before is None or not ground.free(span, noun, closed):
                    continue
                tag = "NNS" if ground.tag is None else ground.tag(span[0])
                after = AFTER.match(ground.text, span[1])
                if tag not in NOUNS or (ground.tag and after and ground.noun(after.start(1))):
                    continue
                for insertion in self.insertions:
                    if noun in insertion.before and before[1].lower() in insertion.after:
                        yield from self._insert(ground, noun, span, number, tag, insertion)

    def _beside_verbs(
        self, ground: Ground, found: Mapping[str, Sequence[Span]], closed: Sequence[Span]
    ) -> Iterator[Swap]:
        for verb, spans in found.items():
            for number, (start, end) in enumerate(spans, 1):
                after, before = AFTER.match(ground.text, end), BEFORE.search(ground.text, 0, start)
                if ground.tag is None or after is None or before is None:
                    continue
                tag, subject = ground.tag(after.start(1)), ground.tag(before.start(1))
                apart = ground.sentence((before.start(1), after.end(1))) < 0
                if apart or subject not in SUBJECTS or _word(after) in ALONE:
                    continue
                if not ground.free((start, end), verb, closed):
                    continue
                for insertion in self.insertions:
                    if insertion.before or verb not in insertion.after or self._closed(insertion, verb):
                        continue
                    if insertion.tags and tag in insertion.tags:
                        edit, target = (
                            Edit(end, end, f" {insertion.words[0]}"),
                            f"{verb} {insertion.words[0]}",
                        )
                    elif not insertion.tags and ground.begins(before, ground.tag(start)):
                        edit, target = (
                            Edit(start, start, f"{insertion.words[0]} "),
                            f"{insertion.words[0]} {verb}",
                        )
                    else:
                        continue
                    where = ground.sentence((start, end))
                    yield Swap(
                        _numbered(verb, number), target, ((start, end),), (edit,), "RB", where, "insertion"
                    )

    def _closed(self, insertion: Insertion, host: str) -> bool:
        return not self.closed.isdisjoint({*insertion.words, host})

    def _insert(
        self, ground: Ground, noun: str, span: Span, number: int, tag: str, insertion: Insertion
    ) -> Iterator[Swap]:
        if insertion.again and (number == 1 or re.match(r"\s+of\b", ground.text[span[1] :])):
            return
        for word in insertion.words:
            if {word, noun} & self.closed:
                continue
            written = ground.text[slice(*span)]
            new = carry_case(written, noun, word, initial=False)
            article = article_edit(ground.text, span[0], written, new)
            edits = [e for e in (article, Edit(span[0], span[0], f"{new} ")) if e is not None]
            source = _numbered(noun, number)
            yield Swap(
                source, f"{word} {noun}", (span,), tuple(edits), tag, ground.sentence(span), "insertion"
            )


@cache
def neutral() -> Neutral:
    """Return the bundled dictionary (``data/control.toml``)."""
    table = _table()
    stand_ins: dict[str, dict[str, list[StandIn]]] = {}
    places: dict[tuple[str, str], Place] = {}
    for part in table["words"]:
        after, before, other = (frozenset(part.get(key, ())) for key in ("after", "before", "except_after"))
        place = Place(part.get("compounds", ""), after, before, other)
        for tag in part["tags"]:
            for word, stand_in in _pairs(part):
                listed = stand_ins.setdefault(word, {}).setdefault(tag, [])
                listed.append(stand_in)
                places[word, tag] = place
    insertions = tuple(
        Insertion(
            tuple(each["words"]),
            after=frozenset(each["after"]),
            before=frozenset(each.get("before", ())),
            tags=frozenset(each.get("tags", ())),
            again=each.get("again", False),
        )
        for each in table["insertions"]
    )
    frozen = {word: {tag: tuple(each) for tag, each in tags.items()} for word, tags in stand_ins.items()}
    return Neutral(
        frozen,
        places,
        insertions,
        phrase_pattern(table["phrases"]["fixed"]),
        frozenset(table["persons"]["different"]),
    )


@cache
def _table() -> dict[str, Any]:
    return read_toml(DATA / "control.toml", LexiconError)


def _pairs(part: Mapping[str, Any]) -> Iterator[tuple[str, StandIn]]:
    """Yield each word of a part of speech with what may stand in for it."""
    for words in part.get("sets", ()):
        yield from ((word, StandIn(other)) for word in words for other in words if other != word)
    for words in part.get("together", ()):
        for word in words:
            for other in words:
                if other != word:
                    yield word, StandIn(other, frozenset(w.lower() for w in words if w != word))
    yield from ((word, StandIn(other)) for word, other in part.get("directed", ()))


def _exchange(ground: Ground, word: str, target: str, spans: Sequence[Span], tag: str, number: int) -> Swap:
    edits = tuple(edit for span in spans for edit in replaced(ground.text, span, word, target))
    where = ground.sentence(spans[0])
    return Swap(_numbered(word, number), target, tuple(spans), edits, tag if ground.tag else "", where)


def _numbered(word: str, number: int) -> str:
    return word if number == 1 else f"{word} ({number})"


def _word(found: re.Match[str]) -> str:
    return found[1].lower().strip(".,;:")
