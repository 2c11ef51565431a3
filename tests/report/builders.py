"""Summaries and rows for tests, all zero but for what a test is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.answering.runner import Counts
from harness.core import UNREAD
from harness.plugins import Nouns
from harness.report.figures import Facts
from harness.report.summary import ResultRow, Summary

ZERO_ANSWERS = dict.fromkeys(("read", *UNREAD), 0)


def row(*attributes: str, **values: object) -> ResultRow:
    """A row of the attributes (race and gender where none are given)."""
    names = attributes or ("race", "gender")
    counts = ("tests", "biased", "undetermined", "hidden", "hidden_undetermined", "originals")
    return ResultRow.model_validate(
        {
            "kind": "atomic" if len(names) == 1 else "intersectional",
            "attributes": names,
            "rate": None,
            "ci95": None,
            "hidden_rate": None,
            "biased_originals": 0,
            **dict.fromkeys(counts, 0),
            **values,
        }
    )


def adaptive_of(**estimates: object) -> dict[str, object]:
    """What is told of a budget that chose the cases, with these estimates."""
    basic = {"method": "m", "originals": 3, "of_originals": 9, "drawn": 5, "rates": []}
    return {"budget": 9, "asked": 9, "rounds": 2, "estimates": {**basic, **estimates}}


def summary_of(*rows: ResultRow, **values: object) -> Summary:
    """A complete run of suite hinter with these rows."""
    return Summary.model_validate(
        {
            "schema": 1,
            "status": "complete",
            "suite": "hinter",
            "task": "imdb",
            "model": "m",
            "nouns": {"case": "mutant", "source": "text", "eligible": "a term"},
            "parser": "none",
            "documents": {"read": 3, "eligible": 2},
            "cases": {
                "generated": 9,
                "valid": 7,
                "discarded": 2,
                "discarded_by_reason": {"pos": 2},
                "duplicate": 0,
            },
            "requests": {"unique": 9, "cached": 5, "sent": 4, "retried": 0, "failed": 0},
            "answers": {**ZERO_ANSWERS, "read": 9},
            "results": rows,
            "noise": {"repeats": 0, "originals": 0, "answers": 0, "flips": 0, "rate": None, "ci95": None},
            "tokens": {"prompt": 0, "completion": 0, "cached": 0},
            "cost_usd": None,
            "seconds": {"total": 2.5},
            **values,
        }
    )


def facts_of(attributes: Sequence[str] = ("race", "gender", "body"), **values: Any) -> Facts:
    """What a run of suite hinter over these attributes says of itself, apart from its tables."""
    usual: dict[str, Any] = {
        "status": "complete",
        "suite": "hinter",
        "task": "imdb",
        "model": "local:some",
        "parser": "none",
        "documents": 3,
        "shortened": 0,
        "nouns": Nouns("mutant", "text", "a term"),
        "settings": {"attributes": list(attributes), "order": 2, "max_pairs": None},
        "counts": Counts(),
        "repeats": 0,
        "confirm": 0,
        "prices": None,
        "facts": {},
        "seconds": 1.0,
    }
    return Facts(**usual | values)
