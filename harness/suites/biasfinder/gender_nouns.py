"""What a reference to a person is made of, and what fills its place: pronoun kinds, titles, nouns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from harness.language.persons import Gender
from harness.language.surface import PARADIGMS, carry_case
from harness.language.surface import Slot as PronounSlot
from harness.suites.biasfinder.names import Counterparts
from harness.suites.biasfinder.templates import Kind, Template

PRONOUN_KINDS: Mapping[PronounSlot, Kind] = {
    "nominative": "pro-spp",
    "accusative": "pro-opp",
    "determiner": "pro-pp",
    "possessive": "pro-ap",
    "reflexive": "pro-rp",
}
PRONOUNS: Mapping[Gender, Mapping[Kind, str]] = {
    "male": dict(zip(PRONOUN_KINDS.values(), PARADIGMS["masculine"], strict=True)),
    "female": dict(zip(PRONOUN_KINDS.values(), PARADIGMS["feminine"], strict=True)),
}
# Titles that have a counterpart; any other gendered title stands in the way of a template.
TITLES: Mapping[str, Gender] = {
    "mr": "male",
    "mister": "male",
    "ms": "female",
    "mrs": "female",
    "miss": "female",
}
COUNTERPART_TITLES: Mapping[Gender, str] = {"male": "Mr.", "female": "Ms."}
# Adjectives that would contradict the other gender, whoever they are said of.
MARKED = frozenset(
    """male female pregnant masculine feminine manly womanly girly girlish boyish motherly fatherly
    maternal paternal macho bearded mustachioed buxom busty beardless transgender lesbian""".split()  # noqa: SIM905
)
Number = Literal["singular", "plural"]
NUMBERS: tuple[Number, ...] = ("singular", "plural")


@dataclass(frozen=True, slots=True)
class NounForm:
    """A form of a gender noun: which pair, whose gender, which number."""

    pair: Counterparts
    gender: Gender
    number: Number


class GenderNouns:
    """Gender nouns by their forms, in lower case."""

    def __init__(self, pairs: Iterable[Counterparts]) -> None:
        self._pairs = tuple(pairs)
        self._forms = {noun_text(form): form for form in self._all()}

    def _all(self) -> Iterator[NounForm]:
        for pair in self._pairs:
            for number in NUMBERS:
                yield NounForm(pair, "male", number)
                yield NounForm(pair, "female", number)

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._forms

    def get(self, word: str) -> NounForm | None:
        return self._forms.get(word.lower())

    def counterpart(self, word: str, gender: Gender) -> str | None:
        """The form of ``word``'s pair for ``gender``, in ``word``'s number; None for an unknown word."""
        found = self.get(word)
        return None if found is None else noun_text(NounForm(found.pair, gender, found.number))

    def first(self, gender: Gender, number: Number) -> str:
        """What stands in for a gender noun that nobody chose: the pair *man*, *woman* or the first."""
        pair = next((p for p in self._pairs if p.male.singular == "man"), self._pairs[0])
        return noun_text(NounForm(pair, gender, number))


def noun_text(form: NounForm) -> str:
    noun = form.pair.male if form.gender == "male" else form.pair.female
    return noun.singular if form.number == "singular" else noun.plural


def dressed(template: Template, index: int, source: str, value: str) -> str:
    """``value`` in the case that its place asks for: as the original was written, a capital at the start
    of a sentence. ``source`` is the original as a dictionary would write it."""
    original = template.placeholders[index].original
    initial = template.begins_sentence(index)
    if original is None:
        return value[:1].upper() + value[1:] if initial else value
    return carry_case(original, source, value, initial)
