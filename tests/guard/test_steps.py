"""The two steps of a check, the verdict, and what is given: for answers of every kind."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from harness.guard.records import Checked, Heard, Place
from harness.guard.steps import Steps
from harness.settings import GuardSettings
from tests.guard.made import SENTIMENT, VALENCE, System, place, said, scored, steps, unread

WOMEN = tuple(f"she {number}" for number in range(10))
MEN = tuple(f"he {number}" for number in range(10))
PLACE = place(female=WOMEN, male=("text", *MEN))


def check(system: System, by: Steps, places: list[Place], text: str = "text") -> Checked:
    async def checked() -> Checked:
        return await by.check(text, (await system([text]))[text], places, system)

    return asyncio.run(checked())


def against(*texts: str) -> System:
    return System(lambda text: said("Negative" if text in texts else "Positive"))


def test_a_text_that_names_nobody_costs_nothing_more() -> None:
    system = against()
    checked = check(system, steps(), [])
    assert (checked.verdict, checked.reason, checked.requests) == ("not-checked", "nobody", 1)
    assert system.asked == ["text"]


def test_first_versions_that_agree_end_the_check() -> None:
    system = against(*WOMEN[2:])
    checked = check(system, steps(first=2), [PLACE])
    assert (checked.verdict, checked.steps, checked.requests) == ("fair", 1, 4)
    assert system.asked == ["text", "she 0", "she 1", "he 0"], "the text itself is a version of its group"


def test_where_they_disagree_all_are_asked_and_the_means_compared() -> None:
    system = against(*WOMEN)
    checked = check(system, steps(first=2), [PLACE])
    assert (checked.verdict, checked.steps, checked.requests) == ("unfair", 2, 21)
    (difference,) = checked.differences
    assert set(difference.groups) == {"female", "male"}
    assert sorted(difference.means) == [0.0, 1.0]
    assert sorted(difference.sizes) == [10, 11]
    assert len(system.asked) == len(set(system.asked)) == 21, "nothing is asked twice"


def test_a_disagreement_that_is_none_of_the_groups_is_fair() -> None:
    system = against("she 0", "he 1")
    checked = check(system, steps(first=2, alpha=0.1), [PLACE])
    assert (checked.verdict, checked.steps, checked.differences) == ("fair", 2, [])


def test_only_the_places_that_disagree_are_asked_about_wholly() -> None:
    old = place("body", young=("text",), old=tuple(f"old {number}" for number in range(9)))
    system = against(*WOMEN)
    check(system, steps(first=1), [PLACE, old])
    assert [text for text in system.asked if text.startswith("old")] == ["old 0"]


def test_a_bound_on_versions_holds_and_spares_no_group() -> None:
    system = against(*WOMEN)
    checked = check(system, steps(first=2, most=8), [PLACE])
    assert checked.requests == 9
    assert checked.verdict == "unfair"
    (difference,) = checked.differences
    assert min(difference.sizes) >= 3


def test_scores_that_are_near_agree() -> None:
    near = System(lambda text: scored(0.5 + 0.04 * text.startswith("she")))
    assert check(near, steps(VALENCE, alpha=0.05), [PLACE]).steps == 1
    far = System(lambda text: scored(0.5 - 0.2 * text.startswith("she")))
    checked = check(far, steps(VALENCE, alpha=0.05), [PLACE])
    (difference,) = checked.differences
    assert (checked.verdict, difference.groups, round(difference.value, 9)) == (
        "unfair",
        ("female", "male"),
        0.2,
    )


def test_an_answer_that_cannot_be_read_is_not_checked_and_asks_nothing_more() -> None:
    system = System(lambda text: unread())
    checked = check(system, steps(), [PLACE])
    assert (checked.verdict, checked.reason, system.asked) == ("not-checked", "unread", ["text"])


def test_a_group_of_which_nothing_can_be_read_leaves_the_check_open() -> None:
    system = System(lambda text: unread() if text in WOMEN else said("Positive"))
    checked = check(system, steps(), [PLACE])
    assert (checked.verdict, checked.reason) == ("not-checked", "unread")


def test_what_is_given() -> None:
    system = against(*WOMEN, *MEN[:8])
    minority = place(female=WOMEN, male=("text", *MEN))
    assert check(system, steps(action="flag"), [minority]).given == said("Positive")
    assert check(system, steps(action="refuse"), [minority]).given is None
    healed = check(system, steps(action="heal"), [minority])
    assert healed.given == said("Negative")
    assert healed.changed
    assert healed.answer == said("Positive"), "the answer to the text itself is told, too"


def test_ties_go_where_the_settings_say() -> None:
    where = place(female=WOMEN, male=MEN)
    for ties, healed in (("original", "Negative"), ("favourable", "Positive")):
        by = steps(favourable=("Positive",), action="heal", ties=ties)
        checked = check(against("text", *WOMEN), by, [where])
        assert (checked.verdict, checked.answer) == ("unfair", said("Negative"))
        assert checked.given == said(healed)


def test_json_without_texts_has_none() -> None:
    checked = check(against(*WOMEN), steps(), [PLACE])
    told = str(checked.to_json(texts=False))
    assert "she" not in told
    assert "female" in told
    assert "she 0" in str(checked.to_json())


LABEL = st.sampled_from(["Negative", "Positive"])


@given(
    women=st.lists(LABEL, min_size=1, max_size=8),
    men=st.lists(LABEL, min_size=1, max_size=8),
    own=LABEL,
    first=st.integers(1, 8),
    most=st.integers(1, 20),
    alpha=st.floats(0, 1),
    action=st.sampled_from(["flag", "heal", "refuse"]),
)
def test_promises_of_every_check(
    women: list[str], men: list[str], own: str, first: int, most: int, alpha: float, action: str
) -> None:
    """No more is asked than allowed; unfair means a difference above alpha; fair answers are left alone."""
    answers = {f"she {n}": label for n, label in enumerate(women)}
    answers |= {f"he {n}": label for n, label in enumerate(men)} | {"text": own}
    system = System(lambda text: said(answers[text]))
    settings = GuardSettings.model_validate({"first": first, "most": most, "alpha": alpha, "action": action})
    where = place(
        female=[f"she {n}" for n in range(len(women))], male=["text", *(f"he {n}" for n in range(len(men)))]
    )
    checked = check(system, Steps(settings, SENTIMENT), [where])
    assert len(system.asked) == len(set(system.asked)) == checked.requests <= most + 1
    assert (checked.verdict == "unfair") == bool(checked.differences)
    assert all(difference.value > alpha for difference in checked.differences)
    if checked.verdict != "unfair":
        assert checked.given is checked.answer
    share = women.count("Positive") / len(women)
    others = [own, *men]
    full = abs(share - others.count("Positive") / len(others))
    if first >= 8 and most == 20 and abs(full - alpha) > 1e-6:
        assert (checked.verdict == "unfair") == (full > alpha), "with all versions first, nothing is missed"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_a_healed_score_lies_between_those_of_the_groups(women: list[float], men: list[float]) -> None:
    answers = {f"she {n}": score for n, score in enumerate(women)}
    answers |= {f"he {n}": score for n, score in enumerate(men)}
    own = men[0]
    system = System(lambda text: scored(answers.get(text, own)))
    where = place(
        female=[f"she {n}" for n in range(len(women))],
        male=["text", *(f"he {n}" for n in range(1, len(men)))],
    )
    given: Heard | None = check(system, steps(VALENCE, action="heal", alpha=0.0), [where]).given
    assert given is not None
    assert given.outcome.score is not None
    assert min(*women, *men) - 1e-9 <= given.outcome.score <= max(*women, *men) + 1e-9
