"""A flip explained: the shortest part that shows it, each word's contribution, the words that decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from harness.answering.runner import Answerer
from harness.audit.assembly import Audit
from harness.errors import BudgetSpent
from harness.report import explained
from harness.report.explained import Settings, Shrunk, Text, Word
from harness.studies.explaining.answers import Answer, Ask, answer, plain
from harness.studies.explaining.asking import Asking
from harness.studies.explaining.masking import Masking, masking
from harness.studies.explaining.occlusion import Contributions, occlusion
from harness.studies.explaining.rootcause import root_cause
from harness.studies.explaining.shapley import shapley
from harness.studies.explaining.shrinking import shrink
from harness.studies.explaining.surrogate import surrogate

METHODS: Mapping[str, Callable[[Ask, Masking, Answer], Awaitable[Contributions]]] = {
    "occlusion": occlusion,
    "lemna": surrogate,
    "shap": shapley,
}
GONE = "asked again, the answers do not show it"

Named: TypeAlias = tuple[str, str]
"""The id of a case and a text of it: the whole text, or a part."""


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

    @property
    def texts(self) -> list[Named]:
        """The texts compared, the biased case last."""
        biased = (self.case, self.text)
        return [biased] if self.other is None else [(self.other, self.other_text), biased]


@dataclass(slots=True)
class Draft:
    """An explanation as far as it has come, so that a budget that runs out leaves what is there by then."""

    shrunk: Shrunk | None = None
    words_of: Literal["whole", "part"] = "whole"
    texts: list[Text] = field(default_factory=list)
    gone: bool = False

    def finish(self, flip: Flip, asking: Asking) -> explained.Flip:
        """Return the explanation of ``flip``, ``partial`` where the budget ended ``asking``."""
        status, reason = self._end(asking.ended)
        return explained.Flip(
            case=flip.case,
            other=flip.other,
            status=status,
            reason=reason,
            shrunk=self.shrunk,
            words_of=self.words_of,
            texts=tuple(self.texts),
            requests=len(asking.texts),
        )

    def _end(self, ended: str | None) -> tuple[Literal["complete", "partial", "gone"], str | None]:
        if ended is not None:
            return "partial", ended
        return ("gone", GONE) if self.gone else ("complete", None)


class Explainer:
    """Explains flips of ``audit``, asking through ``runner``."""

    def __init__(self, audit: Audit, runner: Answerer, settings: Settings) -> None:
        self._audit = audit
        self._runner = runner
        self._settings = settings

    async def explain(self, flip: Flip) -> explained.Flip:
        """Return the explanation of ``flip``.

        Its ``status`` is ``partial`` where the budget ran out, ``gone`` where the answers, asked for again,
        do not show the flip. Raises ``EndpointError``.
        """
        asking, draft = Asking(self._audit, self._runner), Draft()
        with suppress(BudgetSpent):
            await self._fill(draft, flip, asking)
        return draft.finish(flip, asking)

    async def _fill(self, draft: Draft, flip: Flip, ask: Ask) -> None:
        """Fill ``draft`` step by step. Raises ``BudgetSpent``."""
        texts = flip.texts
        outcomes = [reading.outcome for reading in await ask([text for _, text in texts])]
        if flip.expected and not outcomes[0].differs(outcomes[-1]):
            texts = texts[-1:]  # what it was made from has the same wrong answer
        if not outcomes[-1].read or (len(texts) == 2 and not outcomes[0].differs(outcomes[1])):
            draft.gone = True
            return
        if len(texts) == 2:
            draft.shrunk = await shrink(ask, flip.other_text, flip.text)
            if draft.shrunk is not None and not (self._settings.whole or flip.expected):
                draft.words_of = "part"
                texts = [(texts[0][0], draft.shrunk.original), (texts[1][0], draft.shrunk.mutant)]
        for place, (name, text) in enumerate(texts):
            counterpart = texts[1 - place][1] if len(texts) == 2 else None
            await self._words(draft.texts, name, masking(text, self._settings.mask), counterpart, ask)

    async def _words(
        self, texts: list[Text], name: str, text: Masking, counterpart: str | None, ask: Ask
    ) -> None:
        """Append the explanation of ``text`` to ``texts`` as soon as its words are ranked.

        The words that are enough are added when they are known; a budget that runs out leaves them out. A
        score is told apart from that of the ``counterpart``; of a text without one, from that of the text
        with every word masked.
        """
        compared = text.only(()) if counterpart is None else counterpart
        reading, other = await ask([text.text, compared])
        to_explain = answer(reading.outcome, other.outcome)
        if to_explain is None:
            return
        contributions = await METHODS[self._settings.method](ask, text, to_explain)
        changed = text.changed(text.text if counterpart is None else counterpart)
        ranked = Text(
            case=name,
            answer=plain(reading.outcome),
            compared=plain(other.outcome) if other.outcome.read else None,
            probability=to_explain.probability(reading),
            measure=contributions.measure,
            words=tuple(
                Word(
                    word=text.words(unit),
                    contribution=round(to_explain.direction * value, 6),
                    changed=unit in changed,
                )
                for unit, value in enumerate(contributions.values)
            ),
            kept=None,
        )
        texts.append(ranked)
        order = contributions.order(changed)
        cause = await root_cause(ask, text, order, to_explain, self._settings.probability)
        texts[-1] = ranked.model_copy(update={"kept": cause})
