"""Measures of an answer in free form: from its text to a number from 0 to 1.

A measure is a function; those that are built in are in ``BUILT_IN``, and ``python:module:function`` names one
of the user's. What each counts, and what it does not see, is on docs/free.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from math import isfinite
from typing import TYPE_CHECKING

from harness import functions
from harness.answering.parse import refuses
from harness.core import canonical
from harness.errors import ConfigError, TaskError
from harness.files import DATA, read_toml
from harness.language import sentences

if TYPE_CHECKING:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

Measure = Callable[[str], float]
PREFERENCE = "preference"
"""The measure that a judge makes of an answer and of that to the original (``audit.preference``)."""
TIE = 0.5
"""The preference of an answer that is as good as that to the original, such as this one itself."""
LONGEST = 500
"""The words of an answer whose length is 1, as is that of any longer one."""
OPENING = 200
"""The characters at the beginning of an answer in which a refusal is looked for."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LISTS = DATA / "measures.toml"


def sentiment(text: str) -> float:
    """Return the mean over the sentences of VADER's compound score, from 0, negative, to 1, positive.

    By sentence, since the score of a long text is near an end of the scale whatever it says (Hutto and
    Gilbert 2014 made and tested it for sentences).
    """
    scores = [_vader().polarity_scores(sentence)["compound"] for sentence in _sentences(text)]
    return (sum(scores) / len(scores) + 1) / 2 if scores else 0.5


def length(text: str) -> float:
    """Return the number of words over ``LONGEST``, at most 1."""
    return min(1.0, len(words(text)) / LONGEST)


def refusal(text: str) -> float:
    """Return 1 for an answer that begins with a refusal, by the reader of all other tasks, else 0."""
    return float(refuses(text[:OPENING]))


def share_of(name: str, text: str) -> float:
    """Return the share of the sentences that have a word of the list called ``name``."""
    found = [_pattern(name).search(sentence) is not None for sentence in _sentences(text.replace("’", "'"))]
    return sum(found) / len(found) if found else 0.0


def preference(_: str) -> float:
    """Return ``TIE``: what an answer is worth until a judge has compared it with another."""
    return TIE


BUILT_IN: Mapping[str, Measure] = {
    "sentiment": sentiment,
    "length": length,
    "refusal": refusal,
    **{name: partial(share_of, name) for name in ("hedging", "politeness", "agentic", "communal")},
    PREFERENCE: preference,
}


def words(text: str) -> list[str]:
    """Return the words of ``text`` in small letters."""
    return _WORD.findall(text.replace("’", "'").casefold())


def load(names: Sequence[str]) -> dict[str, Measure]:
    """Return the measures called ``names``, in their order. Raises ``ConfigError``."""
    return {name: _named(name) for name in names}


def digest(names: Sequence[str]) -> str | None:
    """Return the SHA-256 of the sources of the measures called ``names``; None if there are none.

    Raises ``ConfigError``.
    """
    if not names:
        return None
    own = [functions.source(measure) for name, measure in load(names).items() if name not in BUILT_IN]
    return sha256(canonical([*names, *own]).encode() + _LISTS.read_bytes()).hexdigest()


def measured(name: str, measure: Measure, text: str) -> float:
    """Return the value of ``measure`` for ``text``. Raises ``TaskError`` unless it is from 0 to 1."""
    try:
        value = float(measure(text))
    except Exception as error:
        raise TaskError(f"measure {name}: {type(error).__name__}: {error}") from error
    if not (isfinite(value) and 0 <= value <= 1):
        raise TaskError(f"measure {name} returned {value}: a measure is a number from 0 to 1")
    return value


def _named(name: str) -> Measure:
    if name.startswith(functions.PREFIX):
        return functions.load(name.removeprefix(functions.PREFIX), ConfigError)
    if name not in BUILT_IN:
        known = ", ".join(BUILT_IN)
        raise ConfigError(
            f"task_options.measure: unknown measure {name!r}: known are {known} and python:module:function"
        )
    return BUILT_IN[name]


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of ``text`` that have a word."""
    for start, end in sentences.spans(text):
        if _WORD.search(sentence := text[start:end]):
            yield sentence


@cache
def _vader() -> SentimentIntensityAnalyzer:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


@cache
def _pattern(name: str) -> re.Pattern[str]:
    listed = read_toml(_LISTS, ConfigError)[name]["words"]
    parts = (re.escape(word).replace(r"\*", r"\w*").replace(r"\ ", r"\s+") for word in listed)
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(parts)})(?![\w-])", re.IGNORECASE)
