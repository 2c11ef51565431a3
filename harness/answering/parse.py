"""Reading answers: which labels does a reply state? Never a guess.

Whole labels only, the longest first; wrappers stripped; an explicit cue ("Answer: …") before a mention;
a negated label is no label; refusals have their own category.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.core import Outcome, Reply

_THINK = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THINK = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CUE = re.compile(
    r"\b(?P<final>final\s+)?(?:answer|label|classification|sentiment)s?\b[\s*_]*(?:\bis\b|\bare\b|:|=)(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
_NEGATION = re.compile(
    r"(?:\b(?:not|no|never|neither|nor|without|cannot)\b|n['’]t\b)(?:\s+\w+){0,2}\s*[\"'“‘*_]*$", re.I
)
_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i apologi[sz]e|as an ai\b"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|am unable|'m unable)"
    r"|(?:can['’]?t|cannot|unable to|not able to)"
    r" (?:assist|help|comply|determine|provide|answer|judge|classify))",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:none|no (?:labels?|violations?|articles?)|nothing)(?: of (?:them|the above))?\b", re.I
)
_WRAPPING = " \t\r\n\"'“”‘’`*_()[]{}<>.,;:!#-–—"


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reads the labels of a task from a reply; for a multi-label task their set, possibly empty."""

    labels: tuple[str, ...]
    multi_label: bool = False

    def __call__(self, reply: Reply) -> Outcome:
        if reply.finish_reason == "content_filter":
            return Outcome(reason="filtered")
        text = _THINK.sub(" ", reply.text)
        cut = reply.finish_reason == "length"
        if _OPEN_THINK.search(text):
            return Outcome(reason="truncated")
        found = self._labels(text)
        if found is not None and not (cut and self.multi_label):
            return Outcome(labels=found)
        if cut:
            return Outcome(reason="truncated")
        return Outcome(reason="refused" if _REFUSAL.search(text) else "unparsed")

    def _labels(self, text: str) -> frozenset[str] | None:
        text = _unwrap_json(text)
        whole = self._exact(text)
        if whole is not None:
            return whole
        cued = self._cued(text)
        if cued is not None:
            return cued
        if _REFUSAL.search(text):
            return None
        return self._mentioned(text)

    def _exact(self, text: str) -> frozenset[str] | None:
        bare = _fold(text)
        return next((frozenset([label]) for label in self.labels if _fold(label) == bare), None)

    def _cued(self, text: str) -> frozenset[str] | None:
        """What the cues state; a "final answer" outranks the others, which must agree."""
        cues = list(_CUE.finditer(text))
        finals = [c for c in cues if c["final"]]
        stated = set()
        for cue in finals or cues:
            rest = cue["rest"]
            sentence = rest if self.multi_label else rest[: _end(rest)]
            found = self._exact(sentence) or self._mentioned(sentence)
            if found is not None:
                stated.add(found)
        return stated.pop() if len(stated) == 1 else None

    def _mentioned(self, text: str) -> frozenset[str] | None:
        found = frozenset(
            label for label, at in _mentions(text, self.labels) if not _NEGATION.search(text[:at])
        )
        if self.multi_label:
            return found or (frozenset() if _NONE.match(text) else None)
        return found if len(found) == 1 else None


def _mentions(text: str, labels: Sequence[str]) -> list[tuple[str, int]]:
    """Whole labels in ``text`` with their places, the longest label at a place."""
    by_fold = {" ".join(label.lower().split()): label for label in labels}
    words = "|".join(r"\s+".join(map(re.escape, f.split())) for f in sorted(by_fold, key=len, reverse=True))
    expression = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
    return [(by_fold[" ".join(m[0].lower().split())], m.start()) for m in expression.finditer(text)]


def _end(text: str) -> int:
    match = _SENTENCE_END.search(text)
    return match.end() if match else len(text)


def _fold(text: str) -> str:
    return " ".join(text.strip(_WRAPPING).lower().split())


def _unwrap_json(text: str) -> str:
    """The value of a JSON answer: a string, a list of strings, or the one field of an object."""
    bare = re.sub(r"^\s*```(?:json)?|```\s*$", "", text).strip()
    if bare[:1] not in ('"', "[", "{"):
        return text
    try:
        value = json.loads(bare)
    except json.JSONDecodeError:
        return text
    if isinstance(value, dict):
        named = [v for k, v in value.items() if k.lower() in ("answer", "label", "labels", "sentiment")]
        value = named[0] if len(named) == 1 else next(iter(value.values())) if len(value) == 1 else None
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ", ".join(value) if value else "none"
    return value if isinstance(value, str) else text
