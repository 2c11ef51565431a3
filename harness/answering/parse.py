"""Reading answers: which labels does a reply state? Never a guess.

Wrappers stripped; a bare label or an explicit cue ("Answer: …") before a mention (``labels`` says what is
one); refusals have their own category.
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
    asked,
    fold,
    folds,
    is_word,
    mentions,
    negated,
    spelled_out,
)
from harness.core import Outcome, Reply

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
# Templates that open the thought in the prompt leave only its end in the reply.
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
# Behind these a sentence says why, with words that may be labels too.
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
_OBJECTS = 20  # tried at most in a text, so that reading takes linear time


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reads the labels of a task from a reply; for a multi-label task their set, possibly empty."""

    labels: tuple[str, ...]
    multi_label: bool = False

    def __call__(self, reply: Reply) -> Outcome:
        if reply.finish_reason == "content_filter":
            return Outcome(reason="filtered")
        text = without_thoughts(reply.text)
        cut = reply.finish_reason == "length"
        if text is None:
            return Outcome(reason="truncated")
        found = self._labels(text, cut)
        if found is not None:
            return Outcome(labels=found)
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
        found = self._exact(text, folded=not cut) or self._stated(text, folded=not cut)
        if found is not None or cut or refuses(text):
            return found
        return self._mentioned(text, 0, len(text))

    def _may_go_on(self, text: str) -> bool:
        """Whether a cut text ends within a label that begins with another one."""
        end = " ".join(text.lower().split())
        lower = [" ".join(label.lower().split()) for label in self.labels]
        longer = {(f, o) for f in lower for o in lower if o != f and o.startswith(f)}
        return any(end.endswith(o[:to]) for f, o in longer for to in range(len(f), len(o)))

    def _exact(self, text: str, folded: bool = True) -> frozenset[str] | None:
        """The label that ``text`` is and, if ``folded``, singular for plural where that leaves no doubt."""
        exact, other_number = folds(self.labels)
        bare = fold(text)
        label = exact.get(bare) or (other_number.get(bare) if folded else None)
        return frozenset([label]) if label else None

    def _stated(self, text: str, folded: bool = True) -> frozenset[str] | None:
        """What cues and bare labels state, if they agree; a "final answer" outranks the others."""
        cues = list(_CUE.finditer(text))
        ends = [cue.start() for cue in cues[1:]] + [len(text)]
        read = [(cue, self._cued(text, cue, end, folded)) for cue, end in zip(cues, ends, strict=False)]
        final = {found for cue, found in read if cue["final"] and found is not None}
        stated = final or {found for _, found in read if found is not None}
        if not self.multi_label and not final:
            bare = (
                self._exact(part, folded) for part in (text[: _end(text, 0)], *map(_item, text.splitlines()))
            )
            stated |= {found for found in bare if found is not None}
        return stated.pop() if len(stated) == 1 else None

    def _cued(self, text: str, cue: re.Match[str], limit: int, folded: bool) -> frozenset[str] | None:
        """What stands behind a cue, before the next one at ``limit``."""
        start, end = cue.end(), min(_line_end(text, cue.end()), limit)
        if self.multi_label:
            end = min(self._list_end(text, end), limit)
        else:
            end = min(end, _end(text, start))
            reason = _REASON.search(text, start, end)
            end = reason.start() if reason else end
        if not negated(text, start) and (found := self._exact(text[start:end], folded)) is not None:
            return found
        return self._mentioned(text, start, end, cued=True)

    def _list_end(self, text: str, end: int) -> int:
        """The end of the list that the line ending at ``end`` begins: items and bare labels go on with it."""
        while end < len(text):
            stop = text.find("\n", end + 1)
            line = text[end + 1 : stop if stop >= 0 else len(text)]
            if line.strip() and not _ITEM.match(line) and self._exact(line) is None:
                break
            end = stop if stop >= 0 else len(text)
        return end

    def _without_explanation(self, text: str) -> str:
        """A text without the explanation after its answer, if no answer follows that."""
        part = _EXPLANATION.search(text)
        if part is None or _CUE.search(text, part.end()):
            return text
        before = text[: part.start()]
        answered = _NONE.match(before) or next(mentions(before, self.labels, 0, len(before)), None)
        return before if answered else text

    def _without_reasons(self, text: str) -> str:
        """List items without what they say about their label ("- trade: it concerns the budget")."""
        return "\n".join(map(self._without_reason, text.split("\n")))

    def _without_reason(self, line: str) -> str:
        item = _ITEM.match(line)
        first = next(mentions(line, self.labels, item.end(), len(line)), None) if item else None
        if item is None or first is None or line[item.end() : first[1]].strip(WRAPPING):
            return line
        denied = DENIAL.match(line, first[2])
        return line if denied or not _ITEM_REASON.match(line, first[2]) else line[: first[2]]

    def _mentioned(self, text: str, start: int, end: int, cued: bool = False) -> frozenset[str] | None:
        """The labels mentioned; those that are small words too ("a", "no") only cued, or at the beginning."""
        found = frozenset(
            label
            for label, at, to in affirmed(text, self.labels, start, end)
            if (cued or not is_word(label) or (len(label) > 1 and _opens(text, at, to)))
            and not asked(text, to)
        )
        if self.multi_label:
            if _NONE.match(text, start, end):
                return frozenset() if not found else found if _EXCEPT.search(text, start, end) else None
            return found or None
        return found if len(found) == 1 else None


def without_thoughts(text: str) -> str | None:
    """What is said after thinking; None where a thought does not end."""
    said = _THOUGHT_END.sub(" ", _THOUGHT.sub(" ", text))
    return None if _OPEN_THOUGHT.search(said) else said


def refuses(text: str) -> bool:
    """Whether the model says that it will not or cannot answer."""
    return _REFUSAL.search(text) is not None


def unwrap_json(text: str, keys: frozenset[str] = _JSON_KEYS) -> str:
    """What a JSON answer says, nothing where that is not plain; ``text`` itself if it is not JSON."""
    bare = re.sub(r"^\s*```(?:json)?|```\s*$", "", text).strip()
    if bare[:1] in ('"', "[", "{"):
        try:
            return _plain(json.loads(bare), keys)
        except (ValueError, RecursionError):
            pass
    said = {
        _plain(value, keys)
        for value in _objects(text)
        if any(isinstance(key, str) and key.lower() in keys for key in value)
    }
    return said.pop() if len(said) == 1 else text


def _objects(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects in a text, the outermost ones."""
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
    """A string or number, a list of them, the answer (or only) field of an object, its true fields."""
    if isinstance(value, list):
        said = [_plain(v, keys) for v in value]
        return (", ".join(said) if value else "none") if all(said) else ""
    if isinstance(value, dict):
        named = {_plain(v, keys) for k, v in value.items() if k.lower() in keys}
        if not named and value and all(isinstance(v, bool) for v in value.values()):
            return ", ".join(k for k, v in value.items() if v)
        only = {_plain(v, keys) for v in value.values()} if len(value) == 1 else set()
        return (named or only).pop() if len(named or only) == 1 else ""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _opens(text: str, at: int, to: int) -> bool:
    """Whether the label in ``text[at:to]`` opens it and stands alone ("No, it is not.")."""
    return (
        not _item(text[:at]).strip(WRAPPING)
        and re.match(r"[\"'”’*_]*(?:[,.;:!\n]|\s[-–—]|\s*$)", text[to:]) is not None
    )


def _end(text: str, start: int) -> int:
    """Where the sentence that begins at ``start`` ends."""
    match = _SENTENCE_END.search(text, start)
    return match.end() if match else len(text)


def _item(line: str) -> str:
    """A line of a list without its bullet or number."""
    marker = _MARKER.match(line)
    return line[marker.end() :] if marker else line


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
