"""The words in which replies state an answer, deny it or leave it open, in ten languages.

A sentence states an answer only if all its other words are in the closed list of one language
(``data/answers.toml``); so a word that is in no list, in whatever language, makes it a mention.
"""

from __future__ import annotations

import re
from functools import cache

from harness.errors import HarnessError
from harness.files import DATA, read_toml

EVERY = -1
"""The set of all languages, each of which is a bit."""
_ANY = ("s", "d", "ll")
RETRACTIONS = frozenset(
    ["scratch", "wait", "oops", "whoops", "correction", "kidding", "mistaken", "nope", "sorry"]
)
"""These take back what was said before."""
CONCLUSIONS = frozenset(["so", "therefore", "thus", "hence", "daher", "quindi", "entonces", "portanto"])
"""Those turns that are other words within a clause ("not so positive")."""
QUESTIONS = frozenset(
    [
        *("is", "are", "was", "were", "does", "do", "did", "has", "have", "had", "will", "would", "should"),
        *("shall", "could", "can", "ist"),
    ]
)
"""A sentence that begins with one of these asks or supposes."""
INPUTS = frozenset(
    ["text", "review", "sentence", "passage", "comment", "tweet", "post", "input", "snippet", "headline"]
)
"""Before a colon these introduce what was asked about."""
FINAL = frozenset(
    [
        *("final", "finally", "revised", "corrected", "updated", "endgültige", "finale", "définitive"),
        "definitiva",
    ]
)
"""These make a cue the last word."""

_CJK = re.compile(
    r"这段|这篇|这个|这条|该|此|文本|文字|文章|评论|句子|的|情感|情绪|倾向|态度|答案|标签|分类|类别|结果|应该是|属于|是|为|我认为"
    r"|この|その|テキスト|文章|文|レビュー|感情|答え|回答|ラベル|分類|結果|は|が|です|だ|である|になります|に分類されます|の"
    r"|정답|답변|답|감정|레이블|분류|은|는|이|가|입니다|이다|텍스트|이\s?텍스트|의"
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PRONOUN = r"[\"']?\b(?:he|she|they|him|her|his|hers|them|their|theirs|it|its)\b[\"']?"
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"\bnot only\b|\bnothing (?:but|other than)\b|\bnone other than\b", " "),
    (
        r"\b(?:there(?: is|'s) )?(?:no|without(?: an?| any)?) (?:doubt|question|wonder)\b(?: that\b)?",
        " ",
    ),
    (r"\bcan(?: \w+)? be (?=(?:classified|categori[sz]ed|label))", "is "),
    (r"\b(?:should|must|has to|ought to) be\b", "is"),
    (r"\b(answer|label|sentiment|classification|category|that) would be\b", r"\1 is"),
    (r"\b(i|we) would(?: not hesitate to)? (?=\w)(?!be\b)", r"\1 "),
    (r"\b(?:is|was|am|were) about to\b|\bgiven (?=label|answer|class)", " may "),
    (r"\ball but\b|\banything (?:but|other than)\b|\b(?:rather than|instead of|far from)\b", " not "),
    (r"\bas opposed to\b|\bopposite of\b", " not "),
    (r"[❌✗✘✖🚫☐]|\[ \]", " crossed "),
    (r"\bi meant\b", "correction"),
    (r"\bother than\b|\bapart from\b", "except"),
    (r"\bor so\b", "perhaps"),
    (r"\btal vez\b|\ba lo mejor\b", "perhaps"),
    (r"\be\.g\.|\bfor (?:example|instance)\b", " possible "),
    (r"\bi\.e\.", " "),
    (rf"{_PRONOUN}(?= refers? to\b)|(?<=pronoun ){_PRONOUN}", "pronoun"),
)
_PHRASE = [(re.compile(expression, re.IGNORECASE), by) for expression, by in _PHRASES]


def simplified(text: str) -> str:
    """Return ``text`` with phrases of several words in single words: "far from positive", "not positive"."""
    if " " not in text:
        return text
    for expression, by in _PHRASE:
        text = expression.sub(by, text)
    return text


def languages(word: str) -> int:
    """Return the languages, as bits, in which ``word`` may stand in a sentence that states an answer."""
    known = _stating()
    if word in known:
        return known[word]
    if "'" in word:
        bits = EVERY
        for part in word.split("'"):
            bits &= EVERY if part in _ANY else known.get(part, 0)
        return bits
    return EVERY if _IDEOGRAPH.match(word) and not _CJK.sub("", word) else 0


def cueing(word: str) -> bool:
    """Return whether ``word`` names what is asked for: "answer", "sentiment"."""
    cues = _words("cues")
    return (
        word in cues
        or word.rpartition("'")[2] in cues
        or (bool(_IDEOGRAPH.match(word)) and languages(word) != 0)
    )


def denying(word: str) -> bool:
    """Return whether ``word`` denies what stands beside it."""
    return word in _words("denials") or word.endswith("n't") or word.startswith("n'")


def doubting(word: str) -> bool:
    """Return whether ``word`` leaves open what stands beside it."""
    return word in _words("doubts")


def joining(word: str) -> str:
    """Return "reason" if ``word`` begins a clause of reasons, "turn" for another new clause, else ""."""
    return "reason" if word in _words("reasons") else "turn" if word in _words("turns") else ""


@cache
def _lists() -> list[dict[str, frozenset[str]]]:
    tables = read_toml(DATA / "answers.toml", HarnessError)
    return [
        {name: frozenset(words.split()) for name, words in table.items()}
        for table in tables.values()
        if isinstance(table, dict)
    ]


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset().union(*(table.get(name, frozenset()) for table in _lists()))


@cache
def _stating() -> dict[str, int]:
    bits: dict[str, int] = {}
    for place, table in enumerate(_lists()):
        for word in table["cues"] | table["stating"]:
            bits[word] = bits.get(word, 0) | 1 << place
    return bits
