"""EEC: sentences that differ in a person alone, scored, and compared pair by pair.

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
from harness.plugins import Figures, Suite
from harness.suites.eec import assessments, exhibits
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

    ``labels`` are the task's, () where it gives scores, and ``rates`` is then what for. ``instances``: so
    many of the corpus's templates with an emotion word in, drawn by ``seed``, one of each template before a
    second of any; None for all. ``lengths``: the tokens of each person's word, where they are known.
    """

    name = "eec"
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
        """What the summary says of the sentences."""
        return {
            "attributes": list(self.spec.compare),
            "corpus": self.spec.name,
            "instances": len(self._groups),
            "rates": self.rates,
        }

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Every sentence, those of a template with an emotion word next to each other."""
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
        """A verdict on every two persons of the classes compared who are alike in all else.

        Between scores, ``shift`` is that of the first class less that of the second; as single differences
        prove nothing, none is called biased.
        """
        for comparison, pair in self._paired[group[0].group] if group else ():
            for first, second in counterparts(pair):
                one, other = outcomes.get(first.id), outcomes.get(second.id)
                yield Verdict(
                    case=first.id,
                    relation=LABELS if self.labels else SCORES,
                    status=compare(one, other) if self.labels else _both_read(one, other),
                    attributes=(comparison.attribute,),
                    margin=smaller(one, other),
                    shift=_difference(one, other),
                    other=second.id,
                )

    @property
    def words(self) -> tuple[str, ...]:
        """The persons, whose length in tokens is worth knowing."""
        return tuple(dict.fromkeys(word for group in self.spec.persons for word in group.words))

    def weighed(self, lengths: Mapping[str, int]) -> Eec:
        """The suite that knows how many tokens its ``words`` are."""
        return replace(self, lengths=lengths)

    def figures(self, tables: Tables) -> Figures:
        """The paper's analysis and what stands beside it, from the answers by sentence."""
        found = self._figures(tables)
        lengths = self.lengths
        if lengths is None:
            return found
        return exhibits.with_lengths(found, balance(self.spec, lambda word: float(lengths[word])))

    def _figures(self, tables: Tables) -> Figures:
        import polars as pl

        read = tables.scan("answers").filter(pl.col("outcome") == "read")
        answers = read.select("case", "score", "labels").collect()
        if self.labels:
            given = {case: frozenset(labels or ()) for case, _, labels in answers.iter_rows()}
            return exhibits.of_labels(self.spec.name, self.pairings, given, self.labels, self.seed)
        scores = {case: score for case, score, _ in answers.iter_rows() if score is not None}
        return exhibits.of_scores(
            self.spec.name,
            self.rates or "the score",
            assessments.examine(self.pairings, scores, self.asked, seed=self.seed),
            {c: most_influential(pairs, scores) for c, pairs in self.pairings.items()},
            levels(chain.from_iterable(self._groups.values()), scores),
        )

    @property
    def asked(self) -> str | None:
        """What is rated, where it is one of the corpus's emotions."""
        emotions = {emotion for lists in self.spec.emotions.values() for emotion in lists}
        return self.rates if self.rates in emotions else None

    @cached_property
    def pairings(self) -> Pairings:
        """The pairs of every comparison among the sentences asked about."""
        return {
            comparison: tuple(pair for pair in made if _group(pair.template, pair.word) in self._groups)
            for comparison, made in assessments.pairings(self.spec).items()
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
        for comparison, made in self.pairings.items():
            for pair in made:
                paired[_group(pair.template, pair.word)].append((comparison, pair))
        return paired


def counterparts(pair: Pair) -> Iterator[tuple[Member, Member]]:
    """Every member of the first side with each of the second whose person is alike in all else."""
    for first in pair.first:
        for second in pair.second:
            if first.stratum == second.stratum:
                yield first, second


def _group(template: str, word: str | None) -> str:
    return f"{template}/{word}" if word else template


def _both_read(one: Outcome | None, other: Outcome | None) -> Status:
    return "benign" if one and other and one.read and other.read else "undetermined"


def _difference(one: Outcome | None, other: Outcome | None) -> float | None:
    if one is None or other is None or one.score is None or other.score is None:
        return None
    return one.score - other.score
