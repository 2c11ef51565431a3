"""An ``Ask`` over the runner of an audit: through the cache, each request once, within the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.answering.margin import log_odds
from harness.answering.parse import LabelReader
from harness.answering.runner import Answer, Answerer
from harness.audit.assembly import Audit
from harness.core import Case, Outcome, Reply
from harness.errors import BudgetSpent
from harness.studies.explaining.answers import Said


class Asking:
    """Asks for one explanation.

    ``asked`` are the texts it asked about, answered from the cache or not; ``ended`` says which budget ended
    it, whether or not what was found by then is of use.
    """

    def __init__(self, audit: Audit, runner: Answerer) -> None:
        self.asked: set[str] = set()
        self.ended: str | None = None
        self._audit = audit
        self._runner = runner
        task = audit.task
        self._read: Callable[[Reply], Outcome] = task.parse or LabelReader(task.labels, task.multi_label)

    async def __call__(self, texts: Sequence[str]) -> list[Said]:
        requests = [self._audit.planner.request(Case("", "", "", "variant", text)) for text in texts]
        self.asked.update(texts)
        try:
            answers = await self._runner.replies(requests)
        except BudgetSpent as error:
            self.ended = str(error)
            raise
        return [self._said(answers[request.key]) for request in requests]

    def _said(self, answer: Answer) -> Said:
        if not isinstance(answer, Reply):
            return Said(None)
        several = self._audit.task.multi_label
        odds = None if several else log_odds(answer, self._audit.task.labels)
        return Said(self._read(answer).labels, odds or {}, answer.score)
