"""``guard:CONFIG``: a model under its guard as the system under test, to measure what the guard is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.core import Capabilities, Failure, Reply, Request
from harness.documents.shortening import TOKENS_A_MUTANT_ADDS
from harness.errors import ConfigError, ModelError
from harness.plugins import Model, ModelKit, ModelPlugin, Options

if TYPE_CHECKING:
    from harness.guard import Guard

KIND = "guard:"
REFUSED = "the guard refuses an answer that depends on who is spoken of"


class GuardedModel(Model):
    """Answers bare texts as ``guard`` does, healed or refused where its configuration says so."""

    def __init__(self, name: str, guard: Guard) -> None:
        audit = guard.audit
        self.name = name
        settings = audit.config.guard.model_dump(
            mode="json", include={"action", "ties", "first", "most", "alpha"}
        )
        self.identity = {"kind": "guard", "guard": settings, "run": dict(audit.identity)}
        self.capabilities = Capabilities(choices=audit.model.capabilities.choices, logprobs=False, chat=False)
        self.concurrency = audit.model.concurrency
        self.rates = audit.model.rates
        self._guard = guard

    @property
    def context(self) -> int | None:
        """The tokens of the texts that the model under the guard takes beside its prompt."""
        limit = self._guard.audit.shortener.limit
        return None if limit is None else limit + TOKENS_A_MUTANT_ADDS

    def count_tokens(self, text: str) -> int | None:
        """Count the tokens of ``text`` as the model under the guard does."""
        return self._guard.audit.model.count_tokens(text)

    async def answer(self, request: Request) -> Reply | Failure:
        """Return what the guard gives; a ``Failure`` where it refuses."""
        given = (await self._guard.check(request.text)).given
        return Failure("filtered", REFUSED) if given is None else given.answer

    def bind(self, labels: Sequence[str], multi_label: bool) -> None:
        """Raise ``ModelError`` unless the guard's task has these labels."""
        task = self._guard.audit.task
        if (tuple(labels), multi_label) != (task.labels, task.multi_label):
            raise ModelError(
                f"{self.name} answers task {task.name!r} ({', '.join(task.labels)}): give the run the same"
            )

    async def close(self) -> None:
        """Release the guard."""
        await self._guard.close()


def _make(options: Options, kit: ModelKit) -> Model:
    from harness import config
    from harness.guard import Guard

    settings = config.load(kit.name, one_text=True)
    if settings.model.name.startswith(KIND):
        raise ConfigError(f"{kit.name}: a guard of a guard: name the model itself")
    return GuardedModel(f"{KIND}{kit.name}", Guard(settings))


plugin = ModelPlugin(
    name="guard",
    about="a model under its guard (hinter guard), as CONFIG describes both",
    options=Options,
    make=_make,
    lists={"guard:CONFIG": "a model under its guard (hinter guard), as CONFIG describes both"},
)
