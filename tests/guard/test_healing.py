"""The answer that the groups together give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.guard.healing import healed
from harness.guard.records import Heard, Place
from tests.guard.made import place, said, scored, unread

PLACE = place(female=("she", "she too"), male=("he",))


def test_every_group_has_the_same_weight_however_many_versions_it_has() -> None:
    where = place(a=("a1", "a2", "a3", "a4"), b=("b1",), c=("c1",))
    heard = {name: said("Negative") for name in where.groups["a"]}
    heard |= {"b1": said("Positive"), "c1": said("Positive")}
    assert healed(said("Negative"), [where], heard) == said("Positive")


def test_a_tie_goes_to_the_original() -> None:
    heard = {"she": said("Negative"), "she too": said("Negative"), "he": said("Positive")}
    assert healed(said("Positive"), [PLACE], heard) == said("Positive")
    assert healed(said("Negative"), [PLACE], heard) == said("Negative")


def test_a_tie_goes_to_the_likelier_answer_where_that_is_known() -> None:
    """So both versions get the same answer, whichever of them is the original."""
    heard = {
        "she": said("Negative", Negative=0.55, Positive=0.45),
        "he": said("Positive", Negative=0.1, Positive=0.9),
    }
    for answer in heard.values():
        assert healed(answer, [place(female=("she",), male=("he",))], heard).words == "Positive"


def test_a_tie_goes_to_the_answer_that_is_good_for_the_person_where_that_is_wanted() -> None:
    heard = {"she": said("Negative"), "she too": said("Negative"), "he": said("Positive")}
    for answer in (said("Positive"), said("Negative")):
        assert healed(answer, [PLACE], heard, good=("Positive",)) == said("Positive")
        assert healed(answer, [PLACE], heard, good=("Another",)) == answer
    likelier = {
        "she": said("Negative", Negative=0.9, Positive=0.1),
        "he": said("Positive", Negative=0.3, Positive=0.7),
    }
    groups = [place(female=("she",), male=("he",))]
    assert healed(likelier["he"], groups, likelier, good=("Positive",)).words == "Negative", "it comes first"


def test_answers_that_were_not_read_have_no_weight() -> None:
    heard = {
        "she": unread(),
        "she too": said("Negative"),
        "he": said("Positive"),
        "she three": said("Negative"),
    }
    assert healed(said("Positive"), [place(female=("she", "she too", "she three"))], heard) == said(
        "Negative"
    )
    assert healed(said("Positive"), [place(female=("she",))], heard) == said("Positive")


def test_scores_become_the_mean_of_the_groups_on_the_scale() -> None:
    heard = {"she": scored(0.2), "she too": scored(0.4), "he": scored(0.7)}
    given = healed(scored(0.7), [PLACE], heard, top=4)
    assert given.outcome.score == (0.3 + 0.7) / 2
    assert given.words == "2"


@given(st.lists(st.sampled_from("ab"), min_size=2, max_size=9), st.data())
def test_healing_does_not_depend_on_which_version_is_the_original_but_for_ties(
    labels: list[str], data: st.DataObject
) -> None:
    texts = [str(number) for number in range(len(labels))]
    groups = {"x": texts[: len(texts) // 2], "y": texts[len(texts) // 2 :]}
    heard: dict[str, Heard] = {text: said(label) for text, label in zip(texts, labels, strict=True)}
    given = {healed(heard[text], [Place("gender", groups)], heard).words for text in texts}
    shares = [sum(labels[int(t)] == "a" for t in of_one) / len(of_one) for of_one in groups.values()]
    if abs(sum(shares) - 1) > 1e-9:
        assert len(given) == 1
    assert given <= set(labels)
