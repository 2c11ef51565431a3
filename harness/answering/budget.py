"""The budget of a run: what it may send and spend.

Stops before a limit would be exceeded; requests in flight count at their worst-case cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from harness.core import Reply, Request
from harness.estimates import bytes_bound, prompt_bound


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

    def paid(self, reply: Reply) -> float:
        """Return the cost in USD of a reply that tells its tokens."""
        return self.of(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens)


def total(costs: Iterable[float | None]) -> float | None:
    """Return the sum of the costs that are known; None if none is."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


@dataclass
class Account:
    """What was ``sent`` and ``spent`` (USD), and the worst case of each request that is under way."""

    sent: int = 0
    spent: float = 0.0
    reserved: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Budget:
    """Limits on ``requests`` posted and ``cost`` (USD) spent in this run; None for no limit.

    The ``account`` counts every request posted: further attempts and the probes of an endpoint, too.
    """

    requests: int | None = None
    cost: float | None = None
    prices: Prices | None = None
    account: Account = field(default_factory=Account)

    def at(self, prices: Prices | None) -> Budget:
        """Return the same budget for another model, at its ``prices``: both draw on one account."""
        return replace(self, prices=prices)

    @property
    def sent(self) -> int:
        """The number of requests posted."""
        return self.account.sent

    @property
    def spent(self) -> float:
        """What they cost in USD."""
        return self.account.spent

    def reserve(self, request: Request) -> str | None:
        """Reserve the worst-case cost of an attempt; return the reason if it does not fit, else None."""
        worst = self._worst(request)
        if (reason := self._lacking(worst)) is None:
            self.account.sent += 1
            self.account.reserved[request.key] = worst
        return reason

    def settle(self, request: Request, reply: Reply | None) -> None:
        """Replace the reservation of an attempt by its actual cost.

        Without a reply, or with one whose cost is not known, charge the worst case, since it may be billed.
        """
        worst = self.account.reserved.pop(request.key, 0.0)
        if reply is None or not metered(reply):
            self.account.spent += worst
        elif self.prices is not None:
            self.account.spent += self.prices.paid(reply)

    def post(self, size: int, tokens: int) -> str | None:
        """Charge another post at its worst: a body of ``size`` bytes, and ``tokens`` of answer.

        Return the reason if it does not fit, else None.
        """
        worst = 0.0 if self.prices is None else self.prices.of(bytes_bound(size), tokens)
        if (reason := self._lacking(worst)) is None:
            self.account.sent += 1
            self.account.spent += worst
        return reason

    def refund(self, size: int, tokens: int, reply: Reply | None) -> None:
        """Replace what ``post`` charged for a body of ``size`` bytes by the cost of ``reply``, if told.

        None stands for a reply whose cost is settled elsewhere.
        """
        if self.prices is None or (reply is not None and not metered(reply)):
            return
        self.account.spent -= self.prices.of(bytes_bound(size), tokens)
        if reply is not None:
            self.account.spent += self.prices.paid(reply)

    def _lacking(self, worst: float) -> str | None:
        if self.requests is not None and self.sent >= self.requests:
            return f"the budget of {self.requests} requests is used up"
        if self.cost is not None and self.spent + sum(self.account.reserved.values()) + worst > self.cost:
            return f"the budget of {self.cost} USD is used up ({self.spent:.4f} spent)"
        return None

    def _worst(self, request: Request) -> float:
        return 0.0 if self.prices is None else self.prices.of(*worst_case(request))


def worst_case(request: Request) -> tuple[int, int]:
    """Return the most tokens of the prompt and of the answer that ``request`` may cost."""
    return prompt_bound(request.messages), request.token_limit


def metered(reply: Reply) -> bool:
    """Return whether the server has told what ``reply`` costs: counts that can be true.

    A prompt has at least one token, and so has a text: zero stands for a server that tells nothing.
    """
    prompt, completion, cached = reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens
    if not all(type(count) is int for count in (prompt, completion, cached)):
        return False
    return prompt > 0 and completion >= bool(reply.text) and 0 <= cached <= prompt
