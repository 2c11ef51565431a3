"""Make mutants: fill the placeholders of a template, all from one class (BiasFinder, 3.2 and 4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from harness.language.persons import Gender
from harness.language.surface import takes_an
from harness.suites.biasfinder.gender_nouns import (
    COUNTERPART_TITLES,
    PRONOUNS,
    TITLES,
    GenderNouns,
    Number,
    dressed,
)
from harness.suites.biasfinder.templates import COUNTRY_KINDS, Template, fill


@dataclass(frozen=True, slots=True)
class Person:
    """Whom a mutant is about; what a template does not ask for may be None."""

    gender: Gender | None = None
    name: str | None = None
    occupation: str | None = None


def mutant(template: Template, person: Person, nouns: GenderNouns) -> str:
    """Return the template's text about ``person``."""
    return fill(template, values(template, person, nouns))


def values(template: Template, person: Person, nouns: GenderNouns) -> tuple[str, ...]:
    """Return a value for each placeholder, in the letter case of its place.

    Raises ``ValueError`` if ``person`` lacks what the template asks for, or has a name for a placeholder of
    the other gender.
    """
    chosen = [_value(template, index, person, nouns) for index in range(len(template.placeholders))]
    for index, placeholder in enumerate(template.placeholders):
        if placeholder.kind == "det":
            chosen[index] = _article(template, index, chosen[index + 1])
    return tuple(chosen)


def _value(template: Template, index: int, person: Person, nouns: GenderNouns) -> str:
    placeholder = template.placeholders[index]
    kind, original = placeholder.kind, placeholder.original
    dress = partial(dressed, template, index)
    if kind == "det":
        return ""
    if kind == "occupation":
        return dress(_uncapped(original or ""), _needed(person.occupation, "occupation"))
    if kind == "name" or kind in COUNTRY_KINDS:
        if kind in COUNTRY_KINDS and person.gender not in (None, kind):
            raise ValueError(f"<{kind}> cannot take the name of a {person.gender} person")
        return _name(template, index, _needed(person.name, "name"))
    gender = person.gender
    if gender is None:
        raise ValueError(f"<{kind}> needs a gender")
    if kind == "title":
        return _title(original, gender)
    if kind in ("gaw", "gaw-pl"):
        number: Number = "singular" if kind == "gaw" else "plural"
        noun = nouns.counterpart(original or "", gender) or nouns.first(gender, number)
        return dress((original or "").lower(), noun)
    return dress((original or "").lower(), PRONOUNS[gender][kind])


def _uncapped(occupation: str) -> str:
    """Return an occupation as a dictionary writes it: *German* of *German scientist* keeps its capital."""
    return occupation if occupation.split(" ")[-1].islower() else occupation.lower()


def _needed(value: str | None, what: str) -> str:
    if value is None:
        raise ValueError(f"<{what}> needs a value")
    return value


def _name(template: Template, index: int, name: str) -> str:
    original = template.placeholders[index].original or ""
    if original.endswith(("'", "’")):
        name += original[-1] + "s"
    return dressed(template, index, original.title(), name)


def _title(original: str | None, gender: Gender) -> str:
    if original is not None and TITLES.get(original.lower().rstrip(".")) == gender:
        return original
    title = COUNTERPART_TITLES[gender]
    if original is not None and not original.endswith(".") and original.lower() != "miss":
        title = title.rstrip(".")
    return title.upper() if original is not None and original.rstrip(".").isupper() else title


def _article(template: Template, index: int, word: str) -> str:
    """Return *a* or *an* by the sound of ``word``; keep an article that already disagreed."""
    original, had = template.placeholders[index].original, template.placeholders[index + 1].original
    if original is not None and had is not None and (len(original) == 2) != takes_an(had):
        return original
    article = "an" if takes_an(word) else "a"
    if original is None:
        return article.capitalize() if template.begins_sentence(index) else article
    if original.isupper() and (len(original) > 1 or (had or "").isupper()):
        return article.upper()
    return article.capitalize() if original[:1].isupper() else article
