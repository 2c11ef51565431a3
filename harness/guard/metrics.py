"""What the proxy counts, in the text format of Prometheus."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

PREFIX = "hinter_guard"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
ABOUT: Mapping[str, tuple[str, str]] = {
    "requests_total": ("counter", "Requests answered, by verdict, reason and HTTP status."),
    "upstream_requests_total": (
        "counter",
        "Requests sent to the endpoint: answers, and versions for checks.",
    ),
    "findings_total": ("counter", "Answers that depend on who is spoken of, by attribute."),
    "actions_total": ("counter", "What was given where a check failed."),
    "alarms_total": ("counter", "Alarms: more findings than usual, by attribute and group."),
    "turned_away_total": ("counter", "Requests that were told to come later."),
    "in_flight": ("gauge", "Requests that are being answered."),
    "waiting": ("gauge", "Requests that wait for a slot."),
}
HISTOGRAM = "overhead_seconds"

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counters by name and labels, and the time that the proxy adds to the endpoint's own."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, Labels]] = Counter()
        self._gauges: dict[str, int] = {}
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._seconds = 0.0

    def count(self, name: str, number: int = 1, **labels: str) -> None:
        """Add ``number`` to the counter ``name``."""
        self._counts[name, tuple(sorted(labels.items()))] += number

    def set(self, name: str, value: int) -> None:
        """Set the gauge ``name``."""
        self._gauges[name] = value

    def took(self, seconds: float) -> None:
        """Note the time that one request took beside the endpoint's own."""
        self._buckets[bisect_left(BUCKETS, seconds)] += 1
        self._seconds += seconds

    def text(self) -> str:
        """Return all in the text format."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        for name, (kind, about) in ABOUT.items():
            yield from _head(name, kind, about)
            if kind == "gauge":
                yield f"{PREFIX}_{name} {self._gauges.get(name, 0)}"
            for (counted, labels), number in sorted(self._counts.items()):
                if counted == name:
                    yield f"{PREFIX}_{name}{_written(labels)} {number}"
        yield from _head(
            HISTOGRAM, "histogram", "Seconds beside the endpoint's own, where nothing was checked."
        )
        total = 0
        for bound, number in zip((*BUCKETS, "+Inf"), self._buckets, strict=True):
            total += number
            yield f'{PREFIX}_{HISTOGRAM}_bucket{{le="{bound}"}} {total}'
        yield f"{PREFIX}_{HISTOGRAM}_sum {self._seconds:.6f}"
        yield f"{PREFIX}_{HISTOGRAM}_count {total}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {PREFIX}_{name} {about}"
    yield f"# TYPE {PREFIX}_{name} {kind}"


def _written(labels: Labels) -> str:
    if not labels:
        return ""
    inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{inside}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
