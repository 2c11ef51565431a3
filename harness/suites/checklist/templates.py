"""Templates with slots, filled with the words of lexicons.

``{city}`` is a word of the lexicon ``city``, the same wherever the slot stands; ``{city2}`` is another word
of it. The entries of a lexicon may have fields instead, each a word or several: ``{thing.noun}`` and
``{thing.good}`` are of one entry. ``{a:job}`` has the indefinite article before it. At the start of a
sentence a slot's word has a capital.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import prod
from random import Random

from harness.language.surface import begins_sentence, takes_an

Entry = Mapping[str, Sequence[str]]
"""The words of an entry by field; the field of a plain word is ``WORD``."""
Lexicons = Mapping[str, Sequence[Entry]]
Filling = Mapping[str, Mapping[str, str]]
"""The chosen words: by slot, and then by field."""

WORD = ""
SPARE = 4  # fillings drawn for each one wanted: some have the same word twice
_SLOT = re.compile(r"\{(a:)?([A-Za-z_]+)(\d*)(?:\.(\w+))?\}")
_BRACES = re.compile(r"\{[^{}]*\}?|\}")


@dataclass(frozen=True, slots=True)
class Template:
    """Texts with slots, filled together; each filling gives one case."""

    texts: tuple[str, ...]

    def problem(self, lexicons: Lexicons) -> str | None:
        """Return what is wrong with the slots, None if nothing is."""
        for text in self.texts:
            if (stray := _BRACES.search(_SLOT.sub("", text))) is not None:
                return f"{stray[0]!r} is no slot: write {{lexicon}}, {{lexicon.field}} or {{a:lexicon}}"
        for (name, _), fields in self._slots().items():
            if name not in lexicons:
                return f"there is no lexicon {name!r}"
            if not _choices(lexicons[name], fields):
                named = " and ".join(repr(field) if field else "a plain word" for field in fields)
                return f"no entry of the lexicon {name!r} has {named}"
        return None

    def slots(self) -> frozenset[str]:
        """Return the names of the slots, with their numbers."""
        return frozenset(name + number for name, number in self._slots())

    def filled(self, lexicons: Lexicons, at_most: int, random: Random) -> Iterator[tuple[str, ...]]:
        """Yield up to ``at_most`` different fillings of the texts, drawn by ``random``."""
        for filling in islice(self._fillings(lexicons, at_most * SPARE, random), at_most):
            yield tuple(_fill(text, filling) for text in self.texts)

    def varied(
        self, lexicons: Lexicons, slot: str, variants: int, at_most: int, random: Random
    ) -> Iterator[tuple[str, ...]]:
        """Yield up to ``at_most`` fillings of the first text, each with ``variants`` words for ``slot``."""
        name, fields = next((name, f) for (name, number), f in self._slots().items() if name + number == slot)
        words = _choices(lexicons[name], fields)
        given: set[str] = set()
        for filling in self._fillings(lexicons, at_most * SPARE * len(words), random):
            frame = _fill(self.texts[0], {**filling, slot: dict.fromkeys(fields, "\0")})
            if frame in given or len(given) == at_most:
                continue
            given.add(frame)
            taken = {tuple(other.values()) for key, other in filling.items() if key != slot}
            free = [word for word in words if tuple(word.values()) not in taken]
            chosen = random.sample(free, min(variants, len(free)))
            yield tuple(_fill(self.texts[0], {**filling, slot: word}) for word in chosen)

    def _slots(self) -> dict[tuple[str, str], list[str]]:
        """Return the fields used of each slot, by its name and number, in the order of the texts."""
        slots: dict[tuple[str, str], list[str]] = {}
        for match in _SLOT.finditer("\n".join(self.texts)):
            fields = slots.setdefault((match[2], match[3]), [])
            field = match[4] or WORD
            if field not in fields:
                fields.append(field)
        return slots

    def _fillings(self, lexicons: Lexicons, at_most: int, random: Random) -> Iterator[Filling]:
        slots = self._slots()
        choices = [_choices(lexicons[name], fields) for (name, _), fields in slots.items()]
        every = range(min(prod(map(len, choices)), sys.maxsize))
        for number in random.sample(every, min(at_most, len(every))):
            chosen: dict[tuple[str, str], Mapping[str, str]] = {}
            for slot, words in zip(slots, choices, strict=True):
                number, at = divmod(number, len(words))
                chosen[slot] = words[at]
            if not _repeats(chosen):
                yield {name + digit: words for (name, digit), words in chosen.items()}


def in_turn(sources: Iterable[Iterator[tuple[str, ...]]]) -> Iterator[tuple[str, ...]]:
    """Yield one of each source in turn until all are used up."""
    left = list(sources)
    while left:
        for source in tuple(left):
            if (texts := next(source, None)) is None:
                left.remove(source)
            else:
                yield texts


def _choices(lexicon: Sequence[Entry], fields: Sequence[str]) -> list[Mapping[str, str]]:
    """Return every choice of words for ``fields``, of the entries that have them all."""
    return [
        dict(zip(fields, words, strict=True))
        for entry in lexicon
        if all(field in entry for field in fields)
        for words in product(*(entry[field] for field in fields))
    ]


def _repeats(chosen: Mapping[tuple[str, str], Mapping[str, str]]) -> bool:
    """Return whether two slots of one lexicon have a word in common."""
    return any(
        one[0] == other[0] and set(chosen[one].values()) & set(chosen[other].values())
        for one, other in combinations(chosen, 2)
    )


def _fill(text: str, filling: Filling) -> str:
    made = ""
    at = 0
    for match in _SLOT.finditer(text):
        made += text[at : match.start()]
        word = filling[match[2] + match[3]][match[4] or WORD]
        if match[1]:
            word = f"{'an' if takes_an(word) else 'a'} {word}"
        initial = begins_sentence(made, len(made)) and not made.endswith(": ")
        made += word[:1].upper() + word[1:] if initial else word
        at = match.end()
    return made + text[at:]
