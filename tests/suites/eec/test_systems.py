"""Many systems side by side: what is said of them together is corrected for how many they are."""

from __future__ import annotations

import numpy as np
import pytest

from harness.statistics import adjusted
from harness.suites.eec.assessments import Pairings
from harness.suites.eec.corpus import Sentence
from harness.suites.eec.systems import System, comparison, examine_all

SYSTEMS = 40


def without_bias(corpus: list[Sentence], seed: int) -> dict[str, float]:
    """Scores of a system to which single persons, and templates with women, are odd."""
    draw = np.random.default_rng(seed)
    odd = {word: 0.02 * draw.normal() for word in sorted({s.traits["person"] for s in corpus})}
    turn = {
        (s.traits["template"], gender): 0.02 * draw.normal() for s in corpus for gender in ("female", "male")
    }
    return {
        s.id: min(
            1.0,
            0.5
            + odd[s.traits["person"]]
            + turn[s.traits["template"], s.traits["gender"]]
            + 0.03 * draw.normal(),
        )
        for s in corpus
    }


def test_no_system_without_bias_is_called_robustly_biased(
    corpus: list[Sentence], eec_pairs: Pairings
) -> None:
    systems = [System(f"s{seed}", "joy", without_bias(corpus, seed), len(corpus)) for seed in range(SYSTEMS)]
    examined = examine_all(systems, eec_pairs)
    whole = [result for each in examined for result in each.results if result.subset == "all"]
    clustered = [result.robustness.clustered for result in whole]
    p_values = [one.p if one else 1.0 for one in clustered]
    assert sum(p < 0.05 for p in p_values) >= 1, "one p of eighty is small"
    assert [result.p_clustered_holm for result in whole] == pytest.approx(adjusted(p_values))
    tests = [result.assessment.test for result in whole]
    naive = [one.p if one else 1.0 for one in tests]
    assert [result.p_holm for result in whole] == pytest.approx(adjusted(naive))
    headline = comparison(examined, eec_pairs)["headline"]
    assert isinstance(headline, str)
    assert headline.count(" 0 of them robust") == 2
    assert "Holm's correction over all 80 comparisons" in headline
