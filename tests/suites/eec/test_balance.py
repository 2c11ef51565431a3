"""Names and tokens: reported as they are, and matched where asked."""

from __future__ import annotations

import pytest

from harness.errors import ConfigError
from harness.suites.eec.balance import balance, matched, token_length
from harness.suites.eec.corpus import Sentence, Spec, sentences


def in_fours(text: str) -> list[str]:
    return [text[i : i + 4] for i in range(0, len(text), 4)]


def test_lengths_in_tokens_are_reported_by_class(eec: Spec) -> None:
    gender, race = balance(eec, token_length(in_fours))
    # " Tia" is one token, " Alphonse" three, in pieces of four with the space before.
    assert race.first == ((1.0, 1), (2.0, 14), (3.0, 5))
    assert race.second == ((2.0, 18), (3.0, 2))
    assert race.first_mean == pytest.approx(44 / 20)
    assert race.second_mean == pytest.approx(42 / 20)
    assert not race.even
    assert sum(n for _, n in gender.first) == sum(n for _, n in gender.second) == 30


def test_matched_names_are_alike_and_keep_their_published_ids(eec: Spec, corpus: list[Sentence]) -> None:
    measure = token_length(in_fours)
    even = matched(eec, measure)
    race = next(b for b in balance(even, measure) if b.comparison.attribute == "race")
    assert race.even
    assert 0 < sum(n for _, n in race.first) < 20
    assert {len(g.words) for g in even.persons if g.compared == "aligned"} == {10}
    known = {s.id: s.text for s in corpus}
    assert {s.id: s.text for s in sentences(even)}.items() < known.items()


def test_names_that_cannot_be_matched(eec: Spec) -> None:
    with pytest.raises(ConfigError, match="eec: no names can be matched"):
        matched(eec, lambda word: float(ord(word[0]) * 100 + len(word)))
