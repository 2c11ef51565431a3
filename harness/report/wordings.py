"""``wordings.json`` and ``wordings.html``: the same cases under several prompts and contexts.

What the answers owe to the text, the wording and the group, and which findings stand under every wording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from harness.blocks import Block, Interval
from harness.core import Json
from harness.findings.records import Contrast, Group, Intersection
from harness.findings.variance import Share, Source
from harness.numerals import UNKNOWN, counted, estimate, percent
from harness.report.finding import sure
from harness.report.groups import meeting
from harness.report.html import environment
from harness.report.summary import Plain, Summary
from harness.sections import Cell, Column, Section, Table

SCHEMA = 1
MARKS: Mapping[str, str] = {
    "stable": "sure under every wording, and in the same direction",
    "unsure": "in the same direction under every wording, but sure under some alone",
    "turns": "in the other direction under some wording",
    "incomplete": "not known under every wording",
}
Mark = Literal["stable", "unsure", "turns", "incomplete"]
MEANINGS: Mapping[Source, str] = {
    "text": "what a text says, whatever is changed in it and however it is asked about",
    "wording": "the prompt, alike for all texts",
    "text and wording": "the prompt, otherwise from text to text",
    "group": "the group that a version speaks of, alike for all texts and wordings",
    "group and wording": "the group, otherwise from wording to wording: findings that turn with the prompt",
    "other changes": "what else a version changes, alike under all wordings",
    "the rest": "a version under one wording alone, and noise",
}

Claim = Contrast | Group | Intersection


@dataclass(frozen=True, slots=True)
class Wording:
    """A finished run under one prompt, by its name and that of its folder."""

    name: str
    folder: str
    summary: Summary


class Asked(Block):
    """A prompt, with the run under it."""

    name: str = Field(description="The prompt's file, and its context if there are several.")
    folder: str = Field(description="The folder of its run, within this one.")
    status: str = Field(description="How its run ended.")


class Rates(Block):
    """A row of results under every wording."""

    name: str = Field(description="The attributes changed together, or the capability.")
    tests: tuple[int | None, ...] = Field(description="Decided tests, by wording.")
    rates: tuple[float | None, ...] = Field(description="The rate, by wording.")


class Effect(Block):
    """A finding that is sure under one wording or more."""

    kind: Literal["contrast", "group", "intersection"]
    name: str = Field(description="The groups.")
    outcome: str = Field(description="The answer, or the score, that is compared.")
    effects: tuple[float | None, ...] = Field(description="The effect (or interaction), by wording.")
    ci95: tuple[Interval | None, ...] = Field(description="Its 95 % interval, by wording.")
    sure: tuple[bool, ...] = Field(description="Whether it is significant after correction, by wording.")
    mark: Mark = Field(description="; ".join(f"{mark}: {meaning}" for mark, meaning in MARKS.items()))

    @property
    def stable(self) -> bool:
        """Whether it stands whatever the wording."""
        return self.mark == "stable"


class Part(Block):
    """The share of the variance of the answers that one source has."""

    source: str
    share: float = Field(description="From 0 to 1; all shares make 1.")
    ci95: Interval | None = Field(description="Its 95 % interval, resampling texts.")
    chance: float | None = Field(description="The share that groups had if they did not matter.")


class Wordings(Plain):
    """The content of ``wordings.json``."""

    headline: str
    prompts: tuple[Asked, ...]
    texts: int
    versions: int
    variance: tuple[Part, ...]
    rates: tuple[Rates, ...]
    findings: tuple[Effect, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the JSON values."""
        values: dict[str, Json] = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"schema": SCHEMA, **values}


def build(wordings: Sequence[Wording], shares: Sequence[Share], texts: int, versions: int) -> Wordings:
    """Return what is said of runs that differ in the prompt alone.

    ``shares`` split the variance of the answers to ``versions`` of ``texts`` that all of them have.
    """
    parts = tuple(Part(source=s.source, share=s.share, ci95=s.ci95, chance=s.chance) for s in shares)
    rates, findings = tuple(_rates(wordings)), tuple(_findings(wordings))
    names = [wording.name for wording in wordings]
    return Wordings(
        headline=_headline(names, findings, rates, wordings),
        prompts=tuple(Asked(name=w.name, folder=w.folder, status=w.summary.status) for w in wordings),
        texts=texts,
        versions=versions,
        variance=parts,
        rates=rates,
        findings=findings,
        sections=tuple(
            section
            for section in (
                _of_variance(parts, texts, versions, len(names)),
                _of_findings(findings, names),
                _of_rates(rates, names),
            )
            if section is not None
        ),
    )


def render(wordings: Wordings, title: str) -> str:
    """Return the page."""
    return environment().get_template("wordings.html.jinja").render(title=title, wordings=wordings)


def _rates(wordings: Sequence[Wording]) -> Iterator[Rates]:
    by_name = [{row.name: row for row in w.summary.results if not row.scope} for w in wordings]
    for name in dict.fromkeys(name for rows in by_name for name in rows):
        rows = [rows.get(name) for rows in by_name]
        yield Rates(
            name=name,
            tests=tuple(None if row is None else row.decided for row in rows),
            rates=tuple(None if row is None else row.rate for row in rows),
        )


def _findings(wordings: Sequence[Wording]) -> Iterator[Effect]:
    """Yield the claims that are sure under one wording or more, the surest and largest first."""
    by_key = [dict(_claims(wording.summary)) for wording in wordings]
    found = []
    for key in dict.fromkeys(key for claims in by_key for key in claims):
        claims = [of_wording.get(key) for of_wording in by_key]
        if any(claim is not None and sure(claim) for claim in claims):
            found.append(_effect(key, claims))
    order = list(MARKS)
    yield from sorted(found, key=lambda row: (order.index(row.mark), -max(map(abs, _known(row.effects)))))


Key = tuple[Literal["contrast", "group", "intersection"], str, str]


def _claims(summary: Summary) -> Iterator[tuple[Key, Claim]]:
    for row in summary.contrasts:
        yield ("contrast", f"{row.attribute}: {row.source} → {row.target}", row.outcome), row
    for of_group in summary.groups:
        yield ("group", f"{of_group.attribute}: {of_group.group}", of_group.outcome), of_group
    for both in summary.intersections:
        yield ("intersection", " and ".join(meeting(both)), both.outcome), both


def _effect(key: Key, claims: Sequence[Claim | None]) -> Effect:
    effects = tuple(None if claim is None else _size(claim) for claim in claims)
    certain = tuple(claim is not None and sure(claim) for claim in claims)
    kind, name, outcome = key
    return Effect(
        kind=kind,
        name=name,
        outcome=outcome,
        effects=effects,
        ci95=tuple(None if claim is None else claim.ci95 for claim in claims),
        sure=certain,
        mark=mark(effects, certain),
    )


def mark(effects: Sequence[float | None], certain: Sequence[bool]) -> Mark:
    """Return whether a finding stands under every wording; a word of ``MARKS``."""
    known = _known(effects)
    if any(value > 0 for value in known) and any(value < 0 for value in known):
        return "turns"
    if len(known) < len(effects):
        return "incomplete"
    return "stable" if all(certain) else "unsure"


def _known(effects: Sequence[float | None]) -> list[float]:
    return [value for value in effects if value is not None]


def _size(claim: Claim) -> float:
    return claim.interaction if isinstance(claim, Intersection) else claim.effect


def _headline(
    names: Sequence[str], findings: Sequence[Effect], rates: Sequence[Rates], wordings: Sequence[Wording]
) -> str:
    sentences = [f"The same cases under {counted(len(names), 'wording')}."]
    if findings:
        sentences.append(_stability(findings))
    elif any(wording.summary.contrasts for wording in wordings):
        sentences.append("No difference between groups is sure under any of them.")
    widest = max(rates, key=_spread, default=None)
    if widest is not None and _spread(widest):
        low, high = min(_known(widest.rates)), max(_known(widest.rates))
        sentences.append(f"The rate of {widest.name} goes from {percent(low)} to {percent(high)}.")
    return " ".join(sentences)


def _stability(findings: Sequence[Effect]) -> str:
    """Return how many of the findings stand under all wordings, and how many turn round."""
    stable = sum(row.stable for row in findings)
    turning = sum(row.mark == "turns" for row in findings)
    turned = f", and {turning:,} {'turns' if turning == 1 else 'turn'} round under another" if turning else ""
    of = f"{counted(len(findings), 'finding')} that {'is' if len(findings) == 1 else 'are'} sure under one"
    return f"Of {of}, {stable:,} {'stands' if stable == 1 else 'stand'} under all{turned}."


def _spread(row: Rates) -> float:
    known = _known(row.rates)
    return max(known) - min(known) if known else 0.0


def _of_variance(parts: Sequence[Part], texts: int, versions: int, wordings: int) -> Section | None:
    title = "What the answers depend on"
    if not parts:
        text = "All answers to the versions that every wording has are alike." if versions else (
            "No version was answered under every wording."
        )  # fmt: skip
        return Section(title, text)
    text = (
        f"The variance of the answers to {counted(versions, 'version')} of {counted(texts, 'text')} under"
        f" {counted(wordings, 'wording')}, split by where it comes from."
    )
    rows: list[list[Cell]] = [
        [part.source, estimate(part.share, part.ci95), "" if part.chance is None else percent(part.chance)]
        for part in parts
    ]
    notes = [f"{source.capitalize()}: {meaning}." for source, meaning in MEANINGS.items()]
    notes.append("By chance: the share that groups would have if they did not matter.")
    return Section(title, text, Table(("source", "share (95 % interval)", "by chance"), rows), notes=notes)


def _of_findings(findings: Sequence[Effect], names: Sequence[str]) -> Section | None:
    if not findings:
        return None
    several = len({row.outcome for row in findings}) > 1
    columns: list[str | Column] = ["finding", *(["answer"] if several else []), "over wordings", *names]
    rows: list[list[Cell]] = [
        [row.name, *([row.outcome] if several else []), row.mark, *map(_written, row.effects, row.sure)]
        for row in findings
    ]
    return Section(
        "Findings over the wordings",
        "Effects in percentage points; those with a star are significant after correction.",
        Table(columns, rows),
        notes=[f"{name.capitalize()}: {meaning}." for name, meaning in MARKS.items()],
    )


def _written(effect: float | None, certain: bool) -> str:
    return UNKNOWN if effect is None else f"{100 * effect:+.1f}{'*' if certain else ''}"


def _of_rates(rates: Sequence[Rates], names: Sequence[str]) -> Section | None:
    if not rates:
        return None
    rows: list[list[Cell]] = [[row.name, *map(percent, row.rates)] for row in rates]
    return Section("Rates under each wording", table=Table(("changed", *names), rows))
