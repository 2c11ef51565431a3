"""The rules of the house that a test can hold: who imports whom, and the two names of two folders."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import harness

ROOT = Path(harness.__file__).parent
PURE = (
    "suites",
    "sections",
    "statistics",
    "answering/plan.py",
    "answering/parse.py",
    "report",
    "language/surface.py",
)
EDGES = ("language/parsers", "answering/cache", "answering/runner", "models", "documents", "folder")
GROUND = ("estimates", "files", "folder", "progress", "retrying", "run_log", "tables")
ABOVE = (
    "answering", "audit", "cli", "config", "documents", "language", "models", "registry", "report", "studies",
    "suites",
)  # fmt: skip
MAY_NOT = {
    **dict.fromkeys(GROUND, ABOVE),
    "core": ("",),
    "errors": ("",),
    "statistics": ("",),
    "sections": ("",),
    "language.surface": ("answering", "models", "audit", "studies", "cli", "report", "config"),
    "suites": (
        "answering",
        "models",
        "audit",
        "cli",
        "report",
        "config",
        "documents",
        "folder",
        "registry",
    ),
    "answering": ("audit", "studies", "cli", "report", "suites", "models", "folder", "registry"),
    "models": ("audit", "studies", "cli", "report", "suites", "answering", "folder", "registry"),
    "report": ("audit", "studies", "cli", "models", "suites", "registry"),
    "documents": ("pipeline", "cli", "models", "suites", "answering", "report", "registry"),
    "audit": ("cli", "studies"),
}


def modules() -> list[Path]:
    return sorted(p for p in ROOT.rglob("*.py") if not {"tasks", "prompts"} & set(p.relative_to(ROOT).parts))


def imports(path: Path) -> set[str]:
    """The project's modules that a file imports when it runs, as dotted names without the package."""
    found: set[str] = set()
    for node in ast.walk(_without_type_checking(ast.parse(path.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= (
                {node.module}
                if node.module != "harness"
                else {f"harness.{alias.name}" for alias in node.names}
            )
    return {name.removeprefix("harness.") for name in found if name.startswith("harness.")}


def _without_type_checking(tree: ast.Module) -> ast.Module:
    tree.body = [
        node
        for node in tree.body
        if not (
            isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        )
    ]
    return tree


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_step_imports_a_later_one(path: Path) -> None:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for module, banned in MAY_NOT.items():
        if name == module or name.startswith(f"{module}."):
            allowed = {"__version__"} | ({"core"} if module != "core" else set())
            wrong = {i for i in imports(path) - allowed if any(i.startswith(b) for b in banned)}
            assert not wrong, f"{name} imports {wrong}"


def test_only_language_imports_spacy_and_stanza() -> None:
    users = {
        path.relative_to(ROOT).parts[0]
        for path in modules()
        if any(
            isinstance(node, ast.Import | ast.ImportFrom)
            and ("spacy" in ast.dump(node) or "stanza" in ast.dump(node))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        )
    }
    assert users == {"language"}


def test_a_task_imports_only_records_and_documents() -> None:
    for path in (ROOT / "tasks").glob("*.py"):
        wrong = imports(path) - {"core", "documents", "__version__"}
        assert not wrong, f"{path.name} imports {wrong}"


@pytest.mark.parametrize("name", ["tasks", "prompts"])
def test_one_folder_has_two_names(name: str) -> None:
    link = ROOT / name
    if not (ROOT.parent / name).is_dir() or not link.is_symlink():
        pytest.skip("an installed or unpacked package has real folders in place of the links")
    assert link.samefile(ROOT.parent / name)
    assert link.readlink() == Path("..") / name
