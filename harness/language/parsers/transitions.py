"""Dependencies of many sentences, each state of the parser scored once wherever it looks at the same vectors.

spaCy's parser takes a sentence step by step, and what it does next depends on the vectors of eight tokens: on
its stack, in its buffer, and below them. Sentences that differ in a few words are in the same states most of
the time. The steps themselves are taken by spaCy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.language.parsers.distinct import Numbers, distinct

if TYPE_CHECKING:
    from spacy.tokens import Doc

SENTENCES_AT_ONCE = 1000
NOTHING = -1
"""The number of the vector that a state looks at where it has no token."""


class Transitions:
    """Parses with ``parser``, the component of a pipeline."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def parse(self, sentences: Sequence[tuple[Doc, Numbers]], each_once: Doc) -> None:
        """Set the dependencies of sentences, which are given with the numbers of their tokens' vectors.

        ``each_once`` is a text whose tokens have the distinct vectors, in the order of their numbers.
        """
        scorer = self._parser.model.predict([each_once])
        by_length = sorted(sentences, key=lambda sentence: len(sentence[0]))
        for start in range(0, len(by_length), SENTENCES_AT_ONCE):
            docs, numbers = zip(*by_length[start : start + SENTENCES_AT_ONCE], strict=True)
            self._parse(docs, np.concatenate([*numbers, [NOTHING]]), scorer)

    def _parse(self, docs: Sequence[Doc], numbers: Numbers, scorer: Any) -> None:
        """Parse ``docs``, whose tokens have the vectors ``numbers``, one after the other."""
        every = self._parser.moves.init_batch(docs)
        states = [state for state in every if not state.is_final()]
        while states:
            seen = numbers[scorer.get_token_ids(states)]
            first, alike = distinct(list(seen.T + 1))
            hidden = scorer.state2vec.predict(np.ascontiguousarray(seen[first], np.int32))
            scores = scorer.vec2scores.predict(hidden)
            states = self._parser.transition_states(states, scores[alike])
        self._parser.set_annotations(docs, every)
