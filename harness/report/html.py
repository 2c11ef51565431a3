"""``report.html``: one self-contained page of a run, from its tables and its summary.

The page holds a bounded number of biased cases whatever the size of the run; the choice depends only on
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness import numerals
from harness.report import cells, explained, fluency, groups, incomplete, orders, results, serving, wording
from harness.report.cards import cards
from harness.report.choosing import choose
from harness.report.summary import ResultRow, Summary
from harness.sections import Estimate, Label, Worded

if TYPE_CHECKING:
    from jinja2 import Environment

    from harness.folder import RunFolder

MAX_CARDS = 500
AXES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def render(folder: RunFolder, summary: Summary, limit: int = MAX_CARDS) -> str:
    """Return the page of the run in ``folder``: at most ``limit`` cards plus those of explained cases."""
    chosen, total = choose(folder.scan("verdicts"), limit)
    explanations = explained.read(folder.path)
    chosen += [case for case in explanations if case not in set(chosen)]
    rows = [row for row in summary.rows if row.tests]
    measured = fluency.sections(folder.path)
    conclusive = summary.headline is not None  # the suite's sections are the findings, not the results
    page = environment().get_template("report.html.jinja")
    return page.render(
        figures=summary,
        rows=rows,
        table=results.table(rows),
        caption=results.CAPTION,
        findings=summary.sections if conclusive else groups.sections(summary),
        appended=measured if conclusive else (*orders.sections(summary), *summary.sections, *measured),
        server=serving.server(summary),
        headline=wording.headline(summary),
        missing=[*filter(None, [wording.chosen(summary)]), *incomplete.missing(summary)],
        notes=wording.notes(summary),
        charted=[row for row in rows if row.rate is not None],
        axis=axis(rows),
        venn=[pair for pair in summary.venn if pair.regions],
        cards=list(cards(folder, chosen)),
        explained={case: explained.view(explanation) for case, explanation in explanations.items()},
        total=total,
        wording=wording,
        numerals=numerals,
    )


def environment() -> Environment:
    """Return the environment of the page templates, which escapes all values."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness", "report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {
        "percent": numerals.percent,
        "interval": numerals.interval,
        "count": numerals.count,
        "written": cells.written,
        "scale": cells.scale,
        "unit": lambda text: text.replace(" %", "\u00a0%"),
        "breakable": lambda text: text.replace("determined", "deter\u00admined"),
    }
    environment.tests |= {
        "an_estimate": lambda cell: isinstance(cell, Estimate),
        "a_label": lambda cell: isinstance(cell, Label),
        "not_asked": lambda cell: isinstance(cell, Worded) and not cell.brief,
    }
    return environment


def axis(rows: Sequence[ResultRow]) -> float:
    """Return the end of the chart's scale: the first round rate that covers all bars and intervals."""
    reach = [
        max(row.rate, *(bounds[1] for bounds in (row.ci95, row.ci95_by_original) if bounds))
        for row in rows
        if row.rate is not None
    ]
    return next(end for end in AXES if end >= max(reach, default=1.0) or end == AXES[-1])
