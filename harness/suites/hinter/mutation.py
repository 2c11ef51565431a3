"""Generate higher-order mutants (HINTER, Algorithms 1 and 2), for any set of attributes and any order.

A *variation* is one dictionary pair that applies to a document, at all occurrences of its source. A *mutant*
is a set of variations of different attributes that touch different characters: one variation makes an atomic
mutant, several make an intersectional one. All edits are made on the original, at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from harness.core import Span, Substitution
from harness.language.surface import (
    AMBIGUOUS,
    Edit,
    Tagger,
    apply,
    disjoint,
    paradigm,
    pronoun,
    replaced,
    slot,
)
from harness.suites.lexicon import Attribute, Lexicon

Occurrences = Mapping[str, Mapping[str, Sequence[Span]]]
"""By attribute, the spans of each of its terms that occur in a text."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One applicable pair, with the edits it needs (its own words and the articles before them).

    ``weight`` is the number of variations it stands for: the reciprocal of its inclusion probability.
    ``persons`` are those whose words it changes, where that is known.
    """

    substitution: Substitution
    edits: tuple[Edit, ...]
    weight: float = 1.0
    persons: frozenset[str] = frozenset()

    @property
    def attribute(self) -> str:
        """The attribute that the pair changes."""
        return self.substitution.attribute


Variations = Mapping[str, Sequence[Variation]]
Mutation = tuple[Variation, ...]


def ambiguous(occurrences: Occurrences) -> list[int]:
    """Return the offsets of pronouns whose form alone does not tell their slot, so that a tag is needed."""
    return [
        start
        for terms in occurrences.values()
        for term, spans in terms.items()
        if term.lower() in AMBIGUOUS
        for start, _ in spans
    ]


def variations(text: str, lexicon: Lexicon, occurrences: Occurrences, tag: Tagger) -> Variations:
    """Return, by attribute, every pair whose source occurs in ``text``; omit attributes without any."""
    applicable = {
        name: [
            variation
            for term, spans in terms.items()
            for variation in of_term(text, lexicon.attributes[name], term, spans, tag)
        ]
        for name, terms in occurrences.items()
    }
    return {name: pairs for name, pairs in applicable.items() if pairs}


def of_term(
    text: str, attribute: Attribute, source: str, spans: Sequence[Span], tag: Tagger
) -> Iterator[Variation]:
    """Yield the variations of one term, at ``spans``, one for each of its replacements."""
    pronoun_of = paradigm(source)
    seen: set[str | None] = set()
    for target in attribute.targets[source]:
        pronouns = paradigm(target) if pronoun_of else None
        if pronouns is not None and pronouns in seen:
            continue  # her -> him and her -> his are one pair: the form follows the slot
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
        edits += replaced(text, (start, end), source, form)
        forms.append(form)
    substitution = Substitution(attribute, source, "/".join(dict.fromkeys(forms)), tuple(spans))
    return Variation(substitution, tuple(edits))


def unique(candidates: Variations) -> tuple[dict[str, Sequence[Variation]], list[Variation]]:
    """Split ``candidates`` into distinct variations and duplicates.

    A duplicate gives the same text as an earlier variation of its attribute.
    """
    distinct: dict[str, Sequence[Variation]] = {}
    duplicates: list[Variation] = []
    for name, variations in candidates.items():
        first: dict[tuple[Edit, ...], Variation] = {}
        for variation in variations:
            if first.setdefault(variation.edits, variation) is not variation:
                duplicates.append(variation)
        distinct[name] = list(first.values())
    return distinct, duplicates


def mutations(candidates: Variations, order: int) -> Iterator[Mutation]:
    """Yield every mutation of 1 to ``order`` attributes, atomic ones first, without overlaps."""
    for size in range(1, order + 1):
        for attributes in combinations(candidates, size):
            for chosen in product(*(candidates[a] for a in attributes)):
                if size == 1 or apart(chosen):
                    yield chosen


def apart(chosen: Mutation) -> bool:
    """Return whether the variations touch different characters."""
    return disjoint(e for v in chosen for e in v.edits)


def mutant(text: str, mutation: Mutation) -> str:
    """Return ``text`` with all edits of ``mutation`` made at once."""
    return apply(text, (e for v in mutation for e in v.edits))
