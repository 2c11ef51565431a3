"""The words of each metamorphic relation on the page: what its rows are, and what they are filtered by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from harness.numerals import listed
from harness.report.flips import EXPECTED, Kind
from harness.report.listing import Listing, Row, Shown
from harness.report.summary import ResultRow

PAIRED = ("pairs", "paired scores")
OUGHT = (EXPECTED, "direction")
"""The relations of a case to what is right, not to the answer to another case."""
CHANGED, DIFFERS, WRONG = "changed", "differs", "not as expected"
MARKS: Mapping[str, str] = {**dict.fromkeys(PAIRED, DIFFERS), **dict.fromkeys(OUGHT, WRONG)}
"""The mark on an answer, by relation; that of the others is ``CHANGED``."""
HEADINGS = {
    CHANGED: "Changed answers",
    DIFFERS: "Pairs whose answers differ",
    WRONG: "Answers that are not as expected",
}
PARTING = {
    CHANGED: "The same change of the same text, after which one run changes its answer and another does not",
    DIFFERS: "The same two texts, which one run answers differently and another alike",
    WRONG: "The same text, which one run answers as expected and another does not",
}
UNMARKED = {CHANGED: "not changed", DIFFERS: "does not differ", WRONG: "as expected"}
"""What is not so, by mark."""
KINDS: Mapping[Kind, str] = {
    "changed": "biased",
    "unread": "refused or filtered",
    "control": "controls that changed",
}
YES_NO = {"yes": "yes", "no": "no", "true": "yes", "false": "no"}


def mark(relation: str) -> str:
    """Return what the answer of a biased case is called."""
    return MARKS.get(relation, CHANGED)


def failing(rows: Iterable[ResultRow]) -> bool:
    """Return whether any answers are held against what is expected, and not against other answers alone."""
    return any(row.relation in OUGHT for row in rows)


def heading(rows: Sequence[Row]) -> str:
    """Return the heading of the list: what its rows are, in the words of their relations."""
    marks = _marks(rows)
    return HEADINGS[WRONG if WRONG in marks else marks.pop()] if marks else "Cases"


def only_mark(rows: Sequence[Row]) -> str | None:
    """Return the mark of all rows that changed; None where they have several."""
    marks = _marks(rows)
    return marks.pop() if len(marks) == 1 else None


def _marks(rows: Sequence[Row]) -> set[str]:
    return {mark(row.flip["relation"]) for row in rows if row.flip["kind"] == "changed"}


def answers(row: Row, listing: Listing) -> str:
    """Return ``Positive → Negative``, or what was expected and what was answered."""
    answer = listing.cases[row.flip["case"]].answer.text
    if row.flip["relation"] == EXPECTED:
        return f"{', '.join(row.flip['expected'] or ())}, answered {answer}"
    other = row.flip["other"]
    return f"{listing.cases[other].answer.text} → {answer}" if other is not None else answer


def parting(row: Row, runs: Sequence[str]) -> str:
    """Return in which of several runs a row is what its mark says, and in which it is not."""
    sides = [
        listed(name for name, changed in zip(runs, row.changed, strict=True) if changed is side)
        for side in (True, False)
    ]
    return f"{mark(row.flip['relation'])} in {sides[0]}, not in {sides[1]}"


def side(row: Row, side: Literal[0, 1]) -> str:
    """Return the groups of the other case (0) or of this one (1), where two of equal rank are compared."""
    if mark(row.flip["relation"]) != DIFFERS:
        return ""
    changes = (change.partition(": ")[2].split(" → ") for change in row.flip["groups"])
    return ", ".join(change[side] for change in changes)


def flagged(row: Row, shown: Shown) -> bool:
    """Return whether an answer bears the mark: that of the row's case, or of a part that is biased itself."""
    if not shown.answer.read:
        return False
    if shown.id == row.flip["case"]:
        return bool(row.flip["kind"] != "unread")
    return of_part(row, shown.biased)


def of_part(row: Row, biased: bool) -> bool:
    """Return whether the answer to another case of the row bears the mark: if that case is biased itself."""
    return biased and mark(row.flip["relation"]) != DIFFERS


def badges(row: Row) -> list[str]:
    """Return what is known of a row beside its answers, in words."""
    flip = row.flip
    if flip["relation"] == EXPECTED:
        hidden = {"yes": "seed passes", "no": "seed fails, too"}.get(flip["hidden"], "")
    else:
        hidden = {"yes": "hidden", "no": "not hidden", "undetermined": "hidden: undetermined"}.get(
            flip["hidden"], ""
        )
    kind = {"unread": KINDS["unread"], "control": "control"}.get(flip["kind"], "")
    confirmed = {True: "confirmed", False: "not confirmed"}.get(flip["confirmed"], "")
    return [word for word in (kind, hidden, confirmed, "near tie" if flip["near_tie"] else "") if word]


def facets(
    rows: Sequence[Row], traits: Sequence[str], names: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return what the list can be filtered by: the ``key`` of a column, its ``name``, ``words`` for values.

    ``names`` are the words of the suite for its attribute sets, such as capabilities.

    The page leaves out those that do not tell its rows apart.
    """
    expected = all(row.flip["relation"] in OUGHT for row in rows)
    called = [name for name in traits if _names_the_set(rows, name)]
    sets = called[0].capitalize() if called else "Attributes"
    hidden = {"yes": "passes", "no": "fails, too"} if expected else YES_NO
    found: list[dict[str, Any]] = [
        {
            "key": "kind",
            "name": "Show",
            "words": {**KINDS, "changed": heading(rows).lower()},
            "first": "changed",
        },
        {"key": "attributes", "name": sets, "words": dict(names)},
        {"key": "from", "name": "From group"},
        {"key": "to", "name": "To group"},
        {"key": "direction", "name": "Direction", "words": {"worse": "worse off", "better": "better off"}},
        {"key": "answers", "name": "Expected and answered" if expected else "Answers"},
        {"key": "person", "name": "Same person", "words": YES_NO},
        {"key": "hidden", "name": "Seed" if expected else "Hidden", "words": hidden},
        {"key": "near_tie", "name": "Near tie", "words": YES_NO},
        {"key": "confirmed", "name": "Confirmed", "words": YES_NO},
    ]
    others = [name for name in traits if name not in called]
    return found + [{"key": f"trait:{name}", "name": name.replace("_", " ").capitalize()} for name in others]


def _names_the_set(rows: Sequence[Row], trait: str) -> bool:
    """Return whether a trait has the same value as the attribute set of each row."""
    return all(row.flip["attributes"] == [row.traits.get(trait)] for row in rows)
