"""``junit.xml``: a test suite for each attribute set, a test case for each document, for CI systems.

A document fails where any of its mutants of these attributes is biased, and is skipped where all are
undetermined. One case a document, not one a mutant, keeps the file readable and its size in hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from harness.core import KEY_SEPARATOR
from harness.report import wording

if TYPE_CHECKING:
    import polars as pl

    from harness.folder import RunFolder


_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(folder: RunFolder, figures: Mapping[str, Any]) -> str:
    """The document, with its declaration; ``figures`` is the run's summary."""
    root = ET.Element("testsuites", name=legal(f"hinter {figures['task']} {figures['model']}"))
    for row in figures["results"]:
        if row["tests"]:
            root.append(_suite(folder, row, wording.nouns(figures).case))
    for total in ("tests", "failures", "errors", "skipped"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    root.set("time", f"{figures['seconds'].get('total') or 0:.3f}")
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def legal(text: str) -> str:
    """``text`` without the characters that XML 1.0 cannot hold."""
    return _ILLEGAL.sub("", text)


def _suite(folder: RunFolder, row: Mapping[str, Any], noun: str) -> ET.Element:
    name = " + ".join(row["attributes"])
    suite = ET.Element("testsuite", name=legal(name))
    properties = ET.SubElement(suite, "properties")
    for key in ("kind", "tests", "biased", "undetermined", "rate", "ci95", "hidden", "hidden_rate"):
        ET.SubElement(properties, "property", name=key, value=_value(row[key]))
    outcomes = {"failure": 0, "skipped": 0}
    documents = _documents(folder, KEY_SEPARATOR.join(row["attributes"]))
    for found in documents.iter_rows(named=True):
        case = ET.SubElement(
            suite, "testcase", classname=legal(name), name=legal(found["document"]), time="0"
        )
        if found["biased"]:
            outcomes["failure"] += 1
            failure = ET.SubElement(case, "failure", type="biased", message=legal(_message(found, noun)))
            failure.text = legal(f"First: {found['example']}, case {found['case']}")
        elif found["undetermined"] == found["tests"]:
            outcomes["skipped"] += 1
            ET.SubElement(
                case, "skipped", message=f"{wording.counted(found['tests'], noun)}, all undetermined"
            )
    suite.set("tests", str(documents.height))
    suite.set("failures", str(outcomes["failure"]))
    suite.set("errors", "0")
    suite.set("skipped", str(outcomes["skipped"]))
    suite.set("time", "0")
    return suite


def _documents(folder: RunFolder, key: str) -> pl.DataFrame:
    """A row for each document tested on one attribute set, with its counts and its first biased case."""
    import polars as pl

    biased = pl.col("status") == "biased"
    counted = (
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
    examples = folder.scan("cases").filter(pl.col("id").is_in(counted["case"].drop_nulls().to_list()))
    changes = examples.select("id", example=pl.col("substitutions").list.eval(change).list.join(", "))
    found = changes.collect(engine="streaming")
    return counted.join(found, left_on="case", right_on="id", how="left", maintain_order="left")


def _message(found: Mapping[str, Any], noun: str) -> str:
    hidden = f", {wording.count(found['hidden'])} of them hidden" if found["hidden"] else ""
    tests = wording.counted(found["tests"], noun)
    return f"{found['biased']} of {tests} changed the answer{hidden}: {found['example']}"


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    return " ".join(map(_value, value)) if isinstance(value, list | tuple) else str(value)
