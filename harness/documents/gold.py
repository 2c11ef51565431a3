"""Gold labels as files spell them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import DocumentError

LISTED = 14
TRUTH = {"true": "1", "false": "0"}
_WHOLE = re.compile(r"([+-]?\d+)\.0*")


@dataclass(frozen=True, slots=True)
class Gold:
    """The labels of a task; ``spellings`` maps their spellings, in lower case, to labels."""

    labels: tuple[str, ...]
    spellings: Mapping[str, str]
    several: bool

    def of(self, value: object, where: str) -> frozenset[str] | None:
        """Return the labels in a field; None if it is empty or NaN. Raises ``DocumentError`` at ``where``."""
        if value is None or value != value or (isinstance(value, str) and not value.strip()):
            return None
        values = self._split(value) if self.several else value
        values = values if isinstance(values, list) else [values]
        if not self.several and len(values) != 1:
            raise DocumentError(f"{where}: {len(values)} labels, but the task takes one per text")
        labels = {spelling: self._label(str(spelling)) for spelling in map(_hashable, values)}
        for spelling, label in labels.items():
            if label is None:
                raise DocumentError(f"{where}: unknown label {spelling!r}: the labels are {self._listed()}")
        return frozenset(label for label in labels.values() if label is not None)

    def _label(self, spelling: str) -> str | None:
        """Return the label so spelt or None; ``1.0`` is 1, and True and False are 1 and 0 of two labels."""
        name = spelling.strip().lower()
        if name not in self.spellings:
            whole = _WHOLE.fullmatch(name)
            name = whole[1] if whole else TRUTH.get(name, name) if len(self.labels) == 2 else name
        return self.spellings.get(name)

    def _listed(self) -> str:
        more = len(self.labels) - LISTED
        return ", ".join(self.labels[:LISTED]) + (f" and {more} more" if more > 0 else "")

    def _split(self, value: object) -> object:
        """Split a field of a table: a JSON list, or parts separated by semicolons or else commas."""
        if not isinstance(value, str) or value.strip().lower() in self.spellings:
            return value
        if value.strip().lower() in ("none", "[]"):
            return []
        if value.lstrip().startswith("["):
            try:
                return json.loads(value)
            except (ValueError, RecursionError):
                return value
        separator = ";" if ";" in value else ","
        return [part.strip() for part in re.split(separator, value) if part.strip()]


def _hashable(value: object) -> object:
    return value if isinstance(value, str | int | float) else str(value)
