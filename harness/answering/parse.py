"""Reading answers: which labels does a reply state? Never a guess.

Whole labels only, the longest first; wrappers stripped; a bare label or an explicit cue ("Answer: …")
before a mention; a negated label is no label, nor is one asked about; refusals have their own category.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

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
_STOP = re.compile(r"[.!?;\n(]")
# A negation holds to the end of its clause; "but" turns it, an aside does not end it ("not, I think, …").
_NEGATION = re.compile(
    r"\b(?:not(?! only\b)|no(?! (?:doubt|question|wonder)\b)|non|never|neither|nor|none|nothing|nobody"
    r"|without(?! (?:a |any )?(?:doubt|question)\b)|cannot|hardly|barely|scarcely"
    r"|rather than|instead of|far from|anything (?:but|other than)|opposite of|absence of|lack(?:s|ing)?"
    r"|fail(?:s|ed)? to|unlikely|(?:wrong|incorrect|mistake) to|(?:i|we|would) (?:\w+ )?doubt|doubtful"
    r"|(?:is|was|does|do|did|would|ca)nt)\b|n['’]t\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.!?;:,\n()]|(?<!anything )\b(?:but|except|other than|apart from)\b|\b(?:therefore|thus|hence)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"((?:\bnot|n['’]t)),[^,.;!?\n]*,", re.IGNORECASE)
_DENIAL = re.compile(
    r"[\"'”’*_]*(?:\s*[:=?|]\s*[\"'*_]*(?:no|false|n/a)\b\W*(?:\n|$|[,;|])"
    r"|[ \t]*[:=?|(–—-]?[ \t]*[\"'*_]*"
    r"(?:no violations?|not (?:violated|breached|applicable|relevant|infringed))\b"
    r"|\s+(?:is|are|was|were|would|does|do|did|has|have|can|could|should)(?:\s+be(?:en)?)?"
    r"(?:n['’]t|\s+(?:not|never|wrong|incorrect|respected|complied|inapplicable)\b))",
    re.IGNORECASE,
)
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
# What joins the labels of a list within one sentence.
_JOINED = re.compile(
    r"[\"'”’*_]*(?: *, *(?:and |or |nor )?| +(?:and|or|nor|as well as) +| *[/&] *)[\"'“‘*_]*", re.I
)
_NUMBERED = re.compile(
    r"(?P<head>[A-Za-z]+) (?P<number>\d+)(?: of (?P<whole>[A-Za-z]+) (?P<part>\d+))?", re.ASCII
)
# Sections of one article: "§ 1", "§§ 1 and 3 (d)"; what joins the numbers of articles.
_SECTION = r"\s*§§?\s*\d+(?:\s*(?:,|and|-|–)\s*\d+(?!\w))*"
_PARAGRAPH = re.compile(rf"\(\w+\)|{_SECTION}")
_JOIN = r"\s*(?:,\s*(?:and\s+|or\s+)?|\band\s+|&\s*|\bor\s+)"
_WRAPPING = " \t\r\n\"'“”‘’`*_()[]{}<>.,;:!#-–—"
_JSON_KEYS = frozenset(
    [
        *("answer", "final_answer", "label", "labels", "sentiment", "classification", "prediction"),
        *("category", "categories", "topic", "topics", "concept", "concepts", "output", "result"),
        *("article", "articles", "violated_articles"),
    ]
)
# What a clause has at most in characters, and a text in JSON objects, so that reading takes linear time.
_CLAUSE = 1000
_OBJECTS = 20
_SMALL_WORDS = frozenset(["no", "none", "not", "neither", "it", "he", "she", "they", "an"])


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
        text = _spelled_out(unwrap_json(text), self.labels)
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
        folds = [" ".join(label.lower().split()) for label in self.labels]
        longer = {(f, o) for f in folds for o in folds if o != f and o.startswith(f)}
        return any(end.endswith(o[:to]) for f, o in longer for to in range(len(f), len(o)))

    def _exact(self, text: str, folded: bool = True) -> frozenset[str] | None:
        """The label that ``text`` is and, if ``folded``, singular for plural where that leaves no doubt."""
        exact, other_number = _folds(self.labels)
        bare = _fold(text)
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
        answered = _NONE.match(before) or next(_mentions(before, self.labels, 0, len(before)), None)
        return before if answered else text

    def _without_reasons(self, text: str) -> str:
        """List items without what they say about their label ("- trade: it concerns the budget")."""
        return "\n".join(map(self._without_reason, text.split("\n")))

    def _without_reason(self, line: str) -> str:
        item = _ITEM.match(line)
        first = next(_mentions(line, self.labels, item.end(), len(line)), None) if item else None
        if item is None or first is None or line[item.end() : first[1]].strip(_WRAPPING):
            return line
        denied = _DENIAL.match(line, first[2])
        return line if denied or not _ITEM_REASON.match(line, first[2]) else line[: first[2]]

    def _mentioned(self, text: str, start: int, end: int, cued: bool = False) -> frozenset[str] | None:
        """The labels mentioned; those that are small words too ("a", "no") only cued, or at the beginning."""
        found = frozenset(
            label
            for label, at, to in _affirmed(text, self.labels, start, end)
            if (cued or not _is_word(label) or (len(label) > 1 and _opens(text, at, to)))
            and not _asked(text, to)
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


def _affirmed(text: str, labels: tuple[str, ...], start: int, end: int) -> list[tuple[str, int, int]]:
    """The mentions that nothing negates before them or denies after them, alone or with their neighbours."""
    mentions = list(_mentions(text, labels, start, end))
    joined = [_JOINED.fullmatch(text, one[2], other[1]) is not None for one, other in pairwise(mentions)]
    before = [negated(text, at) for _, at, _ in mentions]
    after = [_DENIAL.match(text, to) is not None for *_, to in mentions]
    for i, together in enumerate(joined):  # "no violation of Article 3, Article 5 or Article 8"
        before[i + 1] |= before[i] and together
    for i, together in reversed(list(enumerate(joined))):  # "Article 3 and Article 8 were not violated"
        after[i] |= after[i + 1] and together
    return [m for m, no, denied in zip(mentions, before, after, strict=True) if not (no or denied)]


def _mentions(text: str, labels: tuple[str, ...], start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Whole labels in ``text[start:end]`` with their places, the longest label at a place."""
    expression, by_fold = _expression(labels)
    for match in expression.finditer(text, start, end):
        # Nothing for what the expression takes for a letter that it is not, as it does "ſ" for "s".
        label = by_fold.get(" ".join(match[0].lower().split()))
        if label is not None:
            yield (label, *match.span())


@lru_cache(maxsize=64)
def _expression(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds the labels, the longest first, and the labels by their folded text."""
    by_fold = {" ".join(label.lower().split()): label for label in labels}
    parts = {match["whole"] for label in labels if (match := _NUMBERED.fullmatch(label)) and match["whole"]}
    # "Article 3 of Protocol 4" is no "Article 3", where there is an "Article 1 of Protocol 1".
    other = rf"(?!\s+(?:of\s+)?(?:the\s+)?(?:\w+\s+)?(?:{'|'.join(sorted(parts))})\b)" if parts else ""
    words = "|".join(map(partial(_word_expression, by_fold, other), sorted(by_fold, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE), by_fold


def _word_expression(by_fold: dict[str, str], other: str, fold: str) -> str:
    if fold.isdigit():
        return rf"(?<!\d[.,]){fold}(?![.,]\d)"
    if len(fold) == 1:
        return rf"(?-i:{re.escape(by_fold[fold])})"
    numbered = _NUMBERED.fullmatch(by_fold[fold])
    whole = r"\s+".join(map(re.escape, fold.split()))
    return whole + (rf"{other}(?!\s+(?:to|through)\s+\d)" if numbered and not numbered["whole"] else "")


def _spelled_out(text: str, labels: tuple[str, ...]) -> str:
    """``text`` with numbered labels spelled as the task's: "Articles 3 and 8", "Art. 6 § 1", "P1-1"."""
    for head, expression in _enumerations(labels):
        text = expression.sub(partial(_one_by_one, head), text)
    for label, expression in _spellings(labels):
        text = expression.sub(label, text)
    return text


def _one_by_one(head: str, match: re.Match[str]) -> str:
    return " and ".join(f"{head} {number}" for number in re.findall(r"\d+", _PARAGRAPH.sub("", match["all"])))


@lru_cache(maxsize=64)
def _enumerations(labels: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    heads = {match["head"] for label in labels if (match := _NUMBERED.fullmatch(label))}
    return tuple(
        (
            head,
            re.compile(
                rf"(?<![\w-])(?:{head}s?|{head[:3]}s?\.)\s*(?:no\.?\s*)?(?P<all>\d+(?:\(\w+\))*"
                rf"(?:{_SECTION}|(?:{_JOIN}\d+(?:\(\w+\))*(?![\w.]\w|\s*§))*))(?!\w)",
                re.IGNORECASE,
            ),
        )
        for head in sorted(heads)
    )


@lru_cache(maxsize=64)
def _spellings(labels: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Other ways to write "Article 1 of Protocol 1"; "P1-1" is the Court's own."""
    found = []
    for label in labels:
        match = _NUMBERED.fullmatch(label)
        if match and match["whole"]:
            head, number, whole, part = match.groups()
            no = r"\s*(?:no\.?|n°|#)?\s*"
            ways = [
                rf"{head}{no}{number},?\s+(?:of\s+)?(?:the\s+)?{whole}{no}{part}",
                rf"{whole}{no}{part}\s*[,:-]?\s*{head}{no}{number}",
                rf"{whole[0]}{part}-{number}",
                rf"{head[0]}{number}{whole[0]}{part}",
                *([rf"{head}\s+{number},?\s+(?:of\s+)?(?:the\s+)?first\s+{whole}"] if part == "1" else []),
            ]
            found.append((label, re.compile(rf"(?<![\w-])(?:{'|'.join(ways)})(?![\w-])", re.IGNORECASE)))
    return tuple(found)


@lru_cache(maxsize=64)
def _folds(labels: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Labels by their folded text, and by its other number ("governing law") where it is one label's only."""
    exact: dict[str, str] = {}
    for label in labels:
        exact.setdefault(_fold(label), label)
    others = {fold: _other_numbers(fold) for fold in exact if fold}
    count = Counter(other for found in others.values() for other in found)
    number = {
        other: exact[fold]
        for fold, found in others.items()
        for other in found
        if count[other] == 1 and other not in exact and len(other) > 2
    }
    return exact, number


def _other_numbers(fold: str) -> set[str]:
    """The plural of a label, and what it is the plural of."""
    singular = (fold[:-1], fold[:-2], fold[:-3] + "y")
    return {_plural(fold), *(one for one in singular if one and _plural(one) == fold)}


def _plural(word: str) -> str:
    if re.search(r"[^aeiou\W\d]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(?:s|x|z|ch|sh)$", word) else "s")


def _is_word(label: str) -> bool:
    return len(label) == 1 or label.lower() in _SMALL_WORDS


def _opens(text: str, at: int, to: int) -> bool:
    """Whether the label in ``text[at:to]`` opens it and stands alone ("No, it is not.")."""
    return (
        not _item(text[:at]).strip(_WRAPPING)
        and re.match(r"[\"'”’*_]*(?:[,.;:!\n]|\s[-–—]|\s*$)", text[to:]) is not None
    )


def _asked(text: str, to: int) -> bool:
    """Whether what ends at ``to`` is in a question."""
    stop = _STOP.search(text, to, to + _CLAUSE)
    return stop is not None and stop[0] == "?"


def negated(text: str, at: int) -> bool:
    """Whether a negation stands before ``at`` in its clause."""
    before = _ASIDE.sub(r"\1", text[max(0, at - _CLAUSE) : at])
    begin = max((match.end() for match in _CLAUSE_END.finditer(before)), default=0)
    return _NEGATION.search(before, begin) is not None


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


def _fold(text: str) -> str:
    """``text`` without its wrapping, in one case; a number keeps its sign."""
    bare = text.strip(_WRAPPING)
    if bare[:1].isdigit() and (sign := text[: text.index(bare)][-1:]) and sign in "-–.":
        bare = sign + bare
    return " ".join(bare.lower().split())
