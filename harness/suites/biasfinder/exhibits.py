"""What a run of BiasFinder says of its figures: the summary's block, its headline and its sections."""

from __future__ import annotations

from collections.abc import Sequence

from harness.core import Tables
from harness.sections import Bar, Cell, Figures, Plot, Section, Table
from harness.statistics import Interval, rate, wilson
from harness.suites.biasfinder import counts as counting
from harness.suites.biasfinder.counts import Class, Finding, Made, Together

SHOWN_CLASSES = 12
SHOWN_ANSWERS = 3
PLURALS = {"gender": "genders", "occupation": "occupations", "country": "countries"}
FACTS = (
    *("templates", "mutants", "pairs of different classes", "of them BTCs", "BTC rate"),
    *("templates with a BTC", "their share", "pairs of the same class", "that differ", "difference"),
)
MEANING = (
    "A BTC (bias-uncovering test case) is a pair of mutants of one template, of different classes, with"
    " different answers. It shows that for this text the answer depends on the words put in. It does not show"
    " which answer is right, nor that the class is the cause: another name of the same class may change the"
    " answer as well, and so may asking again (--repeats)."
)
FLOOR = (
    "Pairs of the same class differ in the name alone: how often they differ is what names do by themselves."
    " Only what pairs of different classes differ beyond that speaks of the class."
)
NO_FLOOR = (
    "Each class has one mutant a template, so there are no pairs of the same class to compare with: what any"
    " change of these words does is part of the rate."
)
COUNTS = (
    "One template gives many pairs, all of one text: the share of templates says how many texts are affected,"
    " and intervals by template take whole templates together."
)


def figures(tables: Tables) -> Figures:
    """The block ``biasfinder``, the headline and the sections."""
    made = counting.made(tables)
    found = [one for row in made for one in counting.findings(tables, row.characteristic)]
    judged = [one for one in found if one.pairs]
    both = counting.together(tables)
    block = {
        "made": [one.plain() for one in made],
        "findings": [one.plain() for one in found],
        "together": both.plain() if both is not None else None,
    }
    by_class = [_by_class(one) for one in judged if one.differ]
    sections = [_overview(made, judged), *by_class] if judged else []
    return Figures({"biasfinder": block}, _headline(made, judged, both), sections)


def _headline(made: Sequence[Made], found: Sequence[Finding], both: Together | None) -> str:
    if not made:
        return "No template was found, so nothing was tested."
    if not found:
        return "No two mutants of different classes were answered, so nothing can be said."
    return " ".join([*map(_sentence, found), *([_of_both(both)] if both is not None else [])])


def _of_both(both: Together) -> str:
    """What changing both attributes at once does, and how much of it neither shows alone."""
    said = f"With both changed at once, {both.differ:,} of {both.pairs:,} pairs differ"
    if not both.differ:
        return f"{said}."
    told = both.hidden + both.not_hidden
    said += f" ({_rate(both.differ, both.pairs, both.ci95)})"
    return (
        f"{said}; {both.hidden:,} of the {told:,} that can be told are hidden: neither change alone shows it."
    )


def _sentence(found: Finding) -> str:
    """How many texts, how many pairs, and what other names do by themselves."""
    plural = PLURALS[found.attribute]
    alone = found.characteristic == found.attribute
    subject = f"The {found.attribute} {'put in' if alone else 'alone'} changed the answer"
    if not found.differ:
        return f"{subject} in none of {found.pairs:,} pairs of different {plural}, in {_templates(found)}."
    texts = f"{subject} for {_templates(found)}"
    pairs = f"{found.differ:,} of {found.pairs:,} pairs of different {plural}"
    said = f"{texts}, in {pairs} ({_rate(found.differ, found.pairs, found.ci95)})."
    if not found.excess:
        return said
    floor = _percent(found.same_differ, found.same_pairs)
    same = f"Pairs of the same {found.attribute} with other names differ in {floor}"
    low, high = found.excess.interval
    if low > 0:
        return f"{said} {same}, which is less: the {found.attribute} itself matters."
    if high < 0:
        return f"{said} {same}, which is more: this is the effect of names, not of the {found.attribute}."
    return f"{said} {same}, so these differences may be those of names, not of the {found.attribute}."


def _templates(found: Finding) -> str:
    interval = wilson(found.templates_differ, found.templates)
    share = _rate(found.templates_differ, found.templates, interval)
    nouns = "template" if found.templates == 1 else "templates"
    return f"{found.templates_differ:,} of {found.templates:,} {nouns} ({share})"


def _overview(made: Sequence[Made], found: Sequence[Finding]) -> Section:
    """A column for each attribute, so that the table stays narrow."""
    of = {row.characteristic: row for row in made}
    columns: list[list[Cell]] = [[*FACTS], *(_facts(one, of[one.characteristic]) for one in found)]
    rows = list(zip(*columns, strict=True))
    floors = any(one.same_pairs for one in found)
    notes = [MEANING, COUNTS, FLOOR if floors else NO_FLOOR]
    table = Table(["", *map(_title, found)], rows)
    return Section("Bias-uncovering test cases", table=table, notes=notes)


def _facts(one: Finding, made: Made) -> list[Cell]:
    return [
        made.templates,
        made.mutants,
        one.pairs,
        one.differ,
        _rate(one.differ, one.pairs, one.ci95),
        one.templates_differ,
        _rate(one.templates_differ, one.templates, wilson(one.templates_differ, one.templates)),
        one.same_pairs,
        _rate(one.same_differ, one.same_pairs, one.same_ci95),
        _points(one),
    ]


def _by_class(found: Finding) -> Section:
    shown = sorted(found.classes, key=lambda one: (-(rate(one.differ, one.pairs) or 0.0), one.name))
    left = max(0, len(shown) - SHOWN_CLASSES)
    shown = shown[:SHOWN_CLASSES]
    answers = _answers(found.classes)
    columns = [found.attribute, "BTCs", "BTC rate"]
    for answer in answers:
        columns += [answer, f"{answer} in BTCs"]
    rows: list[list[Cell]] = [
        [
            one.name,
            f"{one.differ:,} of {one.pairs:,}",
            _rate(one.differ, one.pairs, one.ci95),
            *(cell for answer in answers for cell in _shares(one, answer)),
        ]
        for one in shown
    ]
    notes = [
        "The columns of an answer: how many of the mutants of a class got it, and how many of those in BTCs."
        " The second says in which direction the class differs; 50 % is none."
    ]
    if left:
        notes.append(f"{left} more classes, with lower rates, are in summary.json.")
    table, plots = Table(columns, rows), [_plot(found, shown)]
    return Section(f"By {_title(found)}", table=table, plots=plots, notes=notes)


def _shares(one: Class, answer: str) -> tuple[str, str]:
    in_pairs = one.answers_where_differ.get(answer, 0)
    return _percent(one.answers.get(answer, 0), one.mutants), _percent(in_pairs, one.differ)


def _plot(found: Finding, classes: Sequence[Class]) -> Plot:
    bars = []
    for one in classes:
        if one.pairs:
            low, high = one.ci95 or (None, None)
            bars.append(Bar(one.name, one.differ / one.pairs, low, high))
    return Plot(f"BTC rate by {found.attribute}, interval by template", bars=bars, percent=True)


def _answers(classes: Sequence[Class]) -> list[str]:
    """The commonest answers; of two the first, which says all of the other."""
    total: dict[str, int] = {}
    for one in classes:
        for answer, n in one.answers.items():
            total[answer] = total.get(answer, 0) + n
    return sorted(total, key=lambda answer: (-total[answer], answer))[
        : max(1, min(SHOWN_ANSWERS, len(total) - 1))
    ]


def _title(found: Finding) -> str:
    """The attribute, and that nothing else of a combination differs."""
    alone = found.characteristic == found.attribute
    return found.attribute if alone else f"{found.attribute} alone ({found.characteristic})"


def _points(found: Finding) -> str | None:
    if found.excess is None:
        return None
    low, high = found.excess.interval
    return f"{100 * found.excess.difference:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _rate(part: int, whole: int, interval: Interval | None) -> str:
    between = f" [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]" if interval else ""
    return _percent(part, whole) + between
