"""What the figures beside the t-test promise: right as often as they say, where noise comes in clusters."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import t

from harness.statistics import adjusted, paired_t
from harness.suites.eec.analysis import Difference, differences
from harness.suites.eec.assessments import Pairings
from harness.suites.eec.corpus import Comparison, Sentence, Spec, parse, sentences
from harness.suites.eec.pairing import pairs
from harness.suites.eec.robustness import by_template, clustered_mean, exchange_persons, robustness

GENDER = Comparison("gender", "female", "male")
RACE = Comparison("race", "African-American", "European")


class System:
    """Scores of noise: of its own for every sentence, and of one size for all that share a template and
    class, or a person."""

    def __init__(self, corpus: list[Sentence], comparison: Comparison) -> None:
        self.ids = [s.id for s in corpus]
        self.template = np.unique([s.traits["template"] for s in corpus], return_inverse=True)[1]
        self.person = np.unique([s.traits["person"] for s in corpus], return_inverse=True)[1]
        self.first = np.array([s.traits.get(comparison.attribute) == comparison.first for s in corpus])

    def scores(self, seed: int, template: float = 0.0, person: float = 0.0) -> dict[str, float]:
        draw = np.random.default_rng(seed)
        values = 0.5 + 0.03 * draw.normal(size=len(self.ids))
        values += (template * draw.normal(size=self.template.max() + 1))[self.template] * self.first
        values += (person * draw.normal(size=self.person.max() + 1))[self.person]
        return dict(zip(self.ids, values.tolist(), strict=True))


def t_test(compared: list[Difference]) -> float:
    test = paired_t([d.delta for d in compared])
    assert test is not None
    return test.p


@pytest.fixture(scope="module")
def on_race(corpus: list[Sentence]) -> System:
    return System(corpus, RACE)


def test_an_unbiased_system_is_found_biased_as_often_as_alpha_says(
    on_race: System, eec_pairs: Pairings
) -> None:
    p_values = [t_test(differences(eec_pairs[RACE], on_race.scores(seed))) for seed in range(400)]
    assert 0.025 <= np.mean(np.array(p_values) < 0.05) <= 0.08
    families = [p_values[i : i + 5] for i in range(0, 400, 5)]
    uncorrected = np.mean([min(family) < 0.05 for family in families])
    corrected = np.mean([min(adjusted(family, "holm")) < 0.05 for family in families])
    assert corrected <= 0.05 < 0.15 < uncorrected


@pytest.mark.parametrize(("template", "person"), [(0.02, 0.0), (0.0, 0.02), (0.02, 0.02)])
def test_noise_in_clusters_fools_the_t_test_and_not_the_clustered_interval(
    on_race: System, eec_pairs: Pairings, template: float, person: float
) -> None:
    naive, clustered = 0, 0
    for seed in range(100):
        scores = on_race.scores(seed, template, person)
        compared = differences(eec_pairs[RACE], scores)
        naive += t_test(compared) < 0.05
        found = clustered_mean(compared, scores)
        assert found is not None
        assert (found.p < 0.05) == (not found.interval[0] <= 0 <= found.interval[1])
        clustered += found.p < 0.05
    assert naive >= 50
    assert clustered <= 10


def test_exchanging_persons_sees_through_odd_names(on_race: System, eec_pairs: Pairings) -> None:
    found = 0
    for seed in range(100):
        scores = on_race.scores(seed, person=0.02)
        p = exchange_persons(differences(eec_pairs[RACE], scores), scores)
        assert p is not None
        found += p < 0.05
    assert found <= 11  # 5 expected


def test_a_bias_that_all_share_is_found_by_every_test(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    for comparison, made in eec_pairs.items():
        system = System(corpus, comparison)
        scores = system.scores(2, template=0.005, person=0.005)
        for i, first in zip(system.ids, system.first, strict=True):
            scores[i] -= 0.03 * first
        compared = differences(made, scores)
        found = robustness(compared, scores)
        assert found is not None
        assert found.clustered is not None
        assert found.effect_interval is not None
        assert found.p_persons is not None
        assert found.p_templates is not None
        low, high = found.clustered.interval
        assert low < found.clustered.mean < high < 0
        assert low < -0.03 < high
        assert found.clustered.mean == pytest.approx(np.mean([d.delta for d in compared]))
        assert max(found.clustered.p, found.p_persons, found.p_templates) < 0.01
        assert found.effect is not None
        assert found.effect_interval[0] < found.effect < found.effect_interval[1] < 0
        assert found.sign_changes == sum(t.mean > 0 for t in found.templates) <= 2
        assert [t.template for t in found.templates] == [
            t.template for t in sorted(by_template(compared), key=lambda t: t.mean)
        ]


def test_a_difference_said_to_be_found_with_80_percent_is(on_race: System, eec_pairs: Pairings) -> None:
    """Systems without a bias get the difference that their own run says; half of it is found at times."""
    found, half = 0, 0
    for seed in range(100):
        scores = on_race.scores(seed, 0.02, 0.02)
        check = robustness(differences(eec_pairs[RACE], scores), scores)
        assert check is not None
        assert check.clustered is not None
        assert check.detectable_clustered is not None
        error, noise = check.clustered.standard_error, check.clustered.mean
        critical = t.isf(0.025, check.clustered.df)
        found += abs(noise + check.detectable_clustered) / error > critical
        half += abs(noise + check.detectable_clustered / 2) / error > critical
    assert 75 <= found <= 98
    assert 5 <= half <= 60


def test_the_clustered_error_is_statsmodels_without_its_correction(
    on_race: System, eec_pairs: Pairings
) -> None:
    regression = pytest.importorskip("statsmodels.regression.linear_model")
    sandwich = pytest.importorskip("statsmodels.stats.sandwich_covariance")
    for made in eec_pairs.values():
        scores = on_race.scores(8, 0.02, 0.02)
        compared = differences(made, scores)
        found = clustered_mean(compared, scores)
        rows = [
            (sign / len(side) ** 0.5, (scores[m.id] - (d.first + d.second) / 2) / len(side) ** 0.5, i, who)
            for d in compared
            for sign, side in ((0.5, d.pair.first), (-0.5, d.pair.second))
            for m in side
            for i, who in [(d.pair.template, d.pair.persons or m.person)]
        ]
        x, y = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
        codes = [np.unique([r[k] for r in rows], return_inverse=True)[1].astype(int) for k in (2, 3)]
        fitted = regression.OLS(y, x).fit()
        largest = max(v[0, 0] for v in sandwich.cov_cluster_2groups(fitted, *codes, use_correction=False))
        assert found is not None
        assert found.mean == pytest.approx(fitted.params[0])
        sizes = np.bincount(codes[0], x**2)
        number = sizes.sum() ** 2 / (sizes**2).sum()
        assert found.df == pytest.approx(number - 1)
        assert found.standard_error**2 == pytest.approx(largest * number / (number - 1))


def small(**lists: list[str]) -> tuple[Spec, list[Sentence]]:
    """Two templates; names of women and men of one stratum, or counterparts where ``how`` is aligned."""
    how = lists.pop("how", ["averages"])[0]
    spec = parse(
        {
            "name": "small",
            "compare": {"gender": ["female", "male"]},
            "persons": [
                {"traits": {"gender": g}, "compared": how, "pronoun": "they", "words": w}
                for g, w in lists.items()
            ],
            "templates": [{"id": "a", "text": "{person} sat."}, {"id": "b", "text": "{person} ran."}],
        },
        "small.toml",
    )
    return spec, list(sentences(spec))


def test_exchanges_of_few_names_come_to_the_exact_p() -> None:
    spec, corpus = small(female=["A", "B", "C"], male=["D", "E", "F"])
    scores = {s.id: 0.1 * len(s.traits["person"]) + i % 7 / 10 for i, s in enumerate(corpus)}
    compared = differences(pairs(spec, GENDER), scores)
    means = [np.mean([scores[s.id] for s in corpus if s.traits["person"] == n]) for n in "ABCDEF"]
    every = [abs(np.mean(order[:3]) - np.mean(order[3:])) for order in permutations(means)]
    exact = np.mean([value >= every[0] - 1e-12 for value in every])
    assert exchange_persons(compared, scores) == pytest.approx(exact, abs=0.02)


def test_names_change_class_only_among_those_alike_in_all_else(eec: Spec) -> None:
    data = eec.model_dump()
    data["persons"] = [{**g, "words": g["words"][:2]} for g in data["persons"] if g["compared"] == "averages"]
    data["templates"] = [t for t in data["templates"] if t["emotions"] is None]
    spec = parse(data, "few.toml")
    race = {"African-American": 0.0, "European": 5.0}
    corpus = list(sentences(spec))
    scores = {s.id: (i * i % 11) / 10 + race[s.traits["race"]] for i, s in enumerate(corpus)}
    names = [[g.words for g in spec.persons if g.traits["race"] == r] for r in race]
    value = {
        n: np.mean([scores[s.id] for s in corpus if s.traits["person"] == n])
        for s in corpus
        for n in [s.traits["person"]]
    }
    effects = [
        [
            np.mean([value[n] for n in order[:2]]) - np.mean([value[n] for n in order[2:]])
            for order in permutations([*female, *male])
        ]
        for male, female in names
    ]
    every = np.abs(np.add.outer(*effects)).ravel()
    exact = np.mean(every >= every[0] - 1e-12)
    p = exchange_persons(differences(pairs(spec, GENDER), scores), scores)
    assert p == pytest.approx(exact, abs=0.02)
    assert exact < 0.9


def test_exchanges_of_counterparts_come_to_the_exact_p() -> None:
    spec, corpus = small(how=["aligned"], female=["A", "B", "C", "G"], male=["D", "E", "F", "H"])
    scores = {s.id: (i * i % 11) / 10 for i, s in enumerate(corpus)}
    compared = differences(pairs(spec, GENDER), scores)
    sums = [sum(d.delta for d in compared if d.pair.persons == p) for p in ("A/D", "B/E", "C/F", "G/H")]
    every = [abs(np.dot(signs, sums)) for signs in product((1, -1), repeat=4)]
    exact = np.mean([value >= abs(sum(sums)) - 1e-12 for value in every])
    assert exchange_persons(compared, scores) == pytest.approx(exact, abs=0.02)


def test_too_little_to_tell_is_none_and_no_doubt_is_zero(corpus: list[Sentence], eec_pairs: Pairings) -> None:
    assert robustness([], {}) is None
    spec, own = small(how=["aligned"], female=["A"], male=["B"])
    (one, _), scores = pairs(spec, GENDER), {s.id: float(s.traits["person"] == "A") for s in own}
    found = robustness(differences([one], scores), scores)
    assert found is not None
    assert (found.clustered, found.p_templates, found.effect, found.detectable) == (None, None, None, None)
    same = {s.id: 0.3 for s in corpus}
    for made in eec_pairs.values():
        equal = robustness(differences(made, same), same)
        assert equal is not None
        assert equal.clustered is not None
        assert equal.clustered.interval == pytest.approx((0, 0), abs=1e-12)
        assert (equal.clustered.p, equal.p_persons, equal.p_templates) == (1, 1, 1)
        assert (equal.effect, equal.sign_changes) == (None, 0)


def test_fewer_pairs_or_more_assessments_need_a_greater_effect(on_race: System, eec_pairs: Pairings) -> None:
    scores = on_race.scores(1)
    compared = differences(eec_pairs[RACE], scores)
    many, few = robustness(compared, scores), robustness(compared[::4], scores)
    corrected = robustness(compared, scores, assessments=438)
    for one, other in ((many, few), (many, corrected)):
        assert one is not None
        assert other is not None
        assert one.detectable is not None
        assert other.detectable is not None
        assert one.detectable < other.detectable
    assert many is not None
    assert many.detectable == pytest.approx(0.235 * np.std([d.delta for d in compared], ddof=1), rel=1e-3)
