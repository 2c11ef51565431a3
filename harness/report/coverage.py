"""``coverage.html``: neuron coverage by suite and by its size (S²LCT, Figure 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.report.cells import written
from harness.report.html import environment
from harness.sections import Line, Plot, Section, Table, plain

COLUMNS = ("suite", "texts", "left out", "above the bounds", "below", "BoundCov", "SActCov")
MEASURES = (("BoundCov", "beyond either bound", 1), ("SActCov", "beyond the upper bound", 2))


def render(made: Mapping[str, Any]) -> str:
    """The page of what ``coverage.measure`` found."""
    template = environment().get_template("coverage.html.jinja")
    return template.render(model=made["model"], sections=plain([section(made)]))


def section(made: Mapping[str, Any]) -> Section:
    """A table of the suites, and for each measure a curve a suite."""
    reference = made["reference"]
    rows = [
        (
            suite["name"],
            suite["texts"],
            suite["left_out"],
            suite["upper"],
            suite["lower"],
            written(suite["bound_cov"], share=True),
            written(suite["s_act_cov"], share=True),
        )
        for suite in made["suites"]
    ]
    plots = [
        Plot(
            f"{name}: share of neurons {meaning}, by the number of texts",
            lines=[Line(s["name"], [(p[0], p[place]) for p in s["curve"]]) for s in made["suites"]],
            percent=True,
            x_title="texts",
        )
        for name, meaning, place in MEASURES
    ]
    left_out = f", {reference['left_out']:,} more are too long" if reference["left_out"] else ""
    return Section(
        "Neuron coverage",
        f"Of {made['neurons']:,} neurons, how many a suite drives beyond all that {reference['texts']:,}"
        f" reference texts do{left_out}. Compare suites at the same number of texts.",
        Table(COLUMNS, rows),
        plots,
        ["A text that is too long for the model is left out, not cut."],
    )
