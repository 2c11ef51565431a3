"""Reads the labels that a reply states, without ever guessing.

Wrappers are stripped. A bare label or an explicit cue ("Answer: …") takes precedence over a mention (defined
in ``labels``). Refusals are a category of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.answering.labels import (
    DENIAL,
    WRAPPING,
    affirmed,
    fold,
    folds,
    in_question,
    is_word,
    mentions,
    negated,
    spelled_out,
)
from harness.core import Outcome, Reply

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
# Chat templates that open the thought in the prompt leave only its end in the reply.
_THOUGHT_END = re.compile(r".*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CUE = re.compile(
    r"(?:\b(?P<final>final\s+)?"
    r"(?:answer|label|classification|sentiment|categor(?:y|ie)|prediction|verdict|topic|output)s?\b[\s*_]*"
    r"(?:\b(?:is|are|would be)\b\s*:?|(?:\([^()\n]*\)[\s*_]*)?[:=])"
    r"|\b(?:classif(?:y|ied)|categori[sz]ed?|label(?:l?ed)?)(?:\s+(?:this|it|the)(?:\s+\w+){0,2})?\s+as\b)"
    r"[\s*_]*",
    re.IGNORECASE,
)
# After these a sentence gives reasons, in words that may also be labels.
_REASON = re.compile(
    r"\b(?:because|since|given that|due to|although|even though|though|despite|in spite of|even if)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?][\"'”’*_)\]]*(?:\s|$)")
_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i apologi[sz]e|as an? (?:ai|(?:large )?language model)\b|i must decline"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable|['’]m unable|am not able)"
    r"(?! (?:recommend|praise|stop|wait|believe|overstate|thank|imagine)\b)"
    r"|i['’]m (?:unable|not able|not comfortable)|i do(?:n['’]t| not) feel comfortable"
    r"|(?:(?:we|it|sorry,?(?: but)?) (?:can['’]?t|cannot) (?:be )?|unable to |not able to )"
    r"(?:assist|help|comply|determine|provide|answer|judge|classif))",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\W*(?:(?:answer|label|labels|articles?)\b[\s:=]*(?:is|are)?\s*)?(?:there (?:is|was|were|has been) )?"
    r"(?:none|no (?:(?:relevant|applicable) )?(?:labels?|violations?|articles?|topics?|concepts?)"
    r"|nothing|n/a)"
    r"(?=\s*(?:$|[^\w\s]|of (?:the|them|these|those|any)\b|appl|violated|found"
    r"|(?:is|are|was|were|has|have)\b))",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\b(?:except|other than|apart from|besides|but|only)\b", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*•+]|\(?\d+[.)]|[a-z][.)])\s+", re.IGNORECASE)
_EXPLANATION = re.compile(
    r"\n\s*[*_#]*(?:explanation|reason(?:ing|s)?|rationale|justification|notes?)\b[*_]*\s*:", re.IGNORECASE
)
_MARKER = re.compile(r"\s*(?:[-*•+]|\(?\d+[.)])\s+")
_ITEM_REASON = re.compile(r"[\"'”’*_`\])]*\s*(?:[:–—(]|\s-\s|,?\s+(?:because|since|as)\b)")
_JSON_KEYS = frozenset(
    [
        *("answer", "final_answer", "label", "labels", "sentiment", "classification", "prediction"),
        *("category", "categories", "topic", "topics", "concept", "concepts", "output", "result"),
        *("article", "articles", "violated_articles"),
    ]
)
_OBJECTS = 20  # most tried in a text, so that reading takes linear time


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reads a task's label from a reply or, for a multi-label task, its possibly empty set of labels."""

    labels: tuple[str, ...]
    multi_label: bool = False

    def __call__(self, reply: Reply) -> Outcome:
        """Return the labels, or the reason there are none."""
        if reply.finish_reason == "content_filter":
            return Outcome(reason="filtered")
        text = without_thoughts(reply.text)
        cut = reply.finish_reason == "length"
        if text is None:
            return Outcome(reason="truncated")
        labels = self._labels(text, cut)
        if labels is not None:
            return Outcome(labels=labels)
        if cut:
            return Outcome(reason="truncated")
        return Outcome(reason="refused" if refuses(text) else "unparsed")

    def _labels(self, text: str, cut: bool) -> frozenset[str] | None:
        if cut and (self.multi_label or self._may_go_on(text)):
            return None
        text = spelled_out(unwrap_json(text), self.labels)
        text = self._without_explanation(text)
        if self.multi_label:
            text = self._without_reasons(text)
        labels = self._exact(text, folded=not cut) or self._stated(text, folded=not cut)
        if labels is not None or cut or refuses(text):
            return labels
        return self._mentioned(text, 0, len(text))

    def _may_go_on(self, text: str) -> bool:
        """Return whether a truncated text ends within a label of which another label is a prefix."""
        end = " ".join(text.lower().split())
        lower = [" ".join(label.lower().split()) for label in self.labels]
        longer = {(f, o) for f in lower for o in lower if o != f and o.startswith(f)}
        return any(end.endswith(o[:to]) for f, o in longer for to in range(len(f), len(o)))

    def _exact(self, text: str, folded: bool = True) -> frozenset[str] | None:
        """Return the label equal to ``text`` or, if ``folded``, equal but for singular and plural."""
        exact, other_number = folds(self.labels)
        bare = fold(text)
        label = exact.get(bare) or (other_number.get(bare) if folded else None)
        return frozenset([label]) if label else None

    def _stated(self, text: str, folded: bool = True) -> frozenset[str] | None:
        """Return what cues and bare labels state if they agree; a "final answer" outranks the others."""
        cues = list(_CUE.finditer(text))
        ends = [cue.start() for cue in cues[1:]] + [len(text)]
        read = [(cue, self._cued(text, cue, end, folded)) for cue, end in zip(cues, ends, strict=False)]
        final = {labels for cue, labels in read if cue["final"] and labels is not None}
        stated = final or {labels for _, labels in read if labels is not None}
        if not self.multi_label and not final:
            bare = (
                self._exact(part, folded) for part in (text[: _end(text, 0)], *map(_item, text.splitlines()))
            )
            stated |= {labels for labels in bare if labels is not None}
        return stated.pop() if len(stated) == 1 else None

    def _cued(self, text: str, cue: re.Match[str], limit: int, folded: bool) -> frozenset[str] | None:
        """Return what follows a cue, up to the next one at ``limit``."""
        start, end = cue.end(), min(_line_end(text, cue.end()), limit)
        if self.multi_label:
            end = min(self._list_end(text, end), limit)
        else:
            end = min(end, _end(text, start))
            reason = _REASON.search(text, start, end)
            end = reason.start() if reason else end
        if not negated(text, start) and (labels := self._exact(text[start:end], folded)) is not None:
            return labels
        return self._mentioned(text, start, end, cued=True)

    def _list_end(self, text: str, end: int) -> int:
        """Return the end of the list whose first line ends at ``end``; items and bare labels continue it."""
        while end < len(text):
            stop = text.find("\n", end + 1)
            line = text[end + 1 : stop if stop >= 0 else len(text)]
            if line.strip() and not _ITEM.match(line) and self._exact(line) is None:
                break
            end = stop if stop >= 0 else len(text)
        return end

    def _without_explanation(self, text: str) -> str:
        """Return the text without the explanation after its answer, unless another answer follows."""
        part = _EXPLANATION.search(text)
        if part is None or _CUE.search(text, part.end()):
            return text
        before = text[: part.start()]
        answered = _NONE.match(before) or next(mentions(before, self.labels, 0, len(before)), None)
        return before if answered else text

    def _without_reasons(self, text: str) -> str:
        """Strip list items of what they say about their label ("- trade: it concerns the budget")."""
        return "\n".join(map(self._without_reason, text.split("\n")))

    def _without_reason(self, line: str) -> str:
        item = _ITEM.match(line)
        first = next(mentions(line, self.labels, item.end(), len(line)), None) if item else None
        if item is None or first is None or line[item.end() : first[1]].strip(WRAPPING):
            return line
        denied = DENIAL.match(line, first[2])
        return line if denied or not _ITEM_REASON.match(line, first[2]) else line[: first[2]]

    def _mentioned(self, text: str, start: int, end: int, cued: bool = False) -> frozenset[str] | None:
        """Return the labels mentioned.

        Labels that are also small words ("a", "no") count only after a cue or at the start.
        """
        labels = frozenset(
            label
            for label, at, to in affirmed(text, self.labels, start, end)
            if (cued or not is_word(label) or (len(label) > 1 and _opens(text, at, to)))
            and not in_question(text, to)
        )
        if self.multi_label:
            if _NONE.match(text, start, end):
                return None if labels and not _EXCEPT.search(text, start, end) else labels
            return labels or None
        return labels if len(labels) == 1 else None


def without_thoughts(text: str) -> str | None:
    """Return the text after the model's thoughts, or None where a thought does not end."""
    answer = _THOUGHT_END.sub(" ", _THOUGHT.sub(" ", text))
    return None if _OPEN_THOUGHT.search(answer) else answer


def refuses(text: str) -> bool:
    """Return whether the model says that it will not or cannot answer."""
    return _REFUSAL.search(text) is not None


def unwrap_json(text: str, keys: frozenset[str] = _JSON_KEYS) -> str:
    """Return the answer in a JSON reply, empty if it is ambiguous; ``text`` itself if it is not JSON."""
    bare = re.sub(r"^\s*```(?:json)?|```\s*$", "", text).strip()
    if bare[:1] in ('"', "[", "{"):
        try:
            return _plain(json.loads(bare), keys)
        except (ValueError, RecursionError):
            pass
    answers = {
        _plain(value, keys)
        for value in _objects(text)
        if any(isinstance(key, str) and key.lower() in keys for key in value)
    }
    return answers.pop() if len(answers) == 1 else text


def _objects(text: str) -> Iterator[dict[str, object]]:
    """Yield the outermost JSON objects in a text."""
    decoder, at = json.JSONDecoder(), text.find("{")
    for _ in range(_OBJECTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


def _plain(value: object, keys: frozenset[str]) -> str:
    """Return a JSON value as text, or "" if it is ambiguous.

    Such are a string, a number, a list, the answer (or only) field of an object, and its true fields.
    """
    if isinstance(value, list):
        parts = [_plain(v, keys) for v in value]
        return (", ".join(parts) if value else "none") if all(parts) else ""
    if isinstance(value, dict):
        named = {_plain(v, keys) for k, v in value.items() if k.lower() in keys}
        if not named and value and all(isinstance(v, bool) for v in value.values()):
            return ", ".join(k for k, v in value.items() if v)
        only = {_plain(v, keys) for v in value.values()} if len(value) == 1 else set()
        return (named or only).pop() if len(named or only) == 1 else ""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _opens(text: str, at: int, to: int) -> bool:
    """Return whether the label in ``text[at:to]`` opens the text and stands alone ("No, it is not.")."""
    return (
        not _item(text[:at]).strip(WRAPPING)
        and re.match(r"[\"'”’*_]*(?:[,.;:!\n]|\s[-–—]|\s*$)", text[to:]) is not None
    )


def _end(text: str, start: int) -> int:
    """Return the end of the sentence that begins at ``start``."""
    match = _SENTENCE_END.search(text, start)
    return match.end() if match else len(text)


def _item(line: str) -> str:
    """Return a line of a list without its bullet or number."""
    marker = _MARKER.match(line)
    return line[marker.end() :] if marker else line


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
