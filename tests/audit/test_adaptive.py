"""A budget spent round by round: never exceeded, the same for a seed, resumable, better than chance."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.audit.adaptive.candidates import Candidates
from harness.audit.adaptive.chooser import ROUND, Chooser, Finding, Pick
from harness.audit.adaptive.exploration import Exploration
from harness.core import Case, Margin, Outcome, Role, Status, Substitution
from harness.suites import oracle

Answer = Callable[[str], Outcome]


class Kept:
    """Cases in memory."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases

    def read_cases(self) -> Iterator[Case]:
        return iter(self.cases)

    def take(self, rows: Sequence[int]) -> Sequence[Case]:
        return [self.cases[row] for row in rows]


class Stopped(Exception):
    pass


class Asked:
    """Answers by a function of the text, keeps them, and may stop after some rounds."""

    def __init__(
        self, answer: Answer, kept: dict[str, Outcome] | None = None, rounds: int | None = None
    ) -> None:
        self.answer = answer
        self.kept = {} if kept is None else kept
        self.sent: list[str] = []
        self.rounds = rounds

    def key(self, case: Case) -> str:
        return case.text

    async def outcomes(self, cases: Sequence[Case]) -> Mapping[str, Outcome]:
        if self.rounds == 0:
            raise Stopped
        self.rounds = None if self.rounds is None else self.rounds - 1
        for case in cases:
            if case.text not in self.kept:
                self.sent.append(case.text)
                self.kept[case.text] = self.answer(case.text)
        return {case.id: self.kept[case.text] for case in cases}


def group(
    document: str, pairs: Sequence[tuple[str, str, str]], discarded: frozenset[int] = frozenset()
) -> list[Case]:
    """A document with all the sources, and its mutants of one pair and of two of different attributes."""
    cases = [Case(f"{document}#0", document, document, "original", document)]
    for size in (1, 2):
        for chosen in combinations(pairs, size):
            if len({attribute for attribute, _, _ in chosen}) < size:
                continue
            text = f"{document}: {', '.join(f'{source}>{target}' for _, source, target in chosen)}"
            reason = "pos" if len(cases) in discarded else None
            role: Role = "atomic" if size == 1 else "intersectional"
            cases.append(
                Case(
                    text,
                    document,
                    document,
                    role,
                    text,
                    tuple(Substitution(*p) for p in chosen),
                    reason=reason,
                )
            )
    return cases


def label(flips: bool, margin: float | None = None) -> Outcome:
    known = None if margin is None else Margin(margin)
    return Outcome(frozenset({"Negative" if flips else "Positive"}), margin=known)


def explore(
    cases: Sequence[Case], asked: Asked, budget: int, seed: int = 0, *, estimated: bool = True
) -> Exploration:
    exploration = Exploration(Kept(cases), asked, oracle.judge, budget, seed, estimated=estimated)
    asyncio.run(exploration.run())
    return exploration


def flipped(exploration: Exploration, answer: Answer) -> set[str]:
    """The documents shown biased."""
    return {
        case.document
        for cases in exploration.groups()
        for case in cases[1:]
        if answer(case.text).labels != answer(cases[0].text).labels
    }


PAIRS = [
    ("race", "black", "white"),
    ("race", "black", "Asian"),
    ("gender", "he", "she"),
    ("gender", "man", "woman"),
]


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Case], Answer]:
    """Some documents, and a model that flips here and there, refuses now and then, and may know margins."""
    cases: list[Case] = []
    for number in range(draw(st.integers(1, 25))):
        pairs = draw(st.lists(st.sampled_from(PAIRS), unique=True, max_size=4))
        cases += group(f"d{number}", pairs, frozenset(draw(st.sets(st.integers(1, 8), max_size=3))))
    margins, rate = draw(st.booleans()), draw(st.integers(1, 6))

    def answer(text: str) -> Outcome:
        digest = sha256(text.encode()).digest()
        if digest[0] < 10:
            return Outcome(reason="refused")
        return label(digest[1] % rate == 1, digest[2] / 50 if margins else None)

    return cases, answer


def reachable(cases: Sequence[Case], answer: Answer) -> set[str]:
    """All that may ever be asked: originals with a valid mutant, and the mutants of those that are read."""
    valid = [case for case in cases if case.valid]
    mutants = [case for case in valid if case.role != "original"]
    originals = {case.document: case for case in valid if case.role == "original"}
    opened = {originals[case.document].text for case in mutants}
    return opened | {case.text for case in mutants if answer(originals[case.document].text).read}


@settings(deadline=None, max_examples=40)
@given(worlds(), st.integers(1, 150), st.integers(0, 5))
def test_the_budget_is_spent_and_never_exceeded(
    world: tuple[list[Case], Answer], budget: int, seed: int
) -> None:
    cases, answer = world
    asked = Asked(answer)
    exploration = explore(cases, asked, budget, seed)
    assert exploration.requests == len(asked.sent) == min(budget, len(reachable(cases, answer)))
    groups = list(exploration.groups())
    assert all(asked_cases[0].role == "original" for asked_cases in groups)
    assert all(len({case.document for case in asked_cases}) == 1 for asked_cases in groups)
    assert sorted(case.text for asked_cases in groups for case in asked_cases) == sorted(asked.sent)
    order = {text: number for number, text in enumerate(asked.sent)}
    assert all(order[g[0].text] < order[case.text] for g in groups for case in g[1:])
    assert all(case.valid for asked_cases in groups for case in asked_cases)


@settings(deadline=None, max_examples=25)
@given(worlds(), st.integers(1, 150), st.integers(0, 5), st.integers(0, 6))
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(
    world: tuple[list[Case], Answer], budget: int, seed: int, rounds: int
) -> None:
    cases, answer = world
    whole = Asked(answer)
    never = explore(cases, whole, budget, seed)
    expected = list(never.groups())
    first = Asked(answer, rounds=rounds)
    with contextlib.suppress(Stopped):
        explore(cases, first, budget, seed)
    second = Asked(answer, kept=first.kept)
    resumed = explore(cases, second, budget, seed)
    assert list(resumed.groups()) == expected
    assert resumed.estimates() == never.estimates()
    assert first.sent + second.sent == whole.sent


@settings(deadline=None)
@given(worlds())
def test_smaller_mutants_are_those_of_the_proper_subsets(world: tuple[list[Case], Answer]) -> None:
    cases, _ = world
    candidates = Candidates.of(cases)
    for number, row in enumerate(candidates.rows.tolist()):
        own = set(cases[row].substitutions)
        expected = {
            case.id
            for case in cases
            if case.document == cases[row].document and case.valid and case.substitutions
            if set(case.substitutions) < own
        }
        assert {cases[candidates.rows[m]].id for m in candidates.smaller(number)} == expected


def documents(count: int, targets: Sequence[str]) -> list[Case]:
    return [
        case
        for number in range(count)
        for case in group(f"d{number}", [("body", "man", target) for target in targets])
    ]


TARGETS = [f"{word} man" for word in ("tall", "blind", "old", "slim", "bald", "short", "stout", "young")]


def test_a_word_that_flips_is_found_and_used() -> None:
    def answer(text: str) -> Outcome:
        return label("blind" in text)

    found = flipped(explore(documents(100, TARGETS), Asked(answer), 250), answer)
    assert len(found) >= 50  # by chance: 100 originals and 150 of 800 mutants would find fewer than 20


def test_spent_on_findings_a_budget_finds_more_and_gives_no_rate() -> None:
    """One document in ten flips, under every change but one, and its margin is small."""

    def answer(text: str) -> Outcome:
        document, _, change = text.partition(":")
        near = document.endswith("0")
        return label(near and change != "" and "tall" not in change, 0.2 if near else 5.0)

    cases = documents(200, TARGETS)
    rates, findings = (explore(cases, Asked(answer), 250, estimated=kind) for kind in (True, False))
    assert len(flipped(findings, answer)) > len(flipped(rates, answer))
    assert findings.estimates() is None
    assert rates.estimates() is not None


def test_originals_near_a_tie_come_first() -> None:
    """One document in ten is near a tie, and there most changes flip."""
    cases = documents(200, TARGETS)
    chooser, room, found = Chooser(Candidates.of(cases), 0), 250, set()
    while picks := chooser.next(room):
        room -= len(picks)
        findings = []
        for pick in picks:
            near = pick.document % 10 == 0
            flips = near and pick.mutant is not None and "tall" not in cases[pick.row].text
            found |= {pick.document} if flips else set()
            margin = 0.2 if near else 4.0 + pick.document % 7
            findings.append(Finding(pick, "biased" if flips else "benign", -margin if flips else margin))
        chooser.learn(findings)
    assert len(found) >= 18  # of 20


def test_another_seed_asks_something_else() -> None:
    asked = [Asked(lambda _: label(False)) for _ in range(2)]
    for seed, some in enumerate(asked):
        explore(documents(60, TARGETS), some, 64, seed)
    assert asked[0].sent != asked[1].sent


def test_what_settles_a_hidden_case_is_asked_next() -> None:
    cases = [case for number in range(40) for case in group(f"d{number}", PAIRS)]
    candidates = Candidates.of(cases)
    chooser = Chooser(candidates, 0)
    asked: set[int] = set()
    flips: Pick | None = None
    while flips is None:
        picks = chooser.next(ROUND)
        asked |= {pick.row for pick in picks}
        flips = next((p for p in picks if cases[p.row].role == "intersectional"), None)
        chooser.learn([Finding(pick, status(pick, flips)) for pick in picks])
    assert flips.mutant is not None
    parts = {int(candidates.rows[part]) for part in candidates.smaller(flips.mutant)}
    missing = parts - asked
    assert [pick.row for pick in chooser.next(ROUND)][: len(missing)] == sorted(missing)


def status(pick: Pick, flips: Pick | None) -> Status:
    return "biased" if pick is flips else "benign"


def test_texts_that_are_one_request_count_once() -> None:
    cases = [replace(case, text=case.text.split(":")[0]) for case in group("d0", PAIRS)]
    asked = Asked(lambda _: label(False))
    exploration = explore(cases, asked, 5)
    assert exploration.requests == len(asked.sent) == 1
    assert [len(some) for some in exploration.groups()] == [len(cases)]


def test_nothing_to_ask_is_no_error() -> None:
    exploration = explore(group("d0", []), Asked(lambda _: label(False)), 10)
    assert (exploration.requests, exploration.rounds, list(exploration.groups())) == (0, 0, [])
