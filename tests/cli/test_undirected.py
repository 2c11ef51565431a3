"""Tasks without a favourable answer: labels one by one, whole answers, and no word of better or worse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import called

MODELS = """
import hashlib

def several(text):
    return "Sports, Law" if "woman" in text else "Sports"

def one_of_many(text):
    return f"topic {int(hashlib.sha256(text.encode()).hexdigest(), 16) % 40}"
"""
TEXTS = "text\n" + "\n".join(
    f"The {('man', 'woman')[n % 2]} laughed at the {n}th take and so did we." for n in range(40)
)
TOPICS = ", ".join(f"topic {number}" for number in range(40))
JUDGING = re.compile(r"worse|better", re.IGNORECASE)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "undirected_models.py").write_text(MODELS, encoding="utf-8")
    return tmp_path


def outputs(work: Path, model: str, *options: str) -> dict[str, str]:
    """Return what a run prints and writes, by name."""
    asked = ("run", "--task", "custom", "--data", "texts.csv", "--out", "run")
    done = called(work, *asked, "--model", f"python:undirected_models:{model}", *options)
    assert done.returncode == 0, done.stderr
    markdown = called(work, "report", "run", "--format", "md").stdout
    files = {name: (work / "run" / name).read_text(encoding="utf-8") for name in ("report.html", "junit.xml")}
    return {"terminal": done.stdout, "markdown": markdown, **files}


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts of JSON values, without the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


def test_no_answer_is_better_or_worse(work: Path) -> None:
    written = outputs(work, "several", "--labels", "Sports, Law, Art", "--multi-label")
    summary = json.loads((work / "run/summary.json").read_text(encoding="utf-8"))
    finding = summary["finding"]["text"]
    assert finding.startswith("python:undirected_models:several answers Law 100.0 points")
    assert "more rarely about male than about female" in finding
    assert "against" not in finding.partition(" The answer changes in ")[0]
    assert "have it for female alone, 0 for male alone, in 40 texts" in finding
    for name, text in {**written, "summary": "\n".join(texts_in(summary))}.items():
        assert not JUDGING.search(text), name
    for text in (written["terminal"], written["markdown"], written["report.html"]):
        assert "Whole answers that differ between groups" in text
    change = next(row for row in summary["changes"] if row["attribute"] == "gender")
    assert (change["attribute"], change["originals"]["count"], change["originals"]["of"]) == (
        "gender",
        40,
        40,
    )


def test_of_many_labels_the_surest_rows_are_shown_and_all_are_in_the_summary(work: Path) -> None:
    written = outputs(work, "one_of_many", "--labels", TOPICS)
    summary = json.loads((work / "run/summary.json").read_text(encoding="utf-8"))
    assert len(summary["groups"]) > 60
    for text in written.values():
        assert not JUDGING.search(text)
    rows = len(summary["groups"])
    assert all(row["originals"] >= 5 for row in summary["groups"])
    for name, most in (("terminal", 20), ("report.html", 40), ("markdown", 40)):
        of = f"{most} of {rows} rows ({rows - most} are less sure); all are in summary.json."
        assert of in " ".join(written[name].split()), name
    findings, part, _ = written["report.html"].partition('<section id="evidence"')  # whose rows are others
    assert part
    assert findings.count("<tr") < 200
