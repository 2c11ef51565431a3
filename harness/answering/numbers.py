"""Reads the score that a reply states, without ever guessing.

Accepts a number in any form (0.7, .7, "0,7", 70%, 7/10, 7 out of 10) on the requested scale. An explicit cue
("Score: …") takes precedence; several different numbers, a bound ("at least 0.7") or another scale are not an
answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from harness.answering import turns
from harness.answering.clauses import MARK, Grammar
from harness.answering.margin import expectation
from harness.answering.parse import ranked, refuses, spoken, tidy, unquoted, without_sections
from harness.answering.structured import NUMBER_KEYS, taken_out
from harness.answering.words import simplified
from harness.core import Outcome, Reply

_DIGITS = r"(?:\d+(?:\.\d+)?|\.\d+|0,\d+|\d+,\d{1,2})"
_NUMBER = re.compile(
    rf"(?<![\w.,/%])(?<![A-Za-z]-)(?P<value>[-+]?{_DIGITS})"
    rf"(?:\s*(?P<percent>%|percent\b|per cent\b)|\s*(?:/|out\s+of\b)\s*(?P<whole>{_DIGITS}))?"
    r"(?![\w%]|[.,]+\d|\s*/|\s*out\s+of\b|\s*%)",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?:\b(?:(?:less|more|greater|lower|higher|smaller|larger) than|at (?:least|most)|up to|above|below"
    r"|under|over|between|from|to|or)|[<>]=?|[≤≥])\s*[\"'*_`]*$",
    re.IGNORECASE,
)
_SCALE = re.compile(
    rf"\b(?:(?:on|in|using|with)\s+)?(?:an?\s+|the\s+)?(?:(?:scale|range)(?::\s*|\s+(?:of\s+|from\s+|between\s+)?))"
    rf"(?P<low>{_DIGITS})\s*(?:to|and|[-–—])\s*(?P<high>{_DIGITS})(?:\s*\([^()]*\))?"
    rf"|\b(?:(?:on|in|using|with)\s+)?(?:an?\s+|the\s+)(?P<low2>{_DIGITS})\s*(?:to|[-–—])\s*"
    rf"(?P<high2>{_DIGITS})\s+(?:scale|range)\b",
    re.IGNORECASE,
)
_MORE = frozenset(
    [
        *("probability", "confidence", "joy", "anger", "fear", "sadness", "happiness", "emotional"),
        *("mind", "scale", "positive", "negative", "neutral", "happy", "sad", "angry", "joyful", "afraid"),
    ]
)
"""Words of sentences that state a score."""


@dataclass(frozen=True, slots=True)
class NumberReader:
    """Reads a score between ``low`` and ``high``; a system's own score takes precedence over its words."""

    low: float = 0.0
    high: float = 1.0

    def __call__(self, reply: Reply) -> Outcome:
        """Return the score, or the reason there is none."""
        text, reason = spoken(reply.text, reply.finish_reason)
        if reply.score is not None and reason not in ("filtered", "refused", "failed"):
            inside = self.low <= reply.score <= self.high
            return Outcome(score=reply.score) if inside else Outcome(reason="unparsed")
        if text is None:
            return Outcome(reason=reason)
        whole = reason is None or taken_out(text, NUMBER_KEYS)[1]  # what goes on may change a number
        score = read_number(text, self.low, self.high) if whole else None
        if score is not None:
            return Outcome(score=score)
        if reason is not None:
            return Outcome(reason=reason)
        return Outcome(reason="refused" if refuses(text) else "unparsed")


@dataclass(frozen=True, slots=True)
class RatingReader:
    """Reads a rating on the scale of ``steps``, numbers from 0 up, as a score from 0 to 1.

    Where the steps are single digits and the reply has log-probabilities, the score is the mean of the listed
    steps (as in Liu et al. 2023, G-Eval, section 2.3), which distinguishes texts that get the same number;
    otherwise it is the number stated. A system's own score takes precedence over both.
    """

    steps: tuple[str, ...]

    def __call__(self, reply: Reply) -> Outcome:
        """Return the score, or the reason there is none."""
        if reply.score is not None:
            return NumberReader()(reply)
        high = float(self.steps[-1])
        outcome = NumberReader(0.0, high)(reply)
        if outcome.score is None:
            return outcome
        mean = expectation(reply, self.steps)
        return replace(outcome, score=(outcome.score if mean is None else mean) / high)


def read_number(text: str, low: float = 0.0, high: float = 1.0) -> float | None:
    """Return the number stated in ``text``; None if there is none, more than one, or one out of range.

    A percentage or "n of m" is a share of a scale from 0; m may also be ``high`` itself.
    """
    text, _ = taken_out(turns.plain(text), NUMBER_KEYS)
    text = tidy(without_sections(text[: turns.LONGEST]), bullets=False)
    if any(_bounds(scale) != (low, high) for scale in _SCALE.finditer(text)):
        return None
    text = _SCALE.sub(" ", text)
    values: dict[float | None, str] = {}

    def by_mark(match: re.Match[str]) -> str:
        if _bounded(text, match):
            return " bounded "
        value = _value(match, low, high)
        return values.setdefault(value, chr(MARK + len(values)))

    said = simplified(unquoted(_NUMBER.sub(by_mark, text)))
    stated = Grammar(small=frozenset(values.values()), more=_MORE).read(said)
    statements = ranked(stated.statements)
    marks = frozenset().union(*(statement.marks for statement in statements))
    if len(marks) != 1 or (stated.mentioned - marks and not any(s.cue or s.opens for s in statements)):
        return None
    if stated.rivals - marks and not any(statement.final for statement in statements):
        return None
    value = next(value for value, mark in values.items() if mark in marks)
    return value if value is not None and low <= value <= high else None


def _value(match: re.Match[str], low: float, high: float) -> float | None:
    value = _parse(match["value"])
    if match["percent"]:
        whole = 100.0
    else:
        whole = _parse(match["whole"]) if match["whole"] else high
        if whole == high:
            return value
    return value / whole * high if low == 0 and whole > 0 else None


def _parse(digits: str) -> float:
    return float(digits.replace(",", "."))


def _bounded(text: str, match: re.Match[str]) -> bool:
    """Return whether the number is a bound, not a value: "at least 0.7"."""
    tag = text[: match.start()].endswith("<") and text.startswith(">", match.end())
    return not tag and _BOUND.search(text, max(0, match.start() - 30), match.start()) is not None


def _bounds(scale: re.Match[str]) -> tuple[float, float]:
    return _parse(scale["low"] or scale["low2"]), _parse(scale["high"] or scale["high2"])
