"""The versions of one text side by side, and what became of each word that a dictionary has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.core import Case, Outcome, Verdict
from harness.report.wording import LEFT_WORDS


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the text: its changes, its answer, and the verdict."""

    role: str
    changes: tuple[str, ...]
    text: str
    answer: str
    status: str | None
    hidden: str | None


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the text that a dictionary has, and whether it was changed or why not."""

    word: str
    start: int
    attribute: str
    fate: str


def version(
    case: Case, outcomes: Mapping[str, Outcome] = {}, verdicts: Mapping[str, Verdict] = {}
) -> Version:
    """Return the version that ``case`` is, with its answer and its verdict where there are such."""
    outcome, verdict = outcomes.get(case.id), verdicts.get(case.id)
    answer = "" if outcome is None else answered(outcome)
    if not case.valid:
        discarded = f"discarded: {case.reason}"
        answer = f"{answer} ({discarded})" if outcome is not None else discarded
    return Version(
        role=case.role,
        changes=tuple(f"{s.attribute}: {s.source} → {s.target}" for s in case.substitutions),
        text=case.text,
        answer=answer,
        status=verdict.status if verdict else None,
        hidden=verdict.hidden if verdict else None,
    )


def answered(outcome: Outcome) -> str:
    """Return what an answer says, in words."""
    if outcome.labels is not None:
        return ", ".join(sorted(outcome.labels)) or "none"
    return f"not read: {outcome.reason}" if outcome.score is None else f"{outcome.score:.3g}"


def shown(cases: Sequence[Case]) -> list[Case]:
    """Return the cases that are versions; the others say why a word is left alone."""
    return [case for case in cases if case.reason not in LEFT_WORDS]


def words(cases: Sequence[Case]) -> list[Word]:
    """Return the words that the versions change, in text order, each with what became of it."""
    text = next((case.text for case in cases if case.role == "original"), "")
    fates: dict[tuple[int, int, str], list[str | None]] = {}
    for case in cases:
        if len(case.substitutions) == 1:
            [substitution] = case.substitutions
            for start, end in substitution.spans:
                fates.setdefault((start, end, substitution.attribute), []).append(case.reason)
    return [
        Word(text[start:end], start, attribute, _fate(reasons))
        for (start, end, attribute), reasons in sorted(fates.items())
    ]


def _fate(reasons: Sequence[str | None]) -> str:
    """Return ``changed``, with the number of versions, or why every version of a word is left out."""
    valid = sum(reason is None for reason in reasons)
    others = dict.fromkeys(LEFT_WORDS.get(reason, f"discarded: {reason}") for reason in reasons if reason)
    if not valid:
        return "; ".join(others)
    also = f"; others {'; '.join(others)}" if others else ""
    return f"changed in {valid} version{'s' * (valid != 1)}{also}"
