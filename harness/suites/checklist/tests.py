"""CheckList's tests as data: the bundled ones, or those of a file.

A file is one of templates (``.toml``: ``definitions``) or of cases, a line each (JSON, or a table with tabs
between the cells: ``rows``). Pickled suites are not read, since unpickling runs the code in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from heapq import nsmallest
from pathlib import Path

from harness.errors import ConfigError
from harness.files import DATA
from harness.suites.checklist import definitions, rows
from harness.suites.checklist.items import Item

BUNDLED = DATA / "checklist_tests.toml"
PICKLED = b"\x80"
TEMPLATES = ".toml"


@dataclass(frozen=True, slots=True)
class Tests:
    """The cases of a file, grouped by test; ``digest`` is the SHA-256 of what they are made from."""

    items: tuple[Item, ...]
    source: str
    digest: str


def load(path: str | Path | None = None, limit: int | None = None, seed: int = 0) -> Tests:
    """Load the tests in the file at ``path`` (the bundled ones if None), at most ``limit`` cases of each.

    ``seed`` fills templates and chooses cases. Raises ``ConfigError`` naming the file and the key or row.
    """
    file = BUNDLED if path is None else Path(path)
    content = _content(file)
    by_test: dict[str, list[Item]] = {}
    templates = file.suffix == TEMPLATES
    for item in definitions.items(content, file, seed) if templates else rows.items(content, file):
        by_test.setdefault(item.test, []).append(item)
    if not by_test:
        raise ConfigError(f"{file}: no tests found: give lines with test, type, capability and texts")
    made_from = content + (definitions.WORDS.read_bytes() if templates else b"")
    chosen = (item for cases in by_test.values() for item in _sample(cases, limit, seed))
    return Tests(tuple(chosen), "bundled" if path is None else str(path), sha256(made_from).hexdigest())


def _content(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    if content.startswith(PICKLED) or file.suffix in (".pkl", ".pickle"):
        raise ConfigError(
            f"{file}: a pickle is not read, since that would run the code in it: give JSON lines"
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8 at byte {error.start}: give TOML or JSON lines") from error
    return content


def _sample(items: list[Item], limit: int | None, seed: int) -> list[Item]:
    """Return at most ``limit`` of a test's cases, in order, chosen by their ids and the seed alone."""
    if limit is None or len(items) <= limit:
        return items
    chosen = set(nsmallest(limit, (item.id for item in items), key=lambda name: _rank(seed, name)))
    return [item for item in items if item.id in chosen]


def _rank(seed: int, name: str) -> bytes:
    return sha256(f"{seed}/{name}".encode("utf-8", "surrogatepass")).digest()
