"""CheckList: behavioural tests, the bundled ones or those of a file.

Ribeiro, Wu, Guestrin and Singh, "Beyond Accuracy: Behavioral Testing of NLP Models with CheckList", ACL 2020,
the baseline of S²LCT. A group is one case of a test: an MFT's texts, or an original with its changed texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.core import Case, Document, JsonObject, Outcome, Status, Tables, Verdict
from harness.language.parse import Parser
from harness.plugins import Figures, Nouns, Suite
from harness.suites import diversity
from harness.suites import sentiment_oracle as oracle
from harness.suites.checklist import counts, exhibits, expectations
from harness.suites.checklist.items import Item
from harness.suites.checklist.tests import Tests
from harness.suites.oracle import smaller

RELATIONS = {"MFT": "expected", "INV": "star", "DIR": "direction"}


@dataclass(frozen=True)
class CheckList(Suite):
    """The suite: its fields are its configuration.

    ``labels`` maps each sentiment to the task's label; with a ``parser``, the summary says how diverse the
    texts are; ``limit`` is the most cases taken of a test.
    """

    name = "checklist"
    nouns = Nouns(case="judged text", source="test")
    makes_texts = True

    tests: Tests
    labels: Mapping[str, str]
    parser: Parser | None = None
    limit: int | None = None

    @property
    def identity(self) -> JsonObject:
        return {"tests": self.tests.digest, "parser": self.parser.name if self.parser else "none"}

    @property
    def settings(self) -> JsonObject:
        """What the summary records about the cases."""
        return {"tests_file": self.tests.source, "cases_per_test": self.limit}

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield the cases of the tests; the document of each is its test."""
        for item in self.tests.items:
            for number, text in enumerate(item.texts):
                yield Case(
                    id=f"{item.id}#{number}",
                    group=item.id,
                    document=item.test,
                    role="variant" if number or item.kind == "MFT" else "original",
                    text=text,
                    traits=_traits(item),
                    expected=oracle.expected(item.expected, self.labels) if item.expected else None,
                )

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        """Yield a verdict for each text of an MFT and each changed text of other tests, where they apply."""
        original = next((case for case in group if case.role == "original"), None)
        before = outcomes.get(original.id) if original else None
        for case in group:
            if case is original:
                continue
            after = outcomes.get(case.id)
            status = self._status(case, before, after)
            if status is not None:
                yield Verdict(
                    case=case.id,
                    relation=RELATIONS[case.traits["type"]],
                    status=status,
                    attributes=(case.traits["capability"],),
                    margin=smaller(*([before, after] if original else [after])),
                )

    def figures(self, tables: Tables) -> Figures:
        """Return failure rates by test and capability and, with a parser, how diverse the texts are."""
        figures = exhibits.figures(counts.count(tables))
        if self.parser is None:
            return figures
        diversities = diversity.measure(diversity.texts(tables, self.name), self.parser)
        return diversity.added(figures, self.name, diversities)

    def _status(self, case: Case, before: Outcome | None, after: Outcome | None) -> Status | None:
        kind = case.traits["type"]
        if kind == "MFT":
            return oracle.status(case, after, oracle.NEUTRAL in self.labels)
        if kind == "INV":
            return expectations.same(before, after, self.labels)
        direction, tolerance = case.traits["expect"], float(case.traits["tolerance"])
        return expectations.directed(direction, tolerance, before, after, self.labels)


def _traits(item: Item) -> dict[str, str]:
    traits = {"test": item.test, "type": item.kind, "capability": item.capability}
    if item.direction is not None:
        traits |= {"expect": item.direction, "tolerance": str(item.tolerance)}
    return traits
