"""What refers to a person, and what can replace it: pronoun kinds, titles, gender nouns."""

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
# Titles that have a counterpart; any other gendered title rules out a template.
TITLES: Mapping[str, Gender] = {
    "mr": "male",
    "mister": "male",
    "ms": "female",
    "mrs": "female",
    "miss": "female",
}
COUNTERPART_TITLES: Mapping[Gender, str] = {"male": "Mr.", "female": "Ms."}
# Adjectives that would contradict the other gender, whoever they describe.
MARKED = frozenset(
    """male female pregnant masculine feminine manly womanly girly girlish boyish motherly fatherly
    maternal paternal macho bearded mustachioed buxom busty beardless transgender lesbian""".split()  # noqa: SIM905
)
Number = Literal["singular", "plural"]
NUMBERS: tuple[Number, ...] = ("singular", "plural")


@dataclass(frozen=True, slots=True)
class NounForm:
    """One form of a gender noun: its pair, gender and number."""

    pair: Counterparts
    gender: Gender
    number: Number


class GenderNouns:
    """Gender nouns, looked up by their forms in lower case."""

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
        """Return the form that ``word`` is, in any case; None for an unknown word."""
        return self._forms.get(word.lower())

    def counterpart(self, word: str, gender: Gender) -> str | None:
        """Return the form of ``word``'s pair for ``gender``, in the same number; None for an unknown word."""
        form = self.get(word)
        return None if form is None else noun_text(NounForm(form.pair, gender, form.number))

    def first(self, gender: Gender, number: Number) -> str:
        """Return the default gender noun: of the pair *man*, *woman*, or of the first pair."""
        pair = next((p for p in self._pairs if p.male.singular == "man"), self._pairs[0])
        return noun_text(NounForm(pair, gender, number))


def noun_text(form: NounForm) -> str:
    """Return the noun that a form stands for."""
    noun = form.pair.male if form.gender == "male" else form.pair.female
    return noun.singular if form.number == "singular" else noun.plural


def dressed(template: Template, index: int, source: str, value: str) -> str:
    """Return ``value`` in the letter case that its place requires.

    It is written like the original, with a capital at the start of a sentence. ``source`` is the original as
    a dictionary would write it.
    """
    original = template.placeholders[index].original
    initial = template.begins_sentence(index)
    if original is None:
        return value[:1].upper() + value[1:] if initial else value
    return carry_case(original, source, value, initial)
