"""``coverage.json`` and ``coverage.html``: neuron coverage by suite and by its size (S²LCT, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from harness.core import Json
from harness.numerals import count, percent
from harness.report.html import environment
from harness.sections import Line, Plot, Section, Table

SCHEMA = 1
COLUMNS = ("suite", "texts", "left out", "above the bounds", "below", "BoundCov", "SActCov")
MEASURES = (("BoundCov", "beyond either bound", 1), ("SActCov", "beyond the upper bound", 2))


@dataclass(frozen=True, slots=True)
class Reference:
    """The number of texts that set the bounds, and of those left out as too long for the network."""

    texts: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Reached:
    """The corner neurons that the texts of a suite reach, as counts and as shares from 0 to 1.

    A point of the ``curve`` is (texts, BoundCov, SActCov).
    """

    name: str
    texts: int
    left_out: int
    upper: int
    lower: int
    bound_cov: float
    s_act_cov: float
    curve: Sequence[tuple[int, float, float]]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage that suites of texts reach in a network with ``neurons`` neurons."""

    model: str
    neurons: int
    reference: Reference
    suites: Sequence[Reached]

    def to_json(self) -> dict[str, Json]:
        """Return the content of ``coverage.json``."""
        return {"schema": SCHEMA, **asdict(self)}


def render(coverage: Coverage) -> str:
    """Return the page."""
    template = environment().get_template("coverage.html.jinja")
    return template.render(model=coverage.model, sections=[section(coverage)])


def section(coverage: Coverage) -> Section:
    """Return a table of the suites and, for each measure, one curve per suite."""
    reference = coverage.reference
    rows = [
        (
            suite.name,
            suite.texts,
            suite.left_out,
            suite.upper,
            suite.lower,
            percent(suite.bound_cov),
            percent(suite.s_act_cov),
        )
        for suite in coverage.suites
    ]
    plots = [
        Plot(
            f"{name}: share of neurons {meaning}, by the number of texts",
            lines=[
                Line(suite.name, [(point[0], point[place]) for point in suite.curve])
                for suite in coverage.suites
            ],
            percent=True,
            x_title="texts",
        )
        for name, meaning, place in MEASURES
    ]
    left_out = f" ({count(reference.left_out)} more were too long)" if reference.left_out else ""
    return Section(
        "Neuron coverage",
        f"How many of {count(coverage.neurons)} neurons each suite drives beyond the bounds set by"
        f" {count(reference.texts)} reference texts{left_out}."
        " Compare suites at the same number of texts.",
        Table(COLUMNS, rows),
        plots,
        ["Texts that are too long for the model are left out, not shortened."],
    )
