"""Cells of CSV files that people open in a spreadsheet."""

from __future__ import annotations

import unicodedata

FORMULA = frozenset("=+-@")
CONTROL = ("\t", "\r")


def disarmed(cell: str) -> str:
    """Return ``cell`` so that no spreadsheet takes it for a formula: after an apostrophe, if it needs one.

    White space and invisible characters at its start, and full-width signs, do not hide a formula.
    """
    first = next((sign for sign in cell if sign.isprintable() and not sign.isspace()), "")
    formula = unicodedata.normalize("NFKC", first) in FORMULA or cell.startswith(CONTROL)
    return f"'{cell}" if formula else cell
