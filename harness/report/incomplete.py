"""What an incomplete run lacks, in words that stand before its findings: how far it came, why, what to do."""

from __future__ import annotations

from harness.findings.records import Caution
from harness.numerals import count, counted
from harness.report.summary import Summary

CODES = ("interrupted", "stopped", "failed-requests")
"""The cautions about an incomplete run, which stand first."""
AGAIN = "Run the same command again to resume where it stopped."


def stopped(summary: Summary) -> bool:
    """Return whether the run ended before its last document, so that its counts cover only a part."""
    if summary.status == "partial" and summary.documents.judged is None:  # a summary of an earlier version
        return not summary.answers.failed
    return summary.status == "interrupted" or summary.stopped is not None


def nothing(summary: Summary) -> bool:
    """Return whether the user stopped the run before there was any reply: there is nothing to show."""
    return summary.status == "interrupted" and summary.requests.kept == 0


def caution(summary: Summary) -> Caution | None:
    """Return what to know of an incomplete run before all else; None for a complete one."""
    if summary.status == "complete":
        return None
    if not stopped(summary):
        text = (
            "This run is partial: some requests failed permanently or were filtered. Run the same command"
            " again to retry only those."
        )
        return Caution(code="failed-requests", text=text)
    interrupted = summary.status == "interrupted"
    code, verb = ("interrupted", "Interrupted") if interrupted else ("stopped", "Stopped")
    figures = "the figures cover only what was judged by then"
    resume = f"{_kept(summary)}{AGAIN}"
    if summary.stopped is not None:
        text = f"{verb}{_after(summary)}: {summary.stopped.rstrip('.')}. {figures.capitalize()}. {resume}"
    else:
        text = f"{verb}{_after(summary)}: {figures}. {resume}"
    return Caution(code=code, text=text)


def _kept(summary: Summary) -> str:
    """Return how many replies will not be asked for again; "" where that is not known."""
    requests = summary.requests
    if requests.kept is None:
        return ""
    if not requests.kept:
        return "No reply had come. "
    replies = "1 reply is" if requests.kept == 1 else f"{count(requests.kept)} replies are"
    left = f", and {counted(requests.unfinished, 'request')} under way will be sent again"
    return f"{replies} kept{left if requests.unfinished else ''}. "


def _after(summary: Summary) -> str:
    """Return `` after 12 of 40 texts``; of a suite that makes its own, `` after 12 templates``."""
    judged, read = summary.documents.judged, summary.documents.read
    if judged is None:  # a summary of an earlier version
        return ""
    texts = counted(read, "text")
    if not judged:
        return f" before any of {texts} was judged" if read else " before anything was judged"
    return f" after {count(judged)} of {texts}" if read else f" after {counted(judged, summary.nouns.source)}"


def missing(summary: Summary) -> list[str]:
    """Return what an incomplete run lacks, one sentence each; an empty list for a complete run."""
    first = caution(summary)
    if first is None:
        return []
    lines = [first.text]
    originals = summary.documents.eligible if summary.documents.read else 0
    cases = originals + summary.cases.valid
    if absent := max(0, cases - summary.answers.total):
        were = "was" if absent == 1 else "were"
        lines.append(f"{count(absent)} of the {counted(cases, 'text')} made so far {were} not answered.")
    if failed := summary.answers.failed:
        lines.append(f"{counted(failed, 'answer')} failed permanently.")
    if undetermined := sum(row.undetermined for row in summary.results):
        are, need = ("is", "it needs") if undetermined == 1 else ("are", "they need")
        tests = counted(undetermined, "test")
        lines.append(f"{tests} {are} undetermined because an answer {need} is missing.")
    return lines
