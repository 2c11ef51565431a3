"""Scores of the Stanford Sentiment Treebank as labels, by its official cut-offs."""

from __future__ import annotations

from harness.documents.rows import Row

NEGATIVE_TO, POSITIVE_ABOVE = 0.4, 0.6
CLASSES = ("Negative", "Neutral", "Positive")


def labelled(row: Row) -> Row:
    """Return ``row`` with the label of its score.

    A value that is not a score from 0 to 1 becomes the label as it is, which is then reported as unknown.
    """
    try:
        score = float(row["score"])
    except (TypeError, ValueError):
        score = -1
    if not 0 <= score <= 1:
        return {**row, "label": row["score"]}
    return {**row, "label": CLASSES[(score > NEGATIVE_TO) + (score > POSITIVE_ABOVE)]}
