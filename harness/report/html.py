"""``report.html``: one self-contained page of a run, from its tables and its summary.

It needs no script to be read; its script shows, filters and saves the list of cases, which lies compressed in
the page. A policy in its head keeps it from fetching anything, and from running what is not its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from harness import files, numerals
from harness.report import (
    cells,
    choice,
    evidence,
    explained,
    flips,
    fluency,
    groups,
    incomplete,
    listing,
    orders,
    relations,
    results,
    serving,
    wording,
    written,
)
from harness.report.cards import Card, cards
from harness.report.choosing import choose
from harness.report.dots import dots
from harness.report.finding import sure
from harness.report.heat import heats
from harness.report.packing import fitted, rows_of
from harness.report.summary import ResultRow, Summary
from harness.sections import Estimate, Label, Worded

if TYPE_CHECKING:
    from jinja2 import Environment

    from harness.folder import RunFolder

FIRST = 20
"""The cases that are shown without the script, and on paper."""
AXES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
SCRIPTS = ("data", "searching", "filtering", "listing", "card", "saving", "page")
"""The modules of the page's script, each after those that it imports."""
VERDICTS = {
    "treated-differently": "Groups are treated differently",
    "meeting": "Groups that meet on one person are treated differently",
    "excess": "Answers depend on the person",
    "brittle": "Answers change, but are not shown to depend on the person",
    "nothing-found": "No answer was found to depend on the person",
    "undecided": "It cannot be told",
}
"""The title of the page, by the code of the finding."""


def write(folder: RunFolder, summary: Summary, most: int = listing.MOST) -> None:
    """Write the page of the run in ``folder``, and beside it all flips if they are more than the page lists.

    Raises ``RunError``.
    """
    values = partial(rows_of, names=_names(summary))
    listed, data = fitted(listing.read(folder, summary.favourable, most), values)
    beside = folder.path / "flips.parquet"
    if listed.complete:
        beside.unlink(missing_ok=True)
    else:
        flips.write(folder)
    files.write(folder.path / "report.html", render(folder, summary, listed, data))


def render(folder: RunFolder, summary: Summary, listed: listing.Listing, data: Mapping[str, str]) -> str:
    """Return the page of the run in ``folder`` with this list of cases, which is also its ``data``."""
    explanations = explained.read(folder.path)
    rows = [row for row in summary.rows if row.tests]
    conclusive = summary.headline is not None  # the suite's sections are the findings, not the results
    measured = fluency.sections(folder.path)
    lead, rest = parted(wording.headline(summary), [summary.model])
    pages = environment()
    style = pages.get_template("style.css.jinja").render()
    program = script(pages)
    return pages.get_template("report.html.jinja").render(
        figures=summary,
        title=_title(summary),
        lead=lead,
        rest=rest,
        dots=dots(summary),
        heats=heats(summary),
        cautions=wording.warnings(summary),
        missing=[*choice.lines(summary), *incomplete.missing(summary)],
        remarks=[wording.noise(summary), *wording.remarks(summary)],
        rows=rows,
        table=results.table(rows),
        caption=results.SINGLY if conclusive else results.CAPTION,
        findings=summary.sections if conclusive else [*choice.sections(summary), *groups.sections(summary)],
        appended=measured if conclusive else (*orders.sections(summary), *summary.sections, *measured),
        server=serving.server(summary),
        evidence=evidence.sections(folder, summary),
        charted=[row for row in rows if row.rate is not None],
        axis=axis(rows),
        venn=[pair for pair in summary.venn if pair.regions],
        written=written.examples(folder),
        heading=relations.heading(listed.rows),
        failing=relations.failing(summary.results),
        listed=listed,
        cards=list(cards(listed, _chosen(folder, listed))),
        explained=list(_explained(listed, explanations)),
        data=data,
        style=trusted(style),
        script=trusted(program),
        policy=policy(style, program),
        wording=wording,
        numerals=numerals,
    )


def _chosen(folder: RunFolder, listed: listing.Listing) -> list[str]:
    """Return the cases to show without the script, among those that are listed."""
    import polars as pl

    verdicts = folder.scan("verdicts")
    if not listed.complete:
        cases = [row.flip["case"] for row in listed.rows]
        verdicts = verdicts.filter(pl.col("case").is_in(cases))
    return choose(verdicts, FIRST)[0]


def script(pages: Environment) -> str:
    """Return the page's modules as one: without the lines by which they import one another."""
    modules = "".join(pages.get_template(f"page/{name}.js").render() for name in SCRIPTS)
    return re.sub(r"^(import .*;\n|export )", "", modules, flags=re.M)


def policy(style: str, program: str) -> str:
    """Return the policy of the page: nothing from outside, no style or script but these."""
    return trusted(
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(program)}'; base-uri 'none';"
        " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def trusted(text: str) -> str:
    """Return what is our own, and must not be escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def _title(summary: Summary) -> str:
    """Return what was found, in a few words; of a suite with a headline of its own, what it asks."""
    if summary.finding is None:
        return wording.question(summary)
    return f"{'So far: ' if incomplete.stopped(summary) else ''}{VERDICTS[summary.finding.code]}"


def _names(summary: Summary) -> dict[str, str]:
    """Return the attribute sets as the suite's own tables name them: LC3 is ``LC3: Sentiment change …``."""
    heads = [row[0] for section in summary.sections if section.table for row in section.table.rows if row]
    names = {name.partition(": ")[0]: name for name in heads if isinstance(name, str)}
    return {row.name: names[row.name] for row in summary.results if row.name in names}


def parted(headline: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the first sentence, and the others, which may begin with one of ``names``."""
    begin = "|".join(["[A-Z]", *(rf"{re.escape(name)}[ :,]" for name in names)])
    first, *others = re.split(rf"(?<=[a-z)%]\.) (?={begin})", headline, maxsplit=1)
    return first, " ".join(others)


def _explained(
    listed: listing.Listing, explanations: Mapping[str, explained.Flip]
) -> Iterator[tuple[str, Card | None, explained.Explanation]]:
    """Yield each explained case with its card, if it is listed, and its explanation."""
    shown = {card.case: card for card in cards(listed, list(explanations))}
    for case, explanation in explanations.items():
        yield case, shown.get(case), explained.view(explanation)


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
        "points": groups.points,
        "written": cells.written,
        "scale": cells.scale,
        "chance": numerals.chance,
        "slug": lambda text: re.sub(r"\W+", "-", text.lower()).strip("-"),
        "unit": lambda text: re.sub(r" (?=%)|(?<=\bp) (?=[=<] )|(?<=\bp[ \u00a0][=<]) ", "\u00a0", text),
        "breakable": lambda text: text.replace("determined", "deter\u00admined"),
    }
    environment.tests |= {
        "sure": sure,
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
