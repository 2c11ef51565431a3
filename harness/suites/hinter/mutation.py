"""Higher-order mutation (HINTER, Algorithms 1 and 2), for any set of attributes and any order.

A *variation* is one dictionary pair that applies to a document, at all occurrences of its source. A
mutant is a set of variations of different attributes that touch different characters: one of them
makes an atomic mutant, more an intersectional one. All edits are made on the original, at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from random import Random

from harness.core import Span, Substitution
from harness.language.surface import (
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

Tagger = Callable[[int], str | None]
"""The fine POS tag of the token that starts at a character offset, or None where not known."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One applicable pair, with the edits it needs (its own words and the articles before them)."""

    substitution: Substitution
    edits: tuple[Edit, ...]

    @property
    def attribute(self) -> str:
        return self.substitution.attribute


Mutation = tuple[Variation, ...]


def variations(text: str, lexicon: Lexicon, tag: Tagger) -> dict[str, list[Variation]]:
    """Per attribute, every pair whose source occurs in ``text``; attributes without any are left out."""
    found = {
        name: list(_of_attribute(text, attribute, tag)) for name, attribute in lexicon.attributes.items()
    }
    return {name: some for name, some in found.items() if some}


def _of_attribute(text: str, attribute: Attribute, tag: Tagger) -> Iterator[Variation]:
    for source, spans in attribute.find(text).items():
        seen: set[str | None] = set()
        for target in attribute.targets[source]:
            pronouns = paradigm(target) if paradigm(source) else None
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
        form = target if tag is None else pronoun(target, slot(source, tag(start), text[end : end + 40]))
        written = text[start:end]
        new = carry_case(written, source, form, begins_sentence(text, start))
        article = article_edit(text, start, written, new)
        edits += [e for e in (article, Edit(start, end, new)) if e is not None]
        forms.append(form)
    substitution = Substitution(attribute, source, "/".join(dict.fromkeys(forms)), tuple(spans))
    return Variation(substitution, tuple(edits))


def unique(
    found: Mapping[str, Sequence[Variation]],
) -> tuple[dict[str, list[Variation]], list[Variation]]:
    """``found`` without variations that give the text of an earlier one of their attribute, and those."""
    kept: dict[str, list[Variation]] = {}
    duplicates: list[Variation] = []
    for name, some in found.items():
        seen: set[tuple[Edit, ...]] = set()
        for variation in some:
            if variation.edits in seen:
                duplicates.append(variation)
            else:
                seen.add(variation.edits)
                kept.setdefault(name, []).append(variation)
    return kept, duplicates


def sample(
    found: Mapping[str, Sequence[Variation]], limit: int | None, seed: str
) -> dict[str, Sequence[Variation]]:
    """At most ``limit`` variations of each attribute, chosen evenly by ``seed``, in their order.

    Every mutant of the same attributes then has the same chance to be made, and every mutant comes with
    all its sub-mutants, which the question of hidden bias needs.
    """
    if limit is None:
        return dict(found)
    chosen: dict[str, Sequence[Variation]] = {}
    for name, some in found.items():
        picked = Random(f"{seed}/{name}").sample(range(len(some)), min(limit, len(some)))
        chosen[name] = [some[i] for i in sorted(picked)]
    return chosen


def mutations(found: Mapping[str, Sequence[Variation]], order: int) -> Iterator[Mutation]:
    """Every mutation of 1 to ``order`` attributes, atomic ones first, overlapping variations left out."""
    for size in range(1, order + 1):
        for attributes in combinations(found, size):
            for chosen in product(*(found[a] for a in attributes)):
                if size == 1 or disjoint(e for v in chosen for e in v.edits):
                    yield chosen


def mutant(text: str, mutation: Mutation) -> str:
    """The text with all edits of ``mutation`` made at once."""
    return apply(text, (e for v in mutation for e in v.edits))
