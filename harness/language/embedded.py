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

    def suggest(self, texts: Sequence[tuple[str, ...]], words: int) -> list[list[list[str]]]:
        """Return up to ``words`` words for each gap of each text, the other gaps closed."""
        self._kept.clear()
        return [
            [self._words(_closed(parts[: gap + 1]), words) for gap in range(len(parts) - 1)]
            for parts in texts
        ]

    def _words(self, before: str, words: int) -> list[str]:
        if before not in self._kept:
            likely = self._model.next_words(before)
            ranked = sorted(self._vocabulary & likely.keys(), key=lambda word: (-likely[word], word))
            self._kept[before] = ranked
        return self._kept[before][:words]


class EmbeddedJudge:
    """Judges by the likelihood of a text with and without the inserted words."""

    def __init__(self, model: Continuations) -> None:
        self._model = model
        self.name = model.name

    def gain(self, parts: tuple[str, ...], fillers: Sequence[str]) -> float:
        """Return the log-likelihood of a text with ``fillers`` between its ``parts``, less that without.

        Only the next ``BEHIND`` tokens behind the last of them count.
        """
        before, last = parts[0].rstrip(), parts[-1]
        between = [part.rstrip() for part in parts[1:-1]]
        filled = [f" {fillers[0]}"]
        for part, filler in zip(between, fillers[1:], strict=True):
            filled += [part, f" {filler}"]
        return self._model.log_likelihood(before, [*filled, last], BEHIND) - self._model.log_likelihood(
            before, [*between, last], BEHIND
        )


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


def _closed(parts: Sequence[str]) -> str:
    """Return the beginning of a text with its gaps closed, without white space at its end."""
    return "".join(part.rstrip() for part in parts)
