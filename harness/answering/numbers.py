"""Reads the score that a reply states, without ever guessing.

Accepts a number in any form (0.7, .7, "0,7", 70%, 7/10, 7 out of 10) on the requested scale. An explicit cue
("Score: …") takes precedence; several different numbers, a bound ("at least 0.7") or another scale are not an
answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.answering.labels import negated
from harness.answering.margin import expectation
from harness.answering.parse import refuses, unwrap_json, without_thoughts
from harness.core import Outcome, Reply

_DIGITS = r"(?:\d+(?:\.\d+)?|\.\d+|0,\d+|\d+,\d{1,2})"
_NUMBER = re.compile(
    rf"(?<![\w.,/%])(?<![A-Za-z]-)(?P<value>[-−+]?{_DIGITS})"
    rf"(?:\s*(?P<percent>%|percent\b|per cent\b)|\s*(?:/|out\s+of\b)\s*(?P<whole>{_DIGITS}))?"
    r"(?![\w%]|[.,]+\d|\s*/|\s*out\s+of\b|\s*%)",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?P<final>final\s+)?(?:score|rating|valence|intensity|answer|value|probability|number)\b[\"'*_\s]*"
    r"(?:\b(?:is|would be|of)\b(?:\s+(?:about|around|approximately|roughly))?\s*:?"
    r"|(?:\([^()\n]*\)[\s*_]*)?[:=])[\s*_\"'`$(\[~≈]*",
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
_RANGE = re.compile(rf"{_DIGITS}\s*%?\s*(?:to|or|[-–—])\s*{_DIGITS}", re.IGNORECASE)
_WRAPPING = " \t\"'“”‘’`*_()[]~≈"
_KEYS = frozenset(["score", "rating", "valence", "intensity", "answer", "value", "final_score"])


@dataclass(frozen=True, slots=True)
class NumberReader:
    """Reads a score between ``low`` and ``high``; a system's own score takes precedence over its words."""

    low: float = 0.0
    high: float = 1.0

    def __call__(self, reply: Reply) -> Outcome:
        """Return the score, or the reason there is none."""
        if reply.finish_reason == "content_filter":
            return Outcome(reason="filtered")
        if reply.score is not None:
            inside = self.low <= reply.score <= self.high
            return Outcome(score=reply.score) if inside else Outcome(reason="unparsed")
        text = without_thoughts(reply.text)
        cut = reply.finish_reason == "length"
        if text is None or (cut and re.search(r"[\d.,/]\s*$", text)):
            return Outcome(reason="truncated")
        score = read_number(text, self.low, self.high)
        if score is not None:
            return Outcome(score=score)
        if cut:
            return Outcome(reason="truncated")
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
    text = unwrap_json(text, _KEYS)
    if any(_bounds(scale) != (low, high) for scale in _SCALE.finditer(text)):
        return None
    text = _SCALE.sub(" ", text)
    cues = list(_CUE.finditer(text))
    finals = [cue for cue in cues if cue["final"]]
    stated = {_value(match, low, high) for cue in finals or cues if (match := _NUMBER.match(text, cue.end()))}
    cued = stated or {
        _value(match, low, high)
        for line in text.splitlines()
        if (match := _NUMBER.fullmatch(line.strip(_WRAPPING)))
    }
    if any(_RANGE.match(text, cue.end()) for cue in cues):
        return None
    values = cued or {_value(match, low, high) for match in _numbers(text)}
    if len(values) != 1 or (not cued and any(_bounded(text, m) for m in _NUMBER.finditer(text))):
        return None
    (value,) = values
    return value if value is not None and low <= value <= high else None


def _numbers(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _NUMBER.finditer(text) if not negated(text, match.start()))


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
    return float(digits.replace(",", ".").replace("−", "-"))


def _bounded(text: str, match: re.Match[str]) -> bool:
    """Return whether the number is a bound, not a value: "at least 0.7"."""
    tag = text[: match.start()].endswith("<") and text.startswith(">", match.end())
    return not tag and _BOUND.search(text, max(0, match.start() - 30), match.start()) is not None


def _bounds(scale: re.Match[str]) -> tuple[float, float]:
    return _parse(scale["low"] or scale["low2"]), _parse(scale["high"] or scale["high2"])
