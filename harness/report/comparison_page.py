"""``compare.html``: one self-contained page of runs side by side, around what tells them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness import __version__, numerals
from harness.findings.gaps import Shared
from harness.report import model_dots, parting, relations, treatment
from harness.report.cards import cards
from harness.report.comparison import Comparison
from harness.report.finding import sure
from harness.report.html import FIRST, environment, parted, policy, script, trusted
from harness.report.listing import MOST, Listing
from harness.report.packing import fitted
from harness.report.pairing import Run

ANSWERS = 60
"""The answers to cases that are shown without the script, and on paper; each case has one of every run."""
NAMED = 6
"""The most sets of runs whose cases the page counts, and the most reasons that it gives."""

PARTING = "The same test of the same text, which is biased in one run and not in another"


def render(compared: Comparison, runs: Sequence[Run] = (), most: int = MOST) -> str:
    """Return the page of a comparison; ``runs`` are those compared, none where only scores are.

    It lists at most ``most`` cases in which they part. Raises ``RunError``.
    """
    listed, data = fitted(parting.read(runs, most), parting.values)
    findings = treatment.sections(runs, compared.shared, compared.contrasts)
    found = treatment.found(runs)
    lead, rest = parted(compared.headline, [run.name for run in runs])
    pages = environment()
    style = pages.get_template("style.css.jinja").render()
    program = script(pages)
    return pages.get_template("compare.html.jinja").render(
        title=_title(compared, runs),
        about=_about(runs),
        lead=lead,
        rest=rest,
        dots=model_dots.groups(runs) if runs else None,
        gaps=model_dots.gaps(runs, compared.contrasts) if runs else None,
        common=list(_common(compared.shared)),
        cautions=_cautions(runs),
        findings=findings,
        results=[section for section in compared.sections if section not in (*findings, *found)],
        found=found,
        runs=runs,
        listed=listed,
        counts=list(_counts(listed)),
        parting=relations.PARTING.get(relations.only_mark(listed.rows) or "", PARTING),
        heading=f"Where they part: {relations.heading(listed.rows).lower()}",
        cards=list(cards(listed, parting.choose(listed, _first(runs)))),
        data=data,
        version=__version__,
        style=trusted(style),
        script=trusted(program),
        policy=policy(style, program),
        numerals=numerals,
    )


def _first(runs: Sequence[Run]) -> int:
    """Return how many cases are shown at first: the fewer, the more answers each has."""
    return min(FIRST, ANSWERS // max(1, len(runs)))


def _title(compared: Comparison, runs: Sequence[Run]) -> str:
    """Return in a few words whether the runs differ; what the page is where this is not asked."""
    if not compared.contrasts:
        return "Side by side"
    who = "models" if len({run.summary.model for run in runs}) == len(runs) else "runs"
    if any(map(sure, compared.contrasts)):
        return f"The {who} differ in how they treat groups"
    return f"The {who} are not shown to differ in how they treat groups"


def _about(runs: Sequence[Run]) -> str:
    """Return the names of the runs, their task and their suites."""
    if not runs:
        return ""
    suites = numerals.listed(dict.fromkeys(run.summary.suite for run in runs))
    plural = "s" if len({run.summary.suite for run in runs}) > 1 else ""
    return (
        f"{numerals.listed(run.name for run in runs)} · task {runs[0].summary.task} · suite{plural} {suites}"
    )


def _common(shared: Sequence[Shared]) -> Iterator[str]:
    """Yield how many texts any two runs have in common, and why some are not compared."""
    texts = sorted({row.texts for row in shared if row.reason is None})
    if texts:
        between = f"{texts[0]:,} to {texts[-1]:,}" if len(texts) > 1 else f"{texts[0]:,}"
        of_two = "Any two have" if len(shared) > 1 else "They have"
        yield f"{of_two} {between} {'text' if texts[-1] == 1 else 'texts'} in common."
    apart = [row for row in shared if row.reason is not None]
    for row in apart[:NAMED]:
        yield f"{row.first} and {row.second} are not compared: {row.reason}."
    if apart[NAMED:]:
        yield f"So are {len(apart) - NAMED:,} further pairs."


def _cautions(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Return each caution with the names of the runs that it is about."""
    found: dict[str, list[str]] = {}
    for run in runs:
        for caution in run.summary.cautions:
            found.setdefault(caution.text, []).append(run.name)
    return [(numerals.listed(names), text) for text, names in found.items()]


def _counts(listing: Listing) -> Iterator[str]:
    """Yield in how many cases which runs alone change their answer."""
    counts = parting.counts(listing)
    for names, number in counts[:NAMED]:
        yield f"{number:,} only in {numerals.listed(names)}"
    if counts[NAMED:]:
        yield f"{sum(number for _, number in counts[NAMED:]):,} in other sets of runs"
