"""The words that fill a template's placeholders: names, gender nouns, occupations (BiasFinder, 4.2 and 5).

Names are TOML, bundled or the user's own of the same shape; a table left out is the bundled one::

    [gender]                     # names of one country, each borne by one gender alone
    country = "USA"
    male = ["Jonathan", "Derek"]
    female = ["Barbara", "Emily"]

    [country]                    # a name of each gender for each country of origin
    Iran = { male = "Keyghobad", female = "Homeira" }
    Japan = { male = "Katsunori", female = "Mamiko" }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from harness.errors import LexiconError
from harness.files import DATA, read_toml

Gender = Literal["male", "female"]

BUNDLED = DATA / "names.toml"
TABLES = {"gender", "country"}


@dataclass(frozen=True, slots=True)
class Name:
    """A first name, the gender it is borne by and the country it comes from."""

    text: str
    gender: Gender
    country: str


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a characteristic, the likeliest first or one a country."""

    male: tuple[Name, ...]
    female: tuple[Name, ...]

    def first(self, count: int) -> Names:
        """The first ``count`` of each gender (N in section 4.2)."""
        return Names(self.male[:count], self.female[:count])


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun in both numbers."""

    singular: str
    plural: str


@dataclass(frozen=True, slots=True)
class Counterparts:
    """A noun for a man and the same for a woman."""

    male: Noun
    female: Noun


def gender_names(path: str | Path | None = None) -> Names:
    """Names that differ in gender alone. Raises ``LexiconError`` naming the file and the key."""
    source, table = _table("gender", path)
    where = f"{source}: gender"
    _only(table, {"country", "male", "female"}, where)
    country = _word(table.get("country"), f"{where}.country")
    names = Names(
        tuple(Name(text, "male", country) for text in _words(table.get("male"), f"{where}.male")),
        tuple(Name(text, "female", country) for text in _words(table.get("female"), f"{where}.female")),
    )
    _unique(names, where)
    return names


def country_names(path: str | Path | None = None) -> Names:
    """Names that differ in country of origin, in the order of the file. Raises ``LexiconError``."""
    source, table = _table("country", path)
    where = f"{source}: country"
    if len(table) < 2:
        raise LexiconError(f"{where} needs two countries or more, so that there is something to compare")
    names = Names(
        tuple(_of_country(country, one, "male", where) for country, one in table.items()),
        tuple(_of_country(country, one, "female", where) for country, one in table.items()),
    )
    _unique(names, where)
    return names


@cache
def gender_nouns() -> tuple[Counterparts, ...]:
    """The 22 gender nouns (Table 3), in pairs."""
    data = read_toml(DATA / "gender_nouns.toml", LexiconError)
    return tuple(
        Counterparts(male, female)
        for male, female in zip(_nouns(data["male"]), _nouns(data["female"]), strict=True)
    )


@cache
def occupations() -> tuple[Noun, ...]:
    """The 79 honest, gender-neutral occupations (section 5.1)."""
    return _nouns(read_toml(DATA / "occupations.toml", LexiconError))


def _table(name: str, path: str | Path | None) -> tuple[str | Path, dict[str, Any]]:
    """The table called ``name`` and the file it stands in."""
    source = BUNDLED if path is None else path
    data = read_toml(source, LexiconError)
    _only(data, TABLES, str(source))
    if not data:
        raise LexiconError(f"{source}: no names: give a table [gender] or [country]")
    if name not in data:
        source, data = BUNDLED, read_toml(BUNDLED, LexiconError)
    if not isinstance(data[name], dict):
        raise LexiconError(f"{source}: {name} must be a table")
    return source, data[name]


def _of_country(country: str, one: Any, gender: Gender, where: str) -> Name:
    here = f"{where}.{country}"
    if not isinstance(one, dict):
        raise LexiconError(f'{here} must be {{ male = "…", female = "…" }}')
    _only(one, {"male", "female"}, here)
    return Name(_word(one.get(gender), f"{here}.{gender}"), gender, country)


def _unique(names: Names, where: str) -> None:
    """A name tells one gender, or one country, only if it stands there once."""
    found = Counter(name.text.casefold() for name in (*names.male, *names.female))
    for name in (*names.male, *names.female):
        if found[name.text.casefold()] > 1:
            raise LexiconError(f"{where}: {name.text!r} is there twice: a name must tell its class")


def _only(table: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise LexiconError(f"{where}: unknown key {unknown[0]!r}: known are {', '.join(sorted(known))}")


def _words(value: Any, where: str) -> Iterable[str]:
    if not isinstance(value, list) or not value:
        raise LexiconError(f"{where} must be a list of names")
    return [_word(one, f"{where}[{number}]") for number, one in enumerate(value, 1)]


def _word(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise LexiconError(f"{where} must be a name")
    return " ".join(value.split())


def _nouns(table: Mapping[str, list[str]]) -> tuple[Noun, ...]:
    return tuple(Noun(*both) for both in zip(table["singular"], table["plural"], strict=True))
