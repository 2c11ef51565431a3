"""How well and how fast coreference is resolved, on documents of OntoGUM with gold clusters.

    python benchmarks/coreference.py [--resolver rules] [--errors 0]

Measured are the pronouns he, him, his, himself, she, her, hers, herself whose gold cluster holds a name or
a noun phrase. A resolver answers where it puts the pronoun together with a name or noun phrase; the
nearest one before it (else after it) is right where its head lies inside such a mention of the gold
cluster. Precision is over the answered pronouns, recall over all. Links are counted too: every pair of
a system mention and the nearest earlier one of its entity, both inside mentions of the gold standard.
Needs the shared data (environment variable HINTER_SHARED, default ../shared).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.language import coreference
from harness.language.entities import Resolution
from harness.language.persons import Mention

ROOT = Path(__file__).parents[1]
FOLDER = (ROOT / os.environ.get("HINTER_SHARED", "../shared") / "data" / "ontogum").resolve()
PRONOUNS = frozenset("he him his himself she her hers herself".split())  # noqa: SIM905
OTHER_PRONOUNS = frozenset(
    "i me my mine you your yours it its we us our ours they them their theirs who whose".split()  # noqa: SIM905
)
_BRACKET = re.compile(r"\((\d+)[^()]*(\))?|(\d+)\)")


@dataclass
class Gold:
    """A document; mentions as (cluster, first character, end)."""

    name: str
    text: str = ""
    mentions: list[tuple[str, int, int]] = field(default_factory=list)

    def nominals(self, cluster: str) -> list[tuple[int, int]]:
        pronouns = PRONOUNS | OTHER_PRONOUNS
        return [
            (low, high)
            for c, low, high in self.mentions
            if c == cluster and self.text[low:high].lower() not in pronouns
        ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--resolver", default="rules", choices=coreference.RESOLVERS)
    options.add_argument("--errors", type=int, default=0, help="print so many wrong or missing answers")
    given = options.parse_args()
    if not FOLDER.is_dir():
        sys.exit(f"no OntoGUM documents at {FOLDER}: set HINTER_SHARED")
    resolver = coreference.load(given.resolver)
    documents = [read(path) for path in sorted(FOLDER.glob("*.conllu"))]
    next(resolver.resolve(["Warm up."]))
    began = time.perf_counter()
    resolved = list(resolver.resolve([document.text for document in documents]))
    seconds = time.perf_counter() - began
    tokens = sum(len(r.reading.tokens) for r in resolved)
    sentences = sum(r.reading.tokens[-1].sentence + 1 for r in resolved)
    pronouns(documents, resolved, given.errors)
    links(documents, resolved)
    print(f"{resolver.name}: {sentences / seconds:.0f} sentences/s, {tokens / seconds:.0f} tokens/s")


def read(path: Path) -> Gold:
    """A CoNLL-U file with ``Entity`` brackets in its last column."""
    gold = Gold(path.stem)
    opened: dict[str, list[int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# newpar") and gold.text:
            gold.text = gold.text.rstrip() + "\n\n"
        columns = line.split("\t")
        if len(columns) != 10 or not columns[0].isdigit():
            continue
        start, end = len(gold.text), len(gold.text) + len(columns[1])
        entity = next((f[7:] for f in columns[9].split("|") if f.startswith("Entity=")), "")
        for begins, closes, ends in _BRACKET.findall(entity):
            if begins:
                opened.setdefault(begins, []).append(start)
            if ends or closes:
                cluster = ends or begins
                gold.mentions.append((cluster, opened[cluster].pop(), end))
        gold.text += columns[1] + ("" if "SpaceAfter=No" in columns[9] else " ")
    return gold


def pronouns(documents: list[Gold], resolved: list[Resolution], errors: int) -> None:
    asked = answered = right = 0
    for gold, resolution in zip(documents, resolved, strict=True):
        answers = dict(antecedents(resolution))
        for cluster, start, end in gold.mentions:
            nominals = gold.nominals(cluster)
            if gold.text[start:end].lower() not in PRONOUNS or not nominals:
                continue
            asked += 1
            answer = answers.get(start)
            answered += answer is not None
            hit = answer is not None and any(low <= answer < high for low, high in nominals)
            right += hit
            if not hit and errors:
                errors -= 1
                found = None if answer is None else gold.text[answer : answer + 20]
                print(f"  {gold.text[max(0, start - 150) : end]!r} -> {found!r}")
    p, r = right / answered, right / asked
    print(
        f"pronouns: P {p:.3f} ({right}/{answered})  R {r:.3f} ({right}/{asked})  F {2 * p * r / (p + r):.3f}"
    )


def antecedents(resolution: Resolution) -> Iterator[tuple[int, int]]:
    """For each pronoun its offset and the offset of the head of its nearest name or noun phrase."""
    tokens = resolution.reading.tokens
    for entity in resolution.entities:
        others = [m for m in entity.mentions if m.kind != "pronoun"]
        for mention in entity.mentions:
            if mention.kind == "pronoun" and others:
                before = [m for m in others if m.start < mention.start]
                yield mention.start, tokens[(before[-1] if before else others[0]).head].start


def links(documents: list[Gold], resolved: list[Resolution]) -> None:
    """Pairs of neighbours in a chain, pronouns, names and noun phrases for persons alike."""
    right = given = 0
    for gold, resolution in zip(documents, resolved, strict=True):
        for entity in resolution.entities:
            for earlier, later in zip(entity.mentions, entity.mentions[1:], strict=False):
                one, two = (cluster_of(gold, resolution, m) for m in (earlier, later))
                if one and two:
                    given += 1
                    right += one == two
    print(f"links between gold mentions: P {right / given:.3f} ({right}/{given})")


def cluster_of(gold: Gold, resolution: Resolution, mention: Mention) -> str | None:
    """The cluster of the smallest gold mention that holds the head of ``mention``."""
    at = resolution.reading.tokens[mention.head].start
    holding = [(high - low, c) for c, low, high in gold.mentions if low <= at < high]
    return min(holding)[1] if holding else None


if __name__ == "__main__":
    main()
