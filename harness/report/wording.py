"""The findings in words: the sentences that the terminal and the page share, from the summary alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.core import UNREAD, Unread
from harness.disclosure import visible
from harness.numerals import count, counted, interval, listed, percent, proportion, share
from harness.plugins import Nouns
from harness.report import incomplete, orders, relations
from harness.report.finding import few_controls
from harness.report.summary import Accuracy, Adaptive, Answers, ResultRow, Summary
from harness.statistics import wilson

UNREAD_WORDS = {
    "refused": "refused",
    "filtered": "stopped by a content filter",
    "unparsed": "not recognized as a label",
    "truncated": "cut off",
    "too-long": "too long for the model",
    "failed": "failed permanently",
}
REASON_WORDS = {
    "not-a-person": "of words that describe nobody",
    "person-unclear": "of words for a person who is not clear",
    "coordination": "of words coordinated with their counterpart",
    "contradiction": "that the text contradicts",
    "judged-wrong": "that a model found wrong",
    "not-judged": "that a model did not judge",
    "sentences": "with a different number of sentences",
    "pos": "with different parts of speech",
    "dependency": "with a different grammatical structure",
    "first-parser-only": "that only the first parser passes",
    "second-parser-only": "that only the second parser passes",
}
LEFT_WORDS = {
    "not-a-person": "left: it does not describe a person",
    "person-unclear": "left: it is not clear which words are about the person",
    "coordination": "left: its counterpart stands beside it",
    "contradiction": "left: the text would contradict it",
    "duplicate": "the same as another version",
}
"""What became of a word that a suite leaves alone, by reason."""
CLAUSES: dict[Unread, tuple[str, str]] = {
    "refused": ("is a refusal", "are refusals"),
    "filtered": ("was stopped by a content filter", "were stopped by a content filter"),
    "unparsed": ("is not a label", "are not labels"),
    "truncated": ("was cut off", "were cut off"),
    "too-long": (
        "is missing: the text is too long for the model",
        "are missing: the texts are too long for the model",
    ),
    "failed": ("failed permanently", "failed permanently"),
}
"""The clause about one answer, and about several, that could not be read."""
MORE_TOKENS = "give more with --answer-tokens, or have the model think less with [model] extra"
"""What to do about answers that were cut off."""


def made(nouns: Nouns, read: int, eligible: int, generated: int, valid: int) -> str:
    """Return ``80 texts, 72 with a term; 608 mutants, 442 valid``.

    For a suite without a notion of eligible texts, count the groups: ``80 texts, 9 groups; 1,234 cases, …``.
    """
    texts = counted(read, "text")
    if nouns.eligible:
        sources = f"{texts}, {count(eligible)} with {nouns.eligible}"
    else:
        sources = f"{f'{texts}, ' if read else ''}{counted(eligible, nouns.source)}"
    return f"{sources}; {counted(generated, nouns.case)}, {count(valid)} valid"


def made_of(summary: Summary) -> str:
    """Return the numbers of texts read and cases generated in the run."""
    documents, cases = summary.documents, summary.cases
    total = made(summary.nouns, documents.read, documents.eligible, cases.generated, cases.valid)
    return f"{total}; {counted(documents.left_out, 'row')} left out" if documents.left_out else total


def commonest(answers: Answers) -> Unread | None:
    """Return the commonest reason for an unread answer; None if all were read."""
    counts = answers.unread
    reason = max(UNREAD, key=counts.__getitem__)
    return reason if counts[reason] else None


def unread(summary: Summary) -> str:
    """Return ``12 of 12 answers are not labels``, for the commonest reason; "" if all were read."""
    answers, limit = summary.answers, summary.answer_tokens
    reason = commonest(answers)
    if reason is None:
        return ""
    number = answers.unread[reason]
    words = f"{count(number)} of {counted(answers.total, 'answer')} {CLAUSES[reason][number > 1]}"
    if reason != "truncated" or limit is None:
        return words
    return f"{words} at {counted(limit, 'token')}: {MORE_TOKENS}"


def question(summary: Summary) -> str:
    """Return what a suite with a headline of its own asks; its headline is the answer."""
    if relations.failing(summary.results):
        return f"Does {summary.model} answer as expected?"
    varied = summary.attributes or dict.fromkeys(name for row in summary.results for name in row.attributes)
    return f"Do the answers of {summary.model} change{f' with {listed(varied)}' if varied else ''}?"


def headline(summary: Summary) -> str:
    """Return the findings of the run in a few sentences, or why nothing could be tested."""
    if summary.headline is not None:
        return f"{summary.headline} {_accuracy(summary)}".strip()
    if not any(row.decided for row in summary.results):
        return f"{_nothing(summary)} {_accuracy(summary)}".strip()
    found = [summary.finding.text] if summary.finding is not None else []
    sentences = list(_rates(summary)) if not found or few_controls(summary) else []
    return " ".join([*found, *sentences, *filter(None, [_accuracy(summary)])])


def _rates(summary: Summary) -> Iterator[str]:
    """Yield how often the answer changed: on one person, on all intersectional cases, on atomic ones."""
    together = Pooled([row for row in summary.results if row.together])
    single = Pooled([row for row in summary.results if not row.together])
    meeting = Pooled(list(summary.one_person))
    subject, case = "It" if summary.finding is not None else summary.model, summary.nouns.case
    if meeting.decided:
        of = "that change one person"
        yield _changed(subject, meeting, f"intersectional {case} {of}", f"intersectional {case}s {of}")
        subject = "Of all of them, on one person or several, it" if together.tests > meeting.tests else "It"
    if together.tests > meeting.tests:
        yield _changed(subject, together, f"intersectional {case}", f"intersectional {case}s")
        subject = "It"
    if single.tests:
        of = "of a single attribute"
        yield _changed(subject, single, f"{case} {of}", f"{case}s {of}")


def hidden(summary: Summary) -> str:
    """Return how many intersectional changes are hidden, beside the same of the controls; "" without any."""
    sentence = _hidden(Pooled([row for row in summary.results if row.together]))
    changed = summary.control.by_order.get("2") if summary.control is not None else None
    if not sentence or changed is None or not changed.biased:
        return sentence
    return (
        f"{sentence} So are {count(changed.hidden or 0)} of the {counted(changed.biased, 'change')} that two"
        " control words cause."
    )


def notes(summary: Summary) -> list[str]:
    """Return the lines beneath the headline: the noise and the asides."""
    return [noise(summary), *asides(summary)]


def asides(summary: Summary) -> list[str]:
    """Return what a reader must know to judge the figures: cautions, hidden cases and other asides.

    What an incomplete run lacks is said first of all, and not here.
    """
    return [*warnings(summary), *remarks(summary)]


def warnings(summary: Summary) -> list[str]:
    """Return the cautions, the commonest failures first."""
    cautions = (caution.text for caution in summary.cautions if caution.code not in incomplete.CODES)
    return [line for line in (failures(summary), *cautions) if line]


def remarks(summary: Summary) -> list[str]:
    """Return what else the figures show: hidden cases, what several attributes uncover, notes on texts."""
    others = (hidden(summary), orders.sentence(summary), *estimates(summary), discarded(summary))
    return [line for line in (*others, *map(visible, summary.documents.notes)) if line]


def failures(summary: Summary) -> str:
    """Return the commonest reasons of failed answers; "" if none failed."""
    if not summary.failures:
        return ""
    reasons = "; ".join(f"{count(one.count)} × {visible(one.reason)}" for one in summary.failures)
    return f"Of {counted(summary.answers.failed, 'failed answer')}: {reasons}"


def noise(summary: Summary) -> str:
    """Return how often the same text gets a different answer, or that this was not measured."""
    measured = summary.noise
    if not measured.repeats or measured.rate is None:
        return "This run did not measure how often the model changes its answer to an identical text."
    originals = f"repeated answers to {counted(measured.originals, 'original')}"
    part = proportion(measured.flips, measured.answers, measured.ci95, originals)
    return f"Asked again about an identical text, the model changed its answer in {part}."


def estimates(summary: Summary) -> Iterator[str]:
    """Yield, for each attribute set whose mutants are a sample, the weighted rate of all mutants.

    A set without a flip has none: the interval of its rate says all that is known. With an adaptive budget
    all sets have one, and stand below the rate of all together.
    """
    if summary.adaptive is not None:
        yield from _adaptive(summary, summary.adaptive)
        return
    for row in summary.results:
        if row.estimated_rate:
            yield (
                f"{row.name}: weighted to all {summary.nouns.case}s, an estimated "
                f"{percent(row.estimated_rate)} change the answer (95 % interval by original "
                f"{interval(row.estimated_ci95)})."
            )


def _adaptive(summary: Summary, adaptive: Adaptive) -> Iterator[str]:
    """Yield the estimates of an adaptive budget: of all cases of the run, had all been asked about."""
    for row in adaptive.estimates.rates if adaptive.estimates is not None else ():
        name = "+".join(row.attributes) if row.attributes else f"all {summary.nouns.case}s"
        yield (
            f"{name}: an estimated {percent(row.rate)} of the {row.cases:,} {summary.nouns.case}s of this "
            f"run change the answer (95 % interval {interval(row.ci95)})."
        )


def discarded(summary: Summary) -> str:
    """Return what the discarded mutants would have shown; "" if they were not asked about."""
    flips = summary.discarded
    if flips is None:
        return ""
    part = proportion(
        flips.biased, flips.tests - flips.undetermined, flips.ci95, f"discarded {summary.nouns.case}s"
    )
    return (
        f"The invariant excludes {counted(flips.biased, 'changed answer')} in texts whose grammar differs: "
        f"{part} would have counted as biased."
    )


class Pooled:
    """The pooled counts of several result rows, each mutant counted once."""

    def __init__(self, rows: Sequence[ResultRow]) -> None:
        self.tests = sum(row.tests for row in rows)
        self.biased = sum(row.biased for row in rows)
        self.decided = sum(row.decided for row in rows)
        self.hidden = sum(row.hidden for row in rows)
        self.hidden_undetermined = sum(row.hidden_undetermined for row in rows)
        self.determined = sum(row.determined for row in rows)
        self.order = max((len(row.attributes) for row in rows), default=0)


def _changed(subject: str, pooled: Pooled, noun: str, plural: str) -> str:
    nouns = noun if pooled.decided == 1 else plural
    if not pooled.decided:
        return f"{subject} gave no comparable pair of answers on {plural}."
    if not pooled.biased:
        high = percent((wilson(0, pooled.decided) or (0.0, 0.0))[1])
        none = f"none of {count(pooled.decided)} {nouns}"
        return f"{subject} changed its answer on {none} (95 % interval 0 to {high})."
    part = proportion(pooled.biased, pooled.decided, wilson(pooled.biased, pooled.decided), nouns)
    return f"{subject} changed its answer on {part}."


def _hidden(pooled: Pooled) -> str:
    if not pooled.biased:
        return ""
    single = pooled.biased == 1
    if not pooled.determined:
        which = "that change is" if single else "these changes are"
        return f"Whether {which} hidden is unknown, because answers to the parts are missing."
    parts = "single attribute" if pooled.order == 2 else "part of the change"
    if single:
        reason = f"no {parts} alone shows it" if pooled.hidden else f"a {parts} alone shows it, too"
        return f"This one change {'is' if pooled.hidden else 'is not'} hidden: {reason}."
    base = f"Of these {count(pooled.biased)} changes"
    if pooled.hidden_undetermined:
        base = f"Of the {counted(pooled.determined, 'change')} for which this is known"
    if not pooled.hidden:
        return f"{base}, none is hidden: each also appears with a {parts} alone."
    verb, them = ("is", "it") if pooled.hidden == 1 else ("are", "them")
    part = f"{count(pooled.hidden)} ({share(pooled.hidden, pooled.determined)})"
    return f"{base}, {part} {verb} hidden: no {parts} alone shows {them}."


def _accuracy(summary: Summary) -> str:
    accuracy = summary.accuracy
    if accuracy is None:
        return ""
    part = (
        f"{count(accuracy.correct)} of {counted(accuracy.originals, 'original')} ({percent(accuracy.rate)})"
    )
    return f"The model matches the gold label on {part}."


def macro_f1(accuracy: Accuracy) -> str:
    """Return the mean F1 over all labels of the task, then over those that occur."""
    occurring = "labels" if accuracy.occurring is None else counted(accuracy.occurring, "label")
    among = f"{percent(accuracy.macro_f1)} over the {occurring} that occur"
    if accuracy.macro_f1_all is None:
        return f"macro: {among}"
    return f"macro: {percent(accuracy.macro_f1_all)} over all {count(accuracy.labels or 0)} labels, {among}"


def _nothing(summary: Summary) -> str:
    """Return why no test was decided."""
    documents, cases, case = summary.documents, summary.cases, summary.nouns.case
    tests = sum(row.tests for row in summary.results)
    if not documents.read:
        return "No documents were read, so nothing was tested."
    if tests:
        cause = unread(summary)
        why = f": {cause}" if cause else ", because answers are missing"
        none = "The only test could not" if tests == 1 else f"None of the {counted(tests, 'test')} could"
        return f"{none} be decided{why}."
    if incomplete.stopped(summary):
        return "The run stopped before any test was judged."
    where = counted(documents.read, "document")
    if not documents.eligible and summary.nouns.eligible:
        names = listed(summary.attributes or ())
        about = f" of {names}" if names else ""
        return f"None of {where} has {summary.nouns.eligible}{about}, so nothing was tested."
    if not cases.generated:
        sources = counted(documents.eligible, "document") if documents.eligible else where
        return f"No {case}s were generated from {sources}, so nothing was tested."
    if not cases.valid:
        none = (
            f"The only {case} was not"
            if cases.generated == 1
            else f"None of the {cases.generated:,} {case}s was"
        )
        return f"{none} valid, so nothing was tested."
    return f"No answers to the {counted(cases.valid, case)} could be judged."
