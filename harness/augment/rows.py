"""The rows of an augmented data set: originals and their counterfactual versions, balanced at each place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import groupby

from harness.augment.doubts import Doubts
from harness.core import Case, Document
from harness.findings.places import places

COLUMNS: Mapping[str, str] = {
    "id": "the row, unique",
    "text": "the text",
    "label": "the gold label; empty where there is none, or where it may not hold",
    "label_may_not_hold": "why the label of the original was not carried over; empty where it was",
    "kind": "original or counterfactual",
    "origin": "the id of the original text",
    "origin_label": "the gold label of the original text",
    "attribute": "what changed, several joined by +; empty for an original",
    "words_from": "the words that were replaced",
    "words_to": "the words in their place",
    "group_from": "the group that the original speaks of, empty where it is not told",
    "group_to": "the group that this version speaks of",
}
"""The columns, with what they hold."""
JOINED = " + "


@dataclass(frozen=True, slots=True)
class Row:
    """A row; ``labels`` are those that hold for its text, ``doubt`` says why others were left out."""

    id: str
    text: str
    labels: frozenset[str] | None
    origin: Document
    case: Case | None = None
    doubt: str = ""

    def cells(self) -> dict[str, str | list[str] | None]:
        """Return the row by column, labels as sorted lists."""
        substitutions = self.case.substitutions if self.case else ()
        return {
            "id": self.id,
            "text": self.text,
            "label": _listed(self.labels),
            "label_may_not_hold": self.doubt,
            "kind": "counterfactual" if self.case else "original",
            "origin": self.origin.id,
            "origin_label": _listed(self.origin.labels),
            "attribute": JOINED.join(s.attribute for s in substitutions),
            "words_from": JOINED.join(s.source for s in substitutions),
            "words_to": JOINED.join(s.target for s in substitutions),
            "group_from": JOINED.join(s.source_group for s in substitutions),
            "group_to": JOINED.join(s.target_group for s in substitutions),
        }


@dataclass
class Counts:
    """What became of the texts and their versions.

    ``by_group`` counts the versions at each place by attribute and group, originals among them: within an
    attribute, groups that were put in one another's place are in balance.
    """

    texts: int = 0
    without_version: int = 0
    unlabelled: int = 0
    repeated_texts: int = 0
    counterfactuals: int = 0
    repeated_versions: int = 0
    doubted: Counter[str] = field(default_factory=Counter)
    by_group: Counter[tuple[str, str]] = field(default_factory=Counter)


@dataclass
class Augmenter:
    """Makes rows of texts and their cases: ``each`` versions of every group at a place, where it has so many.

    ``known`` holds the digests of all original texts: a version with the text of another original is left
    out, since that has a label of its own.
    """

    doubts: Doubts
    known: frozenset[bytes]
    each: int = 1
    seed: int = 0
    counts: Counts = field(default_factory=Counts)
    _written: set[bytes] = field(default_factory=set)

    def rows(self, document: Document, cases: Sequence[Case]) -> Iterator[Row]:
        """Yield the row of a text, then those of its versions."""
        self.counts.texts += 1
        if not self._new(document.text):
            self.counts.repeated_texts += 1
            return
        self.counts.unlabelled += document.labels is None
        yield Row(document.id, document.text, document.labels, document)
        before = self.counts.counterfactuals
        for case in self._balanced(cases):
            if digest(case.text) in self.known or not self._new(case.text):
                self.counts.repeated_versions += 1
                continue
            self.counts.counterfactuals += 1
            yield self._version(document, case)
        self.counts.without_version += self.counts.counterfactuals == before

    def _version(self, document: Document, case: Case) -> Row:
        doubt = self.doubts.why(case.substitutions, document.labels or (), document.text)
        self.counts.doubted[doubt] += bool(doubt)
        return Row(case.id, case.text, None if doubt else document.labels, document, case, doubt)

    def _balanced(self, cases: Sequence[Case]) -> Iterator[Case]:
        """Yield, of each place, as many versions of every group, each case once."""
        chosen: dict[str, Case] = {}
        for _, group in groupby(cases, key=lambda case: case.group):
            by_id = {case.id: case for case in group}
            for place in places(by_id.values()):
                by_group: dict[str, dict[str, Case]] = {}
                for version in place.versions:
                    by_group.setdefault(version.group, {})[version.case] = by_id[version.case]
                number = min(self.each, *map(len, by_group.values()))
                for name, of_group in by_group.items():
                    ordered = sorted(of_group.values(), key=self._order)
                    chosen |= {case.id: case for case in ordered[:number]}
                    self.counts.by_group[place.attribute, name] += number
        yield from (case for case in chosen.values() if case.role != "original")

    def _order(self, case: Case) -> tuple[bool, bytes]:
        """Return what sorts the original first, and other cases at random."""
        return case.role != "original", sha256(f"{self.seed}/{case.id}".encode()).digest()

    def _new(self, text: str) -> bool:
        key = digest(text)
        known = key in self._written
        self._written.add(key)
        return not known


def digest(text: str) -> bytes:
    """Return what identifies a text: equal for texts that differ in white space and capitals alone."""
    return sha256(" ".join(text.lower().split()).encode("utf-8", "surrogatepass")).digest()[:16]


def _listed(labels: frozenset[str] | None) -> list[str] | None:
    return None if labels is None else sorted(labels)
