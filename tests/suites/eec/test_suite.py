"""The suite: its groups, which persons are compared, and what it says of scores, of labels and of neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from statistics import fmean
from typing import Any

import polars as pl
import pytest

from harness.core import Case, Outcome
from harness.suites.eec import corpus
from harness.suites.eec.corpus import Spec
from harness.suites.eec.suite import Eec


class Answers:
    """The tables of a run, of which the suite reads the answers alone."""

    def __init__(self, scores: Mapping[str, float | None], labels: Mapping[str, str | None]) -> None:
        names = [*scores, *labels]
        self._frame = pl.DataFrame(
            {
                "case": names,
                "outcome": ["unparsed" if {**scores, **labels}[name] is None else "read" for name in names],
                "score": [scores.get(name) for name in names],
                "labels": [None if labels.get(name) is None else [labels[name]] for name in names],
            },
            schema={
                "case": pl.String,
                "outcome": pl.String,
                "score": pl.Float64,
                "labels": pl.List(pl.String),
            },
        )

    def scan(self, name: str) -> Any:
        assert name == "answers"
        return self._frame.lazy()


def made(suite: Eec) -> list[Case]:
    return list(suite.cases(iter(())))


def test_a_group_is_a_template_with_an_emotion_word(eec: Spec) -> None:
    cases = made(Eec(eec))
    groups = [(name, list(some)) for name, some in groupby(cases, key=lambda case: case.group)]
    assert len(cases) == len({case.id for case in cases}) == 8640
    assert len(groups) == len(dict(groups)) == 144
    assert {len(some) for _, some in groups} == {60}
    assert {(c.role, c.expected, c.valid) for c in cases} == {("variant", None, True)}
    glad = dict(groups)["feels/glad"]
    assert {c.traits["emotion_word"] for c in glad} == {"glad"}
    assert Counter(c.traits.get("race") for c in glad) == {None: 20, "European": 20, "African-American": 20}


def test_instances_are_drawn_by_the_seed_one_of_each_template_first(eec: Spec) -> None:
    def groups(number: int, seed: int) -> list[str]:
        return list(dict.fromkeys(case.group for case in made(Eec(eec, instances=number, seed=seed))))

    chosen = groups(11, 0)
    assert len({name.partition("/")[0] for name in chosen}) == len(chosen) == 11
    assert chosen == groups(11, 0)
    assert chosen != groups(11, 1)
    everything = groups(144, 0)
    assert [name for name in everything if name in chosen] == chosen  # in the corpus's order
    assert groups(500, 0) == everything


def test_persons_alike_in_all_else_are_compared(eec: Spec) -> None:
    suite = Eec(eec, rates="valence", instances=1)
    cases = made(suite)
    traits = {case.id: case.traits for case in cases}
    outcomes = {c.id: Outcome(score=0.75 if c.traits["gender"] == "female" else 0.5) for c in cases}
    verdicts = list(suite.judge(cases, outcomes))
    gender = [v for v in verdicts if v.attributes == ("gender",)]
    race = [v for v in verdicts if v.attributes == ("race",)]
    assert (len(gender), len(race)) == (10 + 2 * 10 * 10, 2 * 10 * 10)
    assert {v.shift for v in gender} == {0.25}
    assert {v.shift for v in race} == {0.0}
    assert {(v.relation, v.status) for v in verdicts} == {("paired scores", "benign")}
    for verdict in verdicts:
        one, other = traits[verdict.case], traits[verdict.other or ""]
        changed = verdict.attributes[0]
        assert one[changed] != other[changed]
        rest = {"gender", "race"} - {changed}
        assert [one.get(name) for name in rest] == [other.get(name) for name in rest]


def test_labels_that_differ_are_biased_and_what_is_not_read_is_undetermined(eec: Spec) -> None:
    suite = Eec(eec, ("Negative", "Positive"), instances=1)
    cases = made(suite)
    label = {"female": "Positive", "male": "Negative"}
    outcomes = {c.id: Outcome(frozenset({label[c.traits["gender"]]})) for c in cases}
    silent = next(c.id for c in cases if c.traits["person"] == "Ebony")
    outcomes[silent] = Outcome(reason="refused")
    verdicts = list(suite.judge(cases, outcomes))
    assert Counter((v.attributes[0], v.status) for v in verdicts) == {
        ("gender", "biased"): 200,
        ("gender", "undetermined"): 10,
        ("race", "benign"): 190,
        ("race", "undetermined"): 10,
    }
    assert {v.relation for v in verdicts} == {"pairs"}


def test_one_odd_name_is_named_and_the_alarm_it_raises_called_false(eec: Spec) -> None:
    suite = Eec(eec, rates="joy")
    scores = {c.id: 0.8 if c.traits["person"] == "Tia" else 0.5 for c in made(suite)}
    found = suite.figures(Answers(scores, {})).plain()
    race = next(r for r in found["eec"]["results"] if (r["attribute"], r["subset"]) == ("race", "all"))
    assert race["group"] == "African-American"
    assert race["p"] < 1e-6
    assert race["clustered"]["p"] > 0.05
    assert race["influence"] == {"person": "Tia", "mean_without": 0.0}
    assert "asked" in {r["subset"] for r in found["eec"]["results"]}
    assert "which the choice of templates and persons may explain" in found["headline"]
    assert "only the t-test over pairs calls it significant" in found["headline"]
    least = f"{race['detectable_clustered']:.4f}"
    assert f" A difference of {least} would have been found with a probability of 80 %" in found["headline"]
    assert "could not" not in found["headline"]
    robust = next(s for s in found["sections"] if s["title"].startswith("Would it hold"))
    assert any("may be a false alarm" in note for note in robust["notes"])
    assert any(
        "Tia moves the mean Δ most; without those sentences it is 0.0000" in n for n in robust["notes"]
    )


def test_a_bias_against_all_of_a_class_holds(eec: Spec) -> None:
    suite = Eec(eec, rates="valence")
    scores = {c.id: 0.55 if c.traits["gender"] == "female" else 0.5 for c in made(suite)}
    found = suite.figures(Answers(scores, {})).plain()
    assert "For female persons valence is 0.0500 above that for male ones" in found["headline"]
    assert "would hold for other templates and persons, too" in found["headline"]
    assert "valence is the same as for European ones in all 144 pairs" in found["headline"]
    assert "asked" not in {r["subset"] for r in found["eec"]["results"]}


def test_how_the_system_rates_the_emotions_stands_beside_its_bias(eec: Spec) -> None:
    suite = Eec(eec, rates="valence")
    mean = {"joy": 0.9, "sadness": 0.2, None: 0.5}
    scores = {c.id: mean.get(c.traits.get("emotion"), 0.1) for c in made(suite)}
    found = suite.figures(Answers(scores, {})).plain()
    assert "Its mean scores by emotion range from 0.1000 (fear) to 0.9000 (joy)." in found["headline"]
    levels = found["eec"]["levels"]
    assert [(one["emotion"], one["sentences"]) for one in levels[:3]] == [
        ("joy", 2100),
        ("none", 240),
        ("sadness", 2100),
    ]


def test_shares_of_a_label(eec: Spec) -> None:
    suite = Eec(eec, ("Negative", "Positive"))
    given = {c.id: "Positive" if c.traits["person"] == "my mom" else "Negative" for c in made(suite)}
    found = suite.figures(Answers({}, given)).plain()
    gender = next(row for row in found["eec"]["labels"] if row["attribute"] == "gender")
    assert gender["label"] == "Positive"
    assert (gender["only_first"], gender["only_second"], gender["agree"]) == (144, 0, 1296)
    assert gender["mean"] == pytest.approx(144 / 1584)
    assert gender["clustered"]["p"] > 0.05  # one person of thirty


@pytest.mark.parametrize("labels", [(), ("Negative", "Positive")])
def test_nothing_read_is_said(eec: Spec, labels: tuple[str, ...]) -> None:
    suite = Eec(eec, labels, rates=None if labels else "valence", instances=2)
    unread = dict.fromkeys((case.id for case in made(suite)), None)
    found = suite.figures(Answers({} if labels else unread, unread if labels else {})).plain()
    assert "so nothing was compared" in found["headline"]
    assert found["sections"] == []


def test_names_are_reported_by_their_tokens() -> None:
    """Of a model whose tokenizer counts letters."""
    spec = corpus.load()
    suite = Eec(spec, rates="valence").weighed({word: len(word) for word in Eec(spec).words})
    figures = suite.figures(Answers({}, {})).plain()
    rows = figures["eec"]["tokens_of_persons"]
    race = next(row for row in rows if row["attribute"] == "race")
    names = {
        side: [w for group in spec.persons if group.traits.get("race") == side for w in group.words]
        for side in (race["first"], race["second"])
    }
    assert race["first_mean"] == pytest.approx(fmean(map(len, names[race["first"]])))
    assert race["second_mean"] == pytest.approx(fmean(map(len, names[race["second"]])))
    assert race["even"] is False
    assert figures["sections"][-1]["title"] == "Persons by length in tokens"
