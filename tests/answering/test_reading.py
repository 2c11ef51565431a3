"""One reader: run, check, batch and explanation read the same reply the same way."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import config, registry
from harness.answering.numbers import RatingReader
from harness.answering.parse import LabelReader
from harness.answering.reading import Reader, Reading
from harness.answering.runner import Answer
from harness.audit.assembly import Audit, assemble
from harness.audit.examination import Examiner
from harness.core import Case, Failure, Margin, Outcome, Reply, Request, Task, Token
from harness.studies.explaining.asking import Asking

LABELS = ("Negative", "Positive")


BINARY = Task("t", "T", LABELS, lambda options: iter(()), "imdb")
SETS = replace(BINARY, multi_label=True)
RATED = replace(BINARY, labels=("0.0", "1.0"), rates="valence")


def listed(text: str, **logs: float) -> Reply:
    """A reply of one token, with these log-probabilities listed there."""
    return Reply(text, logprobs=(Token(text, logs.get(text, -9.0), tuple(logs.items())),))


class Always:
    """Gives one answer to every request."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def replies(self, requests: Sequence[Request], turn: int = 0) -> dict[str, Answer]:
        return {request.key: self._answer for request in requests}


@pytest.fixture(scope="module", params=["imdb", "valence", "sst", "sets"])
def audit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """An audit of a task with two labels, with a score, with three labels, with sets of labels."""
    path = tmp_path_factory.mktemp("texts") / "texts.csv"
    path.write_text("text\nA film.\n", encoding="utf-8")
    given: dict[str, object] = {"task": request.param, "model.name": "python:posixpath:basename"}
    if request.param == "sets":
        given |= {"task": "custom", "task_options.labels": list(LABELS), "task_options.multi_label": True}
    return assemble(config.load(None, {"documents.path": str(path), **given}))


words = st.sampled_from(
    ["Positive", "Negative", "positive", "negative", "Neutral", "0.5", "7", "The", "none"]
)
tops = st.dictionaries(words, st.floats(-9, -0.01), max_size=5)
replies = st.builds(
    lambda text, top, reason, score: Reply(
        text, reason, logprobs=(Token(text, top.get(text, -0.5), tuple(top.items())),), score=score
    ),
    words,
    tops,
    st.sampled_from(["stop", "length", "content_filter"]),
    st.none() | st.floats(0, 1),
)
answers = replies | st.builds(Failure, st.sampled_from(["filtered", "too-long", "failed"]))


@given(answer=answers)
def test_an_explanation_reads_what_the_run_read(audit: Audit, answer: Answer) -> None:
    case = Case("c", "g", "d", "original", "text")
    examined = asyncio.run(Examiner(audit, Always(answer)).outcomes([case]))["c"]
    (reading,) = asyncio.run(Asking(audit, Always(answer))(["text"]))
    assert reading.outcome == examined
    assert reading.outcome.probabilities == examined.probabilities
    assert reading.outcome.beside == examined.beside
    if reading.log_odds and examined.probabilities:
        likely = {label: 1 / (1 + math.exp(-odds)) for label, odds in reading.log_odds.items()}
        assert likely == pytest.approx(examined.probabilities)


@pytest.mark.parametrize(
    ("task", "parse"),
    [
        (BINARY, LabelReader(LABELS)),
        (SETS, LabelReader(LABELS, True)),
        (RATED, RatingReader(RATED.labels)),
    ],
)
def test_each_kind_of_task_has_its_reader(task: Task, parse: Callable[[Reply], Outcome]) -> None:
    assert Reader.of(task, constrained=False).parse == parse


def test_a_task_may_bring_its_own_reader() -> None:
    def shouted(reply: Reply) -> Outcome:
        return Outcome(frozenset({reply.text.strip("!")}))

    reader = Reader.of(replace(RATED, labels=LABELS, parse=shouted), constrained=True)
    outcome = reader.outcome(
        Reply("Positive!!", logprobs=listed("Positive", Positive=-1, Negative=-3).logprobs)
    )
    assert outcome.labels == frozenset({"Positive"})
    assert outcome.margin == Margin(2.0)


def test_under_a_constraint_what_it_forbids_says_nothing() -> None:
    reply = listed("Positive", negative=-0.1, Positive=-0.7, Negative=-1.4)
    strict, free = (Reader.of(registry.task("imdb"), constrained) for constrained in (True, False))
    assert strict.read(reply).log_odds == pytest.approx({"Positive": 0.7, "Negative": -0.7})
    assert (strict.read(reply).log_odds or {})["Positive"] > 0 > (free.read(reply).log_odds or {})["Positive"]


def test_scores_and_sets_of_labels_have_no_log_odds() -> None:
    rated = Reader.of(RATED, False).read(listed("0.5", Positive=-0.1, Negative=-2.0))
    several = Reader.of(SETS, False).read(listed("Positive", Positive=-0.1, Negative=-2.0))
    assert (rated.log_odds, several.log_odds) == (None, None)


def test_an_outcome_has_all_that_is_known_of_how_sure_the_model_was() -> None:
    said = replace(listed("Positive", Positive=math.log(0.6), Negative=math.log(0.2)), score=0.9)
    outcome = Reader.of(BINARY, False, favourable=("Positive",)).outcome(said)
    assert outcome.margin is not None
    assert not outcome.margin.is_bound
    assert outcome.margin.value == pytest.approx(math.log(3))
    assert outcome.probabilities == pytest.approx({"Positive": 0.75, "Negative": 0.25})
    assert outcome.beside == 0.9
    assert outcome.log_odds == pytest.approx(math.log(3))
    assert outcome.mass == pytest.approx(0.8)
    for favourable, odds in (((), None), (("Negative",), -math.log(3))):
        told = Reader.of(BINARY, False, favourable).outcome(said).log_odds
        assert told == (None if odds is None else pytest.approx(odds))
    alone = Reader.of(BINARY, False, favourable=("Positive",)).outcome(Reply("Positive"))
    assert (alone.margin, alone.probabilities, alone.beside) == (None, None, None)
    assert (alone.log_odds, alone.mass) == (None, None)


def test_under_a_constraint_all_measures_are_of_what_it_allows() -> None:
    said = listed("Positive", positive=-0.2, Positive=math.log(0.3), Negative=math.log(0.1))
    outcome = Reader.of(BINARY, constrained=True).outcome(said)
    assert outcome.margin is not None
    assert outcome.margin.value == pytest.approx(math.log(3))
    assert outcome.probabilities == pytest.approx({"Positive": 0.75, "Negative": 0.25})
    assert outcome.mass == pytest.approx(0.4)


def test_without_a_constraint_a_label_may_be_spelt_in_other_letters() -> None:
    said = Reply("positive", logprobs=(Token("positive", -0.2, (("positive", -0.2), ("NEGATIVE", -1.2))),))
    for reader in (Reader(LabelReader(LABELS), LABELS), Reader.of(BINARY, constrained=False)):
        margin = reader.outcome(said).margin
        assert margin is not None
        assert margin.value == pytest.approx(1.0)
    assert Reader.of(BINARY, constrained=True).outcome(said).margin is None


def test_a_set_of_labels_is_as_sure_as_its_least_certain_label() -> None:
    decided = Token("Positive", -0.1, (("Positive", math.log(0.9)), ("Negative", math.log(0.4))))
    outcome = Reader.of(SETS, False).outcome(Reply("Positive", logprobs=(decided,)))
    assert outcome.labels == frozenset({"Positive"})
    assert outcome.margin is not None
    assert outcome.margin.value == pytest.approx(math.log(0.6 / 0.4))
    unread = Reader.of(SETS, False).read(Reply("who knows", logprobs=(decided,)))
    assert unread == Reading(Outcome(reason="unparsed"))


def test_letters_that_the_prompt_gives_to_labels_are_read() -> None:
    prompt = "A) Negative\nB) Positive"
    assert Reader.of(BINARY, False, prompt=prompt).outcome(Reply("B")).labels == frozenset({"Positive"})
    assert not Reader.of(BINARY, False).outcome(Reply("B")).read


def test_a_shift_is_of_a_label_that_both_know() -> None:
    three = Reading(Outcome(frozenset({"Neutral"})), {"Neutral": 1.0})
    two = Reading(Outcome(frozenset({"Positive"})), {"Positive": 1.0})
    both = Reading(Outcome(frozenset({"Positive", "Negative"})), {"Positive": 1.0})
    assert three.shift(Reading(Outcome(), {"Neutral": -0.5})) == -1.5
    assert Reading(Outcome(frozenset({"Neutral"})), {"Positive": 1.0}).shift(two) is None
    assert both.shift(two) is None
    assert two.shift(Reading(Outcome())) is None


def test_a_failure_is_its_reason() -> None:
    assert Reader.of(BINARY, True).read(Failure("too-long", "…")) == Reading(Outcome(reason="too-long"))


def test_a_mutation_that_flips_nothing_still_shifts() -> None:
    reader = Reader.of(BINARY, constrained=True)
    before = reader.read(listed("Positive", Positive=-0.1, Negative=-3.1))
    after = reader.read(listed("Positive", Positive=-0.5, Negative=-1.5))
    assert before.shift(after) == pytest.approx(-2.0)
    assert after.shift(before) == pytest.approx(2.0)
    assert before.shift(before) == 0.0
    assert before.shift(reader.read(Reply("Positive"))) is None
    assert reader.read(Reply("who knows")).shift(before) is None


# Margins that are bounds


MARGINS = st.lists(st.builds(Margin, st.floats(-5, 5), st.booleans()), min_size=1, max_size=4)


@given(MARGINS, st.data())
def test_the_smallest_margin_claims_no_more_than_is_known(margins: list[Margin], data: st.DataObject) -> None:
    true = [margin.value + (data.draw(st.floats(0, 9)) if margin.is_bound else 0.0) for margin in margins]
    smallest = Margin.smallest(margins)
    if not smallest.is_bound:
        assert min(true) == smallest.value or (min(true) <= smallest.value and smallest.near_tie)
    else:
        assert min(true) >= smallest.value
    assert smallest.near_tie is any(margin.near_tie for margin in margins)


def test_a_near_tie_is_an_answer_less_than_a_tenth_of_a_nat_ahead() -> None:
    assert [Margin(value).near_tie for value in (-1.0, 0.0, 0.0999, 0.1, 9.9)] == [True] * 3 + [False] * 2
    assert not Margin(0.0, is_bound=True).near_tie


def test_a_rival_that_is_not_listed_leaves_a_bound() -> None:
    reader = Reader(LabelReader(("low", "medium", "high")), ("low", "medium", "high"))
    hidden = reader.outcome(listed("medium", The=-0.1, A=-0.2, medium=-4.8)).margin
    assert hidden is not None
    assert hidden.is_bound
    assert not hidden.near_tie
    seen = reader.outcome(listed("medium", medium=-0.7, high=-0.75)).margin
    assert seen is not None
    assert seen.near_tie
