"""Which files the texts come from: one file, standard input, or all data files in a folder."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.documents import streams
from harness.documents.rows import SUFFIXES, kind
from harness.documents.tables import Note
from harness.errors import DocumentError

STDIN = "-"
RUN = "run.toml"
"""A folder with this file is that of a run, whose tables are no texts to read."""
NAMED = 8


@dataclass(frozen=True, slots=True)
class Source:
    """A data file; ``name`` is what messages call it, and ``prefix`` precedes the ids of its texts."""

    path: Path
    name: str
    prefix: str = ""


def sources(where: str | Path | None, note: Note) -> list[Source]:
    """Return the data files at ``where``: a file, a folder, or ``-`` for standard input.

    ``note`` hears what a folder holds that is left out. Raises ``DocumentError``.
    """
    if where is None:
        raise DocumentError("no texts to read: use --data FILE")
    if str(where) == STDIN:
        return [Source(streams.standard_input(), "standard input")]
    path = Path(where)
    if path.is_dir():
        return _of_folder(path, note)
    if not path.exists():
        raise DocumentError(f"{path}: no such file")
    if not path.is_file():
        raise DocumentError(f"{path}: not a regular file: write --data {STDIN} to read standard input")
    if kind(path) is None:
        packed = f", also with {', '.join(streams.PACKED)}"
        raise DocumentError(f"{path}: unknown kind of file: use {', '.join(SUFFIXES)}{packed}")
    return [Source(path, str(path))]


def _of_folder(folder: Path, note: Note) -> list[Source]:
    paths, left_out = _walked(folder)
    if not paths:
        raise DocumentError(f"{folder}: no {', '.join(SUFFIXES)} file in this folder")
    if left_out:
        note(f"{folder}: left out, as no data files: {_some(left_out)}")
    stems = defaultdict[str, list[Path]](list)
    for path in paths:
        stems[_stem(path.relative_to(folder))].append(path)
    for same in stems.values():
        if len(same) > 1:
            names = " and ".join(str(path.relative_to(folder)) for path in same)
            note(f"{folder}: {names} have the same name: all of their texts are read")
    short = len(stems) == len(paths)
    prefixes = (_stem(p.relative_to(folder)) if short else p.relative_to(folder).as_posix() for p in paths)
    return [
        Source(path, str(path), f"{prefix}:" if len(paths) > 1 else "")
        for path, prefix in zip(paths, prefixes, strict=True)
    ]


def _walked(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the data files in ``folder`` and below, sorted, and the names of all else.

    Hidden files (a copy's ``._a.csv``, an open sheet's ``~$a.xlsx``), folders of runs and links to folders
    are left out.
    """
    paths, left_out = list[Path](), list[str]()
    for root, folders, files in os.walk(folder):
        here = Path(root)
        for name in sorted(folders):
            inner = here / name
            if _hidden(name) or inner.is_symlink() or (inner / RUN).exists():
                folders.remove(name)
                left_out.append(f"{inner.relative_to(folder)}/")
        for path in (here / name for name in files):
            chosen = kind(path) is not None and not _hidden(path.name) and path.is_file()
            paths.append(path) if chosen else left_out.append(str(path.relative_to(folder)))
    return sorted(paths), sorted(left_out)


def _hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name == "__MACOSX"


def _stem(path: Path) -> str:
    """Return a relative path without the suffix of its kind and that of a compression."""
    packed = path.suffix.lower() in streams.PACKED
    return (path.with_suffix("") if packed else path).with_suffix("").as_posix()


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
