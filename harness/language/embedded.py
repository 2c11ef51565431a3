"""The embedded language model as a suggester of words and as their judge."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.models import llama, weights
from harness.models.continuations import Continuations

THREADS = 1
"""A token or a few at a time take no longer in one thread, and less of the processor."""
BEHIND = 3
"""How many tokens behind an inserted word are judged with it: what comes later says little about it."""


class EmbeddedSuggester:
    """Suggests the words of ``vocabulary`` that the model finds likeliest after what precedes a gap."""

    def __init__(self, model: Continuations, vocabulary: Collection[str]) -> None:
        self._model = model
        self._vocabulary = frozenset(vocabulary)
        self._kept: dict[str, list[str]] = {}
        self.name = model.name

    def learn(self, text: str) -> None:
        """Do nothing: a pretrained model needs no training."""

    def suggest(self, texts: Sequence[tuple[str, str]], words: int) -> list[list[str]]:
        """Return up to ``words`` words for the gap of each text, by what precedes it.

        At the beginning of a text nothing does, and all words are equal.
        """
        self._kept.clear()
        return [self._words(before.rstrip())[:words] for before, _ in texts]

    def _words(self, before: str) -> list[str]:
        if not before:
            return sorted(self._vocabulary)
        if before not in self._kept:
            likely = self._model.next_words(before)
            ranked = sorted(self._vocabulary & likely.keys(), key=lambda word: (-likely[word], word))
            self._kept[before] = ranked
        return self._kept[before]


class EmbeddedJudge:
    """Judges by the likelihood of a text with and without the inserted word."""

    def __init__(self, model: Continuations) -> None:
        self._model = model
        self.name = model.name

    def gain(self, before: str, word: str, after: str) -> float:
        """Return the log-likelihood of a text with ``word`` between its parts, less that without.

        Only the next ``BEHIND`` tokens behind it count.
        """
        before = before.rstrip()
        filled = self._model.log_likelihood(before, [f" {word}", after], BEHIND)
        return filled - self._model.log_likelihood(before, [after], BEHIND)


class Embedded:
    """The embedded model, its weights fetched. Raises ``ModelError`` where they cannot be."""

    def __init__(self) -> None:
        weights.fetch()
        self._model = Continuations(llama.smollm2(threads=THREADS))

    def suggester(self, vocabulary: Collection[str]) -> EmbeddedSuggester:
        """Return the model as a suggester of the words of ``vocabulary``."""
        return EmbeddedSuggester(self._model, vocabulary)

    def judge(self) -> EmbeddedJudge:
        """Return the model as a judge."""
        return EmbeddedJudge(self._model)
