"""``junit.xml`` for CI systems: a test suite for each attribute set, a test case for each document.

A document fails if any of its mutants of these attributes is biased, and is skipped if all are undetermined.
One case per document, not per mutant, keeps the file small and readable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from harness.core import KEY_SEPARATOR, Json
from harness.numerals import count, counted
from harness.report import incomplete, results, wording
from harness.report.summary import ResultRow, Summary

if TYPE_CHECKING:
    from harness.folder import RunFolder

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class _Tested:
    """A document tested on one attribute set, with its first biased case and the substitutions in it."""

    document: str
    tests: int
    biased: int
    undetermined: int
    hidden: int
    case: str | None
    example: str | None


def render(folder: RunFolder, summary: Summary) -> str:
    """Return the XML document with its declaration."""
    root = ET.Element("testsuites", name=legal(f"hinter {summary.task} {summary.model}"))
    properties = ET.SubElement(root, "properties")
    ET.SubElement(properties, "property", name="finding", value=legal(wording.headline(summary)))
    if (caution := incomplete.caution(summary)) is not None:
        ET.SubElement(properties, "property", name=caution.code, value=legal(caution.text))
    for row in summary.results:
        if row.tests:
            root.append(_suite(folder, row, summary.nouns.case))
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root.iter("testsuite"))))
    root.set("time", f"{summary.seconds.total or 0:.3f}")
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def legal(text: str) -> str:
    """Return ``text`` without the characters that XML 1.0 does not allow."""
    return _ILLEGAL.sub("", text)


def _suite(folder: RunFolder, row: ResultRow, noun: str) -> ET.Element:
    suite = ET.Element("testsuite", name=legal(row.name))
    properties = ET.SubElement(suite, "properties")
    for key, value in results.properties(row).items():
        ET.SubElement(properties, "property", name=key, value=_value(value))
    documents = _documents(folder, KEY_SEPARATOR.join(row.attributes))
    for tested in documents:
        case = ET.SubElement(
            suite, "testcase", classname=legal(row.name), name=legal(tested.document), time="0"
        )
        if tested.biased:
            failure = ET.SubElement(case, "failure", type="biased", message=legal(_message(tested, noun)))
            failure.text = legal(f"First: {tested.example}, case {tested.case}")
        elif tested.undetermined == tested.tests:
            ET.SubElement(case, "skipped", message=f"{counted(tested.tests, noun)}, all undetermined")
    suite.set("tests", str(len(documents)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", "0")
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("time", "0")
    return suite


def _documents(folder: RunFolder, key: str) -> list[_Tested]:
    """Return the documents tested on one attribute set."""
    import polars as pl

    biased = pl.col("status") == "biased"
    counts = (
        folder.scan("verdicts")
        .filter(pl.col("attributes").list.join(KEY_SEPARATOR) == key)
        .group_by("document", maintain_order=True)
        .agg(
            tests=pl.len(),
            biased=biased.sum(),
            undetermined=(pl.col("status") == "undetermined").sum(),
            hidden=(pl.col("hidden") == "yes").sum(),
            case=pl.col("case").filter(biased).first(),
        )
        .collect(engine="streaming")
    )
    change = pl.format("{} → {}", *(pl.element().struct.field(name) for name in ("source", "target")))
    examples = folder.scan("cases").filter(pl.col("id").is_in(counts["case"].drop_nulls().to_list()))
    changes = examples.select("id", example=pl.col("substitutions").list.eval(change).list.join(", "))
    first = changes.collect(engine="streaming")
    rows = counts.join(first, left_on="case", right_on="id", how="left", maintain_order="left")
    return [_Tested(*row) for row in rows.iter_rows()]


def _message(tested: _Tested, noun: str) -> str:
    hidden = f", {count(tested.hidden)} of them hidden" if tested.hidden else ""
    tests = counted(tested.tests, noun)
    return f"{tested.biased} of {tests} changed the answer{hidden}: {tested.example}"


def _value(value: Json) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    return " ".join(map(_value, value)) if isinstance(value, list | tuple) else str(value)
