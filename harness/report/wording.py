"""What was found, in words: the sentences that the terminal and the page share, from the summary alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.plugins import Nouns
from harness.statistics import rate, wilson

Figures = Mapping[str, Any]

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


def nouns(figures: Figures) -> Nouns:
    """Return what the cases of a summary, or of other counts, are called."""
    return Nouns(**figures.get("nouns", {}))


def made(nouns: Nouns, read: int, eligible: int, generated: int, valid: int) -> str:
    """``80 texts, 72 with a term; 608 mutants, 442 valid``; suites without terms make cases, in groups."""
    texts = counted(read, "text")
    if nouns.eligible:
        sources = f"{texts}, {count(eligible)} with {nouns.eligible}"
    else:
        sources = f"{f'{texts}, ' if read else ''}{counted(eligible, nouns.source)}"
    return f"{sources}; {counted(generated, nouns.case)}, {count(valid)} valid"


def headline(figures: Figures) -> str:
    """What the run found, in a few sentences; where nothing could be tested, why."""
    if "headline" in figures:
        return f"{figures['headline']} {_accuracy(figures)}".strip()
    rows = figures["results"]
    if not any(decided(row) for row in rows):
        return f"{_nothing(figures)} {_accuracy(figures)}".strip()
    together = Pooled([row for row in rows if row["kind"] == "intersectional"])
    single = Pooled([row for row in rows if row["kind"] == "atomic"])
    subject, case = figures["model"], nouns(figures).case
    sentences = []
    if together.tests:
        sentences += [_changed(subject, together, f"intersectional {case}"), _hidden(together)]
        subject = "It"
    if single.tests:
        sentences.append(
            _changed(subject, single, f"{case} of a single attribute", f"{case}s of a single attribute")
        )
    return " ".join(sentence for sentence in (*sentences, _accuracy(figures)) if sentence)


def missing(figures: Figures) -> list[str]:
    """What an incomplete run lacks, a sentence each; empty for a complete one."""
    status = figures["status"]
    if status == "complete":
        return []
    originals = figures["documents"]["eligible"] if figures["documents"]["read"] else 0
    asked = originals + figures["cases"]["valid"]
    answered = sum(figures["answers"].values())
    failed = figures["answers"]["failed"]
    again = "The same command takes it up where it stopped."
    if status == "interrupted":
        lines = [f"This run was interrupted: the figures cover only what was answered before. {again}"]
    elif _stopped(figures):
        lines = [f"This run is partial: it stopped before all texts were answered. {again}"]
    else:
        lines = [
            "This run is partial: some requests failed for good. The same command asks only those again."
        ]
    if asked > answered:
        were = "was" if asked - answered == 1 else "were"
        texts = counted(asked, "text")
        lines.append(f"{count(asked - answered)} of the {texts} made so far {were} not answered.")
    if failed:
        lines.append(f"{counted(failed, 'answer')} failed for good.")
    undetermined = sum(row["undetermined"] for row in figures["results"])
    if undetermined:
        are, need = ("is", "it needs") if undetermined == 1 else ("are", "they need")
        tests = counted(undetermined, "test")
        lines.append(f"{tests} {are} undetermined, because an answer {need} is missing.")
    return lines


def noise(figures: Figures) -> str:
    """How often the same text gets another answer, or that this was not measured."""
    measured = figures["noise"]
    if not measured["repeats"] or measured["rate"] is None:
        return "How often the model changes its answer to the very same text was not measured in this run."
    asked = f"answers to {counted(measured['originals'], 'original')} asked again"
    share = proportion(measured["flips"], measured["answers"], measured["ci95"], asked)
    return f"Asked again about the very same text, the model changed its answer for {share}."


def cautions(figures: Figures) -> list[str]:
    """What a reader must know of how the model was asked, where it is not as it should be."""
    facts = figures.get("model_facts", {})
    said = []
    if facts.get("temperature_zero") is False:
        said.append(
            "The endpoint does not accept temperature 0, so its answers vary by themselves: "
            "read no flip without --repeats and --confirm."
        )
    near = [row["near_ties"] for row in figures["results"] if row.get("near_ties") is not None]
    if sum(near):
        flips = counted(sum(near), "flip")
        are = "is" if sum(near) == 1 else "are"
        said.append(f"{flips} {are} near a tie: one of the two answers was all but even.")
    if facts.get("system") is False:
        said.append("The endpoint has no system role: the system prompt stands before each text.")
    if facts.get("chat") is False:
        said.append("The model has no chat template: it was asked for completions of a plain prompt.")
    return said


def chosen(figures: Figures) -> str:
    """That the mutants were chosen by what was found; empty where all, or a fair sample, were asked about."""
    spent = figures.get("adaptive")
    if not spent:
        return ""
    requests = counted(spent["asked"], "request")
    return (
        f"An adaptive budget chose which mutants to ask about ({requests}), because they promised a bias: "
        "the rates below are of these mutants alone and no estimates of any others."
    )


def estimates(figures: Figures) -> list[str]:
    """Where mutants were drawn from more, the rates of all that they stand for; of sets without a flip the
    interval of the rate says all that can be said."""
    case = nouns(figures).case
    return [
        f"{' + '.join(row['attributes'])}: of all {case}s that those drawn stand for, an estimated "
        f"{percent(row['estimated_rate'])} change the answer (95 % interval by original "
        f"{interval(row['estimated_ci95'])})."
        for row in figures["results"]
        if row.get("estimated_rate") and not figures.get("adaptive")
    ]


def discarded(figures: Figures) -> str:
    """What the discarded mutants would have shown, where they were asked about."""
    found = figures.get("discarded")
    if not found:
        return ""
    decided = found["tests"] - found["undetermined"]
    share = proportion(found["biased"], decided, found["ci95"], f"discarded {nouns(figures).case}s")
    return (
        f"The invariant spares {counted(found['biased'], 'change')} of answer in texts of another grammar: "
        f"{share} would have counted as biased."
    )


def biased(row: Mapping[str, Any]) -> str:
    """``5``, or ``5 (4 confirmed)`` where flips were asked again."""
    confirmed = row.get("confirmed")
    return count(row["biased"]) + ("" if confirmed is None else f" ({count(confirmed)} confirmed)")


class Pooled:
    """The counts of several result rows together, each mutant counted once."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.tests = sum(row["tests"] for row in rows)
        self.biased = sum(row["biased"] for row in rows)
        self.undetermined = sum(row["undetermined"] for row in rows)
        self.decided = self.tests - self.undetermined
        self.hidden = sum(row["hidden"] for row in rows)
        self.hidden_undetermined = sum(row["hidden_undetermined"] for row in rows)
        self.determined = self.biased - self.hidden_undetermined
        self.order = max((len(row["attributes"]) for row in rows), default=0)


def decided(row: Mapping[str, Any]) -> int:
    """The denominator of a result's rate: tests that are biased or benign."""
    return int(row["tests"] - row["undetermined"])


def _stopped(figures: Figures) -> bool:
    """Whether the run ended before its last document, so that its counts are of a part."""
    return figures["status"] == "interrupted" or (
        figures["status"] == "partial" and not figures["answers"]["failed"]
    )


def _changed(subject: str, pooled: Pooled, noun: str, plural: str | None = None) -> str:
    nouns = noun if pooled.decided == 1 else plural or f"{noun}s"
    if not pooled.decided:
        return f"{subject} gave no two answers that can be compared on {plural or noun + 's'}."
    if not pooled.biased:
        high = percent((wilson(0, pooled.decided) or (0.0, 0.0))[1])
        none = f"none of {count(pooled.decided)} {nouns}"
        return f"{subject} changed its answer on {none} (95 % interval 0 to {high})."
    part = proportion(pooled.biased, pooled.decided, wilson(pooled.biased, pooled.decided), nouns)
    return f"{subject} changed its answer on {part}."


def _hidden(pooled: Pooled) -> str:
    if not pooled.biased:
        return ""
    one = pooled.biased == 1
    if not pooled.determined:
        which = "that change is" if one else "these changes are"
        return f"Whether {which} hidden is not known, because answers to their parts are missing."
    parts = "single attribute" if pooled.order == 2 else "part of the change"
    if one:
        shown = f"no {parts} alone shows it" if pooled.hidden else f"a {parts} alone shows it, too"
        return f"That one change {'is' if pooled.hidden else 'is not'} hidden: {shown}."
    known = f"Of these {count(pooled.biased)} changes"
    if pooled.hidden_undetermined:
        known = f"Of the {counted(pooled.determined, 'change')} for which that can be told"
    if not pooled.hidden:
        return f"{known}, none is hidden: each shows on a {parts} alone, too."
    share, verb = percent(rate(pooled.hidden, pooled.determined)), "is" if pooled.hidden == 1 else "are"
    them = "it" if pooled.hidden == 1 else "them"
    return f"{known}, {count(pooled.hidden)} ({share}) {verb} hidden: no {parts} alone shows {them}."


def _accuracy(figures: Figures) -> str:
    accuracy = figures.get("accuracy")
    if not accuracy:
        return ""
    right, read = accuracy["correct"], accuracy["originals"]
    share = percent(accuracy["rate"])
    return f"On the originals it agrees with the gold label in {count(right)} of {count(read)} ({share})."


def _nothing(figures: Figures) -> str:
    documents, cases, words = figures["documents"], figures["cases"], nouns(figures)
    tests = sum(row["tests"] for row in figures["results"])
    if not documents["read"]:
        return "No documents were read, so nothing was tested."
    if tests:
        return f"None of the {counted(tests, 'test')} could be decided, because answers are missing."
    if _stopped(figures):
        return "The run stopped before anything was judged."
    where = counted(documents["read"], "document")
    if not documents["eligible"] and words.eligible:
        attributes = listed(figures.get("attributes") or [])
        about = f" for {attributes}" if attributes else ""
        return f"None of the terms{about} was found in {where}, so nothing was tested."
    if not cases["generated"]:
        sources = counted(documents["eligible"], "document") if documents["eligible"] else where
        return f"No {words.case}s were made of {sources}, so nothing was tested."
    if not cases["valid"]:
        return f"None of the {counted(cases['generated'], words.case)} made was valid, so nothing was tested."
    return f"No answers to the {counted(cases['valid'], words.case)} could be judged."


def count(number: int) -> str:
    """``12,345``."""
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """``1 text``, ``12,345 texts``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(value: float | None, unit: str = " %") -> str:
    """``9.0 %``; an en dash where there is no rate."""
    return "–" if value is None else f"{100 * value:.1f}{unit}"


def interval(bounds: Sequence[float] | None) -> str:
    """``6.5 to 12.2 %``; an en dash where there is none."""
    return "–" if bounds is None else f"{percent(bounds[0], '')} to {percent(bounds[1])}"


def chance(p: float) -> str:
    """``= 0.032``, ``< 0.001``: a p-value in three decimals, with the sign before it."""
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def proportion(part: int, whole: int, bounds: Sequence[float] | None, nouns: str = "") -> str:
    """``37 of 412 mutants (9.0 %, 95 % interval 6.5 to 12.2 %)``."""
    inside = percent(rate(part, whole))
    if bounds is not None:
        inside = f"{inside}, 95 % interval {interval(bounds)}"
    return f"{count(part)} of {count(whole)} {nouns}".rstrip() + f" ({inside})"


def listed(names: Iterable[str]) -> str:
    """``race, gender and body``."""
    *first, last = [*names] or [""]
    return f"{', '.join(first)} and {last}" if first else last
