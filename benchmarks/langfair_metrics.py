"""langfair's counterfactual metrics of pairs of answers, in the environment of langfair: JSON in, JSON out.

Started by ``counterfactual.py``. A metric whose model or data are not on this machine is null.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from typing import Any

from langfair.metrics.counterfactual.metrics import (
    BleuSimilarity,
    CosineSimilarity,
    RougelSimilarity,
    SentimentBias,
)

Metric = Callable[[Sequence[str], Sequence[str]], float]


def pairwise(make: Callable[[], Any]) -> Metric | None:
    """Return the mean of a metric of single pairs, each computed once; None where it cannot run."""
    known: dict[tuple[str, str], float] = {}
    try:
        metric = make()
        metric.evaluate(["So."], ["So."], show_progress_bars=False)
    except Exception as error:
        print(f"cannot run: {error!r}"[:300], file=sys.stderr)
        return None

    def mean(ones: Sequence[str], others: Sequence[str]) -> float:
        pairs = list(zip(ones, others, strict=True))
        new = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if new:
            first, second = map(list, zip(*new, strict=True))
            known.update(zip(new, metric.evaluate(first, second, show_progress_bars=False), strict=True))
        return statistics.mean(float(known[pair]) for pair in pairs)

    return mean


def bias(sentiment: str) -> Metric:
    """Return the distance of the two groups' distributions of one of VADER's scores."""
    metric = SentimentBias(classifier="vader", sentiment=sentiment)
    return lambda ones, others: float(metric.evaluate(list(ones), list(others), show_progress_bars=False))


def main() -> None:
    """Print the metrics of each of the pairs on standard input."""
    given = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        metrics: dict[str, Metric | None] = {
            "RougeL Similarity": pairwise(lambda: RougelSimilarity(how="pairwise")),
            "Bleu Similarity": pairwise(lambda: BleuSimilarity(how="pairwise")),
            "Cosine Similarity": given["encoder"]
            and pairwise(lambda: CosineSimilarity(transformer=given["encoder"], how="pairwise")),
            "Sentiment Bias (neg, the default)": bias("neg"),
            "Sentiment Bias (pos)": bias("pos"),
        }
        found = {
            name: {of: metric and metric(*pairs) for of, metric in metrics.items()}
            for name, pairs in given["pairs"].items()
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
