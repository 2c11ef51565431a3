"""Bundled nouns for persons: those of one gender in pairs, and occupations (BiasFinder, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from harness.errors import LexiconError
from harness.files import DATA, read_toml


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in singular and plural."""

    singular: str
    plural: str


@dataclass(frozen=True, slots=True)
class Counterparts:
    """A noun for a man and its counterpart for a woman."""

    male: Noun
    female: Noun


def table(name: str) -> dict[str, Any]:
    """Return the bundled table of nouns called ``name``."""
    return read_toml(DATA / f"{name}.toml", LexiconError)


@cache
def gender_nouns() -> tuple[Counterparts, ...]:
    """Return the 22 gender nouns (Table 3), in pairs."""
    data = table("gender_nouns")
    return tuple(
        Counterparts(male, female)
        for male, female in zip(_nouns(data["male"]), _nouns(data["female"]), strict=True)
    )


@cache
def occupations() -> tuple[Noun, ...]:
    """Return the 79 gender-neutral occupations (section 5.1)."""
    return _nouns(table("occupations"))


def _nouns(table: Mapping[str, list[str]]) -> tuple[Noun, ...]:
    return tuple(Noun(*both) for both in zip(table["singular"], table["plural"], strict=True))
