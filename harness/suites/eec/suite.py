"""EEC: sentences that differ only in a person, scored and compared pair by pair.

Kiritchenko and Mohammad, "Examining Gender and Race Bias in Two Hundred Sentiment Analysis Systems", 2018.
A group is one template with one emotion word, with all its persons.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain, zip_longest

from harness.core import Case, Document, JsonObject, Outcome, Status, Tables, Verdict
from harness.plugins import Figures, Nouns, Suite
from harness.suites.eec import assessments, control_exhibits, controls, exhibits
from harness.suites.eec.assessments import Pairings
from harness.suites.eec.balance import balance
from harness.suites.eec.corpus import Comparison, Sentence, Spec, sentences
from harness.suites.eec.influence import levels, most_influential
from harness.suites.eec.pairing import Member, Pair
from harness.suites.oracle import compare, smaller

LABELS, SCORES = "pairs", "paired scores"


@dataclass(frozen=True)
class Eec(Suite):
    """The suite: its fields are its configuration.

    ``labels`` are the task's, () if it gives scores; ``rates`` then names what is scored. ``instances``
    limits the combinations of a template and an emotion word, drawn by ``seed``, one of each template before
    a second of any; None for all. ``lengths`` maps each person's word to its number of tokens, None if
    unknown.
    """

    name = "eec"
    nouns = Nouns(case="sentence", source="combination")
    makes_texts = True

    spec: Spec
    labels: tuple[str, ...] = ()
    rates: str | None = None
    instances: int | None = None
    seed: int = 0
    lengths: Mapping[str, int] | None = None

    @property
    def identity(self) -> JsonObject:
        return {"corpus": sha256(self.spec.model_dump_json().encode()).hexdigest()}

    @property
    def settings(self) -> JsonObject:
        """What the summary records about the sentences."""
        return {
            "attributes": list(self.spec.compare),
            "corpus": self.spec.name,
            "instances": len(self._groups),
            "rates": self.rates,
        }

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield every sentence, group after group: a template with one emotion word."""
        for group, members in self._groups.items():
            for sentence in members:
                yield Case(
                    id=sentence.id,
                    group=group,
                    document=group,
                    role="variant",
                    text=sentence.text,
                    traits=sentence.traits,
                )

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        """Yield a verdict on every two persons of the compared classes who are alike in all else.

        For scores, ``shift`` is that of the first class minus that of the second. No difference of scores is
        called biased, because a single one proves nothing.
        """
        for comparison, pair in self._paired[group[0].group] if group else ():
            for first, second in counterparts(pair):
                left, right = outcomes.get(first.id), outcomes.get(second.id)
                yield Verdict(
                    case=first.id,
                    relation=LABELS if self.labels else SCORES,
                    status=compare(left, right) if self.labels else _both_read(left, right),
                    attributes=(comparison.attribute,),
                    margin=smaller(left, right),
                    shift=_difference(left, right),
                    other=second.id,
                )

    @property
    def words(self) -> tuple[str, ...]:
        """The words for persons, to be counted in tokens."""
        return tuple(dict.fromkeys(word for group in self.spec.persons for word in group.words))

    def weighed(self, lengths: Mapping[str, int]) -> Eec:
        """Return the suite with the number of tokens of each of its ``words``."""
        return replace(self, lengths=lengths)

    def figures(self, tables: Tables) -> Figures:
        """Return the paper's analysis and the checks that complement it, from the answers by sentence."""
        figures = self._figures(tables)
        lengths = self.lengths
        if lengths is None:
            return figures
        return exhibits.with_lengths(figures, balance(self.spec, lambda word: float(lengths[word])))

    def _figures(self, tables: Tables) -> Figures:
        import polars as pl

        read = tables.scan("answers").filter(pl.col("outcome") == "read")
        answers = read.select("case", "score", "labels").collect()
        if self.labels:
            by_case = {case: frozenset(labels or ()) for case, _, labels in answers.iter_rows()}
            figures = exhibits.of_labels(self.spec.name, self.pairings, by_case, self.labels, self.seed)
            found = controls.controls(self.pairings, controls.of_labels(by_case))
            return control_exhibits.with_controls(figures, found, labels=True)
        scores = {case: score for case, score, _ in answers.iter_rows() if score is not None}
        figures = exhibits.of_scores(
            self.spec.name,
            self.rates or "the score",
            assessments.examine(self.pairings, scores, self.rated_emotion, seed=self.seed),
            {c: most_influential(pairs, scores) for c, pairs in self.pairings.items()},
            levels(chain.from_iterable(self._groups.values()), scores),
        )
        found = controls.controls(self.pairings, controls.of_scores(scores))
        return control_exhibits.with_controls(figures, found, labels=False)

    @property
    def rated_emotion(self) -> str | None:
        """What the task rates, if it is one of the corpus's emotions."""
        emotions = {emotion for lists in self.spec.emotions.values() for emotion in lists}
        return self.rates if self.rates in emotions else None

    @cached_property
    def pairings(self) -> Pairings:
        """The pairs of every comparison among the chosen sentences."""
        return {
            comparison: tuple(pair for pair in pairs if _group(pair.template, pair.word) in self._groups)
            for comparison, pairs in assessments.pairings(self.spec).items()
        }

    @cached_property
    def _groups(self) -> dict[str, list[Sentence]]:
        groups: dict[str, list[Sentence]] = {}
        for sentence in sentences(self.spec):
            traits = sentence.traits
            groups.setdefault(_group(traits["template"], traits.get("emotion_word")), []).append(sentence)
        if self.instances is None or self.instances >= len(groups):
            return groups
        by_template: dict[str, list[str]] = {}
        for name, members in groups.items():
            by_template.setdefault(members[0].traits["template"], []).append(name)
        draw = random.Random(f"eec/{self.seed}")
        lists = [draw.sample(names, len(names)) for names in by_template.values()]
        rounds = zip_longest(*draw.sample(lists, len(lists)))
        chosen = [name for name in chain.from_iterable(rounds) if name is not None][: self.instances]
        return {name: groups[name] for name in groups if name in chosen}

    @cached_property
    def _paired(self) -> dict[str, list[tuple[Comparison, Pair]]]:
        paired: dict[str, list[tuple[Comparison, Pair]]] = {name: [] for name in self._groups}
        for comparison, pairs in self.pairings.items():
            for pair in pairs:
                paired[_group(pair.template, pair.word)].append((comparison, pair))
        return paired


def counterparts(pair: Pair) -> Iterator[tuple[Member, Member]]:
    """Yield each member of the first side with each of the second whose person is alike in all else."""
    for first in pair.first:
        for second in pair.second:
            if first.stratum == second.stratum:
                yield first, second


def _group(template: str, word: str | None) -> str:
    return f"{template}/{word}" if word else template


def _both_read(first: Outcome | None, second: Outcome | None) -> Status:
    return "benign" if first and second and first.read and second.read else "undetermined"


def _difference(first: Outcome | None, second: Outcome | None) -> float | None:
    if first is None or second is None or first.score is None or second.score is None:
        return None
    return first.score - second.score
