"""The template language: ``{person}``, ``{person:object}``, ``{person:reflexive}``, ``{emotion}``.

``{a emotion}`` begins with the indefinite article that the word takes by sound. The sentence begins with a
capital whatever stands there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.language.surface import PARADIGMS, Slot, paradigm, pronoun, takes_an

PRONOUNS = tuple(forms[0] for forms in PARADIGMS.values())
SLOT_OF: Mapping[str, Slot] = {"subject": "nominative", "object": "accusative", "reflexive": "reflexive"}
_FIELD = re.compile(r"\{(?P<article>a )?(?P<name>person|emotion)(?P<form>:object|:reflexive)?\}")


def problem(text: str) -> str | None:
    """Why ``text`` is no template, or None: what stands in braces must be a variable, one a person."""
    rest = _FIELD.sub("", text)
    if "{" in rest or "}" in rest:
        wrong = re.search(r"\{[^{}]*\}?|\}", rest)
        return f"{wrong[0] if wrong else rest!r} is no variable of a template"
    fields = list(_FIELD.finditer(text))
    if any(field["name"] == "emotion" and field["form"] for field in fields):
        return "an emotion word has no other form"
    if not any(field["name"] == "person" and field["form"] != ":reflexive" for field in fields):
        return "there is no {person} in it"
    return None


def asks_for_emotion(text: str) -> bool:
    """Whether the template has a place for an emotion word."""
    return any(field["name"] == "emotion" for field in _FIELD.finditer(text))


def fill(text: str, person: str, pronoun_of_person: str, emotion: str = "") -> str:
    """The sentence that the template gives for a person and an emotion word."""

    def value(field: re.Match[str]) -> str:
        word = emotion if field["name"] == "emotion" else _form(person, pronoun_of_person, field["form"])
        if field["article"]:
            return f"{'an' if takes_an(word) else 'a'} {word}"
        return word

    sentence = _FIELD.sub(value, text)
    return sentence[:1].upper() + sentence[1:]


def _form(person: str, pronoun_of_person: str, form: str | None) -> str:
    """A name or noun phrase has one form; a pronoun, and what refers back to a person, has its paradigm's."""
    slot = SLOT_OF[(form or ":subject").removeprefix(":")]
    if slot == "reflexive":
        return pronoun(pronoun_of_person, slot)
    return pronoun(person, slot) if person in PRONOUNS and paradigm(person) else person
