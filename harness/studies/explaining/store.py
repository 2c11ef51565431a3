"""``explanations.json`` of a run folder: written while flips are explained."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from harness import files
from harness.report.explained import NAME, SCHEMA, Explanations, Flip, Settings


def write(folder: Path, settings: Settings, flips: Iterable[Flip]) -> None:
    """Write the file in ``folder``, replacing it whole or not at all."""
    explanations = Explanations(schema=SCHEMA, settings=settings, cases=tuple(flips))
    files.write(folder / NAME, json.dumps(explanations.to_json(), indent=1, ensure_ascii=False) + "\n")
