"""The ways in which a reply may write a task's labels: each is marked in the text by one character.

Only whole labels count, the longest first. "hate_speech", "hate-speech" and "HateSpeech" stand for "hate
speech", and a singular stands for a plural where that is unambiguous.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache, partial

from harness.answering.clauses import MARK
from harness.answering.turns import plain

_NUMBERED = re.compile(
    r"(?P<head>[A-Za-z]+) (?P<number>\d+)(?: of (?P<whole>[A-Za-z]+) (?P<part>\d+))?", re.ASCII
)
# Sections of one article ("§ 1", "§§ 1 and 3 (d)"), and separators of article numbers.
_SECTION = r"\s*§§?\s*\d+(?:\s*(?:,|and|-|–)\s*\d+(?!\w))*"
_PARAGRAPH = re.compile(rf"\(\w+\)|{_SECTION}")
_JOIN = r"\s*(?:,\s*(?:and\s+|or\s+)?|\band\s+|&\s*|\bor\s+)"
WRAPPING = " \t\r\n\"'“”‘’`*_()[]{}<>.,;:!#-–—"
_STEP = re.compile(r"\d+(?:\.\d+)?")
_SEPARATORS = re.compile(r"[\s_/-]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SMALL_WORDS = frozenset(["no", "none", "not", "neither", "it", "he", "she", "they", "an"])


def mark(place: int) -> str:
    """Return the character that stands for the label at ``place`` in the task's list."""
    return chr(MARK + place)


def marked(text: str, labels: tuple[str, ...]) -> str:
    """Return ``text`` with each whole label replaced by its mark, the longest label at each position."""
    expression, spaced, squashed = _expression(labels)

    def by_mark(match: re.Match[str]) -> str:
        # No label where ignoring case matched another letter, such as "ſ" for "s".
        place = spaced.get(_spaced(match[0]), squashed.get(_squashed(match[0])))
        return match[0] if place is None else mark(place)

    return expression.sub(by_mark, text)


def offered(prompt: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the numbers or letters that ``prompt`` gives to the labels ("A) World"), in their order.

    None are returned unless every label has one of its own.
    """
    keys = []
    for label in labels:
        given = re.findall(rf"(?<!\w)([A-Za-z]|\d{{1,2}})\s?[).:=]\s?{re.escape(label)}(?!\w)", prompt)
        keys.append({key.upper() for key in given})
    found = tuple(key for each in keys if len(each) == 1 for key in each)
    taken = {fold(label) for label in labels}
    whole = len(found) == len(set(found)) == len(labels) and not taken & {fold(key) for key in found}
    return found if whole else ()


def small(labels: tuple[str, ...]) -> frozenset[str]:
    """Return the marks of labels that a sentence may use without meaning them: a single letter, "no"."""
    return frozenset(
        mark(i) for i, label in enumerate(labels) if len(label) == 1 or label.lower() in _SMALL_WORDS
    )


def spelled_out(text: str, labels: tuple[str, ...]) -> str:
    """Return ``text`` with numbered labels in the task's spelling: "Articles 3 and 8", "P1-1"."""
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
    """Return other ways to write "Article 1 of Protocol 1"; "P1-1" is the Court's own."""
    expressions = []
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
            expressions.append(
                (label, re.compile(rf"(?<![\w-])(?:{'|'.join(ways)})(?![\w-])", re.IGNORECASE))
            )
    return tuple(expressions)


@lru_cache(maxsize=64)
def _expression(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int], dict[str, int]]:
    """Return an expression that finds labels, and their places by spelling, with and without separators."""
    forms = {_spaced(label): place for place, label in reversed(list(enumerate(map(plain, labels))))}
    forms |= _other_number_forms(forms)
    count = Counter(map(_squashed, forms))
    squashed = {_squashed(form): place for form, place in forms.items() if count[_squashed(form)] == 1}
    parts = {match["whole"] for label in labels if (match := _NUMBERED.fullmatch(label)) and match["whole"]}
    # "Article 3 of Protocol 4" is not "Article 3" if there is an "Article 1 of Protocol 1".
    other = rf"(?!\s+(?:of\s+)?(?:the\s+)?(?:\w+\s+)?(?:{'|'.join(sorted(parts))})\b)" if parts else ""
    spelled = {_spaced(label): plain(label) for label in labels}
    longest = sorted(forms, key=len, reverse=True)
    words = "|".join(_word(spelled.get(form, form), other) for form in longest)
    return re.compile(words, re.IGNORECASE), forms, squashed


def _word(label: str, other: str) -> str:
    before = "" if _UNSPACED.match(label) else r"(?<![\w-])"
    after = "" if _UNSPACED.match(label[-1:]) else r"(?![\w-])"
    if _STEP.fullmatch(label):
        sign = r"(?<![\w/-])(?<!(?<!\w)[–.])"  # "–3", ".3"
        return rf"{sign}(?<!\d[.,])(?<!/ ){re.escape(label)}(?![\w-]|[.,]\d|\s?/|\s?out\sof|\s?%)"
    if len(label) == 1 and label.isalpha() and label.upper() != label.lower():
        return rf"{before}(?-i:{re.escape(label)}){after}"
    numbered = _NUMBERED.fullmatch(label)
    whole = r"[\s_/-]{0,2}".join(map(re.escape, _parts(label)))
    return (
        before
        + whole
        + after
        + (rf"{other}(?!\s+(?:to|through)\s+\d)" if numbered and not numbered["whole"] else "")
    )


def _parts(label: str) -> list[str]:
    return [part for part in _SEPARATORS.split(_CAMEL.sub(" ", label)) if part] or [label]


def _spaced(text: str) -> str:
    return " ".join(text.lower().split())


def _squashed(text: str) -> str:
    return _SEPARATORS.sub("", text.lower())


def _other_number_forms(forms: dict[str, int]) -> dict[str, int]:
    """Return the labels in their other number ("governing law") where that is unambiguous."""
    others = {form: _other_numbers(form) for form in forms if len(form) > 2}
    count = Counter(other for found in others.values() for other in found)
    return {
        other: forms[form]
        for form, found in others.items()
        for other in found
        if count[other] == 1 and other not in forms and len(other) > 2
    }


def _other_numbers(bare: str) -> set[str]:
    """Return the plural of a label, and the singulars of which it is the plural."""
    singular = (bare[:-1], bare[:-2], bare[:-3] + "y")
    return {_plural(bare), *(form for form in singular if form and _plural(form) == bare)}


def _plural(word: str) -> str:
    if re.search(r"[^aeiou\W\d]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search(r"(?:s|x|z|ch|sh)$", word) else "s")


def fold(text: str) -> str:
    """Return ``text`` in lower case without its wrapping; a number keeps its sign."""
    bare = text.strip(WRAPPING)
    if bare[:1].isdigit() and (sign := text[: text.index(bare)][-1:]) and sign in "-–.":
        bare = sign + bare
    return _spaced(bare)
