"""Names exchanged between classes: no alarm about a class where a model minds single names alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from harness.suites.biasfinder.exchange import p_exchanged


def system(
    seed: int, names: int = 10, templates: int = 8, gender: float = 0.0, limit: int | None = None
) -> pl.DataFrame:
    """The answers of a model to which some names are odd wherever they stand, and men by ``gender`` more.

    ``limit`` draws so many names of each gender for each template.
    """
    draw = np.random.default_rng(seed)
    odd, level = draw.normal(size=2 * names), draw.normal(size=templates)
    rows = []
    for template in range(templates):
        for first in (0, names):
            for name in first + draw.permutation(names)[:limit]:
                male = name < names
                score = level[template] + odd[name] + gender * male + 0.3 * draw.normal()
                rows.append((f"t{template}", f"n{name}", "male" if male else "female", str(score > 0)))
    return pl.DataFrame(rows, schema=["group", "name", "gender", "answer"], orient="row")


@pytest.mark.parametrize("limit", [None, 4])
def test_odd_names_alone_alarm_in_one_of_twenty(limit: int | None) -> None:
    p_values = [p_exchanged(system(seed, limit=limit), "gender", ()) or 0.0 for seed in range(60)]
    assert sum(p < 0.05 for p in p_values) <= 7  # 3 expected; more than 7 in 1 of 80 such tests
    assert 18 <= sum(p < 0.5 for p in p_values) <= 42


def test_what_all_names_of_a_gender_share_is_found() -> None:
    for seed in range(10):
        p = p_exchanged(system(seed, gender=3.0), "gender", ())
        assert p is not None
        assert p < 0.05


def jobs(seed: int, job: float) -> pl.DataFrame:
    """Every name with every occupation: odd names, and occupations that count by ``job``."""
    draw = np.random.default_rng(seed)
    odd, weight = draw.normal(size=6), job * draw.normal(size=12)
    rows = [
        (
            f"t{t}",
            f"n{n}",
            "male" if n < 3 else "female",
            f"j{j}",
            str(odd[n] + weight[j] + draw.normal() > 0),
        )
        for t in range(3)
        for n in range(6)
        for j in range(12)
    ]
    return pl.DataFrame(rows, schema=["group", "name", "gender", "occupation", "answer"], orient="row")


def test_occupations_are_exchanged_where_each_name_has_all_of_them() -> None:
    without = [p_exchanged(jobs(seed, 0.0), "occupation", ["gender"]) or 0.0 for seed in range(40)]
    assert sum(p < 0.05 for p in without) <= 6
    found = p_exchanged(jobs(1, 2.0), "occupation", ["gender"])
    assert found is not None
    assert found < 0.01


def test_exchanges_of_few_names_come_to_the_exact_p() -> None:
    rows = system(3, names=3, templates=4)

    def excess(men: set[str]) -> float:
        counts = {True: [0, 0], False: [0, 0]}
        for _, of_template in rows.group_by("group"):
            for one, other in combinations(of_template.select("name", "answer").rows(), 2):
                same = (one[0] in men) == (other[0] in men)
                counts[same][0] += one[1] != other[1]
                counts[same][1] += 1
        return counts[False][0] / counts[False][1] - counts[True][0] / counts[True][1]

    names = rows["name"].unique().to_list()
    every = [excess(set(men)) for men in combinations(names, 3)]
    observed = excess(set(rows.filter(gender="male")["name"]))
    exact = np.mean([value >= observed - 1e-12 for value in every])
    assert p_exchanged(rows, "gender", ()) == pytest.approx(exact, abs=0.04)


def test_without_pairs_of_one_class_there_is_nothing_to_exchange() -> None:
    rows = system(0, names=1)
    assert p_exchanged(rows, "gender", ()) is None
    assert p_exchanged(rows.with_columns(name=pl.lit(None, pl.String)), "gender", ()) is None
