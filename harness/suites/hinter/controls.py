"""Control mutants: how many a text gets, which mutants they mirror, and what they change.

A *unit* is a control that mirrors a mutant change for change, with the controls of every part of its
changes. Units mirror the largest mutants of a text first. A text gets as many as its share of requests
allows; one whose share is smaller than a unit is drawn with the probability that makes it the share over many
texts. All candidates of a batch of texts are decided together, in rounds: each unit that is still wanted
proposes one, then two, then four.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, product
from math import floor
from typing import Literal

from harness.core import CONTROL, MIRRORS, Case, Span, Substitution
from harness.language.surface import Edit, apply, disjoint, replaced
from harness.suites.ground import Ground
from harness.suites.hinter.agreement import AgreedInvariant, Agreement
from harness.suites.hinter.conformity import Conformity
from harness.suites.hinter.mutation import Mutation, Variation, mutant
from harness.suites.lexicon import Lexicon
from harness.suites.neutral import Neutral, Swap

Kind = Literal["word", "group"]
ROUNDS = 3
CHOICES = 12
"""How many changes are considered for each change of the mutant that is mirrored."""

FAMILIES = {"JJ": "modifier", "RB": "modifier", "VB": "verb", "MD": "verb"}
NOUN_LIKE = ("NN", "PR")


@dataclass
class Source:
    """A text with its valid mutants; ``name`` gives the id of the case of a mutation."""

    document: str
    ground: Ground
    split: Callable[[Conformity], Sequence[Span]]
    mutants: Sequence[Mutation]
    name: Callable[[Mutation], str]
    variations: frozenset[tuple[Edit, ...]] = frozenset()


@dataclass(frozen=True, slots=True)
class _Unit:
    """Changes that mirror those of a mutant, one for one."""

    mirrored: Mutation
    changes: Mutation
    kind: Kind

    def parts(self) -> Iterator[tuple[Mutation, Mutation]]:
        """Yield each control of the unit, smallest first, with the mutation that it mirrors."""
        pairs = list(zip(self.changes, self.mirrored, strict=True))
        for size in range(1, len(pairs) + 1):
            for chosen in combinations(pairs, size):
                yield tuple(change for change, _ in chosen), tuple(mirrored for _, mirrored in chosen)


@dataclass
class Maker:
    """Makes the control mutants of texts; ``share`` is in requests of the valid mutants."""

    dictionary: Neutral
    lexicon: Lexicon
    agreement: Agreement
    share: float
    kinds: Sequence[Kind]
    seed: int

    def make(self, sources: Sequence[Source]) -> list[list[Case]]:
        """Return the controls of each of ``sources``."""
        draws = [_Draw(self, source) for source in sources]
        asking = [draw for draw in draws if draw.waiting]
        while asking:
            proposed = [draw.propose() for draw in asking]
            self.agreement.decide([invariant for invariants in proposed for invariant in invariants])
            for draw in asking:
                draw.take()
            asking = [draw for draw in asking if draw.waiting]
        return [list(draw.cases()) for draw in draws]


@dataclass
class _Mirror:
    """A mutant to mirror: how many rounds it was tried, and what it proposes in this one."""

    mutation: Mutation
    name: str
    tried: int = 0
    candidates: Iterator[_Unit] | None = None
    proposed: list[tuple[_Unit, AgreedInvariant]] = field(default_factory=list)


class _Draw:
    """The units of one text on their way."""

    def __init__(self, maker: Maker, source: Source) -> None:
        self._maker = maker
        self._source = source
        self._counts = Counter(len(mutation) for mutation in source.mutants)
        budget, size = Fraction(maker.share) * len(source.mutants), 2 ** max(self._counts, default=1) - 1
        drawn = _uniform(maker.seed, source.document)
        self._chance = min(Fraction(1), budget / size)
        self._wanted = floor(budget + drawn) if budget >= size else size * (drawn < self._chance)
        self._units: list[_Unit] = []
        self._taken: dict[frozenset[Edit], Mutation] = {}
        self._failed: set[frozenset[Edit]] = set()
        self._queue: list[_Mirror] = []
        self._active: list[_Mirror] = []
        self._swaps: list[Swap] = []
        if self._wanted:
            named = [(m, source.name(m)) for m in source.mutants]
            named.sort(key=lambda each: (-len(each[0]), _hashed(maker.seed, each[1])))
            self._queue = [_Mirror(*each) for each in reversed(named)]
            self._swaps = maker.dictionary.swaps(source.ground)

    @property
    def waiting(self) -> bool:
        """Whether controls are still wanted and mutants left to mirror."""
        return len(self._taken) < self._wanted and bool(self._active or self._queue)

    def propose(self) -> list[AgreedInvariant]:
        """Return the invariants of the candidates of this round, to be decided."""
        active: list[_Mirror] = []
        claimed = set(self._taken)
        while len(claimed) < self._wanted and (self._active or self._queue):
            mirror = self._active.pop(0) if self._active else self._queue.pop()
            if mirror.candidates is None:
                mirror.candidates = self._candidates(mirror)
            mirror.proposed = []
            for unit in mirror.candidates:
                parts = {_edits(part): part for part, _ in unit.parts()}
                new = _edits(unit.changes) not in claimed and self._failed.isdisjoint(parts)
                if not new or not self._fits(parts):
                    continue
                claimed |= parts.keys() if not mirror.proposed else {_edits(unit.changes)}
                mirror.proposed.append((unit, self._invariant(unit)))
                if len(mirror.proposed) == 1 << mirror.tried:
                    break
            mirror.tried += 1
            if mirror.proposed:
                active.append(mirror)
        self._active = [*active, *self._active]
        return [invariant for mirror in active for _, invariant in mirror.proposed]

    def take(self) -> None:
        """Keep the first candidate of each mutant that passes."""
        left: list[_Mirror] = []
        for mirror in self._active:
            proposed, mirror.proposed = mirror.proposed, []
            if not any(self._passes(unit, invariant) for unit, invariant in proposed) and (
                mirror.tried < ROUNDS
            ):
                left.append(mirror)
        self._active = left

    def _fits(self, parts: Mapping[frozenset[Edit], Mutation]) -> bool:
        """Return whether the new controls among ``parts`` are not more than are wanted.

        A text that is made by one change of two words is no control of two changes, too.
        """
        alike = all(len(self._taken.get(edits, part)) == len(part) for edits, part in parts.items())
        return alike and len(self._taken.keys() | parts.keys()) <= self._wanted

    def _passes(self, unit: _Unit, invariant: AgreedInvariant) -> bool:
        """Keep a unit if all its controls are valid; else remember which fail."""
        text = self._source.ground.text
        parts = {_edits(part): part for part, _ in unit.parts()}
        if not self._fits(parts) or _edits(unit.changes) in self._taken:
            return False
        for edits, part in parts.items():
            written = mutant(text, part)
            if written == text or invariant.reason(part, written) is not None:
                self._failed.add(edits)
                return False
        self._units.append(unit)
        self._taken.update(parts)
        return True

    def _invariant(self, unit: _Unit) -> AgreedInvariant:
        source = self._source
        changes = {str(number): [change] for number, change in enumerate(unit.changes)}
        return self._maker.agreement.invariant(source.ground.text, source.split, changes, len(changes))

    def _candidates(self, mirror: _Mirror) -> Iterator[_Unit]:
        """Yield the units that may mirror a mutant, nearest first."""
        for kind in self._kinds(mirror):
            listed = [self._choices(kind, variation, mirror.name) for variation in mirror.mutation]
            ranked = product(*(range(len(choices)) for choices in listed))
            for places in sorted(ranked, key=lambda places: (sum(places), places)):
                changes = tuple(choices[place] for choices, place in zip(listed, places, strict=True))
                words = [w for c in changes for w in set(c.substitution.source.split("/"))]
                if len(set(words)) == len(words) and disjoint(e for c in changes for e in c.edits):
                    yield _Unit(mirror.mutation, changes, kind)

    def _kinds(self, mirror: _Mirror) -> list[Kind]:
        """Return the kinds in the order in which they are tried: either first equally often."""
        kinds: list[Kind] = sorted(self._maker.kinds)
        return kinds if _uniform(self._maker.seed, f"{mirror.name}/kind") < 0.5 else kinds[::-1]

    def _choices(self, kind: Kind, variation: Variation, salt: str) -> list[Variation]:
        def order(swap: Swap) -> bytes:
            return _hashed(self._maker.seed, f"{salt}/{swap.source}/{swap.target}")

        if kind == "group":
            maker, source = self._maker, self._source
            within = within_group(maker.lexicon, maker.dictionary.different, source.ground.text, variation)
            others = [swap for swap in within if swap.edits not in source.variations]
            return [_variation([swap]) for swap in sorted(others, key=order)[:CHOICES]]
        return self._words(variation, order)

    def _words(self, variation: Variation, order: Callable[[Swap], bytes]) -> list[Variation]:
        """Return the changes of everyday words that mirror ``variation``, nearest first."""
        substitution, ground = variation.substitution, self._source.ground
        inserts = substitution.operation == "insertion"
        swaps = [swap for swap in self._swaps if (swap.operation == "insertion") == inserts]
        keys = {id(swap): order(swap) for swap in swaps}
        ranked = []
        for span in substitution.spans:
            tag, sentence = _tag(ground, span), ground.sentence(span)
            ranked.append(
                sorted(
                    swaps,
                    key=lambda swap, tag=tag, sentence=sentence: (  # type: ignore[misc]
                        unlike(tag, swap.tag),
                        abs(swap.sentence - sentence),
                        keys[id(swap)],
                    ),
                )
            )
        size = len(substitution.spans)
        firsts = [swap for swap in ranked[0] if len(swap.spans) <= size][:CHOICES] if ranked else []
        return [_variation(_together(first, ranked[1:], size)) for first in firsts]

    def cases(self) -> Iterator[Case]:
        """Yield the controls, each once, those of fewer changes first."""
        found: dict[frozenset[Edit], tuple[Mutation, Mutation, Kind]] = {}
        for unit in self._units:
            for part, mirrored in unit.parts():
                found.setdefault(_edits(part), (part, mirrored, unit.kind))
        for each in sorted(found.values(), key=lambda each: len(each[0])):
            yield self._case(*each)

    def _case(self, part: Mutation, mirrored: Mutation, kind: Kind) -> Case:
        source = self._source
        pairs = "\x1e".join("\x1f".join(v.substitution.pair) for v in part)
        digest = sha256(pairs.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        return Case(
            id=f"{source.document}#c{digest}",
            group=source.document,
            document=source.document,
            role="control",
            text=apply(source.ground.text, (e for v in part for e in v.edits)),
            substitutions=tuple(v.substitution for v in part),
            traits={CONTROL: kind, MIRRORS: source.name(mirrored)},
        )


def unlike(mirrored: str | None, tag: str) -> int:
    """Return how unlike the part of speech of a word is to that of the word it mirrors: 0 the same, 1, 2.

    Pronouns and names have no harmless counterpart; nouns come nearest.
    """
    if mirrored is None or not tag or mirrored == tag:
        return 0
    return 1 if _family(mirrored) == _family(tag) else 2


def within_group(
    lexicon: Lexicon, different: Collection[str], text: str, variation: Variation
) -> Iterator[Swap]:
    """Yield the exchanges of the one term that ``variation`` changes for other words of its group.

    Words of a group can replace one another where the dictionary exchanges them for the very same words.
    Those with a capital and ``different`` ones stay: a dictionary has several peoples or conditions in one
    group, and they are not the same.
    """
    substitution = variation.substitution
    attribute = lexicon.attributes[substitution.attribute]
    written = {text[slice(*span)].lower() for span in substitution.spans}
    if substitution.operation != "exchange" or len(written) != 1:
        return
    (word,) = written
    term = next((term for term in attribute.exchanges if term.lower() == word), None)
    if term is None:
        return
    exchanges = attribute.exchanges[term]
    source = substitution.source.split("/")[0]
    for peer in attribute.peers[term]:
        alike = peer.islower() and term.islower() and not {peer, term} & set(different)
        if peer.lower() in text.lower() or not alike:
            continue
        edits = tuple(edit for span in substitution.spans for edit in replaced(text, span, term, peer))
        group = exchanges[0].source_group
        yield Swap(source, peer, substitution.spans, edits, "", 0, "exchange", group)


def _together(first: Swap, ranked: Sequence[Sequence[Swap]], size: int) -> list[Swap]:
    """Return ``first`` with the nearest changes of other words that make up ``size`` places, if they can."""
    chosen = [first]
    for swaps in ranked:
        left = size - sum(len(swap.spans) for swap in chosen)
        if left <= 0:
            break
        edits = [e for swap in chosen for e in swap.edits]
        targets = {_word(swap): swap.target for swap in chosen}
        for swap in swaps:
            apart = disjoint([*edits, *swap.edits]) and swap not in chosen
            if apart and len(swap.spans) <= left and targets.get(_word(swap), swap.target) == swap.target:
                chosen.append(swap)
                break
    return sorted(chosen, key=lambda swap: swap.spans)


def _word(swap: Swap) -> str:
    return swap.source.partition(" (")[0]


def _variation(swaps: Sequence[Swap]) -> Variation:
    substitution = Substitution(
        CONTROL,
        "/".join(swap.source for swap in swaps),
        "/".join(dict.fromkeys(swap.target for swap in swaps)),
        tuple(sorted(span for swap in swaps for span in swap.spans)),
        swaps[0].operation,
        swaps[0].group,
        swaps[0].group,
    )
    return Variation(substitution, tuple(edit for swap in swaps for edit in swap.edits))


def _tag(ground: Ground, span: Span) -> str | None:
    """Return the tag of the last word at ``span``."""
    words = ground.text[slice(*span)].rsplit(None, 1)
    return ground.tag(span[1] - len(words[-1])) if ground.tag and words else None


def _family(tag: str) -> str:
    return "noun" if tag.startswith(NOUN_LIKE) else FAMILIES.get(tag[:2], tag)


def _edits(changes: Mutation) -> frozenset[Edit]:
    return frozenset(edit for change in changes for edit in change.edits)


def _hashed(seed: int, name: str) -> bytes:
    return sha256(f"control/{seed}/{name}".encode("utf-8", "surrogatepass")).digest()


def _uniform(seed: int, name: str) -> Fraction:
    """Return a number from 0 to 1 that depends on ``seed`` and ``name`` alone."""
    return Fraction(int.from_bytes(_hashed(seed, name)[:8], "big"), 1 << 64)
