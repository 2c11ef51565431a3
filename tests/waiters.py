"""Texts about a waiter and a dictionary of other waiters: a run whose requests are known by number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.servers import Endpoint


def prepare(folder: Path, texts: int, group: int) -> None:
    """Write ``texts`` texts, each of which has ``group`` versions with its original, and the dictionary."""
    pairs = ", ".join(f'["waiter", "waiter{n}"]' for n in range(1, group))
    (folder / "lexicon.toml").write_text(f"[attribute.role]\npairs = [{pairs}]\n", encoding="utf-8")
    lines = [f"Visit {n}: the waiter was kind." for n in range(texts)]
    (folder / "texts.csv").write_text("\n".join(["text", *lines]), encoding="utf-8")


def settings_of(folder: Path, endpoint: Endpoint, new: Path) -> dict[str, Any]:
    """Return the settings of a run over the texts in ``folder``, with a folder and a cache in ``new``."""
    return {
        "documents.path": str(folder / "texts.csv"),
        "hinter.lexicon": str(folder / "lexicon.toml"),
        "hinter.parser": "none",
        "hinter.order": 1,
        "control.share": 0,
        "task": "sst2",
        "model.name": "m",
        "model.base_url": endpoint.base_url,
        "out": str(new / "run"),
        "cache": str(new / "cache.sqlite"),
    }
