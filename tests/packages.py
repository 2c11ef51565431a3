"""Packages of third parties as ``pip`` leaves them: modules and their metadata in a folder on the path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

TYPOS = '''
"""A suite that swaps letters, and reports how many of its cases changed the answer."""
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from harness.plugins import (
    Case, Document, Figures, JsonObject, Kit, Nouns, Options, Outcome, Positive, Section, Suite, SuitePlugin,
    Table, Tables, Verdict,
)


class Typing(Options):
    letters: Positive = Field(default=1, description="Letters swapped in each text.")
    upper: bool = Field(default=False, description="Write it all in capitals, too.")


@dataclass(frozen=True)
class Typos(Suite):
    letters: int
    upper: bool

    name = "typos"
    nouns = Nouns(case="typo", source="text")
    by_document = True

    @property
    def settings(self) -> JsonObject:
        return {"letters": self.letters}

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        for document in documents:
            yield Case(document.id, document.id, document.id, "original", document.text)
            for number in range(self.letters):
                whole = document.text
                text = whole[:number] + whole[number : number + 2][::-1] + whole[number + 2 :]
                text = text.upper() if self.upper else text
                yield Case(f"{document.id}#{number}", document.id, document.id, "variant", text)

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        first = outcomes[group[0].id]
        for case in group[1:]:
            status = "biased" if outcomes[case.id] != first else "benign"
            yield Verdict(case.id, "typo", status, attributes=("spelling",))

    def figures(self, tables: Tables) -> Figures:
        table = Table(["letters"], [[self.letters]])
        section = Section("Letters swapped", table=table)
        return Figures({"typos": {"letters": self.letters}}, sections=[section])


def make(options: Typing, kit: Kit) -> Suite:
    return Typos(options.letters, options.upper)


plugin = SuitePlugin(name="typos", about="letters swapped", options=Typing, make=make)
'''


def install(folder: Path, name: str, source: str, points: Mapping[str, str]) -> Path:
    """Put a package called ``name`` of one module into ``folder``; ``points`` are entry points, each a name
    in a group (``harness.suites:typos``) with what it stands for in the module."""
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8"
    )
    lines = []
    for place, attribute in points.items():
        group, _, point = place.partition(":")
        lines += [f"[{group}]", f"{point} = {name}:{attribute}"]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
