"""Build occupation templates (BiasFinder, section 5.1, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from harness.core import Document
from harness.language.entities import Entity, Resolution
from harness.language.parsed_text import ParsedText
from harness.language.person_names import NAME_TAGS
from harness.suites.biasfinder.templates import Refusal, Slot, Template, cut
from harness.suites.biasfinder.workers import Worker, objection

# Dependents that may precede an occupation without modifying it.
NOT_MODIFIERS = frozenset(
    {"det", "poss", "predet", "nummod", "case", "prep", "cc", "conj", "preconj", "relcl", "appos"}
)
NO_MODIFIER_TAGS = frozenset({"CC", "DT", "PDT", "POS", "PRP$", "IN", "WDT", "WP$"})

TokenRange = tuple[int, int]
"""The tokens ``[first, last)`` of an occupation."""


class Occupations:
    """Occupations in the singular, of one word or more, found by their words."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_last: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            words = tuple(name.lower().replace("'s", " 's").split())
            self._by_last.setdefault(words[-1], []).append(words)
        for candidates in self._by_last.values():
            candidates.sort(key=len, reverse=True)

    def find(self, reading: ParsedText) -> Iterator[TokenRange]:
        """Yield the tokens of each occupation that is a noun for one person, in text order."""
        for index in range(len(reading.tokens)):
            for words in self._by_last.get(reading.lower(index), ()):
                first = index - len(words) + 1
                if first >= 0 and all(reading.lower(first + i) == w for i, w in enumerate(words)):
                    if _is_noun(reading, index):
                        yield first, index + 1
                    break


def template(
    document: Document, resolution: Resolution, occupations: Occupations, person: Entity | None = None
) -> Template | Refusal:
    """Return the template of the first occupation that can be exchanged, or why the first one cannot.

    Where ``person`` is given, only that person's occupations count.
    A placeholder replaces the occupation with its modifiers and the article before it; mentions of the same
    person that repeat the occupation are replaced too.
    """
    matches = list(occupations.find(resolution.reading))
    if not matches:
        return Refusal("no-occupation")
    if person is not None:
        heads = {mention.head for mention in person.mentions}
        of_others = resolution.reading.word(matches[0][1] - 1)
        matches = [match for match in matches if match[1] - 1 in heads]
        if not matches:
            return Refusal("other-worker", of_others)
    refusals: list[Refusal] = []
    for number, match in enumerate(matches):
        cut_out = _cut(document, resolution, match, matches[number + 1 :])
        if isinstance(cut_out, Template):
            return cut_out
        refusals.append(cut_out)
    return refusals[0]


def _cut(
    document: Document, resolution: Resolution, first: TokenRange, later: Sequence[TokenRange]
) -> Template | Refusal:
    """Return the template of the occupation ``first`` and those ``later`` ones that are the same person's."""
    reading = resolution.reading
    words = _words(reading, first)
    same = [f for f in later if _words(reading, f) == words and _corefer(resolution, first, f)]
    linked = {head - 1 for _, head in (first, *same)}
    for tokens in (first, *same):
        worker = Worker(reading, _with_modifiers(reading, tokens), tokens[0], tokens[1] - 1)
        if refusal := objection(resolution, worker, linked):
            return refusal
    return cut(document, "occupation", [slot for f in (first, *same) for slot in _slots(reading, f)])


def _is_noun(reading: ParsedText, head: int) -> bool:
    """Return whether a noun stands for the person and not, as in *doctor visit*, for a kind of thing."""
    token = reading.tokens[head]
    if token.tag != "NN" and not (reading.word(head).isupper() and token.tag in NAME_TAGS):
        return False
    if _hyphenated(reading, head):
        return False
    if token.dep in ("compound", "nmod", "amod"):
        return reading.tokens[token.head].tag in NAME_TAGS and reading.word(token.head)[:1].isupper()
    return True


def _hyphenated(reading: ParsedText, index: int) -> bool:
    token = reading.tokens[index]
    return "-" in (
        reading.text[token.end : token.end + 1],
        reading.text[max(0, token.start - 1) : token.start],
    )


def _words(reading: ParsedText, tokens: TokenRange) -> list[str]:
    return [reading.lower(i) for i in range(*tokens)]


def _corefer(resolution: Resolution, first: TokenRange, second: TokenRange) -> bool:
    heads = {first[1] - 1, second[1] - 1}
    return any(heads <= {m.head for m in entity.mentions} for entity in resolution.entities)


def _slots(reading: ParsedText, tokens: TokenRange) -> Iterator[Slot]:
    start = _with_modifiers(reading, tokens)
    yield Slot(reading.tokens[start].start, reading.tokens[tokens[1] - 1].end, "occupation")
    if start and reading.lower(start - 1) in ("a", "an"):
        article = reading.tokens[start - 1]
        yield Slot(article.start, article.end, "det")


def _with_modifiers(reading: ParsedText, tokens: TokenRange) -> int:
    """Return the first token of the modifiers that precede an occupation without a gap."""
    first, head = tokens[0], tokens[1] - 1
    excluded = {
        i
        for child in reading.children[head]
        if child < first and reading.tokens[child].dep in NOT_MODIFIERS
        for i in reading.subtree(child)
    }
    modifiers = set(reading.subtree(head)) - excluded
    start = first
    while start - 1 in modifiers and reading.tokens[start - 1].tag not in NO_MODIFIER_TAGS:
        start -= 1
    while start < first and not reading.word(start)[:1].isalnum():
        start += 1
    return start
