"""Higher-order mutation (HINTER, Algorithms 1 and 2), for any set of attributes and any order.

A *variation* is one dictionary pair that applies to a document, at all occurrences of its source. A
mutant is a set of variations of different attributes that touch different characters: one of them
makes an atomic mutant, more an intersectional one. All edits are made on the original, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from harness.core import Span, Substitution
from harness.language.surface import (
    AMBIGUOUS,
    Edit,
    apply,
    article_edit,
    begins_sentence,
    carry_case,
    disjoint,
    paradigm,
    pronoun,
    slot,
)
from harness.suites.hinter.lexicon import Attribute, Lexicon

"""The reason of a mutant that has the text of an earlier one of the same attribute."""

Tagger = Callable[[int], str | None]
"""The fine POS tag of the token that starts at a character offset, or None where not known."""

Occurrences = Mapping[str, Mapping[str, Sequence[Span]]]
"""Per attribute, the spans of each of its terms that occur in a text."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One applicable pair, with the edits it needs (its own words and the articles before them).

    ``weight`` is how many variations it stands for: the reciprocal of its chance to be drawn.
    """

    substitution: Substitution
    edits: tuple[Edit, ...]
    weight: float = 1.0

    @property
    def attribute(self) -> str:
        return self.substitution.attribute


Variations = Mapping[str, Sequence[Variation]]
Mutation = tuple[Variation, ...]


def ambiguous(occurrences: Occurrences) -> list[int]:
    """Offsets of the pronouns whose form alone does not tell their slot, so that a tag is needed."""
    return [
        start
        for terms in occurrences.values()
        for term, spans in terms.items()
        if term.lower() in AMBIGUOUS
        for start, _ in spans
    ]


def variations(text: str, lexicon: Lexicon, occurrences: Occurrences, tag: Tagger) -> Variations:
    """Per attribute, every pair whose source occurs in ``text``; attributes without any are left out."""
    found = {
        name: [
            variation
            for term, spans in terms.items()
            for variation in _of_term(text, lexicon.attributes[name], term, spans, tag)
        ]
        for name, terms in occurrences.items()
    }
    return {name: some for name, some in found.items() if some}


def _of_term(
    text: str, attribute: Attribute, source: str, spans: Sequence[Span], tag: Tagger
) -> Iterator[Variation]:
    pronoun_of = paradigm(source)
    seen: set[str | None] = set()
    for target in attribute.targets[source]:
        pronouns = paradigm(target) if pronoun_of else None
        if pronouns is not None and pronouns in seen:
            continue  # her -> him and her -> his are one pair: the form follows the place
        seen.add(pronouns)
        yield _variation(text, attribute.name, source, target, spans, tag if pronouns else None)


def _variation(
    text: str, attribute: str, source: str, target: str, spans: Sequence[Span], tag: Tagger | None
) -> Variation:
    edits: list[Edit] = []
    forms: list[str] = []
    for start, end in spans:
        form = target
        if tag is not None:
            tagged = tag(start) if source.lower() in AMBIGUOUS else None
            form = pronoun(target, slot(source, tagged, text[end : end + 40]))
        written = text[start:end]
        new = carry_case(written, source, form, begins_sentence(text, start))
        article = article_edit(text, start, written, new)
        edits += [e for e in (article, Edit(start, end, new)) if e is not None]
        forms.append(form)
    substitution = Substitution(attribute, source, "/".join(dict.fromkeys(forms)), tuple(spans))
    return Variation(substitution, tuple(edits))


def unique(found: Variations) -> tuple[dict[str, Sequence[Variation]], list[Variation]]:
    """``found`` without variations that give the text of an earlier one of their attribute, and those."""
    kept: dict[str, Sequence[Variation]] = {}
    duplicates: list[Variation] = []
    for name, some in found.items():
        first: dict[tuple[Edit, ...], Variation] = {}
        for variation in some:
            if first.setdefault(variation.edits, variation) is not variation:
                duplicates.append(variation)
        kept[name] = list(first.values())
    return kept, duplicates


def mutations(found: Variations, order: int) -> Iterator[Mutation]:
    """Every mutation of 1 to ``order`` attributes, atomic ones first, overlapping variations left out."""
    for size in range(1, order + 1):
        for attributes in combinations(found, size):
            for chosen in product(*(found[a] for a in attributes)):
                if size == 1 or apart(chosen):
                    yield chosen


def apart(chosen: Mutation) -> bool:
    """Whether the variations touch different characters."""
    return disjoint(e for v in chosen for e in v.edits)


def mutant(text: str, mutation: Mutation) -> str:
    """The text with all edits of ``mutation`` made at once."""
    return apply(text, (e for v in mutation for e in v.edits))
