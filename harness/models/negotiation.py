"""Finds out how an endpoint takes a request: by what its errors name, else by halving the suspects."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from harness.core import Failure, Reply, Request
from harness.dialect import Dialect
from harness.models import wire
from harness.models.parameters import LIMITS, OPTIONAL, SYSTEM, without
from harness.models.refusals import Refused, Rejected

REJECTIONS = 24

Answer = Reply | Failure
Send = Callable[[Request, Dialect], Awaitable[Answer]]


@dataclass
class Negotiation:
    """One request and the dialect in which an endpoint takes it; ``send`` makes one attempt."""

    request: Request
    dialect: Dialect
    send: Send

    async def answer(self) -> Answer:
        """Return the answer, after as many attempts as it takes to learn the dialect.

        Raises ``Refused`` where the endpoint takes the request in no form.
        """
        searched, said = False, ""
        for _ in range(REJECTIONS):
            try:
                return await self.send(self.request, self.dialect)
            except Rejected as error:
                self.dialect, said = error.dialect, str(error)
            except Refused as refused:
                if searched:
                    raise
                self.dialect, searched = await self._search(refused), True
        raise Refused(f"every form of the request is rejected: {said}")

    async def _search(self, refused: Refused) -> Dialect:
        """Return a dialect without the parameters that are not accepted, though no error names them.

        Raises ``refused`` where the request is not accepted without any of them, either.
        """
        sent = wire.body("", self.request, self.dialect)
        suspects = [name for name in OPTIONAL if name in sent]
        if self.dialect.system and any(message.role == SYSTEM for message in self.request.messages):
            suspects.append(SYSTEM)
        for limit in ([], [name for name in LIMITS if name in sent]):
            if await self._accepts([*suspects, *limit]):
                self.dialect = without(self.dialect, limit) or self.dialect
                return without(self.dialect, await self._culprits([], suspects)) or self.dialect
        raise refused

    async def _culprits(self, kept: Sequence[str], suspects: Sequence[str]) -> list[str]:
        """Return those of ``suspects`` without which a request with the others and ``kept`` is taken."""
        everything = [name for name in (*OPTIONAL, SYSTEM) if name not in {*kept, *suspects}]
        if not suspects or await self._accepts(everything):
            return []
        if len(suspects) == 1:
            return list(suspects)
        half = len(suspects) // 2
        first = await self._culprits(kept, suspects[:half])
        left = [name for name in suspects[:half] if name not in first]
        return first + await self._culprits([*kept, *left], suspects[half:])

    async def _accepts(self, left_out: Sequence[str]) -> bool:
        try:
            await self.send(self.request, without(self.dialect, left_out) or self.dialect)
        except (Refused, Rejected):
            return False
        return True
