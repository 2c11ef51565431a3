"""Which scores are compared with which (paper, section 4): counterparts one to one, names as averages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.suites.eec.corpus import Comparison, Instance, Persons, Spec, sentences

EMOTIONAL, NEUTRAL, ALL, ASKED = "emotional", "neutral", "all", "asked"
SUBSETS = (ALL, EMOTIONAL, NEUTRAL, ASKED)


@dataclass(frozen=True, slots=True)
class Member:
    """A sentence on one side of a pair. ``stratum`` is what else its person is, besides the attribute."""

    id: str
    person: str
    stratum: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """Two scores of one template and emotion word: of one sentence a side, or means over names.

    ``persons`` names the counterparts ("my mom/my dad"), empty where names are averaged.
    """

    template: str
    emotion: str | None
    word: str | None
    persons: str
    first: tuple[Member, ...]
    second: tuple[Member, ...]


def pairs(spec: Spec, comparison: Comparison) -> tuple[Pair, ...]:
    """All pairs of a comparison; the EEC has 1,584 for gender and 144 for race."""
    ids = {
        (s.traits["template"], s.traits["person"], s.traits.get("emotion_word")): s.id
        for s in sentences(spec)
    }
    found: list[Pair] = []
    for template in spec.templates:
        for instance in spec.instances(template):
            key = (template.id, instance.emotion, instance.word)
            for persons, first, second in _sides(spec, comparison):
                sides = [_members(ids, instance, groups, comparison.attribute) for groups in (first, second)]
                found.append(Pair(*key, persons, *sides))
    return tuple(found)


def select(of: Iterable[Pair], subset: str, asked: str | None = None) -> tuple[Pair, ...]:
    """The pairs of a subset of the sentences (section 5.1): all, emotional, neutral, or ``asked``.

    ``asked`` are the sentences with words of the one emotion that the system was asked to rate.
    """
    if subset not in SUBSETS:
        raise ValueError(f"{subset!r} is not one of {', '.join(SUBSETS)}")
    return tuple(
        pair
        for pair in of
        if subset == ALL
        or (subset == EMOTIONAL and pair.emotion is not None)
        or (subset == NEUTRAL and pair.emotion is None)
        or (subset == ASKED and pair.emotion is not None and pair.emotion == asked)
    )


Side = list[tuple[Persons, str]]


def _sides(spec: Spec, comparison: Comparison) -> Iterator[tuple[str, Side, Side]]:
    for first, second in spec.counterparts(comparison):
        for one, other in zip(first.words, second.words, strict=True):
            yield f"{one}/{other}", [(first, one)], [(second, other)]
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
