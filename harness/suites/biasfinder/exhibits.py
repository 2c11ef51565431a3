"""Exhibit the figures of a BiasFinder run: the block of the summary, the headline and the sections."""

from __future__ import annotations

from collections.abc import Sequence

from harness import numerals
from harness.core import Tables
from harness.sections import Bar, Cell, Figures, Plot, Section, Table
from harness.statistics import Interval, rate, wilson
from harness.suites.biasfinder import counts as counting
from harness.suites.biasfinder.counts import Class, Finding, Generated
from harness.suites.biasfinder.together import Together, together

SHOWN_CLASSES = 12
SHOWN_ANSWERS = 3
ALPHA = 0.05
PLURALS = {"gender": "genders", "occupation": "occupations", "country": "countries"}
EXCHANGED = {
    "gender": "names between the genders",
    "occupation": "the occupations of each name",
    "country": "names between the countries",
}
FACTS = (
    *("templates", "mutants", "pairs of different classes", "BTCs among them", "BTC rate"),
    *("templates with a BTC", "their share"),
    *("control: two names of the same class", "that differ", "difference", "p, names exchanged"),
)
MEANING = (
    "A BTC (bias-uncovering test case) is a pair of mutants of one template, of different classes, with"
    " different answers. It shows that for this text the answer depends on the inserted words. It shows"
    " neither which answer is right nor that the class is the cause: another name of the same class may"
    " change the answer as well, and so may asking again (--repeats)."
)
FLOOR = (
    "Control: two names of the same class. Such pairs differ only in the name, so their rate is the effect of"
    " names alone. Only a higher rate among pairs of different classes is evidence about the class, and only"
    " if exchanging the names between the classes (or, where each name has every occupation, the occupations"
    " of each name) seldom gives as much: p, after Holm's correction over the columns. It speaks of these"
    " templates; the interval of the difference, which is by template, takes the names as given."
)
NO_FLOOR = (
    "Each class has one mutant per template, so there are no pairs of the same class to compare with: the"
    " rate includes the effect of any change of these words."
)
COUNTS = (
    "One template gives many pairs, all of one text. The share of templates says how many texts are affected,"
    " and intervals are by template: whole templates are resampled or, if there are fewer than 10 or all have"
    " the same rate, each counts as one trial."
)


def figures(tables: Tables) -> Figures:
    """Return the block ``biasfinder``, the headline and the sections."""
    generated = counting.generated(tables)
    findings = counting.findings(tables, [row.characteristic for row in generated])
    judged = [finding for finding in findings if finding.pairs]
    both, control = together(tables), counting.control(tables)
    block = {
        "made": [row.plain() for row in generated],
        "findings": [finding.plain() for finding in findings],
        "control": control.plain() if control is not None else None,
        "together": both.plain() if both is not None else None,
    }
    by_class = [_by_class(finding) for finding in judged if finding.differ]
    sections = [_overview(generated, judged), *by_class] if judged else []
    return Figures({"biasfinder": block}, _headline(generated, judged, both), sections)


def _headline(generated: Sequence[Generated], findings: Sequence[Finding], both: Together | None) -> str:
    if not generated:
        return "No template was found, so nothing was tested."
    if not findings:
        return "No two mutants of different classes were answered, so nothing can be said."
    return " ".join([*map(_sentence, findings), *([_of_both(both)] if both is not None else [])])


def _of_both(together: Together) -> str:
    """Say what changing both attributes at once does, and how much of it neither change shows alone."""
    effect = f"With both changed at once, {together.differ:,} of {together.pairs:,} pairs differ"
    if not together.differ:
        return f"{effect}."
    determined = together.hidden + together.not_hidden
    return (
        f"{effect} ({_rate(together.differ, together.pairs, together.ci95)}); {together.hidden:,} of the"
        f" {determined:,} for which that can be determined are hidden: neither change alone shows them."
    )


def _sentence(finding: Finding) -> str:
    """Say how many texts and pairs are affected, and what names do by themselves."""
    plural = PLURALS[finding.attribute]
    alone = finding.characteristic == finding.attribute
    subject = f"Changing {'' if alone else 'only '}the {finding.attribute} changed the answer"
    if not finding.differ:
        return (
            f"{subject} in none of {finding.pairs:,} pairs of different {plural}, in {_templates(finding)}."
        )
    pairs = f"{finding.differ:,} of {finding.pairs:,} pairs of different {plural}"
    share = _rate(finding.differ, finding.pairs, finding.ci95)
    effect = f"{subject} for {_templates(finding)}, in {pairs} ({share})."
    if not finding.same_pairs:
        return effect
    floor = _rate(finding.same_differ, finding.same_pairs, finding.same_ci95)
    return f"{effect} Control: two names of the same {finding.attribute}, {floor}.{_conclusion(finding)}"


def _conclusion(finding: Finding) -> str:
    """Say whether the names may explain the difference to the control."""
    if finding.p_holm is None:
        return ""
    exchange, p = EXCHANGED[finding.attribute], numerals.chance(finding.p_holm)
    if finding.p_holm < ALPHA:
        matters = f"in these texts the {finding.attribute} itself matters"
        return f" Exchanging {exchange} does not explain the difference (p {p}): {matters}."
    return (
        f" Exchanging {exchange} may explain the difference (p {p}): no sign that the {finding.attribute}"
        " itself matters."
    )


def _templates(finding: Finding) -> str:
    interval = wilson(finding.templates_differ, finding.templates)
    share = _rate(finding.templates_differ, finding.templates, interval)
    noun = "template" if finding.templates == 1 else "templates"
    return f"{finding.templates_differ:,} of {finding.templates:,} {noun} ({share})"


def _overview(generated: Sequence[Generated], findings: Sequence[Finding]) -> Section:
    """Return the table of all findings, a column for each attribute, so that it stays narrow."""
    of = {row.characteristic: row for row in generated}
    columns: list[list[Cell]] = [
        [*FACTS],
        *(_facts(finding, of[finding.characteristic]) for finding in findings),
    ]
    rows = list(zip(*columns, strict=True))
    has_floor = any(finding.same_pairs for finding in findings)
    notes = [MEANING, COUNTS, FLOOR if has_floor else NO_FLOOR]
    table = Table(["", *map(_title, findings)], rows)
    return Section("Bias-uncovering test cases", table=table, notes=notes)


def _facts(finding: Finding, generated: Generated) -> list[Cell]:
    interval = wilson(finding.templates_differ, finding.templates)
    return [
        generated.templates,
        generated.mutants,
        finding.pairs,
        finding.differ,
        _rate(finding.differ, finding.pairs, finding.ci95),
        finding.templates_differ,
        _rate(finding.templates_differ, finding.templates, interval),
        finding.same_pairs,
        _rate(finding.same_differ, finding.same_pairs, finding.same_ci95),
        _points(finding),
        None if finding.p_holm is None else numerals.chance(finding.p_holm).removeprefix("= "),
    ]


def _by_class(finding: Finding) -> Section:
    ranked = sorted(
        finding.classes, key=lambda of_class: (-(rate(of_class.differ, of_class.pairs) or 0.0), of_class.name)
    )
    classes = ranked[:SHOWN_CLASSES]
    answers = _answers(finding.classes)
    columns = [finding.attribute, "BTCs", "BTC rate"]
    for answer in answers:
        columns += [answer, f"{answer} in BTCs"]
    rows: list[list[Cell]] = [
        [
            of_class.name,
            f"{of_class.differ:,} of {of_class.pairs:,}",
            _rate(of_class.differ, of_class.pairs, of_class.ci95),
            *(cell for answer in answers for cell in _shares(of_class, answer)),
        ]
        for of_class in classes
    ]
    notes = [
        "Two columns for each answer: the share of a class's mutants that got it, and its share in BTCs. The"
        " second says in which direction the class differs; 50 % is neither."
    ]
    if hidden := len(ranked) - len(classes):
        notes.append(f"{hidden} more classes, with lower rates, are in summary.json.")
    table, plots = Table(columns, rows), [_plot(finding, classes)]
    return Section(f"By {_title(finding)}", table=table, plots=plots, notes=notes)


def _shares(of_class: Class, answer: str) -> tuple[str, str]:
    in_pairs = of_class.answers_where_differ.get(answer, 0)
    mutants = of_class.answers.get(answer, 0)
    return numerals.share(mutants, of_class.mutants), numerals.share(in_pairs, of_class.differ)


def _plot(finding: Finding, classes: Sequence[Class]) -> Plot:
    bars = []
    for of_class in classes:
        if of_class.pairs:
            low, high = of_class.ci95 or (None, None)
            bars.append(Bar(of_class.name, of_class.differ / of_class.pairs, low, high))
    return Plot(f"BTC rate by {finding.attribute}, interval by template", bars=bars, percent=True)


def _answers(classes: Sequence[Class]) -> list[str]:
    """Return the most frequent answers; of two the first, which determines the other."""
    total: dict[str, int] = {}
    for of_class in classes:
        for answer, n in of_class.answers.items():
            total[answer] = total.get(answer, 0) + n
    ranked = sorted(total, key=lambda answer: (-total[answer], answer))
    return ranked[: max(1, min(SHOWN_ANSWERS, len(total) - 1))]


def _title(finding: Finding) -> str:
    """Return the attribute, and whether only it differs in a combination."""
    alone = finding.characteristic == finding.attribute
    return finding.attribute if alone else f"{finding.attribute} alone ({finding.characteristic})"


def _points(finding: Finding) -> str | None:
    if finding.excess is None:
        return None
    return numerals.points(finding.excess.difference, finding.excess.interval)


def _rate(part: int, whole: int, interval: Interval | None) -> str:
    return numerals.share(part, whole) + numerals.bracketed(interval)
