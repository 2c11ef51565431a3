"""The house as a drawing: every module has its floor, and imports run down the stairs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parent
DOOR = "harness"
"""``harness/__init__``: the version, and the functions of a notebook, which alone reach up."""

FLOORS = (
    # Records, errors, figures: they import nothing of ours.
    (
        "blocks",
        "columns",
        "core",
        "disclosure",
        "errors",
        "progress",
        "sections",
        "settings",
        "spreadsheets",
        "statistics",
    ),
    # The ground: files and logs, retries, numbers in words, estimates.
    ("estimates", "files", "functions", "interruption", "numerals"),
    ("posts", "replies", "retrying", "sequences"),
    ("identities", "locking", "marks", "run_log", "tables"),
    ("folder",),
    # Who is treated worse, from the tables of a run.
    ("findings",),
    # Pure: what is computed from records.
    (
        "language.batches",
        "language.natural_text",
        "language.parse",
        "language.parsed_text",
        "language.persons",
        "language.sentences",
        "language.surface",
        "language.trees",
    ),
    ("dialect", "language.differences", "language.entities", "language.people", "language.person_names"),
    ("language.generality", "language.mentions", "model"),
    ("language.antecedents",),
    # The door of suites and models.
    ("plugins",),
    # Edges: files, parsers, models, the response cache.
    ("transport",),
    ("http_client",),
    ("hub",),
    ("documents", "keys", "language.parsers", "language.verdict_cache", "task_files"),
    ("answering", "language.spacy_docs", "models", "registry"),
    ("config", "language.constituency", "language.coreference_adapters", "language.embedded", "report"),
    ("language.coreference", "language.suggester"),
    # What is tested.
    ("suites.ground", "suites.matching", "suites.nouns", "suites.oracle", "suites.sentiment_oracle"),
    ("suites.diversity", "suites.lexicon", "suites.neutral"),
    (
        "suites",
        "suites.biasfinder",
        "suites.checklist",
        "suites.eec",
        "suites.hinter",
        "suites.linguistic",
        "suites.mtnlp",
    ),
    # One run.
    ("audit.adaptive", "audit.assembly", "audit.asking"),
    ("audit.preference", "audit.wordings"),
    ("audit", "audit.examination", "audit.generation", "audit.planning"),
    ("audit.batching", "audit.generation_ray"),
    ("audit.checking", "audit.pipeline", "augment", "guard"),
    ("guarded",),
    # What is asked of a finished run, and the ways in.
    ("studies",),
    ("pytest_plugin", "view"),
    ("cli",),
    ("__main__",),
)
"""From the ground up. A package stands for all its modules but those that have a place of their own.

Rooms on one floor do not know each other: a module imports from its own room and from the floors below.
"""

STRANGERS = (
    ("answering", "documents"),
    ("answering", "models"),
    ("answering", "suites"),
    ("documents", "report"),
    ("models", "report"),
    ("models", "suites"),
    ("report", "suites"),
    ("documents", "suites"),
    ("folder", "suites"),
)
"""Packages that do not know each other whichever floors they are on."""

Imports = Mapping[str, frozenset[str]]


def test_every_module_has_its_place() -> None:
    places = [place for floor in FLOORS for place in floor]
    assert sorted(places) == sorted(set(places)), "a place stands in two rows"
    lost = sorted(name for name in modules() if name != DOOR and place(name) is None)
    assert not lost, f"in no row of FLOORS: {lost}"
    empty = set(places) - {place(name) for name in modules()}
    assert not empty, f"rows of FLOORS for nothing: {sorted(empty)}"


@pytest.mark.parametrize("floor", range(len(FLOORS)), ids=lambda floor: ",".join(FLOORS[floor]))
def test_no_import_runs_up_or_across(floor: int) -> None:
    wrong = [
        f"{importer} -> {name}"
        for importer, names in imports().items()
        if (room := place(importer)) in FLOORS[floor]
        for name in sorted(names - {DOOR})
        if place(name) != room and _floor(name) >= floor
    ]
    assert not wrong, "imports from the same floor or a higher one:\n" + "\n".join(wrong)


def test_no_modules_import_one_another() -> None:
    """Imports inside functions and those of types count, too."""
    below: Imports = {name: names - {DOOR} for name, names in imports().items()}
    circles = [circle for name in below if (circle := _way_back(name, below))]
    assert not circles, "circles:\n" + "\n".join(" -> ".join(circle) for circle in circles)


@pytest.mark.parametrize(("one", "other"), STRANGERS)
def test_strangers_do_not_import_each_other(one: str, other: str) -> None:
    wrong = [
        f"{importer} -> {name}"
        for importer, names in imports().items()
        for name in sorted(names)
        if (_within(importer, one) and _within(name, other))
        or (_within(importer, other) and _within(name, one))
    ]
    assert not wrong


def test_only_language_imports_spacy_and_stanza() -> None:
    users = {
        name.split(".")[0]
        for name, path in modules().items()
        for imported in _imported(path)
        if imported.split(".")[0] in ("spacy", "stanza")
    }
    assert users == {"language"}


def test_a_task_imports_only_records_and_documents() -> None:
    for path in (ROOT / "tasks").glob("*.py"):
        wrong = {name for name in _ours(path) - {DOOR} if not _within(name, "core", "documents")}
        assert not wrong, f"{path.name} imports {wrong}"


@pytest.mark.parametrize("name", ["tasks", "prompts"])
def test_one_folder_has_two_names(name: str) -> None:
    link = ROOT / name
    if not (ROOT.parent / name).is_dir() or not link.is_symlink():
        pytest.skip("an installed or unpacked package has real folders in place of the links")
    assert link.samefile(ROOT.parent / name)
    assert link.readlink() == Path("..") / name


@cache
def modules() -> Mapping[str, Path]:
    """Every module but tasks and prompts, by its name within the package; a package is its ``__init__``."""
    names: dict[str, Path] = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if not {"tasks", "prompts"} & set(parts):
            names[".".join(parts).removesuffix("__init__").rstrip(".") or DOOR] = path
    return names


@cache
def imports() -> Imports:
    """The modules of ours that each module imports, wherever in it the import stands."""
    return {name: _ours(path) - {name} for name, path in modules().items()} | {DOOR: frozenset()}


def place(name: str) -> str | None:
    """The narrowest row that a module belongs to, or None."""
    places = [place for floor in FLOORS for place in floor if _within(name, place)]
    return max(places, key=len, default=None)


def _floor(name: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if place(name) in floor)


def _within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _ours(path: Path) -> frozenset[str]:
    """The modules of ours that a file imports: ``from harness.a import b`` is the module ``a.b`` or ``a``."""
    ours = set()
    for name in _imported(path):
        if _within(name, DOOR):
            inner = name.removeprefix(DOOR).lstrip(".")
            ours.add(inner if inner in modules() else inner.rpartition(".")[0] or DOOR)
    return frozenset(ours)


def _imported(path: Path) -> Iterator[str]:
    """The dotted names that a file imports, those of ``from a import b`` as ``a.b``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _way_back(start: str, graph: Imports) -> list[str]:
    """The shortest way from a module by imports back to itself; empty where there is none."""
    ways = [[start]]
    seen: set[str] = set()
    for way in ways:
        for name in sorted(graph[way[-1]] - seen):
            if name == start:
                return [*way, name]
            seen.add(name)
            ways.append([*way, name])
    return []
