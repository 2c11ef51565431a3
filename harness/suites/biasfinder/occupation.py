"""Occupation templates (BiasFinder, section 5.1, Algorithm 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.core import Document
from harness.language.entities import Resolution
from harness.language.parsed_text import ParsedText
from harness.suites.biasfinder.templates import Refusal, Slot, Template, cut

# What may stand on the left of an occupation and is no modifier of it.
KEPT_LEFT = frozenset(
    {"det", "poss", "predet", "nummod", "case", "prep", "cc", "conj", "preconj", "relcl", "appos"}
)
NO_MODIFIER = frozenset({"CC", "DT", "PDT", "POS", "PRP$", "IN", "WDT", "WP$"})
NAME_TAGS = frozenset({"NNP", "NNPS"})

Found = tuple[int, int]


class Occupations:
    """Occupations in the singular, of one word or more, found by their words."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_last: dict[str, list[tuple[str, ...]]] = {}
        for name in names:
            words = tuple(name.lower().replace("'s", " 's").split())
            self._by_last.setdefault(words[-1], []).append(words)
        for some in self._by_last.values():
            some.sort(key=len, reverse=True)

    def find(self, reading: ParsedText) -> Iterator[Found]:
        """Tokens ``[first, last)`` of each occupation that is a noun for one person, in order."""
        for index in range(len(reading.tokens)):
            for words in self._by_last.get(reading.lower(index), ()):
                first = index - len(words) + 1
                if first >= 0 and all(reading.lower(first + i) == w for i, w in enumerate(words)):
                    if _is_noun(reading, index):
                        yield first, index + 1
                    break


def template(document: Document, resolution: Resolution, occupations: Occupations) -> Template | Refusal:
    """The first occupation of a text, its modifiers taken in with it, the article before it, and the
    same in every mention of the same person that repeats the occupation."""
    reading = resolution.reading
    found = list(occupations.find(reading))
    if not found:
        return Refusal("no-occupation")
    first = found[0]
    words = _words(reading, first)
    same = [f for f in found[1:] if _words(reading, f) == words and _corefer(resolution, first, f)]
    return cut(document, "occupation", [slot for f in (first, *same) for slot in _slots(reading, f)])


def _is_noun(reading: ParsedText, head: int) -> bool:
    """A common noun that stands for the person and not, like *doctor visit*, for a kind of thing."""
    token = reading.tokens[head]
    if token.tag != "NN" and not (reading.word(head).isupper() and token.tag in NAME_TAGS):
        return False
    if token.dep in ("compound", "nmod", "amod"):
        return reading.tokens[token.head].tag in NAME_TAGS and reading.word(token.head)[:1].isupper()
    return not _hyphenated(reading, head)


def _hyphenated(reading: ParsedText, index: int) -> bool:
    token = reading.tokens[index]
    return "-" in (
        reading.text[token.end : token.end + 1],
        reading.text[max(0, token.start - 1) : token.start],
    )


def _words(reading: ParsedText, found: Found) -> list[str]:
    return [reading.lower(i) for i in range(*found)]


def _corefer(resolution: Resolution, one: Found, two: Found) -> bool:
    heads = {one[1] - 1, two[1] - 1}
    return any(heads <= {m.head for m in entity.mentions} for entity in resolution.entities)


def _slots(reading: ParsedText, found: Found) -> Iterator[Slot]:
    start = _with_modifiers(reading, found)
    yield Slot(reading.tokens[start].start, reading.tokens[found[1] - 1].end, "occupation")
    if start and reading.lower(start - 1) in ("a", "an"):
        article = reading.tokens[start - 1]
        yield Slot(article.start, article.end, "det")


def _with_modifiers(reading: ParsedText, found: Found) -> int:
    """The first token of the modifiers that stand before an occupation without a gap."""
    first, head = found[0], found[1] - 1
    kept = {
        i
        for child in reading.children[head]
        if child < first and reading.tokens[child].dep in KEPT_LEFT
        for i in reading.subtree(child)
    }
    own = set(reading.subtree(head)) - kept
    start = first
    while start - 1 in own and reading.tokens[start - 1].tag not in NO_MODIFIER:
        start -= 1
    while start < first and not reading.word(start)[:1].isalnum():
        start += 1
    return start
