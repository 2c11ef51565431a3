"""Cells of CSV files that people open in a spreadsheet."""

from __future__ import annotations

import unicodedata

FORMULA = frozenset("=+-@−|%")
CONTROL = ("\t", "\r", "\n")


def disarmed(cell: str) -> str:
    """Return ``cell`` so that no spreadsheet takes it for a formula: after an apostrophe, if it needs one."""
    return f"'{cell}" if is_formula(cell) else cell


def is_formula(cell: str) -> bool:
    """Return whether a spreadsheet could take ``cell`` for a formula, in any spelling.

    Programs skip what does not print, and some read full-width signs and the like as the plain ones.
    """
    seen = (sign for sign in cell if not sign.isspace() and unicodedata.category(sign) not in ("Cc", "Cf"))
    return cell.startswith(CONTROL) or unicodedata.normalize("NFKC", next(seen, ""))[:1] in FORMULA
