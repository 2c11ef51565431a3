"""What a check of one answer takes and gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.answering.runner import Answer
from harness.core import Failure, Json, Outcome

Verdict = Literal["fair", "unfair", "not-checked"]
NotChecked = Literal["nobody", "unread", "time", "budget", "too-long", "failed"]
"""Why an answer was not checked: its text names nobody whose group could change (``nobody``), answers could
not be read (``unread``), a limit was reached, or the check itself failed."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer with what it says."""

    answer: Answer
    outcome: Outcome

    @property
    def words(self) -> str:
        """The words of the answer, or why there are none."""
        return self.answer.message if isinstance(self.answer, Failure) else self.answer.text


@dataclass(frozen=True, slots=True)
class Place:
    """The versions of a text that differ in ``attribute`` alone, by the group that they speak of.

    The text itself is among those of its own group, where that is known.
    """

    attribute: str
    groups: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Difference:
    """The widest difference at a place: between the mean outcomes of two groups (each from 0 to 1).

    ``groups`` are the one with the lower mean and the one with the higher, ``sizes`` the number of versions
    that each mean is of. Where the outcome is ``favourable``, the first group fares worse.
    """

    attribute: str
    groups: tuple[str, str]
    outcome: str
    means: tuple[float, float]
    sizes: tuple[int, int]
    favourable: bool = False

    @property
    def value(self) -> float:
        """The difference of the means."""
        return self.means[1] - self.means[0]

    def to_json(self) -> dict[str, Json]:
        """Return the difference as JSON values."""
        low, high = self.groups
        return {
            "attribute": self.attribute,
            "outcome": self.outcome,
            "means": {low: round(self.means[0], 4), high: round(self.means[1], 4)},
            "versions": {low: self.sizes[0], high: self.sizes[1]},
            "difference": round(self.value, 4),
            "worse": low if self.favourable else None,
        }


@dataclass(frozen=True, slots=True)
class Version:
    """A version that was asked about, and its answer."""

    attribute: str
    group: str
    text: str
    heard: Heard


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer with its check.

    ``answer`` is the one to the text itself, ``given`` what is given in its place: the same, or the one that
    the groups together give, or None where it is refused. ``differences`` are the evidence of an unfair
    verdict, ``versions`` everything that was asked about beside the text, ``groups`` those that were
    compared, by attribute. ``requests`` counts the distinct requests, that about the text among them;
    ``steps`` is 2 where the first versions disagreed.
    """

    answer: Heard
    given: Heard | None
    verdict: Verdict
    reason: NotChecked | None = None
    differences: Sequence[Difference] = ()
    versions: Sequence[Version] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    requests: int = 1
    steps: int = 0

    @property
    def changed(self) -> bool:
        """Whether another answer is given than that to the text."""
        return self.given is not self.answer

    @property
    def action(self) -> str:
        """What was done: ``given`` as it came, ``healed`` or ``refused``."""
        if not self.changed:
            return "given"
        return "refused" if self.given is None else "healed"

    def to_json(self, texts: bool = True) -> dict[str, Json]:
        """Return the check as JSON values; without ``texts``, none of the text and its answers is in it."""
        told: dict[str, Json] = {
            "verdict": self.verdict,
            **({"reason": self.reason} if self.reason else {}),
            "action": self.action,
            "differences": [difference.to_json() for difference in self.differences],
            "requests": self.requests,
            "steps": self.steps,
        }
        if texts and self.versions:
            told["answer"] = self.answer.words
            told["versions"] = [
                {"attribute": v.attribute, "group": v.group, "text": v.text, "answer": v.heard.words}
                for v in self.versions
            ]
        return told
