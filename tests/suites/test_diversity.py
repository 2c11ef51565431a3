"""Different texts, different syntax, and a count that does not grow with the number of texts alone."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.language import constituency
from harness.language.parsers import CachedParser
from harness.suites import diversity

SIMPLE = ["The film is good.", "The plot is bad.", "The cast is good.", "The film is good."]
VARIED = ["The film is good.", "We laughed.", "Nobody who saw it will forget the last ten minutes."]


def test_alike_sentences_have_one_syntax(parser: CachedParser) -> None:
    trees = constituency.load("flat")
    simple, varied = diversity.measure({"simple": SIMPLE, "varied": VARIED}, parser, trees)
    assert (simple.texts, simple.distinct, simple.tags, simple.trees) == (4, 3, 1, 1)
    assert (varied.texts, varied.distinct, varied.tags, varied.trees) == (3, 3, 3, 3)
    assert simple.of == varied.of == 3
    assert (round(simple.tags_expected, 9), round(varied.tags_expected, 9)) == (1, 3)


def test_without_trees_there_are_parts_of_speech_alone(parser: CachedParser) -> None:
    (row,) = diversity.measure({"all": ["It ends. We left.", "It ends."]}, parser)
    assert (row.tags, row.trees, row.trees_expected) == (2, None, None)
    assert diversity.measure({}, parser) == []
    assert diversity.sections([]) == []


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_rarefied_is_the_mean_over_all_draws(counts: list[int], data: st.DataObject) -> None:
    things = [kind for kind, count in enumerate(counts) for _ in range(count)]
    drawn = data.draw(st.integers(1, len(things)))
    draws = [len(Counter(some)) for some in combinations(things, drawn)]
    assert diversity.rarefied(counts, drawn) == pytest.approx(sum(draws) / len(draws))
