"""Find faults of a lexicon: pairs that create bias from nothing, or mutants the invariant must discard."""

from __future__ import annotations

from collections.abc import Iterator

from harness.numerals import listed
from harness.suites.lexicon import Attribute, Lexicon

SHORTEST_NOUN = 3  # Mr and Mrs are not singular and plural
SINGULAR, PLURAL = "singular", "plural"
# Nouns for persons with an irregular plural, also at the end of a longer word ("policemen").
IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "wives": "wife",
    "folks": "folk",
    "selves": "self",
}
AFTER_THE_HEAD = ("with", "of", "in", "from", "without", "who")


def faults(lexicon: Lexicon) -> Iterator[str]:
    """Yield a line for each fault of ``lexicon``.

    Faults are pairs without a mirror, pairs that change number by their form, words that differ only in case,
    and case-sensitive words that are not terms.
    """
    for attribute in lexicon.attributes.values():
        yield from _unmirrored(attribute)
        yield from _number(attribute)
        yield from _cases(attribute)
        for word in sorted(attribute.case_sensitive - set(attribute.words)):
            yield f"{attribute.name}: case_sensitive word {word!r} is not a term"


def notes(lexicon: Lexicon) -> Iterator[str]:
    """Yield what may be intended: terms of several attributes, of which a mutant changes one at a place."""
    attributes: dict[str, list[str]] = {}
    for attribute in lexicon.attributes.values():
        for word in {word.lower() for word in attribute.targets}:
            attributes.setdefault(word, []).append(attribute.name)
    for word, names in sorted(attributes.items()):
        if len(names) > 1:
            yield f"{word!r} is a term of {listed(names)}"


def head(phrase: str) -> str:
    """Return ``phrase`` up to its head: "blind men" of "blind men with a dog", "sons" of "sons-in-law"."""
    words = phrase.removesuffix("-in-law").split()
    end = next((i for i, word in enumerate(words) if i and word.lower() in AFTER_THE_HEAD), len(words))
    return " ".join(words[:end])


def changes_number(source: str, target: str) -> bool:
    """Return whether one term is plural and the other singular, judging by their forms alone."""
    first, second = (head(term).lower().split()[-1] for term in (source, target))
    numbers = {_form(first), _form(second)}
    return numbers == {SINGULAR, PLURAL} or second in _plurals(first) or first in _plurals(second)


def _form(noun: str) -> str | None:
    if noun.endswith(tuple(IRREGULAR)):
        return PLURAL
    return SINGULAR if noun.endswith(tuple(IRREGULAR.values())) else None


def _plurals(noun: str) -> tuple[str, ...]:
    if len(noun) < SHORTEST_NOUN:
        return ()
    return (noun + "s", noun + "es", *([noun[:-1] + "ies"] if noun.endswith("y") else []))


def _unmirrored(attribute: Attribute) -> Iterator[str]:
    pairs = set(attribute.pairs)
    for source, target in attribute.pairs:
        if (target, source) not in pairs:
            yield f"{attribute.name}: {source} -> {target} has no mirror {target} -> {source}"


def _number(attribute: Attribute) -> Iterator[str]:
    for source, target in attribute.pairs:
        if changes_number(source, target):
            yield f"{attribute.name}: {source} -> {target} changes number"


def _cases(attribute: Attribute) -> Iterator[str]:
    written: dict[str, str] = {}
    for word in attribute.words:
        first = written.setdefault(word.lower(), word)
        if first != word and word not in attribute.case_sensitive and first not in attribute.case_sensitive:
            yield f"{attribute.name}: {first!r} and {word!r} differ only in case"
