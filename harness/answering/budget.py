"""The budget of a run: what it may send and spend.

Stops before a limit would be exceeded; requests in flight count at their worst-case cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.core import Reply, Request
from harness.estimates import prompt_bound


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in USD per million tokens."""

    input: float
    output: float
    cached_input: float | None = None

    def of(self, prompt: int, completion: int, cached: int = 0) -> float:
        """Return the cost in USD of a reply; ``cached`` prompt tokens were read from the provider's cache."""
        rate = self.input if self.cached_input is None else self.cached_input
        return ((prompt - cached) * self.input + cached * rate + completion * self.output) / 1e6


@dataclass
class Budget:
    """Limits on ``requests`` sent and ``cost`` (USD) spent in this run; None for no limit."""

    requests: int | None = None
    cost: float | None = None
    prices: Prices | None = None
    sent: int = 0
    spent: float = 0.0
    _reserved: dict[str, float] = field(default_factory=dict)

    def reserve(self, request: Request) -> str | None:
        """Reserve the worst-case cost of ``request``; return the reason if it does not fit, else None."""
        if self.requests is not None and self.sent >= self.requests:
            return f"the budget of {self.requests} requests is used up"
        worst = self._worst(request)
        if self.cost is not None and self.spent + sum(self._reserved.values()) + worst > self.cost:
            return f"the budget of {self.cost} USD is used up ({self.spent:.4f} spent)"
        self.sent += 1
        self._reserved[request.key] = worst
        return None

    def settle(self, request: Request, reply: Reply | None) -> None:
        """Replace the reservation by the actual cost.

        Without a reply, charge the worst case, since the request may be billed.
        """
        worst = self._reserved.pop(request.key, 0.0)
        if reply is None:
            self.spent += worst
        elif self.prices is not None:
            self.spent += self.prices.of(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)

    def _worst(self, request: Request) -> float:
        if self.prices is None:
            return 0.0
        return self.prices.of(prompt_bound(request.messages), request.token_limit)
