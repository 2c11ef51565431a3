"""Whether a word is positive, negative or neutral, by SentiWordNet's scores and the paper's rule for them.

S²LCT (section 4.1) labels a word as Colhon et al. do (2017, "How Objective a Neutral Word Is?"): by the
scores of its senses, each weighted by the reciprocal of its rank; *neutral* if positive and negative are
equal.

SentiWordNet was made by a classifier: *still* and *other* are negative by it, *dumb* and *fun* neutral. In
the bundled lexicon, people's ratings (VADER's lexicon, Hutto and Gilbert 2014, and ``data/opinions.toml``)
therefore decide on the words that they have, and SentiWordNet on the others where its score is clear.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

from harness.core import canonical
from harness.errors import LexiconError
from harness.files import DATA, read_text, read_toml
from harness.suites.sentiment_oracle import Sentiment

BUNDLED = DATA / "sentiwordnet" / "words.tsv"
OPINIONS = DATA / "opinions.toml"
CLASSES = {"JJ": "a", "NN": "n", "VB": "v", "RB": "r"}
NAMES = ("NNP", "NNPS")
# Adjectives in WordNet, determiners in a treebank; without them, "Or both." (Figure 3) has no adjective.
QUANTIFIERS = frozenset(["all", "another", "any", "both", "each", "either", "every", "some"])
DETERMINERS = ("DT", "PDT")
# WordNet lists many inflected forms as neutral words of their own ("ways", "things"). In a table that leaves
# out neutral words, a base form must therefore be clearly non-neutral for its score to apply to another form.
NEAR_ZERO = 0.05
# How far SentiWordNet's score must be from zero beside ratings by people.
CLEAR = 0.3
# How WordNet's morphy removes endings, by part of speech.
_ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "n": (("ies", "y"), ("ches", "ch"), ("shes", "sh"), ("ses", "s"), ("xes", "x"), ("men", "man"),
          ("s", "")),
    "v": (("ies", "y"), ("ied", "y"), ("es", "e"), ("es", ""), ("s", ""), ("ed", "e"), ("ed", ""),
          ("ing", "e"), ("ing", "")),
    "a": (("ier", "y"), ("iest", "y"), ("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}  # fmt: skip


def word_class(word: str, tag: str) -> str | None:
    """Return SentiWordNet's part of speech (a, n, r, v) of a word; None for names and other classes."""
    if tag in DETERMINERS and word.lower() in QUANTIFIERS:
        return "a"
    return None if tag in NAMES else CLASSES.get(tag[:2])


@dataclass(frozen=True)
class SentimentLexicon:
    """Positive minus negative score (-1 to 1) by lemma and part of speech, and their ``source``.

    ``rated`` are people's ratings of words, whatever their part of speech; they go before scores, and beside
    them, scores nearer to zero than ``CLEAR`` count as zero.
    """

    scores: Mapping[tuple[str, str], float]
    source: str
    rated: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the entries that are not neutral."""
        laden: list[list[str | float]] = sorted([*key, score] for key, score in self.scores.items() if score)
        laden += sorted([*rating] for rating in self.rated.items())
        return sha256(canonical(laden).encode()).hexdigest()

    def sentiment(self, word: str, tag: str) -> Sentiment:
        """Return the sentiment of ``word`` with the fine ``tag``; words not in the lexicon are neutral."""
        kind = word_class(word, tag)
        if kind is None:
            return "neutral"
        score = self.rated.get(word.lower()) or self._score(word.lower(), kind)
        if not score:
            return "neutral"
        return "positive" if score > 0 else "negative"

    def _score(self, word: str, kind: str) -> float:
        least = CLEAR if self.rated else 0.0
        score = self.scores.get((word, kind))
        if score is None:
            of_bases = (self.scores.get((base, kind)) for base in _bases(word, kind))
            score = next((score for score in of_bases if score is not None), 0.0)
            least = max(least, NEAR_ZERO)
        return score if abs(score) > least else 0.0


def load(source: str | None = None) -> SentimentLexicon:
    """Load the lexicon called ``sentiwordnet`` (NLTK's copy) or ``bundled``, or the one at a path.

    None stands for the bundled one, which alone has people's ratings, too. A file is a table like the bundled
    one or SentiWordNet's own. Raises ``LexiconError``.
    """
    if source == "sentiwordnet":
        lines = _nltk()
        if lines is not None:
            return SentimentLexicon(dict(_senses(lines, "sentiwordnet")), "sentiwordnet")
        raise LexiconError(
            "NLTK has no SentiWordNet: run pip install nltk and python -m nltk.downloader sentiwordnet,"
            " or use the bundled lexicon"
        )
    file = BUNDLED if source in (None, "bundled") else Path(str(source))
    text = read_text(file, LexiconError).splitlines()
    rows = [line for line in text if line.strip() and not line.startswith("#")]
    read = _words if rows and len(rows[0].split("\t")) == 3 else _senses
    name = "bundled" if file == BUNDLED else str(source)
    rated = _ratings() if file == BUNDLED else {}
    return SentimentLexicon(dict(read(text, str(file))), name, rated)


def _ratings() -> dict[str, float]:
    """Return the mean rating (-4 to 4) of each word in VADER's lexicon, and those of words that it lacks."""
    file = resources.files("vaderSentiment") / "vader_lexicon.txt"
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line.strip())
    opinions = read_toml(OPINIONS, LexiconError)
    ours = {word: 1.0 if side == "positive" else -1.0 for side in opinions for word in opinions[side].split()}
    return ours | {word: float(mean) for word, mean, *_ in rows}


def _nltk() -> Iterable[str] | None:
    """Return the lines of SentiWordNet in NLTK's data folders, None if it is not there."""
    try:
        data: Any = importlib.import_module("nltk.data")
        with data.find("corpora/sentiwordnet").join("SentiWordNet_3.0.0.txt").open() as file:
            content: bytes = file.read()
    except (ImportError, LookupError, OSError):
        return None
    return content.decode("utf-8").splitlines()


def _words(lines: Iterable[str], place: str) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the score of each lemma and part of speech in a table like the bundled one."""
    for number, line in _rows(lines):
        try:
            lemma, kind, score = line.split("\t")
            yield (lemma, kind), float(score)
        except ValueError as error:
            raise LexiconError(f"{place}: line {number}: write LEMMA<TAB>a, n, r or v<TAB>SCORE") from error


def _senses(lines: Iterable[str], place: str) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield scores from rows of part of speech, id, positive, negative, ``lemma#rank …`` and gloss."""
    senses: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for number, line in _rows(lines):
        try:
            kind, _, positive, negative, terms = line.split("\t")[:5]
            for term in terms.split():
                lemma, rank = term.rsplit("#", 1)
                score = float(positive) - float(negative)
                senses.setdefault((lemma.lower(), kind), []).append((int(rank), score))
        except ValueError as error:
            raise LexiconError(f"{place}: line {number}: not a row of SentiWordNet 3.0") from error
    for key, ranked in senses.items():
        weights = sum(1 / rank for rank, _ in ranked)
        yield key, round(sum(score / rank for rank, score in ranked) / weights, 9)


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            yield number, line


def _bases(word: str, kind: str) -> Iterator[str]:
    for ending, instead in _ENDINGS[kind]:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            base = word[: -len(ending)] + instead
            yield base
            if not instead and ending in ("ed", "ing", "er", "est") and base[-1:] == base[-2:-1]:
                yield base[:-1]
