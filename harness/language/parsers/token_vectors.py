"""Vectors of the tokens of many sentences, each computed once wherever the words around it are the same.

spaCy's small pipelines turn a sentence into a vector a token, from which the tagger and the parser then read:
first each token by itself, by its word, its norm and the space after it; then some layers of a convolution,
each of which looks at one neighbouring vector on either side. So the vector of a token depends on as many
tokens around it as there are layers, and sentences that differ in a few words share all others. Each
layer is computed for the distinct triples of vectors of the layer before.

The vectors are those of spaCy to the last bit: the same products, of fewer rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from harness.language.parsers.distinct import Numbers, distinct, numbered

if TYPE_CHECKING:
    from spacy.tokens import Doc

Rows = NDArray[np.float32]
ROWS_AT_ONCE = 1024  # what a layer takes fits a processor's cache
PADDING = 0
"""The number of the vector, all zero, that stands before and after a sentence."""


@dataclass(frozen=True, slots=True)
class Vectors:
    """The distinct vectors of the tokens of some sentences: ``numbers[i]`` are the rows of sentence ``i``."""

    rows: Rows
    numbers: list[Numbers]


class TokenVectors:
    """Computes vectors with ``model``, the model of a component ``tok2vec``."""

    def __init__(self, model: Any) -> None:
        self._embed = model.get_ref("embed")
        self._layers = [residual.layers[0].layers[1] for residual in model.get_ref("encode").layers[0].layers]

    def of(self, docs: Sequence[Doc]) -> Vectors:
        """Return the vectors of ``docs``, of which at least one has a token."""
        rows, numbers = self._embedded(docs)
        lengths = np.array([len(doc) for doc in docs])
        padded = lengths + 2 * len(self._layers)
        place = np.arange(padded.sum()) - np.repeat(padded.cumsum() - padded, padded)
        inside = (place >= len(self._layers)) & (place < np.repeat(lengths + len(self._layers), padded))
        around = np.full(len(inside), PADDING)
        around[inside] = numbers
        for depth, layer in enumerate(self._layers):
            rows, around = _convolved(layer, rows, around, padded - 2 * depth)
        return Vectors(rows, np.split(around, lengths.cumsum()[:-1]))

    def _embedded(self, docs: Sequence[Doc]) -> tuple[Rows, Numbers]:
        """Return the distinct embeddings, ``PADDING`` first, and the number of each token of ``docs``."""
        from spacy.tokens import Doc

        tokens = np.concatenate([doc.to_array(["ORTH", "NORM", "SPACY"]).reshape(-1, 3) for doc in docs])
        first, numbers = distinct([numbered(column) for column in tokens.T])
        words, norms, spaces = tokens[first].T
        vocab = docs[0].vocab
        each_once = Doc(vocab, [vocab.strings[word] for word in words.tolist()], spaces.astype(bool).tolist())
        for token, norm in zip(each_once, norms.tolist(), strict=True):
            token.norm_ = vocab.strings[norm]
        (embedded,) = self._embed.predict([each_once])
        return np.concatenate([np.zeros_like(embedded[:1]), embedded]), numbers + 1


def _convolved(layer: Any, rows: Rows, numbers: Numbers, lengths: Numbers) -> tuple[Rows, Numbers]:
    """Return the rows and numbers after a layer, without the first and the last of each sentence.

    ``lengths`` are those of the sentences, as they are numbered one after the other in ``numbers``.
    """
    ends = lengths.cumsum()
    inner = np.ones(len(numbers), bool)
    inner[ends - 1] = inner[ends - lengths] = False
    triples = np.stack([numbers[:-2], numbers[1:-1], numbers[2:]])[:, inner[1:-1]]
    first, after = distinct(list(triples))
    windows = triples[:, first].T
    convolved = np.empty((len(first), rows.shape[1]), rows.dtype)
    for start in range(0, len(first), ROWS_AT_ONCE):
        some = windows[start : start + ROWS_AT_ONCE]
        changes = layer.predict(rows[some].reshape(len(some), -1))
        convolved[start : start + len(some)] = rows[some[:, 1]] + changes
    return convolved, after
