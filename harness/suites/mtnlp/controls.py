"""Control mutants for MT-NLP: an everyday word in place of a person noun, as near to it as there is one.

The suite has no parser, so that parts of speech are not known: a word stands in for another wherever it is
written, and an insertion is one before a noun of the dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256

from harness.core import CONTROL, MIRRORS, Case, Document, Substitution
from harness.language.sentences import spans as spans_of_sentences
from harness.language.surface import apply
from harness.suites.ground import Ground
from harness.suites.neutral import Swap, neutral

_WORD = re.compile(r"\w+")


def controls(
    document: Document, mutants: Sequence[Case], share: float, seed: int, closed: Collection[str]
) -> Iterator[Case]:
    """Yield control mutants of ``document``, ``share`` times as many as ``mutants`` where words can be found.

    ``closed`` are terms whose words stay: those of the attribute, and the labels.
    """
    words = {part.lower() for term in closed for part in _WORD.findall(term)}
    terms = [span for case in mutants for s in case.substitutions for span in s.spans]
    ground = Ground(document.text, list(spans_of_sentences(document.text)), None, terms)
    swaps = neutral().without(words).swaps(ground)
    expected = share * len(mutants)
    wanted = int(expected) + (_uniform(seed, document.id) < expected - int(expected))
    written = {document.text, *(case.text for case in mutants)}
    for mirrored in sorted(mutants, key=lambda case: _uniform(seed, case.id)):
        if wanted <= 0:
            return
        for swap in sorted(_alike(swaps, mirrored), key=lambda swap: _distance(ground, swap, mirrored, seed)):
            text = apply(document.text, swap.edits)
            if text not in written:
                written.add(text)
                wanted -= 1
                yield _control(document, mirrored, swap, text)
                break


def _alike(swaps: Sequence[Swap], mirrored: Case) -> Iterator[Swap]:
    [change] = mirrored.substitutions
    return (swap for swap in swaps if swap.operation == change.operation and len(swap.spans) == 1)


def _distance(ground: Ground, swap: Swap, mirrored: Case, seed: int) -> tuple[int, float]:
    """Return how far a change is from that of a mutant, in sentences; ties by chance."""
    [change] = mirrored.substitutions
    return (
        abs(swap.sentence - ground.sentence(change.spans[0])),
        _uniform(seed, f"{mirrored.id}/{swap.source}/{swap.target}"),
    )


def _control(document: Document, mirrored: Case, swap: Swap, text: str) -> Case:
    digest = sha256(f"{swap.source}\x1f{swap.target}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return Case(
        id=f"{document.id}#c{digest}",
        group=document.id,
        document=document.id,
        role="control",
        text=text,
        substitutions=(Substitution(CONTROL, swap.source, swap.target, swap.spans, swap.operation),),
        traits={CONTROL: "word", MIRRORS: mirrored.id},
    )


def _uniform(seed: int, name: str) -> float:
    """Return a number from 0 to 1 that depends on ``seed`` and ``name`` alone."""
    digest = sha256(f"control/{seed}/{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
