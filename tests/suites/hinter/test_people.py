"""Words change only where they describe a person, and all words for one person change together.

``people.tsv`` says, for some hundreds of short texts, what a careful reader would make of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

import pytest

from harness.core import Case, Document, Span, Substitution
from harness.suites import lexicon
from harness.suites.hinter import persons
from harness.suites.hinter.people_text import MeaningOf
from harness.suites.hinter.suite import Hinter

TABLE = Path(__file__).with_name("people.tsv")
COLUMNS = ["kind", "attribute", "pair", "text", "expected"]
NEVER = "-"
"""Expected: no mutant changes the words in brackets."""
NOT_BY_PAIR = "!"
"""Expected: the pair of the row does not change the words in brackets; other pairs may."""
NAME = "<name>"
"""In an expected text: a given name other than the one in the text, the same at all its places."""
NOT_YET = "?"
"""Before a kind: what a careful reader would do, and the suite does not do yet."""
LEAST_SHARE = 0.94
"""The share of rows that must hold."""
LEXICON = lexicon.load()

Versions = Callable[..., Sequence[Case]]
"""The valid atomic mutants of a text by the dictionary of an attribute, and a ``meaning``."""


@dataclass(frozen=True)
class Row:
    """A line of the table: ``marked`` is the text with its brackets."""

    line: int
    kind: str
    attribute: str
    pair: str
    marked: str
    expected: str
    holds: bool

    @property
    def text(self) -> str:
        """The text without brackets."""
        return re.sub(r"[\[\]]", "", self.marked)

    @property
    def spans(self) -> list[Span]:
        """The places in ``text`` of the words in brackets."""
        pieces = re.split(r"[\[\]]", self.marked)
        offsets = [sum(map(len, pieces[:i])) for i in range(len(pieces) + 1)]
        return [(offsets[i], offsets[i + 1]) for i in range(1, len(pieces), 2)]

    @property
    def words(self) -> list[str]:
        """The words in brackets."""
        return [self.text[start:end] for start, end in self.spans]

    @property
    def changes(self) -> bool:
        """Whether the words in brackets change."""
        return self.expected not in (NEVER, NOT_BY_PAIR)

    @property
    def source_and_target(self) -> tuple[str, str]:
        source, _, target = self.pair.partition(">")
        return source, target

    @property
    def replacements(self) -> list[str] | None:
        """What stands in ``expected`` for each word in brackets; None if the text around them differs.

        The articles "a" and "an" may differ.
        """
        pieces = re.split(r"[\[\]]", self.marked)
        around = [re.sub(r"\b([Aa])n?\b", r"\1n?", re.escape(piece)) for piece in pieces]
        pattern = "".join("(.+?)" if i % 2 else piece for i, piece in enumerate(around))
        match = re.fullmatch(pattern, self.expected)
        return list(match.groups()) if match else None


def read() -> Iterator[Row]:
    for number, line in enumerate(TABLE.read_text("utf-8").splitlines(), start=1):
        cells = line.split("\t")
        if not line.startswith("#") and cells != COLUMNS:
            kind, attribute, pair, text, expected = cells
            known = not kind.startswith(NOT_YET)
            yield Row(number, kind.removeprefix(NOT_YET), attribute, pair, text, expected, known)


ROWS = list(read())
TO_HOLD = [
    pytest.param(
        row,
        id=f"{row.line}-{row.kind}",
        marks=()
        if row.holds
        else pytest.mark.xfail(reason="not decided as a careful reader does", strict=True),
    )
    for row in ROWS
]
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.line}-{row.kind}")


@pytest.fixture(scope="module")
def versions() -> Versions:
    resolver = persons.resolver()

    @cache
    def valid_atomic(text: str, attribute: str, meaning: MeaningOf = "person") -> Sequence[Case]:
        dictionary = LEXICON.select([attribute])
        suite = Hinter(dictionary, parser=None, order=1, resolver=resolver, meaning=meaning)
        cases = suite.cases(iter([Document(id="t", text=text)]))
        return [case for case in cases if case.role == "atomic" and case.reason is None]

    return valid_atomic


def touches(substitution: Substitution, spans: Sequence[Span]) -> bool:
    """Whether the substitution changes anything in ``spans``, or inserts anything at their edges."""
    return any(
        max(start, first) < min(end, last) or (start == end and first <= start <= last)
        for start, end in substitution.spans
        for first, last in spans
    )


def concerns(substitution: Substitution, row: Row) -> bool:
    """Whether the substitution is by the pair of the row."""
    return f"{substitution.source}>{substitution.target}".lower() == row.pair.lower()


def alters(row: Row, version: str) -> bool:
    """Whether an alignment of the words of the text and of ``version`` leaves out a word in brackets."""
    tokens = list(re.finditer(r"\w+|\W", row.text))
    aligned = SequenceMatcher(None, [t[0] for t in tokens], re.findall(r"\w+|\W", version), autojunk=False)
    same = {i for start, _, size in aligned.get_matching_blocks() for i in range(start, start + size)}
    return any(
        token.start() < last and first < token.end() and i not in same
        for first, last in row.spans
        for i, token in enumerate(tokens)
    )


def accepts(row: Row, text: str) -> bool:
    """Whether ``text`` is the expected one."""
    before, *after = map(re.escape, row.expected.split(NAME))
    named = "".join(
        (r"(?P<name>[A-Z]\w+)" if i == 0 else "(?P=name)") + piece for i, piece in enumerate(after)
    )
    match = re.fullmatch(before + named, text)
    return match is not None and match.groupdict().get("name") not in row.words


def fault(row: Row, cases: Sequence[Case]) -> str | None:
    """Return what is wrong with the mutants of a row's text, or None."""
    if row.changes:
        texts = [case.text for case in cases]
        return None if any(accepts(row, text) for text in texts) else f"{row.expected!r} not in {texts}"
    for case in cases:
        concerning = [s for s in case.substitutions if row.expected == NEVER or concerns(s, row)]
        if concerning and (any(touches(s, row.spans) for s in concerning) or alters(row, case.text)):
            return f"{concerning[0].source} > {concerning[0].target}: {case.text!r}"
    return None


# The table itself


def test_enough_rows_of_every_kind_about_half_of_which_change() -> None:
    assert len(ROWS) >= 360
    assert min(Counter(row.kind for row in ROWS).values()) >= 6
    assert 0.4 < sum(row.changes for row in ROWS) / len(ROWS) < 0.6


def test_a_kind_either_changes_or_stays() -> None:
    kinds = {row.changes: {other.kind for other in ROWS if other.changes == row.changes} for row in ROWS}
    assert not kinds[True] & kinds[False]


def test_no_row_is_there_twice() -> None:
    repeated = Counter((row.attribute, row.marked) for row in ROWS)
    assert [key for key, count in repeated.items() if count > 1] == []


@each_row
def test_a_row_is_well_formed(row: Row) -> None:
    assert re.fullmatch(r"[^\[\]]*(\[[^\[\] ][^\[\]]*\][^\[\]]*)+", row.marked)
    assert row.source_and_target in LEXICON.attributes[row.attribute].pairs
    if row.changes:
        assert row.replacements is not None, "the text differs outside the brackets"
        exchanges = list(zip(row.words, row.replacements, strict=True))
        assert all(word != new for word, new in exchanges)
        first_term = next((word.lower(), new.lower()) for word, new in exchanges if new != NAME)
        assert first_term == tuple(row.pair.lower().split(">"))
    else:
        assert row.source_and_target[0].lower() in map(str.lower, row.words)


@each_row
def test_the_dictionary_has_the_words_in_brackets(row: Row) -> None:
    terms = [span for spans in LEXICON.attributes[row.attribute].find(row.text).values() for span in spans]
    replacements = row.replacements or [""] * len(row.spans)
    for (first, last), new in zip(row.spans, replacements, strict=True):
        term = any(max(start, first) < min(end, last) for start, end in terms)
        assert term or new == NAME, row.text[first:last]


# What the suite makes of it


@pytest.mark.parametrize("row", TO_HOLD)
def test_a_row_holds(versions: Versions, row: Row) -> None:
    assert fault(row, versions(row.text, row.attribute)) is None


@each_row
def test_whatever_is_made_by_default_is_made_where_a_reader_decides(versions: Versions, row: Row) -> None:
    usual, likely = (
        {case.text for case in versions(row.text, row.attribute, meaning)} for meaning in ("person", "likely")
    )
    assert usual <= likely


def test_more_is_made_where_a_reader_decides(versions: Versions) -> None:
    text, attribute = "After the trial he was a mere shell of a man.", "body"
    assert not versions(text, attribute)
    assert versions(text, attribute, "likely")


def test_how_many_rows_hold(versions: Versions) -> None:
    rows = Counter(row.kind for row in ROWS)
    right = Counter(row.kind for row in ROWS if fault(row, versions(row.text, row.attribute)) is None)
    for kind, count in rows.items():
        print(f"{kind:24}{right[kind]:4} of {count:3}  {right[kind] / count:4.0%}")
    print(f"{'all':24}{right.total():4} of {rows.total():3}  {right.total() / rows.total():4.0%}")
    assert right.total() / rows.total() >= LEAST_SHARE
