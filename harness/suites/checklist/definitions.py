"""Tests as templates, in TOML: slots filled from lexicons, and changes by name.

The TOML::

    [lexicon]                          # beside the bundled ones (data/checklist_words.toml)
    dish = ["soup", "stew"]

    [[test]]
    name = "praise"
    type = "MFT"
    capability = "Vocabulary"
    templates = ["The {dish} was {praise}."]
    label = "positive"                 # or expected = ["positive", "neutral"]

    [[test]]
    name = "other cities"
    type = "INV"
    capability = "NER"
    templates = ["We flew to {city} and loved it."]
    change = ["places", { by = "append", texts = ["So it goes."] }]

    [[test]]
    name = "stronger words"
    type = "DIR"
    capability = "Vocabulary"
    templates = [["The {dish} was good.", "The {dish} was very good."]]
    expect = "no less confident"

The changed texts of an INV or DIR are the further texts of a template, the words that the slot ``vary`` takes
in turn (up to ``variants``), or the first text after each ``change``. A test has at most ``cases`` cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.errors import ConfigError
from harness.files import DATA, parse_toml, read_toml
from harness.suites.checklist.changes import CHANGES, AnyChange, lexicons_of
from harness.suites.checklist.items import TOLERANCE, Direction, Item, Kind, sentiment
from harness.suites.checklist.templates import WORD, Entry, Lexicons, Template, in_turn

WORDS = DATA / "checklist_words.toml"
SECTIONS = ("lexicon", "test")
CASES = 60

Text = Annotated[str, Field(min_length=1, pattern=r"\S")]


class Test(BaseModel):
    """A test: its templates, what is right or expected, and how its texts are changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Text
    type: Kind
    capability: Text
    templates: tuple[Template, ...] = Field(min_length=1)
    label: frozenset[str] | None = None
    expected: frozenset[str] | None = None
    expect: Direction | None = None
    tolerance: float = Field(default=TOLERANCE, ge=0, le=1)
    change: tuple[AnyChange, ...] = ()
    vary: str | None = None
    variants: int = Field(default=5, ge=2)
    cases: int = Field(default=CASES, ge=1)

    @field_validator("templates", mode="before")
    @classmethod
    def _read_templates(cls, value: object) -> tuple[Template, ...]:
        if not isinstance(value, list):
            raise ValueError("give a list of templates")
        return tuple(map(_template, value))

    @field_validator("label", "expected", mode="before")
    @classmethod
    def _read_labels(cls, value: object) -> frozenset[str]:
        return frozenset(map(sentiment, value if isinstance(value, list) else [value]))

    @field_validator("change", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        if not isinstance(value, list):
            raise ValueError("give a list of changes")
        changes = [{"by": change} if isinstance(change, str) else change for change in value]
        for change in changes:
            if not isinstance(change, dict) or change.get("by") not in CHANGES:
                name = change.get("by") if isinstance(change, dict) else change
                raise ValueError(f"unknown change {name!r}: known are {', '.join(CHANGES)}")
        return changes

    @model_validator(mode="after")
    def _whole(self) -> Test:
        if self.type == "MFT":
            self._check_function()
        else:
            self._check_comparison()
        return self

    def _check_function(self) -> None:
        if (self.label is None) == (self.expected is None):
            raise ValueError("an MFT has either 'label' or 'expected'")
        if self.change or self.vary or any(len(template.texts) > 1 for template in self.templates):
            raise ValueError("an MFT has templates of one text each, and neither 'change' nor 'vary'")
        if self.expect is not None:
            raise ValueError("'expect' is for a DIR")

    def _check_comparison(self) -> None:
        if self.label is not None or self.expected is not None:
            raise ValueError("'label' and 'expected' are for an MFT")
        if (self.type == "DIR") != (self.expect is not None):
            raise ValueError("a DIR has 'expect'" if self.type == "DIR" else "'expect' is for a DIR")
        if self.vary is not None and any(self.vary not in template.slots() for template in self.templates):
            raise ValueError(f"'vary': each template needs the slot {self.vary!r}")
        alone = [template for template in self.templates if len(template.texts) == 1]
        if self.vary is not None and (self.change or len(alone) < len(self.templates)):
            raise ValueError("with 'vary', a template is one text, and nothing else changes it")
        if alone and not self.change and self.vary is None:
            raise ValueError("a template of one text needs 'change' or 'vary'")

    def items(self, lexicons: Lexicons, seed: int) -> Iterator[Item]:
        """Yield the cases of the test, filled and changed by ``seed``."""
        random = Random(f"{seed}/{self.name}")
        given: set[tuple[str, ...]] = set()
        for texts in self._texts(lexicons, random):
            if len(given) == self.cases:
                return
            if texts not in given:
                given.add(texts)
                yield Item(
                    self.name,
                    self.type,
                    self.capability,
                    str(len(given) - 1),
                    texts,
                    self.label or self.expected,
                    self.expect,
                    self.tolerance,
                )

    def _texts(self, lexicons: Lexicons, random: Random) -> Iterator[tuple[str, ...]]:
        if self.vary is not None:
            yield from in_turn(
                template.varied(lexicons, self.vary, self.variants, self.cases, random)
                for template in self.templates
            )
            return
        for texts in in_turn(template.filled(lexicons, self.cases, random) for template in self.templates):
            changed = [change.changed(texts[0], random, lexicons) for change in self.change]
            distinct = tuple(dict.fromkeys([*texts, *changed]))
            if self.type == "MFT" or len(distinct) > 1:
                yield distinct


def items(content: bytes, file: Path, seed: int) -> Iterator[Item]:
    """Yield the cases of the tests in ``content``, the UTF-8 text of ``file``, test by test.

    Raises ``ConfigError`` naming the file, the test and the key.
    """
    data = parse_toml(content.decode("utf-8"), str(file), ConfigError)
    for key in data:
        if key not in SECTIONS:
            raise ConfigError(f"{file}: unknown key {key!r}: known are {', '.join(SECTIONS)}")
    own = _lexicons(data.get("lexicon", {}), file)
    lexicons = {**bundled(), **own}
    tests = data.get("test", [])
    if not isinstance(tests, list):
        raise ConfigError(f"{file}: test: write each test as [[test]]")
    names: set[str] = set()
    for number, table in enumerate(tests, 1):
        test = _test(table, number, lexicons, file)
        if test.name in names:
            raise ConfigError(f"{file}: test {test.name!r} is given twice")
        names.add(test.name)
        cases = list(test.items(lexicons, seed))
        if not cases:
            raise ConfigError(
                f"{file}: test {test.name!r}: its templates give no case that its changes alter"
            )
        yield from cases


def _test(table: object, number: int, lexicons: Lexicons, file: Path) -> Test:
    named = isinstance(table, dict) and isinstance(table.get("name"), str)
    place = f"{file}: test {table['name']!r}" if named else f"{file}: test {number}"  # type: ignore[index]
    try:
        test = Test.model_validate(table)
    except ValidationError as error:
        raise ConfigError(f"{place}: {_problem(error)}") from error
    for template in test.templates:
        if (problem := template.problem(lexicons)) is not None:
            raise ConfigError(f"{place}: templates: {template.texts[0]!r}: {problem}")
    for name in (name for change in test.change for name in lexicons_of(change)):
        if not any(WORD in entry for entry in lexicons.get(name, ())):
            raise ConfigError(f"{place}: change: there is no lexicon {name!r} of plain words")
    return test


def _problem(error: ValidationError) -> str:
    """Return what is wrong with a test, in a line that names the key."""
    first = error.errors()[0]
    *inside, last = [str(part) for part in first["loc"]] or [""]
    if first["type"] == "extra_forbidden":
        where = f"{inside[0]}: " if inside else ""
        known = f": known are {', '.join(Test.model_fields)}" if not inside else ""
        return f"{where}unknown key {last!r}{known}"
    if first["type"] == "missing":
        return f"{last!r} is missing"
    key = ".".join([*inside, last])
    problem = first["msg"].removeprefix("Value error, ")
    return f"{key}: {problem}" if key else problem


def _template(value: object) -> Template:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) and t.strip() for t in texts):
        raise ValueError("each template is a text, or a list of texts")
    return Template(tuple(texts))


@cache
def bundled() -> Lexicons:
    """Return the bundled lexicons."""
    return _lexicons(read_toml(WORDS, ConfigError), WORDS)


def _lexicons(tables: object, file: Path) -> Mapping[str, tuple[Entry, ...]]:
    if not isinstance(tables, dict):
        raise ConfigError(f"{file}: lexicon: write [lexicon], with a list of words for each name")
    return {name: _lexicon(name, entries, file) for name, entries in tables.items()}


def _lexicon(name: str, entries: Any, file: Path) -> tuple[Entry, ...]:
    place = f"{file}: lexicon {name!r}"
    if not name.replace("_", "").isalpha() or not name.isascii():
        raise ConfigError(f"{place}: a name has letters and underscores only")
    if not isinstance(entries, list) or not entries:
        raise ConfigError(f"{place}: give a list of words, or of tables of words")
    return tuple(_entry(entry, place) for entry in entries)


def _entry(entry: Any, place: str) -> Entry:
    fields = entry if isinstance(entry, dict) else {WORD: entry}
    words = {field: [word] if isinstance(word, str) else word for field, word in fields.items()}
    for field, several in words.items():
        whole = isinstance(several, list) and (several or field != WORD)
        if not whole or not all(isinstance(word, str) and word.strip() for word in several):
            raise ConfigError(f"{place}: {field or entry!r} is no word and no list of words")
    return words
