"""What was found, in words: the sentences that the terminal and the page share, from the summary alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.core import UNREAD, Unread
from harness.numerals import count, counted, interval, listed, percent, proportion, share
from harness.plugins import Nouns
from harness.report.summary import Answers, ResultRow, Summary
from harness.statistics import wilson

UNREAD_WORDS = {
    "refused": "refused",
    "filtered": "stopped by a content filter",
    "unparsed": "not understood as a label",
    "truncated": "cut off",
    "too-long": "too long for the model",
    "failed": "failed for good",
}
REASON_WORDS = {
    "sentences": "with another number of sentences",
    "pos": "with other parts of speech",
    "dependency": "with another grammatical structure",
}
CLAUSES: dict[Unread, tuple[str, str]] = {
    "refused": ("is a refusal", "are refusals"),
    "filtered": ("was stopped by a content filter", "were stopped by a content filter"),
    "unparsed": ("is no label", "are no label"),
    "truncated": ("was cut off", "were cut off"),
    "too-long": ("is missing: too long a text for the model", "are missing: too long texts for the model"),
    "failed": ("failed for good", "failed for good"),
}
"""What is said of an answer, or of several, that could not be read."""


def made(nouns: Nouns, read: int, eligible: int, generated: int, valid: int) -> str:
    """Return ``80 texts, 72 with a term; 608 mutants, 442 valid``; where nothing says which texts are
    eligible, the groups are counted: ``80 texts, 9 groups; 1,234 cases, 1,234 valid``."""
    texts = counted(read, "text")
    if nouns.eligible:
        sources = f"{texts}, {count(eligible)} with {nouns.eligible}"
    else:
        sources = f"{f'{texts}, ' if read else ''}{counted(eligible, nouns.source)}"
    return f"{sources}; {counted(generated, nouns.case)}, {count(valid)} valid"


def made_of(summary: Summary) -> str:
    """Return what was read and made in the run."""
    documents, cases = summary.documents, summary.cases
    return made(summary.nouns, documents.read, documents.eligible, cases.generated, cases.valid)


def commonest(answers: Answers) -> Unread | None:
    """Return why most of the answers that could not be read were not; None where all were read."""
    counts = answers.unread
    reason = max(UNREAD, key=counts.__getitem__)
    return reason if counts[reason] else None


def unread(answers: Answers) -> str:
    """Return ``12 of 12 answers are no label``, of the commonest reason; "" where all were read."""
    reason = commonest(answers)
    if reason is None:
        return ""
    number = answers.unread[reason]
    return f"{count(number)} of {counted(answers.total, 'answer')} {CLAUSES[reason][number > 1]}"


def headline(summary: Summary) -> str:
    """Return what the run found, in a few sentences; where nothing could be tested, why."""
    if summary.headline is not None:
        return f"{summary.headline} {_accuracy(summary)}".strip()
    if not any(row.decided for row in summary.results):
        return f"{_nothing(summary)} {_accuracy(summary)}".strip()
    together = Pooled([row for row in summary.results if row.together])
    single = Pooled([row for row in summary.results if not row.together])
    subject, case = summary.model, summary.nouns.case
    sentences = []
    if together.tests:
        changed = _changed(subject, together, f"intersectional {case}", f"intersectional {case}s")
        sentences += [changed, _hidden(together)]
        subject = "It"
    if single.tests:
        of = "of a single attribute"
        sentences.append(_changed(subject, single, f"{case} {of}", f"{case}s {of}"))
    return " ".join(sentence for sentence in (*sentences, _accuracy(summary)) if sentence)


def missing(summary: Summary) -> list[str]:
    """Return what an incomplete run lacks, a sentence each; nothing of a complete one."""
    if summary.status == "complete":
        return []
    originals = summary.documents.eligible if summary.documents.read else 0
    cases = originals + summary.cases.valid
    failed = summary.answers.failed
    again = "The same command takes it up where it stopped."
    if summary.status == "interrupted":
        lines = [f"This run was interrupted: the figures cover only what was answered before. {again}"]
    elif _stopped(summary):
        lines = [f"This run is partial: it stopped before all texts were answered. {again}"]
    else:
        lines = [
            "This run is partial: some requests failed for good. The same command asks only those again."
        ]
    if absent := max(0, cases - summary.answers.total):
        were = "was" if absent == 1 else "were"
        lines.append(f"{count(absent)} of the {counted(cases, 'text')} made so far {were} not answered.")
    if failed:
        lines.append(f"{counted(failed, 'answer')} failed for good.")
    if undetermined := sum(row.undetermined for row in summary.results):
        are, need = ("is", "it needs") if undetermined == 1 else ("are", "they need")
        tests = counted(undetermined, "test")
        lines.append(f"{tests} {are} undetermined, because an answer {need} is missing.")
    return lines


def notes(summary: Summary) -> list[str]:
    """Return what stands beneath the headline: the noise, and what a reader must know."""
    return [noise(summary), *asides(summary)]


def asides(summary: Summary) -> list[str]:
    """Return what a reader must know beside the figures: cautions, estimates, what was discarded."""
    return [line for line in (*cautions(summary), *estimates(summary), discarded(summary)) if line]


def noise(summary: Summary) -> str:
    """Return how often the same text gets another answer, or that this was not measured."""
    measured = summary.noise
    if not measured.repeats or measured.rate is None:
        return "How often the model changes its answer to the very same text was not measured in this run."
    originals = f"answers to {counted(measured.originals, 'original')} asked again"
    part = proportion(measured.flips, measured.answers, measured.ci95, originals)
    return f"Asked again about the very same text, the model changed its answer for {part}."


def cautions(summary: Summary) -> Iterator[str]:
    """Yield what a reader must know of how the model was asked, where it is not as it should be."""
    facts = summary.model_facts
    if facts.get("temperature_zero") is False:
        yield (
            "The endpoint does not accept temperature 0, so its answers vary by themselves: "
            "read no flip without --repeats and --confirm."
        )
    if near := sum(row.near_ties or 0 for row in summary.results):
        are = "is" if near == 1 else "are"
        yield f"{counted(near, 'flip')} {are} near a tie: one of the two answers was all but even."
    if facts.get("system") is False:
        yield "The endpoint has no system role: the system prompt stands before each text."
    if facts.get("chat") is False:
        yield "The model has no chat template: it was asked for completions of a plain prompt."


def chosen(summary: Summary) -> str:
    """Return that the mutants were chosen by what was found; "" where all, or a fair sample, were asked."""
    if summary.adaptive is None:
        return ""
    requests = counted(summary.adaptive.asked, "request")
    return (
        f"An adaptive budget chose which mutants to ask about ({requests}), because they promised a bias: "
        "the rates below are of these mutants alone and no estimates of any others."
    )


def estimates(summary: Summary) -> Iterator[str]:
    """Yield, where mutants were drawn from more, the rates of all that they stand for; of sets without a flip
    the interval of the rate says all that can be said."""
    for row in summary.results:
        if row.estimated_rate and summary.adaptive is None:
            yield (
                f"{row.name}: of all {summary.nouns.case}s that those drawn stand for, an estimated "
                f"{percent(row.estimated_rate)} change the answer (95 % interval by original "
                f"{interval(row.estimated_ci95)})."
            )


def discarded(summary: Summary) -> str:
    """Return what the discarded mutants would have shown; "" where they were not asked about."""
    flips = summary.discarded
    if flips is None:
        return ""
    part = proportion(
        flips.biased, flips.tests - flips.undetermined, flips.ci95, f"discarded {summary.nouns.case}s"
    )
    return (
        f"The invariant spares {counted(flips.biased, 'change')} of answer in texts of another grammar: "
        f"{part} would have counted as biased."
    )


class Pooled:
    """The counts of several result rows together, each mutant counted once."""

    def __init__(self, rows: Sequence[ResultRow]) -> None:
        self.tests = sum(row.tests for row in rows)
        self.biased = sum(row.biased for row in rows)
        self.decided = sum(row.decided for row in rows)
        self.hidden = sum(row.hidden for row in rows)
        self.hidden_undetermined = sum(row.hidden_undetermined for row in rows)
        self.determined = sum(row.determined for row in rows)
        self.order = max((len(row.attributes) for row in rows), default=0)


def _stopped(summary: Summary) -> bool:
    """Whether the run ended before its last document, so that its counts are of a part."""
    partial = summary.status == "partial" and not summary.answers.failed
    return summary.status == "interrupted" or partial


def _changed(subject: str, pooled: Pooled, noun: str, plural: str) -> str:
    nouns = noun if pooled.decided == 1 else plural
    if not pooled.decided:
        return f"{subject} gave no two answers that can be compared on {plural}."
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
        return f"Whether {which} hidden is not known, because answers to their parts are missing."
    parts = "single attribute" if pooled.order == 2 else "part of the change"
    if single:
        shown = f"no {parts} alone shows it" if pooled.hidden else f"a {parts} alone shows it, too"
        return f"That one change {'is' if pooled.hidden else 'is not'} hidden: {shown}."
    known = f"Of these {count(pooled.biased)} changes"
    if pooled.hidden_undetermined:
        known = f"Of the {counted(pooled.determined, 'change')} for which that can be told"
    if not pooled.hidden:
        return f"{known}, none is hidden: each shows on a {parts} alone, too."
    verb, them = ("is", "it") if pooled.hidden == 1 else ("are", "them")
    part = f"{count(pooled.hidden)} ({share(pooled.hidden, pooled.determined)})"
    return f"{known}, {part} {verb} hidden: no {parts} alone shows {them}."


def _accuracy(summary: Summary) -> str:
    accuracy = summary.accuracy
    if accuracy is None:
        return ""
    part = f"{count(accuracy.correct)} of {count(accuracy.originals)} ({percent(accuracy.rate)})"
    return f"On the originals it agrees with the gold label in {part}."


def _nothing(summary: Summary) -> str:
    """Why no test was decided."""
    documents, cases, case = summary.documents, summary.cases, summary.nouns.case
    tests = sum(row.tests for row in summary.results)
    if not documents.read:
        return "No documents were read, so nothing was tested."
    if tests:
        cause = unread(summary.answers)
        why = f": {cause}" if cause else ", because answers are missing"
        return f"None of the {counted(tests, 'test')} could be decided{why}."
    if _stopped(summary):
        return "The run stopped before anything was judged."
    where = counted(documents.read, "document")
    if not documents.eligible and summary.nouns.eligible:
        names = listed(summary.attributes or ())
        about = f" for {names}" if names else ""
        return f"None of the terms{about} was found in {where}, so nothing was tested."
    if not cases.generated:
        sources = counted(documents.eligible, "document") if documents.eligible else where
        return f"No {case}s were made of {sources}, so nothing was tested."
    if not cases.valid:
        return f"None of the {counted(cases.generated, case)} made was valid, so nothing was tested."
    return f"No answers to the {counted(cases.valid, case)} could be judged."


def visible(text: str) -> str:
    """Return ``text`` in one line, its control characters written as escapes."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
