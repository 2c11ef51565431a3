"""What a run of the EEC says of its controls: in its block, its headline and a section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness import numerals
from harness.sections import Figures, Section, Table
from harness.suites.eec.controls import Apart, Control
from harness.suites.eec.exhibits import number

SAME = "control: two names of the same class"
TEXT = (
    "How far apart the answers to two sentences are that differ only in a name, of different classes or, as a"
    " control, of the same class. Where the two are alike, single names matter as much as the class. Noun"
    " phrases have no control: two of one class differ in more than a name. Intervals resample templates and"
    " names together."
)


def with_controls(figures: Figures, controls: Sequence[Control], labels: bool) -> Figures:
    """Return ``figures`` with the controls; their distances are of ``labels``, or else of scores."""
    rows = [
        {
            "attribute": control.comparison.attribute,
            "first": control.comparison.first,
            "second": control.comparison.second,
            "control": control.same.plain(labels),
            "different": control.different.plain(labels),
        }
        for control in controls
    ]
    blocks = {**figures.blocks, "eec": {**figures.blocks["eec"], "controls": rows}}
    if not controls or not figures.sections:
        return replace(figures, blocks=blocks)
    sentences = [
        _sentence(control, labels) for control in controls if control.same.total + control.different.total
    ]
    return Figures(
        blocks, " ".join([figures.headline, *sentences]), [*figures.sections, _section(controls, labels)]
    )


def _sentence(control: Control, labels: bool) -> str:
    classes = f"{control.comparison.first} and {control.comparison.second}"
    different, same = _written(control.different, labels), _written(control.same, labels)
    if labels:
        return f"A name of each of {classes}: {different} get different labels; {SAME}, {same}."
    return f"A name of each of {classes}: {different} apart on average; {SAME}, {same}."


def _section(controls: Sequence[Control], labels: bool) -> Section:
    mean = "different labels" if labels else "mean distance"
    columns = ("compared", "names of", "pairs", mean, "95 % interval")
    rows = [
        [
            f"{control.comparison.first} – {control.comparison.second}",
            who,
            apart.tests,
            _written(apart, labels),
            _interval(apart, labels),
        ]
        for control in controls
        for who, apart in (("different classes", control.different), (SAME, control.same))
    ]
    return Section("Beside two names of the same class", TEXT, Table(columns, rows))


def _written(apart: Apart, labels: bool) -> str:
    return numerals.percent(apart.mean) if labels else number(apart.mean)


def _interval(apart: Apart, labels: bool) -> str | None:
    if (interval := apart.interval(labels)) is None:
        return None
    return numerals.interval(interval) if labels else f"{number(interval[0])} to {number(interval[1])}"
