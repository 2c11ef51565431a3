"""How a reply may write a task's labels, where it mentions them, and which mentions it denies.

Only whole labels count, the longest first; a singular stands for a plural where that is unambiguous. A
negation before a label, a denial after it, or a question retracts it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import pairwise

# A negation extends to the end of its clause; "but" ends it, an aside does not ("not, I think, …").
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
DENIAL = re.compile(
    r"[\"'”’*_]*(?:\s*[:=?|]\s*[\"'*_]*(?:no|false|n/a)\b\W*(?:\n|$|[,;|])"
    r"|[ \t]*[:=?|(–—-]?[ \t]*[\"'*_]*"
    r"(?:no violations?|not (?:violated|breached|applicable|relevant|infringed))\b"
    r"|\s+(?:is|are|was|were|would|does|do|did|has|have|can|could|should)(?:\s+be(?:en)?)?"
    r"(?:n['’]t|\s+(?:not|never|wrong|incorrect|respected|complied|inapplicable)\b))",
    re.IGNORECASE,
)
# Separators of a list of labels within one sentence.
_JOINED = re.compile(
    r"[\"'”’*_]*(?: *, *(?:and |or |nor )?| +(?:and|or|nor|as well as) +| *[/&] *)[\"'“‘*_]*", re.I
)
_STOP = re.compile(r"[.!?;\n(]")
_NUMBERED = re.compile(
    r"(?P<head>[A-Za-z]+) (?P<number>\d+)(?: of (?P<whole>[A-Za-z]+) (?P<part>\d+))?", re.ASCII
)
# Sections of one article ("§ 1", "§§ 1 and 3 (d)"), and separators of article numbers.
_SECTION = r"\s*§§?\s*\d+(?:\s*(?:,|and|-|–)\s*\d+(?!\w))*"
_PARAGRAPH = re.compile(rf"\(\w+\)|{_SECTION}")
_JOIN = r"\s*(?:,\s*(?:and\s+|or\s+)?|\band\s+|&\s*|\bor\s+)"
WRAPPING = " \t\r\n\"'“”‘’`*_()[]{}<>.,;:!#-–—"
_CLAUSE = 1000  # most characters, so that reading takes linear time
_SMALL_WORDS = frozenset(["no", "none", "not", "neither", "it", "he", "she", "they", "an"])


def affirmed(text: str, labels: tuple[str, ...], start: int, end: int) -> list[tuple[str, int, int]]:
    """Return the mentions that nothing negates before or denies after them.

    A negation or denial also applies to neighbours joined to the mention.
    """
    spans = list(mentions(text, labels, start, end))
    joined = [
        _JOINED.fullmatch(text, span[2], next_span[1]) is not None for span, next_span in pairwise(spans)
    ]
    before = [negated(text, at) for _, at, _ in spans]
    after = [DENIAL.match(text, to) is not None for *_, to in spans]
    for i, together in enumerate(joined):  # "no violation of Article 3, Article 5 or Article 8"
        before[i + 1] |= before[i] and together
    for i, together in reversed(list(enumerate(joined))):  # "Article 3 and Article 8 were not violated"
        after[i] |= after[i + 1] and together
    return [m for m, no, denied in zip(spans, before, after, strict=True) if not (no or denied)]


def mentions(text: str, labels: tuple[str, ...], start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Yield whole labels in ``text[start:end]`` with their spans, the longest label at each position."""
    expression, by_fold = _expression(labels)
    for match in expression.finditer(text, start, end):
        # No label where ignoring case matched another letter, such as "ſ" for "s".
        label = by_fold.get(" ".join(match[0].lower().split()))
        if label is not None:
            yield (label, *match.span())


def in_question(text: str, to: int) -> bool:
    """Return whether the text that ends at ``to`` is in a question."""
    stop = _STOP.search(text, to, to + _CLAUSE)
    return stop is not None and stop[0] == "?"


def negated(text: str, at: int) -> bool:
    """Return whether a negation precedes ``at`` in its clause."""
    before = _ASIDE.sub(r"\1", text[max(0, at - _CLAUSE) : at])
    begin = max((match.end() for match in _CLAUSE_END.finditer(before)), default=0)
    return _NEGATION.search(before, begin) is not None


def is_word(label: str) -> bool:
    """Return whether a sentence may use ``label`` without meaning it: a single letter, "no", "it"."""
    return len(label) == 1 or label.lower() in _SMALL_WORDS


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
def _expression(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, str]]:
    """Return an expression that finds the labels, the longest first, and the labels by their folded text."""
    by_fold = {" ".join(label.lower().split()): label for label in labels}
    parts = {match["whole"] for label in labels if (match := _NUMBERED.fullmatch(label)) and match["whole"]}
    # "Article 3 of Protocol 4" is not "Article 3" if there is an "Article 1 of Protocol 1".
    other = rf"(?!\s+(?:of\s+)?(?:the\s+)?(?:\w+\s+)?(?:{'|'.join(sorted(parts))})\b)" if parts else ""
    words = "|".join(map(partial(_word_expression, by_fold, other), sorted(by_fold, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE), by_fold


def _word_expression(by_fold: dict[str, str], other: str, folded: str) -> str:
    if folded.isdigit():
        return rf"(?<!\d[.,]){folded}(?![.,]\d)"
    if len(folded) == 1:
        return rf"(?-i:{re.escape(by_fold[folded])})"
    numbered = _NUMBERED.fullmatch(by_fold[folded])
    whole = r"\s+".join(map(re.escape, folded.split()))
    return whole + (rf"{other}(?!\s+(?:to|through)\s+\d)" if numbered and not numbered["whole"] else "")


@lru_cache(maxsize=64)
def folds(labels: tuple[str, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Return labels by folded text, and by its other number ("governing law") where that is unambiguous."""
    exact: dict[str, str] = {}
    for label in labels:
        exact.setdefault(fold(label), label)
    others = {bare: _other_numbers(bare) for bare in exact if bare}
    count = Counter(form for forms in others.values() for form in forms)
    number = {
        form: exact[bare]
        for bare, forms in others.items()
        for form in forms
        if count[form] == 1 and form not in exact and len(form) > 2
    }
    return exact, number


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
    return " ".join(bare.lower().split())
