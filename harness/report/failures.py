"""Why requests failed for good: the commonest reasons, without what tells one failure from the next.

Reasons are messages of servers and of the user's own code, so what may be a secret is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from harness.report.summary import Failed

if TYPE_CHECKING:
    import polars as pl

SHOWN, CHARACTERS = 5, 120
_QUOTED = re.compile(r"""(?<!\w)'[^']*'(?!\w)|"[^"]*"|“[^”]*”|`[^`]*`""")
_NUMBER = re.compile(r"(?<!HTTP )\b\w*\d\w*\b")  # also names with numbers, as those of requests
_SECRETS = (
    (
        re.compile(r"(?i)\b(bearer\s+|(?:api[-_ ]?key|token|password|secret)(?: provided)?\s*[=:]\s*)\S+"),
        r"\1…",
    ),
    (re.compile(r"(?<=://)[^/\s@]+@"), "…@"),
    (re.compile(r"\b(?:sk|pk|hf|ghp|gho)[-_][\w-]{8,}"), "…"),
    (re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{24,}"), "…"),
)


def failures(answers: pl.LazyFrame, cases: pl.LazyFrame) -> list[Failed]:
    """Return the five commonest reasons of failed answers, controls apart, the commonest first.

    Reasons alike but for numbers and quoted parts are one, which has ``#`` and ``…`` in their places.
    """
    import polars as pl

    controls = cases.filter(pl.col("role") == "control").select(case="id")
    failed = answers.filter(pl.col("outcome") == "failed").join(controls, on="case", how="anti")
    counted = failed.group_by("reply").agg(n=pl.len()).sort("reply").collect().rows()
    return grouped({reply or "no reason given": n for reply, n in counted})


def grouped(counts: dict[str, int]) -> list[Failed]:
    """Return the commonest reasons from how often each message occurred."""
    total: Counter[str] = Counter()
    messages: dict[str, set[str]] = {}
    for message, number in counts.items():
        reason = _redacted(message)
        pattern = _NUMBER.sub("#", _QUOTED.sub("'…'", reason))
        total[pattern] += number
        messages.setdefault(pattern, set()).add(reason)
    ranked = sorted(total, key=lambda pattern: (-total[pattern], pattern))[:SHOWN]
    shown = {pattern: min(messages[pattern]) for pattern in ranked if len(messages[pattern]) == 1}
    return [Failed(reason=_cut(shown.get(pattern, pattern)), count=total[pattern]) for pattern in ranked]


def _redacted(message: str) -> str:
    """Return ``message`` on one line, without what may be a secret."""
    line = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    for secret, instead in _SECRETS:
        line = secret.sub(instead, line)
    return line


def _cut(reason: str) -> str:
    return reason if len(reason) <= CHARACTERS else f"{reason[: CHARACTERS - 1]}…"
