"""Reads the labels that a reply states, without ever guessing.

What counts as an answer:

    reply      = turn, without its thoughts, in the final channel if there are channels   (``turns``)
    answer     = structure | text
    structure  = JSON | <answer>text</answer> | \\boxed{text}                              (``structured``)
    text       = { sentence }                                                             (``clauses``)
    sentence   = [ lead-in "," ] ( statement | cue ":" label ) [ reason ]
    statement  = label, and no other words but those of a closed list                     (``words``)
    label      = a whole label of the task, or a number or letter that is one             (``labels``)

A label that a sentence denies, doubts, asks about or only mentions is none. Where statements disagree, a
"final answer" outranks the others; otherwise nothing is read. Of a reply that was cut, only a whole structure
or a bare label counts. All of it takes time linear in the length of the reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from harness.answering import turns
from harness.answering.clauses import MARK, NONE, Grammar, Stated, Statement, is_mark
from harness.answering.labels import fold, mark, marked, small, spelled_out
from harness.answering.structured import taken_out
from harness.answering.words import denying, languages, simplified
from harness.core import Outcome, Reply, Unread
from harness.replies import finish

_REFUSAL = re.compile(
    r"\b(?:i['’]?m sorry|i apologi[sz]e|as an? (?:ai|(?:large )?language model)\b|i must decline"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|will not|am unable|['’]m unable|am not able)"
    r"(?! (?:recommend|praise|stop|wait|believe|overstate|thank|imagine|fault|complain)\b)"
    r"|i['’]m (?:unable|not able|not comfortable)|i do(?:n['’]t| not) feel comfortable"
    r"|(?:(?:we|it|sorry,?(?: but)?) (?:can['’]?t|cannot) (?:be )?|unable to |not able to )"
    r"(?:assist|help|comply|determine|provide|answer|judge|classif)"
    r"|es tut mir leid|ich kann (?:das|diese|dabei|ihnen)\b.{0,60}\bnicht|je suis désolée?|je ne peux pas"
    r"|lo siento|no puedo|mi dispiace|non posso|desculpe|não posso|het spijt me|ik kan (?:niet|hier)"
    r"|przykro mi|nie mogę|извините|я не могу)"
    r"|抱歉|对不起|申し訳|죄송",
    re.IGNORECASE,
)
_NO_LABEL = re.compile(
    r"\b(?:none|no (?:(?:relevant|applicable) )?(?:labels?|violations?|articles?|topics?|concepts?)"
    r"|nothing|n/a)\b"
    r"(?: of (?:the|them|these|those)\b(?: (?:above|listed|given|labels|articles|options|articles listed))?"
    r"| (?:applies|apply|applicable|(?:was|were|is|are|have been|has been)? ?(?:violated|found)))?"
    r"(?! of (?:the |a )?[\w\U000f0000-\U000ffffd])(?! (?:under|with)\b)",
    re.IGNORECASE,
)
_EXCEPT = re.compile(r"\b(?:except|other than|apart from|but|only)\b", re.IGNORECASE)
_SECTION = re.compile(
    r"[\s#>*_-]*(?:explanation|reason(?:ing|s)?|rationale|justification|notes?|thoughts?|thinking"
    r"|thought process|chain of thought|analysis|begründung|explication|explicación|spiegazione)"
    r"(?![^\W_])[\s*_]*:",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"[\s#>*_-]*(?:(?:my|the|final|so|therefore,?)\s)*"
    r"(?:answer|labels?|classification|sentiment|category|verdict|response|output|result|score|rating"
    r"|prediction|topic)(?![^\W_])[\s*_]*(?::|$|is\b)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[ >]*(?:[-*•+–·] |\d{1,3}[.)] |\(\d{1,3}\) )", re.MULTILINE)
_LETTERED = re.compile(
    r"^[ >]*(?:(?:option|choice|answer|label|category) )?\(?(?:\d{1,3}|[a-zA-Z])[.):] (?=\W*\w)",
    re.MULTILINE | re.IGNORECASE,
)
_FIRST = re.compile(r"^[ >]*1[.)] (?=\W*\w)", re.MULTILINE)  # of a list, not the label 1
_ITEM = "\x1e"
_ITEM_REASON = re.compile(
    rf"({_ITEM}[\"'(\s]{{0,3}}[\U000f0000-\U000ffffd][\"')]{{0,3}})"
    r"(\s?[:–—(]|\s-+\s|,?\s(?:because|since|as)\b)([^\n]*)"
)
_DENIED_NEXT = re.compile(rf"([\U000f0000-\U000ffffd][\"')\s]{{0,4}}[:|(–—-]+\s?){NONE}")
_QUOTED = re.compile(r"\"[^\"]{0,400}\"|(?<!\w)'.{1,400}?'(?!\w)")
_HTML = re.compile(r"</?(?:b|i|u|p|em|strong|span|div|code|mark|br)\s?/?>", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()\n]{0,300}\)(?=[\s*_]{0,4}[:=])")
_LETTER = re.compile(
    r"(^[^\w\n]*|\b(?:answer|option|choice|label)\b\W{0,4}(?:is\W{1,3})?)([a-z])(?=[^\w\n]{0,8}$)",
    re.MULTILINE | re.IGNORECASE,
)


SHORT = 200
"""The most characters of a reply whose reading is remembered."""


@dataclass(frozen=True, slots=True)
class LabelReader:
    """Reads a task's label from a reply or, for a multi-label task, its possibly empty set of labels.

    ``offered`` are the numbers or letters that the prompt gave to the labels, in their order, if it did.
    """

    labels: tuple[str, ...]
    multi_label: bool = False
    offered: tuple[str, ...] = ()

    @property
    def _names(self) -> tuple[str, ...]:
        return self.labels + self.offered

    def __call__(self, reply: Reply) -> Outcome:
        """Return the labels, or the reason there are none."""
        if len(reply.text) > SHORT:
            return self.read(reply.text, reply.finish_reason)
        return _remembered(self, reply.text, reply.finish_reason)

    def read(self, said: str, finish_reason: str | None) -> Outcome:
        """Return the labels of a reply with the text ``said``, or the reason there are none."""
        text, reason = spoken(said, finish_reason)
        if text is None:
            return Outcome(reason=reason)
        cut = reason == "truncated"
        labels = self._whole(text) if cut else self._labels(text)
        if labels is not None:
            return Outcome(labels=labels)
        return Outcome(reason=reason or ("refused" if refuses(text) else "unparsed"))

    def _whole(self, text: str) -> frozenset[str] | None:
        """Return the labels of a reply that was cut, where they are whole."""
        inner, structure = taken_out(text, boxed=False)
        if structure:
            return self._labels(inner)
        place = _places(self._names).get(fold(text))
        return None if place is None or self.multi_label or self._may_go_on(place) else self._named([place])

    def _may_go_on(self, place: int) -> bool:
        """Return whether another name begins with the one at ``place``."""
        begun, others = fold(self._names[place]), [*self._names[:place], *self._names[place + 1 :]]
        return any(fold(other).startswith(begun) for other in others)

    def _named(self, places: Iterable[int]) -> frozenset[str]:
        """Return the labels whose names are at ``places``."""
        return frozenset(self.labels[place % len(self.labels)] for place in places)

    def _labels(self, text: str) -> frozenset[str] | None:
        text, _ = taken_out(text)
        whole = _places(self._names).get(fold(text))
        if whole is not None:
            return self._named([whole])
        stated = _grammar(self._names, self.multi_label).read(self._marked(text))
        marks = self._agreed(stated, _EXCEPT.search(text) is not None)
        return None if marks is None else self._named(ord(mark) - MARK for mark in marks if mark != NONE)

    def _unified(self, marks: Iterable[str]) -> frozenset[str]:
        """Return marks of labels for those of their numbers or letters."""
        return frozenset(m if m == NONE else mark((ord(m) - MARK) % len(self.labels)) for m in marks)

    def _marked(self, text: str) -> str:
        text = without_sections(text)
        if 1 not in map(len, self._names):
            text = _LETTERED.sub(f"\n\n{_ITEM}", text)
        else:
            text = self._listed_apart(text.replace("**", ""))
        text = tidy(spelled_out(text, self.labels))
        said = simplified(unquoted(marked(text, self._names)))
        if self.multi_label:
            said = _DENIED_NEXT.sub(r"\1not", _NO_LABEL.sub(NONE, said))
        return _ITEM_REASON.sub(_without_reason, said).replace(_ITEM, "\n\n")

    def _listed_apart(self, text: str) -> str:
        """Return the text with each label that is a number or a letter written as in the task's list."""
        text = _LETTERED.sub(r"\n\n\g<0>", _FIRST.sub("\n\n", text))
        if any(label.isdecimal() for label in self.labels):
            return _of_scale(text, self.labels)
        return _LETTER.sub(lambda match: match[1] + match[2].upper(), text)

    def _agreed(self, stated: Stated, excepting: bool) -> frozenset[str] | None:
        """Return the marks on which the statements agree; None where they do not."""
        statements = ranked(stated.statements, cues=self.multi_label)
        if not statements:
            return None
        if self.multi_label and statements[0].cue:
            found = {self._unified(statement.marks) for statement in statements}
            marks = found.pop() if len(found) == 1 else frozenset()
        else:
            marks = self._unified(mark for statement in statements for mark in statement.marks)
        if not marks or (NONE in marks and len(marks) > 1 and not excepting):
            return None
        if self._unified(stated.rivals) - marks and not any(statement.final for statement in statements):
            return None
        sure = any(statement.cue or statement.opens for statement in statements)
        if self.multi_label:
            sure = statements[0].cue
        if not sure and self._unified(stated.mentioned) - marks:
            return None
        return marks if self.multi_label or len(marks) == 1 else None


@lru_cache(maxsize=4096)
def _remembered(reader: LabelReader, said: str, finish_reason: str | None) -> Outcome:
    """Return what ``reader`` reads, once for equal replies: a classifying model has few different ones."""
    return reader.read(said, finish_reason)


def spoken(said: str, finish_reason: str | None) -> tuple[str | None, Unread | None]:
    """Return the answer in a reply, or None with the reason there is none.

    The reason is "truncated" beside a text that was cut: what is not whole in it is no answer. A reply whose
    thoughts never end was cut, too, whatever its finish reason says.
    """
    why = finish(finish_reason)
    if why not in ("stop", "length"):
        reasons: dict[str, Unread] = {"filter": "filtered", "refusal": "refused", "failure": "failed"}
        return None, reasons.get(why, "unparsed")
    cut = why == "length"
    text = turns.answer(said)
    if text is None:
        return None, "truncated"
    return text, "truncated" if cut else None


def ranked(statements: list[Statement], cues: bool = True) -> list[Statement]:
    """Return the statements that outrank the others: final ones or, if ``cues``, those that have a cue."""
    finals = [statement for statement in statements if statement.final and statement.cue]
    cued = [statement for statement in statements if statement.cue] if cues else []
    return finals or cued or statements


def refuses(text: str) -> bool:
    """Return whether the model says that it will not or cannot answer."""
    return _REFUSAL.search(text) is not None


def without_sections(text: str) -> str:
    """Return the text without the lines that a heading introduces as reasons, up to the next answer."""
    kept: list[str] = []
    reasons = False
    for line in text.split("\n"):
        reasons = not _HEADING.match(line) if reasons else _SECTION.match(line) is not None
        if not reasons:
            kept.append(line)
    return "\n".join(kept)


def tidy(text: str, bullets: bool = True) -> str:
    """Return the text without its markup; items of lists begin with ``_ITEM``."""
    text = re.sub(r"[ \t]+", " ", text)
    text = re.sub(r"\n(?: ?\n)+", "\n\n", text)
    text = re.sub(r"^ ?#+ ?([^\n]*)", r"\n\n\1\n\n", text, flags=re.MULTILINE)
    if bullets:
        text = _BULLET.sub(f"\n\n{_ITEM}", text)
    text = re.sub(r"~~[^~\n]{1,300}~~", " ", _HTML.sub("", text))
    text = re.sub(r"[*`$\\]+|(?<!\w)_+|_+(?!\w)", "", text)
    return _ASIDE.sub("", text)


def unquoted(text: str) -> str:
    """Return ``text``, in which marks stand for labels, without the passages that it quotes."""
    lines = text.split("\n")
    return "\n".join(_QUOTED.sub(_passage, line) if line.count('"') % 2 == 0 else line for line in lines)


def _passage(quoted: re.Match[str]) -> str:
    inner = quoted[0][1:-1]
    return quoted[0] if " " not in inner.strip() or any(map(is_mark, inner)) else " "


def _of_scale(text: str, labels: tuple[str, ...]) -> str:
    """Return the text with steps in full ("4/5", "4 out of 5 stars") as bare steps."""
    most = max((label for label in labels if label.isdecimal()), key=int)
    return re.sub(
        rf"(?<![\w/.,])(\d+)(?:\s?(?:/|out of)\s?{most}(?!\w|[.,]\d)(?:\s?stars?)?"
        rf"|\s?stars? out of {most}(?!\w)|\s?stars?\b)",
        r"\1",
        text,
        flags=re.IGNORECASE,
    )


def _without_reason(item: re.Match[str]) -> str:
    """Strip an item of what it says about its label, unless that denies it."""
    first = re.findall(r"\w+(?:'\w+)*", item[3][:60])[:3]
    denied = any(map(denying, map(str.lower, first))) and all(
        denying(word.lower()) or languages(word.lower()) or word.lower() == "violated" for word in first
    )
    return item[0] if denied or NONE in item[3][:4] else item[1] + "\n"


@lru_cache(maxsize=64)
def _grammar(names: tuple[str, ...], several: bool) -> Grammar:
    return Grammar(several, small(names), any(denying(fold(name)) for name in names))


@lru_cache(maxsize=64)
def _places(names: tuple[str, ...]) -> dict[str, int]:
    """Return the places of the names by their folded text."""
    return {fold(turns.plain(name)): place for place, name in reversed(list(enumerate(names)))}
