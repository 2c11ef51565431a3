"""Choose which scores to compare (paper, section 4): counterparts one to one, names as averages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.suites.eec.corpus import Comparison, Instance, Persons, Spec, sentences

EMOTIONAL, NEUTRAL, ALL, ASKED = "emotional", "neutral", "all", "asked"
SUBSETS = (ALL, EMOTIONAL, NEUTRAL, ASKED)


@dataclass(frozen=True, slots=True)
class Member:
    """A sentence on one side of a pair; ``stratum`` holds its person's traits other than the attribute."""

    id: str
    person: str
    stratum: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two scores for one template and emotion word: of one sentence per side, or means over names.

    ``persons`` names the counterparts ("my mom/my dad"); it is empty if names are averaged.
    """

    template: str
    emotion: str | None
    word: str | None
    persons: str
    first: tuple[Member, ...]
    second: tuple[Member, ...]


def pairs(spec: Spec, comparison: Comparison) -> tuple[Pair, ...]:
    """Return all pairs of a comparison; the EEC has 1,584 for gender and 144 for race."""
    ids = {
        (s.traits["template"], s.traits["person"], s.traits.get("emotion_word")): s.id
        for s in sentences(spec)
    }
    compared: list[Pair] = []
    for template in spec.templates:
        for instance in spec.instances(template):
            key = (template.id, instance.emotion, instance.word)
            for persons, first, second in _sides(spec, comparison):
                sides = [_members(ids, instance, groups, comparison.attribute) for groups in (first, second)]
                compared.append(Pair(*key, persons, *sides))
    return tuple(compared)


def select(candidates: Iterable[Pair], subset: str, rated: str | None = None) -> tuple[Pair, ...]:
    """Return the pairs of one subset of the sentences (section 5.1): all, emotional, neutral, or asked.

    The subset ``asked`` has the sentences with words for ``rated``, the emotion that the system was asked to
    rate. Raises ``ValueError`` for an unknown subset.
    """
    if subset not in SUBSETS:
        raise ValueError(f"{subset!r} is not one of {', '.join(SUBSETS)}")
    return tuple(
        pair
        for pair in candidates
        if subset == ALL
        or (subset == EMOTIONAL and pair.emotion is not None)
        or (subset == NEUTRAL and pair.emotion is None)
        or (subset == ASKED and pair.emotion is not None and pair.emotion == rated)
    )


Side = list[tuple[Persons, str]]


def _sides(spec: Spec, comparison: Comparison) -> Iterator[tuple[str, Side, Side]]:
    for first, second in spec.counterparts(comparison):
        for person, counterpart in zip(first.words, second.words, strict=True):
            yield f"{person}/{counterpart}", [(first, person)], [(second, counterpart)]
    named: dict[str, Side] = {
        side: [
            (group, word)
            for group in spec.persons
            if group.compared == "averages" and group.traits.get(comparison.attribute) == side
            for word in group.words
        ]
        for side in (comparison.first, comparison.second)
    }
    if all(named.values()):
        yield "", named[comparison.first], named[comparison.second]


def _members(
    ids: dict[tuple[str, str, str | None], str], instance: Instance, side: Side, attribute: str
) -> tuple[Member, ...]:
    return tuple(
        Member(
            ids[instance.template.id, word, instance.word],
            word,
            tuple(sorted(group.others(attribute).items())),
        )
        for group, word in side
    )
