"""Reading answers: which labels does a reply state? Never a guess.

Whole labels only, the longest first; wrappers stripped; a bare label or an explicit cue ("Answer: …")
before a mention; a negated label is no label; refusals have their own category.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.core import Outcome, Reply

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
# Templates that open the thought in the prompt leave only its end in the reply.
_THOUGHT_END = re.compile(r".*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CUE = re.compile(
    r"\b(?P<final>final\s+)?(?:answer|label|classification|sentiment)s?\b[\s*_]*"
    r"(?:\b(?:is|are)\b\s*:?|:|=)[\s*_]*(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?][\"'”’*_)\]]*(?:\s|$)")
# A negation holds to the end of its clause; "but" turns it, an aside does not end it ("not, I think, …").
_NEGATION = re.compile(
    r"\b(?:not|no|non|never|neither|nor|none|nothing|nobody|without|cannot|hardly|barely|scarcely"
    r"|rather than|instead of|far from|anything but|(?:is|was|does|do|did|would|ca)nt)\b|n['’]t\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.!?;:,\n()]|(?<!anything )\bbut\b|\b(?:therefore|thus|hence)\b", re.IGNORECASE)
_ASIDE = re.compile(r"((?:\bnot|n['’]t)),[^,.;!?\n]*,", re.IGNORECASE)
_DENIAL = re.compile(
    r"[\"'”’*_]*(?:\s*[:=?]\s*(?:no|false)\b\W*(?:\n|$)"
    r"|\s+(?:is|are|was|were|would|does|do|can|could|should)(?:\s+be)?"
    r"(?:n['’]t|\s+(?:not|never|wrong|incorrect))\b)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i apologi[sz]e|as an ai\b"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|am unable|'m unable)"
    r"|(?:can['’]?t|cannot|unable to|not able to)"
    r" (?:assist|help|comply|determine|provide|answer|judge|classify))",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:none|no (?:labels?|violations?|articles?)|nothing)"
    r"(?=\s*(?:$|[^\w\s]|of (?:the|them|these|those|any|article)\b|appl|(?:is|are|was|were)\b))",
    re.IGNORECASE,
)
_WRAPPING = " \t\r\n\"'“”‘’`*_()[]{}<>.,;:!#-–—"
_JSON_KEYS = ("answer", "label", "labels", "sentiment", "classification", "prediction", "category")


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reads the labels of a task from a reply; for a multi-label task their set, possibly empty."""

    labels: tuple[str, ...]
    multi_label: bool = False

    def __call__(self, reply: Reply) -> Outcome:
        if reply.finish_reason == "content_filter":
            return Outcome(reason="filtered")
        text = _THOUGHT_END.sub(" ", _THOUGHT.sub(" ", reply.text))
        cut = reply.finish_reason == "length"
        if _OPEN_THOUGHT.search(text):
            return Outcome(reason="truncated")
        found = self._labels(text, cut)
        if found is not None:
            return Outcome(labels=found)
        if cut:
            return Outcome(reason="truncated")
        return Outcome(reason="refused" if _REFUSAL.search(text) else "unparsed")

    def _labels(self, text: str, cut: bool) -> frozenset[str] | None:
        if cut and (self.multi_label or self._may_go_on(text)):
            return None
        text = _unwrap_json(text)
        found = self._exact(text) or self._stated(text)
        if found is not None or cut or _REFUSAL.search(text):
            return found
        return self._mentioned(text, 0, len(text))

    def _may_go_on(self, text: str) -> bool:
        """Whether a cut text ends with a label that is the beginning of another one."""
        end = " ".join(text.lower().split())
        folds = [" ".join(label.lower().split()) for label in self.labels]
        return any(end.endswith(f) and any(o != f and o.startswith(f) for o in folds) for f in folds)

    def _exact(self, text: str) -> frozenset[str] | None:
        bare = _fold(text)
        return next((frozenset([label]) for label in self.labels if bare and _fold(label) == bare), None)

    def _stated(self, text: str) -> frozenset[str] | None:
        """What cues and bare labels state, if they agree; a "final answer" outranks the others."""
        cues = list(_CUE.finditer(text))
        finals = [cue for cue in cues if cue["final"]]
        stated = {found for cue in finals or cues if (found := self._cued(text, cue)) is not None}
        if not self.multi_label and not finals:
            bare = map(self._exact, (text[: _end(text, 0)], *text.splitlines()))
            stated |= {found for found in bare if found is not None}
        return stated.pop() if len(stated) == 1 else None

    def _cued(self, text: str, cue: re.Match[str]) -> frozenset[str] | None:
        start, end = cue.span("rest")
        if not self.multi_label:
            end = min(end, _end(text, start))
        if not _negated(text, start) and (found := self._exact(text[start:end])) is not None:
            return found
        return self._mentioned(text, start, end, cued=True)

    def _mentioned(self, text: str, start: int, end: int, cued: bool = False) -> frozenset[str] | None:
        """The labels mentioned, labels of one letter after a cue only ("a" is a word too)."""
        found = frozenset(
            label
            for label, at, to in _mentions(text, self.labels, start, end)
            if (cued or len(label) > 1) and not _negated(text, at) and not _DENIAL.match(text, to)
        )
        if self.multi_label:
            return found or (frozenset() if _NONE.match(text, start, end) else None)
        return found if len(found) == 1 else None


def _mentions(text: str, labels: Sequence[str], start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Whole labels in ``text[start:end]`` with their places, the longest label at a place."""
    by_fold = {" ".join(label.lower().split()): label for label in labels}
    words = "|".join(
        rf"(?-i:{re.escape(by_fold[f])})" if len(f) == 1 else r"\s+".join(map(re.escape, f.split()))
        for f in sorted(by_fold, key=len, reverse=True)
    )
    expression = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
    for match in expression.finditer(text, start, end):
        # Nothing for what the expression takes for a letter that it is not, as it does "ſ" for "s".
        label = by_fold.get(" ".join(match[0].lower().split()))
        if label is not None:
            yield (label, *match.span())


def _negated(text: str, at: int) -> bool:
    """Whether a negation stands before ``at`` in its clause."""
    before = _ASIDE.sub(r"\1", text[:at])
    begin = max((match.end() for match in _CLAUSE_END.finditer(before)), default=0)
    return _NEGATION.search(before, begin) is not None


def _end(text: str, start: int) -> int:
    """Where the sentence that begins at ``start`` ends."""
    match = _SENTENCE_END.search(text, start)
    return match.end() if match else len(text)


def _fold(text: str) -> str:
    return " ".join(text.strip(_WRAPPING).lower().split())


def _unwrap_json(text: str) -> str:
    """What a JSON answer says, nothing where that is not plain; ``text`` itself if it is not JSON."""
    bare = re.sub(r"^\s*```(?:json)?|```\s*$", "", text).strip()
    if bare[:1] not in ('"', "[", "{"):
        return text
    try:
        return _plain(json.loads(bare))
    except (ValueError, RecursionError):
        return text


def _plain(value: object) -> str:
    """A string or whole number, a list of strings, the answer (or only) field of an object."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return ", ".join(value) if value else "none"
    if isinstance(value, dict):
        named = {_plain(v) for k, v in value.items() if k.lower() in _JSON_KEYS}
        only = set(map(_plain, value.values())) if len(value) == 1 else set()
        return (named or only).pop() if len(named or only) == 1 else ""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
