"""Changes to a text, by name: what an answer should not mind, or how it should move.

Each is a small model whose fields are its settings, with one method; ``changed`` returns the text as it is
where the change does not apply. A change is deterministic by its random numbers.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from harness.language.surface import Edit, apply, article_edit
from harness.suites.checklist.templates import WORD, Lexicons

Texts = Annotated[tuple[str, ...], Field(min_length=1)]


class Change(BaseModel):
    """A change; ``by`` is its name in a file of tests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @abstractmethod
    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text``, changed."""


class Typos(Change):
    """Two neighbouring letters within a word change places, in ``count`` words of five letters or more.

    Words with a capital stay, and so do those that would become another word ("quite", "quiet").
    """

    by: Literal["typos"] = "typos"
    count: int = Field(default=1, ge=1)

    _WORDS: ClassVar = re.compile(r"(?<![\w'’@#/.-])[a-z]{5,}(?![\w'’@/-])")
    _TURNS: ClassVar = frozenset((
        "angel", "angle", "beard", "bread", "board", "broad", "calms", "clams", "carve", "crave", "casual",
        "causal", "crated", "carted", "dairy", "diary", "fired", "fried", "martial", "marital", "quiet",
        "quite", "reserve", "reverse", "sacred", "scared", "salve", "slave", "valve", "silver", "sliver",
        "spilt", "split", "trail", "trial", "unite", "untie", "united", "untied", "weird", "wired",
    ))  # fmt: skip

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with the letters of ``count`` words changed; unchanged if it has fewer words."""
        swaps = [swap for match in self._WORDS.finditer(text) if (swap := self._swaps(match))]
        if len(swaps) < self.count:
            return text
        return apply(text, [random.choice(of_word) for of_word in random.sample(swaps, self.count)])

    def _swaps(self, match: re.Match[str]) -> list[Edit]:
        word = match[0]
        if word in self._TURNS:
            return []
        return [
            Edit(match.start() + at, match.start() + at + 2, word[at + 1] + word[at])
            for at in range(1, len(word) - 2)
            if word[at] != word[at + 1]
        ]


_NOT = (
    "is", "are", "was", "were", "do", "does", "did", "have", "has", "had", "would", "could", "should", "need",
    "must",
)  # fmt: skip
_NEGATED = {
    **{f"{verb} not": f"{verb}n't" for verb in _NOT},
    "cannot": "can't",
    "will not": "won't",
}
_SUBJECTS = {
    "I": ("am", "will"), "you": ("are", "will"), "we": ("are", "will"), "they": ("are", "will"),
    "he": ("is", "will"), "she": ("is", "will"), "it": ("is", "will"), "that": ("is",), "there": ("is",),
    "what": ("is",),
}  # fmt: skip
_ENDINGS = {"am": "m", "are": "re", "is": "s", "will": "ll"}
_SPOKEN = {
    f"{subject} {verb}": f"{subject}'{_ENDINGS[verb]}"
    for subject, verbs in _SUBJECTS.items()
    for verb in verbs
}
_EXPANSIONS = {short: long for long, short in (_NEGATED | _SPOKEN).items()}
_FOLLOWS = r"(?=\s+\w)"  # a verb at the end of its sentence is not contracted
_NO_PARTICIPLE = r"(?!\s+(?:been|got|had|become|gone|made)\b)"  # "it's been" is no "it is"


class Contract(Change):
    """*is not* becomes *isn't*, *it is* becomes *it's*, and so on, wherever possible."""

    by: Literal["contract"] = "contract"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with every contraction that it allows."""
        return _replaced(_replaced(text, _NEGATED, _FOLLOWS), _SPOKEN, _FOLLOWS)


class Expand(Change):
    """*isn't* becomes *is not*, *it's* becomes *it is*, and so on, wherever possible."""

    by: Literal["expand"] = "expand"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` without contractions."""
        return _replaced(text.replace("’", "'"), _EXPANSIONS, _NO_PARTICIPLE)


class UpperCase(Change):
    """The whole text in capitals."""

    by: Literal["upper_case"] = "upper_case"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` in capitals."""
        return text.upper()


class LowerCase(Change):
    """The whole text in small letters."""

    by: Literal["lower_case"] = "lower_case"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` in small letters."""
        return text.lower()


class StripPunctuation(Change):
    """The full stops, commas and marks at the end of words go; those within words stay."""

    by: Literal["strip_punctuation"] = "strip_punctuation"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` without punctuation between its words."""
        return re.sub(r"[.,;:!?…]+(?=\s|$)", "", text)


class Spaces(Change):
    """About half of the spaces are typed twice."""

    by: Literal["spaces"] = "spaces"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with wider gaps, at least one."""
        gaps = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text)]
        chosen = random.sample(gaps, (len(gaps) + 1) // 2)
        return apply(text, [Edit(at, at, " ") for at in chosen])


class Handle(Change):
    """A made-up handle (*@mklt42*) before the text."""

    by: Literal["handle"] = "handle"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` addressed to somebody."""
        return f"@{_random_letters(random, 4)}{random.randrange(10, 100)} {text}"


class Url(Change):
    """A made-up address of a page after the text."""

    by: Literal["url"] = "url"

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with an address."""
        return f"{text} https://example.com/{_random_letters(random, 6)}"


class Append(Change):
    """One of ``texts`` after the text."""

    by: Literal["append"] = "append"
    texts: Texts

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with a sentence after it."""
        return f"{text} {random.choice(self.texts)}"


class Prepend(Change):
    """One of ``texts`` before the text."""

    by: Literal["prepend"] = "prepend"
    texts: Texts

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with a sentence before it."""
        return f"{random.choice(self.texts)} {text}"


class Swap(Change):
    """Each word of ``lexicons`` in the text gives way to another one of its lexicon, the same throughout."""

    by: Literal["swap"] = "swap"
    lexicons: Texts

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with other words, and articles to match."""
        found = {
            word: [other for other in words if other != word]
            for name in self.lexicons
            if (words := [entry[WORD][0] for entry in lexicons[name] if WORD in entry])
            for word in words
        }
        return _swapped(text, found, random)


class Names(Swap):
    """Other first names, of the same gender, from the bundled lexicons ``woman`` and ``man``."""

    by: Literal["names"] = "names"  # type: ignore[assignment]
    lexicons: Texts = ("woman", "man")


class Places(Swap):
    """Other cities and countries, from the bundled lexicons ``city`` and ``country``."""

    by: Literal["places"] = "places"  # type: ignore[assignment]
    lexicons: Texts = ("city", "country")


class Numbers(Change):
    """Other whole numbers of as many digits, none of them 0 or 1.

    Marks, shares and parts of other words (*8/10*, *4 stars*, *50 %*, *A320*) stay.
    """

    by: Literal["numbers"] = "numbers"

    _NUMBER: ClassVar = re.compile(
        r"(?<![\w.,:/-])(?<!\bof )(?:[2-9]|[1-9]\d+)"
        r"(?![\w/:]|[.,]\d|-\d|\s*%|\s+(?:out of|of|stars?|points?|per cent)\b)"
    )

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text`` with other numbers."""
        return self._NUMBER.sub(lambda match: self._other(match[0], random), text)

    @staticmethod
    def _other(number: str, random: Random) -> str:
        low, high = max(2, 10 ** (len(number) - 1)), 10 ** len(number)
        other = random.randrange(low, high - 1)
        return str(other + (other >= int(number)))


class Negate(Change):
    """*not* after the first *is*, *was*, *will* or the like; a text with a negation stays."""

    by: Literal["negate"] = "negate"

    _VERB: ClassVar = re.compile(r"\b(?:am|is|are|was|were|will|would|can|could|should)\b(?=\s+\w)")
    _NEGATION: ClassVar = re.compile(r"(?i)\b(?:not|no|never|none|nobody|nothing|neither|cannot)\b|n['’]t\b")

    def changed(self, text: str, random: Random, lexicons: Lexicons) -> str:
        """Return ``text``, negated."""
        if self._NEGATION.search(text):
            return text
        return self._VERB.sub(lambda verb: "cannot" if verb[0] == "can" else f"{verb[0]} not", text, count=1)


AnyChange = Annotated[
    Typos | Contract | Expand | UpperCase | LowerCase | StripPunctuation | Spaces | Handle | Url
    | Append | Prepend | Swap | Names | Places | Numbers | Negate,
    Field(discriminator="by"),
]  # fmt: skip
CHANGES = (
    "typos", "contract", "expand", "upper_case", "lower_case", "strip_punctuation", "spaces", "handle", "url",
    "append", "prepend", "swap", "names", "places", "numbers", "negate",
)  # fmt: skip


def lexicons_of(change: Change) -> Sequence[str]:
    """Return the names of the lexicons that a change needs."""
    return change.lexicons if isinstance(change, Swap) else ()


def _replaced(text: str, pairs: Mapping[str, str], after: str) -> str:
    longest = sorted(pairs, key=len, reverse=True)
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b{after}", re.IGNORECASE)
    lower = {word.lower(): other for word, other in pairs.items()}

    def other(match: re.Match[str]) -> str:
        found = lower[match[0].lower()]
        return found[0].upper() + found[1:] if match[0][0].isupper() else found

    return pattern.sub(other, text)


def _swapped(text: str, others: Mapping[str, Sequence[str]], random: Random) -> str:
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(others, key=len, reverse=True)))})\b")
    matches = list(pattern.finditer(text))
    present = {match[0] for match in matches}
    chosen: dict[str, str] = {}
    for word in dict.fromkeys(match[0] for match in matches):
        free = [other for other in others[word] if other not in present and other not in chosen.values()]
        if free:
            chosen[word] = random.choice(free)
    return apply(text, _edits(text, matches, chosen))


def _edits(text: str, matches: Sequence[re.Match[str]], chosen: Mapping[str, str]) -> Iterator[Edit]:
    for match in matches:
        if (target := chosen.get(match[0])) is None:
            continue
        yield Edit(match.start(), match.end(), target)
        if (article := article_edit(text, match.start(), match[0], target)) is not None:
            yield article


def _random_letters(random: Random, count: int) -> str:
    return "".join(random.choice("bcdfghjklmnpqrstvwxz") for _ in range(count))
