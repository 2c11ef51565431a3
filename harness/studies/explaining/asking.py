"""An ``Ask`` over the runner of an audit: through the cache, each request once, within the budget."""

from __future__ import annotations

from collections.abc import Sequence

from harness.answering.reading import Reading
from harness.answering.runner import Answerer
from harness.audit.assembly import Audit
from harness.core import Case
from harness.errors import BudgetSpent


class Asking:
    """Asks for one explanation, and reads the replies as the run does.

    ``texts`` collects the texts asked about, whether answered from the cache or not. ``ended`` names the
    budget that ran out; None while none has.
    """

    def __init__(self, audit: Audit, runner: Answerer) -> None:
        self.texts: set[str] = set()
        self.ended: str | None = None
        self._planner = audit.planner
        self._reader = audit.reader
        self._runner = runner

    async def __call__(self, texts: Sequence[str]) -> list[Reading]:
        """Return the reading of each text, in order. Raises ``BudgetSpent``."""
        requests = [self._planner.request(Case("", "", "", "variant", text)) for text in texts]
        self.texts.update(texts)
        try:
            answers = await self._runner.replies(requests)
        except BudgetSpent as error:
            self.ended = str(error)
            raise
        return [self._reader.read(answers[request.key]) for request in requests]
