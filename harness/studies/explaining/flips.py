"""A flip explained: the shortest part that shows it, each word's contribution, the words that decide.

What is found is a mapping of JSON values, as ``explanations.json`` holds it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from harness.answering.runner import Answerer
from harness.audit.assembly import Audit
from harness.errors import BudgetSpent
from harness.studies.explaining.answers import Answer, Ask, answer, plain
from harness.studies.explaining.asking import Asking
from harness.studies.explaining.masking import Masking, masking
from harness.studies.explaining.occlusion import Contributions, occlusion
from harness.studies.explaining.rootcause import root_cause
from harness.studies.explaining.shapley import shapley
from harness.studies.explaining.shrinking import Shrunk, shrink
from harness.studies.explaining.surrogate import surrogate

METHODS: Mapping[str, Callable[[Ask, Masking, Answer], Awaitable[Contributions]]] = {
    "occlusion": occlusion,
    "lemna": surrogate,
    "shap": shapley,
}


@dataclass(frozen=True, slots=True)
class Settings:
    """``probability`` with which an answer must hold; ``mask`` stands for a masked word, "" leaves it out.

    ``whole``: explain the words of the whole texts even where a shorter part shows the flip, which takes far
    more requests.
    """

    method: str = "occlusion"
    probability: float = 0.9
    mask: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Flip:
    """A biased case and the one it is compared with; None where its own answer is what is wrong.

    ``expected``: the whole text has an expected answer, which a part of it need not have.
    """

    case: str
    text: str
    other: str | None = None
    other_text: str = ""
    expected: bool = False


class Explainer:
    """Explains flips of ``audit``, asking through ``runner``."""

    def __init__(self, audit: Audit, runner: Answerer, settings: Settings) -> None:
        self._audit = audit
        self._runner = runner
        self._settings = settings

    async def explain(self, flip: Flip) -> dict[str, Any]:
        """The explanation; ``status`` is ``partial`` where the budget ended it, ``gone`` where the answers,
        asked again, do not show the flip. Raises ``EndpointError``."""
        asking = Asking(self._audit, self._runner)
        explanation: dict[str, Any] = {
            "case": flip.case,
            "other": flip.other,
            "status": "complete",
            "reason": None,
            "shrunk": None,
            "words_of": "whole",
            "texts": [],
        }
        with suppress(BudgetSpent):
            await self._into(explanation, flip, asking)
        if asking.ended is not None:
            explanation |= {"status": "partial", "reason": asking.ended}
        return {**explanation, "requests": len(asking.texts)}

    async def _into(self, explanation: dict[str, Any], flip: Flip, ask: Ask) -> None:
        """Add to ``explanation`` what is found, as it is found."""
        texts = [(flip.case, flip.text)]
        if flip.other is not None:
            texts.insert(0, (flip.other, flip.other_text))
        outcomes = [reading.outcome for reading in await ask([text for _, text in texts])]
        if flip.expected and not outcomes[0].differs(outcomes[-1]):
            texts = texts[-1:]  # what it was made from has the same wrong answer
        if not outcomes[-1].read or (len(texts) == 2 and not outcomes[0].differs(outcomes[1])):
            explanation |= {"status": "gone", "reason": "asked again, the answers do not show it"}
            return
        if len(texts) == 2:
            shrunk = await shrink(ask, flip.other_text, flip.text)
            explanation["shrunk"] = _plain(shrunk, texts)
            if shrunk is not None and not (self._settings.whole or flip.expected):
                explanation["words_of"] = "part"
                texts = [(texts[0][0], shrunk.original), (texts[1][0], shrunk.mutant)]
        for place, (name, text) in enumerate(texts):
            counterpart = texts[1 - place][1] if len(texts) == 2 else None
            await self._words(
                explanation["texts"], name, masking(text, self._settings.mask), counterpart, ask
            )

    async def _words(
        self, into: list[Any], name: str, text: Masking, counterpart: str | None, ask: Ask
    ) -> None:
        """Add what is found of one text as it is found; the words kept may be missing from it.

        A score is told apart from that of the ``counterpart``; of a text without one, from that of the text
        with every word masked.
        """
        compared = text.only(()) if counterpart is None else counterpart
        reading, other = await ask([text.text, compared])
        explained = answer(reading.outcome, other.outcome)
        if explained is None:
            return
        by = await METHODS[self._settings.method](ask, text, explained)
        changed = text.changed(text.text if counterpart is None else counterpart)
        words = [
            {
                "word": text.words(unit),
                "contribution": round(explained.direction * value, 6),
                "changed": unit in changed,
            }
            for unit, value in enumerate(by.values)
        ]
        shown: dict[str, Any] = {
            "case": name,
            "answer": plain(reading.outcome),
            "compared": plain(other.outcome),
            "probability": explained.probability(reading),
            "measure": by.measure,
            "words": words,
            "kept": None,
        }
        into.append(shown)
        cause = await root_cause(ask, text, by.order(changed), explained, self._settings.probability)
        if cause is not None:
            shown["kept"] = {
                "units": list(cause.kept),
                "probability": cause.probability,
                "score": cause.score,
                "minimal": cause.minimal,
            }


def _plain(shrunk: Shrunk | None, texts: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """As JSON values, with the share of the whole texts' words that is left."""
    if shrunk is None:
        return None
    left = sum(len(part.split()) for part in (shrunk.original, shrunk.mutant))
    whole = sum(len(text.split()) for _, text in texts)
    sizes = {"sentences": list(shrunk.sentences), "clauses": list(shrunk.clauses)}
    return {**asdict(shrunk), **sizes, "answers": list(shrunk.answers), "share": round(left / whole, 6)}
