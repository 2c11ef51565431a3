"""S²LCT: linguistic capabilities of sentiment analysis, by searched seeds and their expansions.

"S²LCT: Specification- and Syntax-based Automated Testing Linguistic Capabilities of NLP Models", ASE 2022.
A group is one seed with its expansions; ``oracle`` says what its verdicts mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from harness.core import Case, Document, JsonObject, Outcome, Tables, Verdict
from harness.language.natural_text import natural
from harness.language.parse import Parser
from harness.plugins import Figures, Nouns, Suite
from harness.suites import diversity
from harness.suites import sentiment_oracle as oracle
from harness.suites.linguistic import counts, exhibits
from harness.suites.linguistic.capabilities import Capabilities
from harness.suites.linguistic.expansion import Expander, Expansion
from harness.suites.linguistic.seeds import Search, Seed
from harness.suites.linguistic.sentiment import SentimentLexicon

SEEDS_AT_ONCE = 8


@dataclass(frozen=True)
class Linguistic(Suite):
    """The suite: its fields are its configuration.

    ``labels`` maps each sentiment to the task's label (``oracle.labels``); without ``expander``, seeds are
    not expanded. ``seeds`` limits the seeds of a capability and ``expansions`` the valid expansions of a
    seed (None: all), both chosen by ``seed``.
    """

    name = "linguistic"
    nouns = Nouns(case="case", source="text", eligible="a seed")

    capabilities: Capabilities
    labels: Mapping[str, str]
    parser: Parser
    lexicon: SentimentLexicon
    expander: Expander | None = None
    seeds: int = 50
    expansions: int | None = None
    seed: int = 0

    @property
    def identity(self) -> JsonObject:
        return {
            "parser": self.parser.name,
            "capabilities": self.capabilities.digest,
            "sentiment": self.lexicon.digest,
            **(_parts(self.expander) if self.expander else {}),
        }

    @property
    def settings(self) -> JsonObject:
        """What the summary records about the cases."""
        expander = self.expander
        return {
            "capabilities": list(self.capabilities.by_name),
            "seeds": self.seeds,
            "expansions": self.expansions if expander else 0,
            "sentiment": self.lexicon.source,
            "trees": expander.constituency.name if expander else None,
            "suggester": expander.suggester.name if expander else None,
            "judge": expander.judge.name if expander and expander.judge else None,
            "masks": expander.masks if expander else 0,
            "words": expander.words if expander else 0,
        }

    def cases(self, documents: Iterator[Document]) -> Iterator[Case]:
        """Yield each seed, then its expansions, valid or discarded with a reason."""
        chosen = list(self.capabilities.by_name.values())
        sentiments = {label: sentiment for sentiment, label in self.labels.items()}
        search = Search(chosen, sentiments, self.parser, self.lexicon, self.seeds, self.seed)
        search.read(self._learnt(documents))
        seeds = [seed for capability in chosen for seed in search.seeds(capability)]
        for start in range(0, len(seeds), SEEDS_AT_ONCE):
            yield from self._expanded(seeds[start : start + SEEDS_AT_ONCE])

    def judge(self, group: Sequence[Case], outcomes: Mapping[str, Outcome]) -> Iterator[Verdict]:
        return oracle.judge(group, outcomes, self.labels)

    def figures(self, tables: Tables) -> Figures:
        """Return failure rates by capability, as in Table 2, and how diverse the cases are."""
        titles = {c.name: c.title for c in self.capabilities.by_name.values()}
        figures = exhibits.figures(counts.count(tables), titles, self.settings, "neutral" in self.labels)
        trees = self.expander.constituency if self.expander else None
        diversities = diversity.measure(diversity.texts(tables), self.parser, trees)
        return diversity.added(figures, self.name, diversities)

    def _learnt(self, documents: Iterator[Document]) -> Iterator[Document]:
        """Yield the documents as natural text, and let the suggester learn them."""
        for document in documents:
            document = replace(document, text=natural(document.text))
            if self.expander:
                self.expander.suggester.learn(document.text)
            yield document

    def _expanded(self, seeds: Sequence[Seed]) -> Iterator[Case]:
        expansions = self.expander.expand(seeds, str(self.seed)) if self.expander else [[] for _ in seeds]
        for seed, of_seed in zip(seeds, expansions, strict=True):
            yield self._case(seed)
            for expansion in self._chosen(of_seed):
                yield self._case(seed, expansion)

    def _chosen(self, expansions: Sequence[Expansion]) -> list[Expansion]:
        """Return the discarded expansions and up to ``self.expansions`` valid ones, in their order."""
        valid = [expansion.text for expansion in expansions if expansion.reason is None]
        chosen = set(sorted(valid, key=lambda text: _hash(str(self.seed), text))[: self.expansions])
        return [
            expansion for expansion in expansions if expansion.reason is not None or expansion.text in chosen
        ]

    def _case(self, seed: Seed, expansion: Expansion | None = None) -> Case:
        traits = {
            "capability": seed.capability,
            "transformation": seed.variant.transformation,
            "seed": seed.id,
            "documents": " ".join(seed.documents),
        }
        if expansion is not None:
            traits["inserted"] = f"{expansion.word}/{expansion.masked.symbol}"
            traits["production"] = expansion.masked.production
        digest = _hash(expansion.text)[:12] if expansion else 0
        return Case(
            id=f"{seed.id}#{digest}",
            group=seed.id,
            document=seed.documents[0],
            role="expansion" if expansion else "seed",
            text=expansion.text if expansion else seed.text,
            traits=traits,
            expected=oracle.expected(seed.variant.expected, self.labels),
            reason=expansion.reason if expansion else None,
        )


def _hash(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _parts(expander: Expander) -> JsonObject:
    return {
        "grammar": expander.grammar.digest,
        "trees": expander.constituency.name,
        "suggester": expander.suggester.name,
        "modifiers": expander.modifiers.digest,
        "judge": expander.judge.name if expander.judge else None,
        "masks": expander.masks,
        "words": expander.words,
    }
