"""Atomic against intersectional mutants, on runs worked out by hand and on any others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from harness.core import DUPLICATE, Case
from harness.findings.orders import Order, Orders, orders
from harness.findings.records import Part
from harness.report.figures import attribute_sets
from harness.report.rates import results
from harness.statistics import wilson
from tests.findings.runs import Run, case, family, run

GENDER, BODY, BOTH = "gender:female", "body:blind", "gender:female+body:blind"
ORIGINAL = "0"
EXAMPLE: Mapping[str, Sequence[str]] = {
    "alone": [GENDER],
    "again": [GENDER, BOTH],
    "hidden": [BOTH],
    "hidden too": [BOTH],
    "nothing": [],
}
"""What changes the answer to five texts: the example of docs/figures.md."""


def version(of: Case) -> str:
    """Return what a case changes, as ``GENDER``, ``BODY`` or ``BOTH``."""
    return of.id.partition("#")[2]


def of_example(unread: Sequence[tuple[str, str]] = (), invalid: Sequence[tuple[str, str]] = ()) -> Run:
    """Return the run of the example; some versions of texts are not read, or not valid."""

    def answer(asked: Case) -> str | None:
        if (asked.document, version(asked)) in unread:
            return None
        changes = asked.role == "control" or version(asked) in EXAMPLE[asked.document]
        return "Negative" if changes else "Positive"

    cases = [each for text in EXAMPLE for each in family(text)]
    return run(
        [replace(c, reason="pos") if (c.document, version(c)) in invalid else c for c in cases], answer
    )


def found(of: Run) -> Orders:
    """Return the figures of a run with both kinds of mutants."""
    figures = orders(of)
    assert figures is not None
    assert figures.uncovered is not None
    assert figures.recurring is not None
    return figures


def counts(part: Part | None) -> tuple[int, int]:
    """Return the numerator and the denominator."""
    assert part is not None
    assert part.rate == (part.count / part.of if part.of else None)
    assert (part.ci95 is None) == (part.of == 0)
    return part.count, part.of


def test_the_example_of_the_page() -> None:
    figures = found(of_example())
    atomic, together = figures.by_order
    assert (atomic.order, atomic.kind, atomic.tests) == (1, "atomic", 10)
    assert (together.order, together.kind, together.tests) == (2, "intersectional", 5)
    assert (counts(atomic.biased), counts(together.biased)) == ((2, 10), (3, 5))
    assert atomic.hidden is None
    assert counts(together.hidden) == (2, 3)
    assert (counts(atomic.originals), counts(together.originals)) == ((2, 5), (3, 5))
    uncovered, recurring = figures.uncovered, figures.recurring
    assert uncovered is not None
    assert recurring is not None
    assert counts(uncovered.by_atomic) == (2, 5)
    assert counts(uncovered.by_intersectional) == (3, 5)
    assert counts(uncovered.by_both) == (1, 5)
    assert counts(uncovered.by_either) == (4, 5)
    assert counts(uncovered.only_intersectional) == (2, 4)
    assert (counts(recurring), recurring.flips, recurring.alone) == ((1, 2), 2, 0)
    (table,) = figures.truth_tables
    assert (table.attributes, table.tests, table.undetermined) == (("gender", "body"), 5, 0)
    cells = {(cell.first, cell.second, cell.both): cell.mutants for cell in table.cells}
    assert len(cells) == 8
    assert {case: n for case, n in cells.items() if n} == {
        (False, False, False): 1,
        (False, False, True): 2,
        (True, False, False): 1,
        (True, False, True): 1,
    }


def test_an_answer_that_was_not_read_decides_nothing() -> None:
    figures = found(of_example(unread=[("hidden", GENDER), ("alone", BOTH), ("again", BODY)]))
    uncovered, recurring = figures.uncovered, figures.recurring
    assert uncovered is not None
    assert recurring is not None
    assert (counts(uncovered.only_intersectional), uncovered.undetermined) == ((1, 3), 1)
    assert (counts(recurring), recurring.flips, recurring.undetermined) == ((1, 1), 2, 1)
    assert figures.truth_tables[0].undetermined == 3
    atomic, together = figures.by_order
    assert (atomic.undetermined, together.undetermined) == (2, 1)
    assert together.hidden_undetermined == 1


def test_a_mutant_that_was_not_valid_is_made_and_in_nothing_else() -> None:
    figures = found(of_example(invalid=[("hidden", GENDER), ("alone", BOTH)]))
    atomic, together = figures.by_order
    assert (counts(atomic.valid), counts(together.valid)) == ((9, 10), (4, 5))
    assert atomic.discarded_by_reason == together.discarded_by_reason == {"pos": 1}
    uncovered, recurring = figures.uncovered, figures.recurring
    assert uncovered is not None
    assert recurring is not None
    assert (counts(uncovered.only_intersectional), uncovered.undetermined) == ((1, 3), 1)
    assert (counts(recurring), recurring.alone) == ((1, 1), 1)
    assert (figures.truth_tables[0].tests, figures.truth_tables[0].undetermined) == (4, 1)


def test_a_duplicate_is_neither_valid_nor_discarded() -> None:
    twice = [replace(c, reason=DUPLICATE) if version(c) == BODY else c for c in family("t")]
    figures = orders(run(twice, lambda _: "Positive"))
    assert figures is not None
    atomic = figures.by_order[0]
    assert (atomic.generated, atomic.duplicate, counts(atomic.valid)) == (2, 1, (1, 1))
    assert not atomic.discarded_by_reason


def test_mutants_of_one_attribute_alone_have_no_counterpart() -> None:
    cases = [case("t", "original"), case("t", "atomic", GENDER)]
    figures = orders(run(cases, lambda c: "Negative" if c.substitutions else "Positive"))
    assert figures is not None
    assert [row.order for row in figures.by_order] == [1]
    assert (figures.uncovered, figures.recurring, figures.truth_tables) == (None, None, ())


def test_a_run_without_mutants_has_none() -> None:
    assert orders(run([case("t", "original")], lambda _: "Positive")) is None


answers = st.sampled_from(["Positive", "Negative", None])
reasons = st.sampled_from([None, None, None, "pos", DUPLICATE])
Planned = Sequence[tuple[str | None, str | None]]
"""The answer to each case of a text, and why it is discarded."""
planted = st.lists(
    st.lists(st.tuples(answers, reasons), min_size=7, max_size=7), min_size=1, max_size=6
)  # of each text: its original, its three mutants and its three controls


@given(planted)
def test_the_totals_are_the_sums_of_the_rows(
    texts: Sequence[Sequence[tuple[str | None, str | None]]],
) -> None:
    given: dict[str, str | None] = {}
    cases = []
    for number, planned in enumerate(texts):
        for each, (answer, reason) in zip(family(f"t{number}"), planned, strict=True):
            given[each.id] = answer
            cases.append(replace(each, reason=None if each.role in ("original", "control") else reason))
    of = run(cases, lambda asked: given[asked.id])
    figures = orders(of)
    assert figures is not None
    rows = results(of.scan("verdicts"), attribute_sets(of.scan("verdicts"), {}))
    for order in figures.by_order:
        parts = [row for row in rows if len(row.attributes) == order.order]
        for name in ("tests", "undetermined", "hidden_undetermined"):
            assert getattr(order, name) == sum(getattr(row, name) for row in parts)
        assert counts(order.biased) == (sum(r.biased for r in parts), sum(r.decided for r in parts))
        if order.hidden is not None:
            assert counts(order.hidden) == (sum(r.hidden for r in parts), sum(r.determined for r in parts))
        _adds_up(order)
    for table in figures.truth_tables:
        (row,) = (row for row in rows if row.attributes == table.attributes)
        assert sum(cell.mutants for cell in table.cells) + table.undetermined == table.tests == row.tests
        only_together = next(c for c in table.cells if (c.first, c.second, c.both) == (False, False, True))
        assert only_together.mutants == row.hidden
    _agrees(figures)


def _adds_up(order: Order) -> None:
    valid, judged = counts(order.valid)
    assert judged == valid + sum(order.discarded_by_reason.values())
    assert order.generated == judged + order.duplicate
    assert order.tests == valid


def _agrees(figures: Orders) -> None:
    """Check that what is said of texts and of flips fits together."""
    if figures.uncovered is None or figures.recurring is None:
        return
    of, flips = figures.uncovered, figures.recurring
    assert of.by_either.count == of.by_atomic.count + of.by_intersectional.count - of.by_both.count
    only = of.only_intersectional.count + of.undetermined
    assert only == of.by_intersectional.count - of.by_both.count
    assert flips.flips == flips.of + flips.alone + flips.undetermined
    assert flips.flips == figures.by_order[0].biased.count


def test_an_interval_is_by_original() -> None:
    """Ten mutants of one text that all fall alike tell no more than one of them."""
    cases = []
    for text in ("a", "b"):
        cases += [case(text, "original"), *(case(text, "atomic", f"body:{n}") for n in range(10))]
    figures = orders(
        run(cases, lambda c: "Negative" if c.substitutions and c.document == "a" else "Positive")
    )
    assert figures is not None
    biased = figures.by_order[0].biased
    assert counts(biased) == (10, 20)
    assert biased.ci95 == wilson(1, 2)


def test_a_text_without_an_answer_to_any_of_its_mutants_is_in_no_share() -> None:
    figures = found(of_example(unread=[("alone", GENDER), ("alone", BODY), ("alone", BOTH)]))
    atomic, together = figures.by_order
    assert (counts(atomic.originals), counts(together.originals)) == ((1, 4), (3, 4))
    assert figures.uncovered is not None
    assert counts(figures.uncovered.by_either) == (3, 4)


def test_orders_stand_by_the_number_of_changes_and_reasons_by_their_names() -> None:
    reasons = ["pos", "grammar", "pos", None, "agreement"]
    mutants = [replace(case("t", "atomic", f"body:{n}"), reason=reason) for n, reason in enumerate(reasons)]
    three = case("t", "intersectional", GENDER, "body:blind", "age:old")
    two = case("t", "intersectional", GENDER, "body:blind")
    figures = orders(run([case("t", "original"), three, two, *mutants], lambda _: "Positive"))
    assert figures is not None
    assert [(row.order, row.kind) for row in figures.by_order] == [
        (1, "atomic"),
        (2, "intersectional"),
        (3, "intersectional"),
    ]
    assert list(figures.by_order[0].discarded_by_reason.items()) == [
        ("agreement", 1),
        ("grammar", 1),
        ("pos", 2),
    ]


def test_truth_tables_stand_by_their_attributes() -> None:
    others = [f"{name}:x" for name in ("race", "age", "faith", "body", "height")]
    cases = [case("t", "original"), *(case("t", "atomic", change) for change in (GENDER, *others))]
    cases += [case("t", "intersectional", GENDER, change) for change in others]
    cases += [case("t", "intersectional", "age:x", "body:x")]
    figures = found(run(cases, lambda _: "Positive"))
    tables = [table.attributes for table in figures.truth_tables]
    assert tables == [
        ("age", "body"),
        *(("gender", name) for name in ("age", "body", "faith", "height", "race")),
    ]
