"""The datasheet of an augmented data set, after Gebru et al. (Datasheets for Datasets, 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness import __version__
from harness.augment.rows import COLUMNS, Counts
from harness.config import RunConfig
from harness.core import Task, canonical
from harness.plugins import Suite
from harness.report import markdown
from harness.sections import Section, Table

MOTIVATION = (
    "Counterfactual data augmentation: for each text, versions in which a person is said to be of another"
    " group, with the label of the text. A model trained on them sees every group with every label equally"
    " often at the places that changed."
)
LIMITS = (
    "Versions were made by rules and dictionaries and checked by a parser, not by people. Some are unnatural,"
    " and some change more than the group.",
    "A label may follow from a person in a way that no word shows. Read the rows before you train on them.",
    "The words cover some groups and leave out others; that says nothing about those left out.",
    "Do not test on rows whose originals were trained on: split by origin.",
)


@dataclass(frozen=True)
class Source:
    """Where the rows come from: a file or data set with the SHA-256 of its files, and how they were made."""

    name: str
    digest: str
    task: Task
    suite: Suite
    config: RunConfig
    each: int
    originals: bool


def written(out: Path, source: Source, counts: Counts) -> str:
    """Return the datasheet of the rows in ``out`` as Markdown."""
    sections = (
        Section("Why it was made", MOTIVATION),
        _rows(source, counts),
        _balance(counts),
        _labels(counts),
        Section("Columns", table=Table(["column", "holds"], list(COLUMNS.items()))),
        _making(source),
        Section("Before it is used", notes=LIMITS),
    )
    blocks = [f"# Datasheet of {markdown.escaped(out.name)}"]
    blocks += [block for section in sections for block in markdown.section(section)]
    return "\n\n".join(blocks) + "\n"


def _rows(source: Source, counts: Counts) -> Section:
    originals = counts.texts - counts.repeated_texts if source.originals else 0
    return Section(
        "What is in it",
        table=Table(
            ["rows", "number"],
            [
                ["all", originals + counts.counterfactuals],
                ["original texts", originals],
                ["counterfactual versions", counts.counterfactuals],
                ["texts read", counts.texts],
                ["texts left out as repetitions", counts.repeated_texts],
                ["texts without a version", counts.without_version],
                ["texts without a label", counts.unlabelled],
                ["versions left out as repetitions", counts.repeated_versions],
            ],
        ),
    )


def _balance(counts: Counts) -> Section:
    rows = [(attribute, group, number) for (attribute, group), number in sorted(counts.by_group.items())]
    return Section(
        "Groups",
        "How often each group was put in the place of a person, its own texts included. At each place all"
        " groups that fit there have as many versions.",
        Table(["attribute", "group", "versions"], rows) if rows else None,
    )


def _labels(counts: Counts) -> Section:
    rows = [(why, number) for why, number in sorted(counts.doubted.items()) if why]
    return Section(
        "Labels",
        "A version has the label of its original, unless that may follow from who is spoken of: then label is"
        " empty, and label_may_not_hold says why.",
        Table(["why the label was not carried over", "versions"], rows) if rows else None,
        notes=() if rows else ("All labels were carried over.",),
    )


def _making(source: Source) -> Section:
    facts = [
        ("texts", f"{Path(source.name).name}, SHA-256 {source.digest}"),
        ("task", f"{source.task.name}: {', '.join(source.task.labels)}"),
        ("suite", f"{source.suite.name}, {canonical(dict(source.suite.settings))}"),
        ("made with", canonical(dict(source.suite.identity))),
        ("versions of each group at a place", f"at most {source.each}"),
        ("seed", str(source.config.seed)),
        ("program", f"hinter {__version__}"),
    ]
    return Section("How it was made", table=Table(["what", "value"], facts))
