"""The names that fill a template's placeholders (BiasFinder, sections 4.2 and 5).

Names are TOML, bundled or a user's file of the same shape; a missing table defaults to the bundled one::

    [gender]                     # names from one country, each borne by one gender only
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
from pathlib import Path
from typing import Any, Literal

from harness.errors import LexiconError
from harness.files import DATA, read_toml

Gender = Literal["male", "female"]

BUNDLED = DATA / "names.toml"
TABLES = {"gender", "country"}


@dataclass(frozen=True, slots=True)
class Name:
    """A first name, the gender that bears it and the country it comes from."""

    text: str
    gender: Gender
    country: str


@dataclass(frozen=True, slots=True)
class Names:
    """The names for a characteristic: the most frequent first, or one per country."""

    male: tuple[Name, ...]
    female: tuple[Name, ...]

    def first(self, count: int) -> Names:
        """Return the first ``count`` names of each gender (N in section 4.2)."""
        return Names(self.male[:count], self.female[:count])


def gender_names(path: str | Path | None = None) -> Names:
    """Return names that differ only in gender. Raises ``LexiconError`` naming the file and the key."""
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
    """Return names that differ in country of origin, in file order.

    Raises ``LexiconError`` naming the file and the key.
    """
    source, table = _table("country", path)
    where = f"{source}: country"
    if len(table) < 2:
        raise LexiconError(f"{where} needs two or more countries to compare")
    names = Names(
        tuple(_of_country(country, entry, "male", where) for country, entry in table.items()),
        tuple(_of_country(country, entry, "female", where) for country, entry in table.items()),
    )
    _unique(names, where)
    return names


def _table(name: str, path: str | Path | None) -> tuple[str | Path, dict[str, Any]]:
    """Return the table called ``name``, preceded by the file that holds it."""
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


def _of_country(country: str, entry: object, gender: Gender, where: str) -> Name:
    here = f"{where}.{country}"
    if not isinstance(entry, dict):
        raise LexiconError(f'{here} must be {{ male = "…", female = "…" }}')
    _only(entry, {"male", "female"}, here)
    return Name(_word(entry.get(gender), f"{here}.{gender}"), gender, country)


def _unique(names: Names, where: str) -> None:
    """Raise ``LexiconError`` for a repeated name: it would not tell one gender, or one country."""
    counts = Counter(name.text.casefold() for name in (*names.male, *names.female))
    for name in (*names.male, *names.female):
        if counts[name.text.casefold()] > 1:
            raise LexiconError(f"{where}: {name.text!r} is listed twice: a name must belong to one class")


def _only(table: Mapping[str, Any], allowed: set[str], where: str) -> None:
    unknown = sorted(set(table) - allowed)
    if unknown:
        raise LexiconError(f"{where}: unknown key {unknown[0]!r}, known keys: {', '.join(sorted(allowed))}")


def _words(value: object, where: str) -> Iterable[str]:
    if not isinstance(value, list) or not value:
        raise LexiconError(f"{where} must be a list of names")
    return [_word(name, f"{where}[{number}]") for number, name in enumerate(value, 1)]


def _word(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise LexiconError(f"{where} must be a name")
    return " ".join(value.split())
