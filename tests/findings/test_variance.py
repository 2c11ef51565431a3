"""The variance of answers under several wordings: its parts, and what a planted cause gives."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.findings.variance import SOURCES, Cell, split

WORDINGS = 3
FEMALE = {("gender", "female"): 1.0, ("gender", "male"): -1.0}


def made(answer: Callable[[int, int, int], float], texts: int = 12, versions: int = 4) -> list[Cell]:
    """Cells of ``texts``, in each of which every second version is of the other group."""
    return [
        Cell(
            f"text {text}",
            [(answer(text, version, wording),) for wording in range(WORDINGS)],
            FEMALE if version % 2 else {},
        )
        for text, version in product(range(texts), range(versions))
    ]


def shares(cells: list[Cell]) -> dict[str, float]:
    return {share.source: share.share for share in split(cells)}


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        (lambda text, version, wording: float(text % 2), "text"),
        (lambda text, version, wording: float(wording == 1), "wording"),
        (lambda text, version, wording: float((text + wording) % 3 == 0), "text and wording"),
        (lambda text, version, wording: float(version % 2), "group"),
        (lambda text, version, wording: (1 if version % 2 else -1) * (wording - 1.0), "group and wording"),
        (lambda text, version, wording: float(version < 2), "other changes"),
        (lambda text, version, wording: (1 if version < 2 else -1) * (wording - 1.0), "the rest"),
    ],
)
def test_what_alone_decides_has_all_of_the_variance(
    answer: Callable[[int, int, int], float], source: str
) -> None:
    found = shares(made(answer))
    assert found[source] == pytest.approx(1.0)
    assert sum(found.values()) == pytest.approx(1.0)


answers = st.lists(
    st.lists(
        st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), min_size=3, max_size=3),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=6,
)


@given(answers, st.data())
def test_the_shares_are_the_whole_whatever_the_answers(
    texts: list[list[list[tuple[float, float]]]], data: st.DataObject
) -> None:
    """Texts with different numbers of versions, and two outcomes."""
    groups = st.sampled_from([{}, FEMALE, {("race", "asian"): 1.0}])
    cells = [
        Cell(str(number), version, data.draw(groups))
        for number, versions in enumerate(texts)
        for version in versions
    ]
    found = split(cells)
    if not found:
        assert len({value for cell in cells for value in map(tuple, cell.answers)}) == 1 or all(
            max(values) - min(values) < 1e-5
            for values in zip(*(a for cell in cells for a in cell.answers), strict=True)
        )
        return
    assert tuple(share.source for share in found) == SOURCES
    assert sum(share.share for share in found) == pytest.approx(1.0)
    assert all(0 <= share.share <= 1 + 1e-9 for share in found)
    for share in found:
        if share.ci95 is not None:
            assert 0 <= share.ci95[0] <= share.ci95[1] <= 1


def test_groups_by_chance_have_as_much_as_their_number_of_terms() -> None:
    found = {share.source: share for share in split(made(lambda t, v, w: float(v < 2)))}
    assert found["group"].share == pytest.approx(0.0)
    assert found["group"].chance == pytest.approx(1 / 36)  # one term of 48 versions less 12 texts
    assert found["text"].chance is None
    assert {share.chance for share in split([Cell("a", [(0.0,), (1.0,)], {})])} == {None}


def test_answers_that_are_all_alike_have_no_variance() -> None:
    assert split(made(lambda text, version, wording: 1.0)) == ()
    assert split([]) == ()


def test_intervals_resample_texts() -> None:
    mixed = made(lambda text, version, wording: float((text * 7 + version * wording) % 5 < 2))
    assert split(mixed, seed=1) == split(mixed, seed=1)
    for share in split(mixed):
        assert share.ci95 is not None
        assert share.ci95[0] <= share.share <= share.ci95[1]
    assert {share.ci95 for share in split(mixed[:4])} == {None}
