"""The template language: ``{person}``, ``{person:object}``, ``{person:reflexive}``, ``{emotion}``.

``{a emotion}`` puts the indefinite article before the word, chosen by sound. Every sentence begins with a
capital letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.language.surface import PARADIGMS, Slot, paradigm, pronoun, takes_an

PRONOUNS = tuple(forms[0] for forms in PARADIGMS.values())
SLOT_OF: Mapping[str, Slot] = {"subject": "nominative", "object": "accusative", "reflexive": "reflexive"}
_FIELD = re.compile(r"\{(?P<article>a )?(?P<name>person|emotion)(?P<form>:object|:reflexive)?\}")


def problem(text: str) -> str | None:
    """Return what is wrong with the template ``text``, or None.

    Everything in braces must be a variable, and one of them a person.
    """
    literal = _FIELD.sub("", text)
    if "{" in literal or "}" in literal:
        wrong = re.search(r"\{[^{}]*\}?|\}", literal)
        return f"{wrong[0] if wrong else literal!r} is not a variable of a template"
    fields = list(_FIELD.finditer(text))
    if any(field["name"] == "emotion" and field["form"] for field in fields):
        return "an emotion word has only one form"
    if not any(field["name"] == "person" and field["form"] != ":reflexive" for field in fields):
        return "it has no {person}"
    return None


def asks_for_emotion(text: str) -> bool:
    """Return whether the template has a place for an emotion word."""
    return any(field["name"] == "emotion" for field in _FIELD.finditer(text))


def fill(text: str, person: str, pronoun_of_person: str, emotion: str = "") -> str:
    """Return the sentence that the template makes for a person and an emotion word."""

    def value(field: re.Match[str]) -> str:
        word = emotion if field["name"] == "emotion" else _form(person, pronoun_of_person, field["form"])
        if field["article"]:
            return f"{'an' if takes_an(word) else 'a'} {word}"
        return word

    sentence = _FIELD.sub(value, text)
    return sentence[:1].upper() + sentence[1:]


def _form(person: str, pronoun_of_person: str, form: str | None) -> str:
    """Return the form of a person's word.

    A name or noun phrase has only one form; a pronoun, and a reflexive, take theirs from the paradigm.
    """
    slot = SLOT_OF[(form or ":subject").removeprefix(":")]
    if slot == "reflexive":
        return pronoun(pronoun_of_person, slot)
    return pronoun(person, slot) if person in PRONOUNS and paradigm(person) else person
