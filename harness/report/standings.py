"""The finding of a comparison in words, from typed findings alone: which runs treat whom worse, and whether
they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from harness.findings.gaps import Gap, Shared
from harness.findings.records import Contrast
from harness.numerals import chance, counted, listed, percent
from harness.report.finding import ALPHA, POINTS, magnitude, nobody, sure, worse_off
from harness.report.pairing import Run

NAMED = 2
"""The most contrasts that a headline names, and the most runs without one that it names with a figure."""

About = tuple[str, str, str, str]
"""An attribute, the group that is worse off, the other, and the outcome."""


def headline(runs: Sequence[Run], shared: Sequence[Shared], gaps: Sequence[Gap]) -> str:
    """Return the finding; "" where no run compared two groups."""
    compared = [run for run in runs if run.summary.contrasts]
    if not compared:
        return ""
    leads = _leads(compared)
    silent = [run for run in compared if not any(map(sure, run.summary.contrasts))]
    sentences = [
        *_worse(leads),
        *_silent(silent, next(iter(leads), None)),
        *_differences(leads, shared, gaps),
    ]
    return " ".join(sentences)


def _leads(runs: Sequence[Run]) -> dict[About, list[tuple[Run, Contrast]]]:
    """Return the surest contrast of each run that has any, by what it is about; that of most runs first."""
    found: dict[About, list[tuple[Run, Contrast]]] = {}
    for run in runs:
        certain = [row for row in run.summary.contrasts if sure(row)]
        if certain:
            row = min(certain, key=lambda row: (row.p_holm or 0.0, -abs(row.effect)))
            found.setdefault((row.attribute, *worse_off(row), row.outcome), []).append((run, row))
    return dict(sorted(found.items(), key=lambda item: (-len(item[1]), -abs(item[1][0][1].effect))))


def _worse(leads: Mapping[About, Sequence[tuple[Run, Contrast]]]) -> Iterator[str]:
    """Yield a sentence for each contrast that leads in some run, and the number of other runs."""
    for (attribute, low, high, outcome), rows in [*leads.items()][:NAMED]:
        names = listed(run.name for run, _ in rows)
        one = len(rows) == 1
        size = magnitude(rows[0][1].effect, rows[0][1].ci95) if one else _sizes([row for _, row in rows])
        if rows[0][0].summary.favourable:
            treat = "treats" if one else "treat"
            yield f"{names} {treat} {low} worse than {high} ({attribute}): {outcome} is {size} rarer."
        else:
            answer = "answers" if one else "answer"
            about = f"about {low} than about {high} ({attribute})"
            yield f"{names} {answer} {outcome} {size} more rarely {about}."
    others = sum(len(rows) for rows in [*leads.values()][NAMED:])
    if others:
        yield f"{counted(others, 'other run')} treat{'s' if others == 1 else ''} other groups differently."


def _sizes(rows: Sequence[Contrast]) -> str:
    """Return ``30.1 and 12.0 points``, or of more than two ``3.2 to 30.1 points``."""
    effects = [abs(row.effect) for row in rows]
    return (
        _range(effects)
        if len(effects) > NAMED
        else f"{listed(percent(size, '') for size in effects)}{POINTS}"
    )


def _range(sizes: Sequence[float]) -> str:
    least, most = percent(min(sizes), ""), percent(max(sizes), "")
    return f"{least}{POINTS}" if least == most else f"{least} to {most}{POINTS}"


def _silent(runs: Sequence[Run], lead: About | None) -> Iterator[str]:
    """Yield that no group stands out in some runs, and what would have been found in them."""
    constant = [run for run in runs if any(c.code == "constant-answers" for c in run.summary.cautions)]
    others = [run for run in runs if run not in constant]
    parts = []
    if others:
        rows = [row for run in others if (row := _measured(run, lead)) is not None]
        known = [row.detectable for row in rows if row.detectable is not None and row.detectable < 1]
        groups = f"between {rows[0].source} and {rows[0].target}" if rows else ""
        found = f" ({_range(known)} {groups} would have been found)" if known else ""
        parts.append(f"{listed(run.name for run in others)}: {nobody(others[0].summary)}{found}")
    if constant:
        names = listed(run.name for run in constant)
        parts.append(f"{names}: the same answer to every text, so that nothing can be found")
    if parts:
        yield f"{'; '.join(parts)}."


def _measured(run: Run, lead: About | None) -> Contrast | None:
    """Return the contrast that leads elsewhere, or the best measured one, if a claim could rest on it."""
    told = [row for row in run.summary.contrasts if row.basis != "uncorrected"]
    rows = [row for row in told if lead is not None and _about(row, lead)] or told
    return min(rows, key=lambda row: 1.0 if row.detectable is None else row.detectable, default=None)


def _about(row: Contrast | Gap, about: About) -> bool:
    attribute, low, high, outcome = about
    return (row.attribute, row.outcome) == (attribute, outcome) and {row.source, row.target} == {low, high}


def _differences(
    leads: Mapping[About, object], shared: Sequence[Shared], gaps: Sequence[Gap]
) -> Iterator[str]:
    """Yield whether the runs differ by more than chance."""
    pairs = [row for row in shared if row.reason is None]
    if not pairs:
        reasons = dict.fromkeys(row.reason for row in shared)
        yield f"Their effects are not compared text by text: {listed(map(str, reasons))}."
        return
    certain = [row for row in gaps if sure(row)]
    unsure = [row for row in gaps if row.p_holm is not None and row.p_holm <= ALPHA and not sure(row)]
    if unsure and not certain:
        yield (
            f"{counted(len(unsure), 'difference')} of effects {'is' if len(unsure) == 1 else 'are'} more than"
            " chance, but not told from what editing does by itself: there are too few controls."
        )
        return
    about = next(iter(leads), None)
    of_lead = [row for row in gaps if about is not None and _about(row, about)]
    surest = min(certain, key=lambda row: (row not in of_lead, -abs(row.difference)), default=None)
    if len(pairs) > 1:
        differing = len({(row.first, row.second) for row in certain})
        differ = "differs" if differing == 1 else "differ"
        yield (
            f"{str(differing) if differing else 'None'} of {counted(len(pairs), 'pair')} of runs on the same"
            f" texts {differ} by more than chance{'.' if surest is None else ': ' + _gap(surest, about)}"
        )
    elif surest is not None:
        sentence = _gap(surest, about)
        yield sentence[:1].upper() + sentence[1:]
    elif of_lead:
        low, high = (100 * bound for bound in of_lead[0].ci95 or (0.0, 0.0))
        yield (
            f"That they differ is not shown: {of_lead[0].second} minus {of_lead[0].first} is"
            f" {100 * of_lead[0].difference:+.1f} points (95 % interval {low:+.1f} to {high:+.1f} points;"
            f" {counted(of_lead[0].texts, 'text')})."
        )
    else:
        yield "That they differ in any contrast of groups is not shown."


def _gap(row: Gap, about: About | None) -> str:
    """Return the difference as seen from the group that is worse off, or from the second group."""
    low, high = (row.target, row.source)
    if about is not None and _about(row, about):
        low, high = about[1:3]
    toward = row.difference if low == row.target else -row.difference
    worse, other = (row.second, row.first) if toward < 0 else (row.first, row.second)
    size = magnitude(row.difference, row.ci95)
    return (
        f"from {high} to {low}, {row.outcome} falls by {size} more in {worse} than in {other}"
        f" ({row.attribute}; corrected p {chance(row.p_holm or 0.0)}, {counted(row.texts, 'text')} of both)."
    )
