"""``inspect:PROVIDER/NAME``: a model of Inspect (inspect_ai), so that its providers can be put to the test.

Inspect knows how to ask many services that have no OpenAI-compatible endpoint. Its own retries are turned
off where it allows that: the runner retries, counts and caches. A provider's client may still retry by
itself, which no cap on requests can see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import Field

from harness.core import Failure, JsonObject, Reply, Request
from harness.disclosure import keep_secret, redacted
from harness.errors import EndpointError, ModelError, Transient
from harness.plugins import Model, ModelKit, ModelPlugin, Options

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput
    from inspect_ai.model import Model as Provider

REASONS = {"max_tokens": "length", "model_length": "length"}
"""Inspect's reasons for a stop that have another name here."""
TAKEN = ("temperature", "top_p", "max_tokens", "seed")
"""The sampling parameters that are passed on; a provider that has no such parameter leaves it out."""
UNLIMITED = 1_000_000
"""Connections at once, in Inspect's own count: the run's limit holds."""
FATAL = (401, 403)


class InspectOptions(Options):
    """``[model.inspect]``: what Inspect's ``get_model`` is called with."""

    args: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="Arguments of Inspect's provider, as its documentation names them."
    )


class InspectModel(Model):
    """A chat model that Inspect asks."""

    concurrency = 20

    def __init__(self, name: str, provider: Provider, args: JsonObject) -> None:
        self.name = f"inspect:{name}"
        self.identity = {"kind": "inspect", "name": name, "args": args}
        self._provider = provider

    @property
    def facts(self) -> JsonObject:
        """The version of Inspect."""
        from importlib.metadata import version

        return {"inspect_ai": version("inspect_ai")}

    async def answer(self, request: Request) -> Reply | Failure:
        """Ask once. Raises ``Transient``, and ``EndpointError`` for a key that is refused."""
        from inspect_ai.model import GenerateConfig

        sampling: dict[str, Any] = {
            name: request.sampling[name] for name in TAKEN if name in request.sampling
        }
        config = GenerateConfig(max_retries=0, max_connections=UNLIMITED, **sampling)
        try:
            output = await self._provider.generate(_messages(request), config=config, cache=False)
        except Exception as error:  # any provider's own
            return self._failed(_cause(error))
        return _reply(output)

    def _failed(self, error: BaseException) -> Failure:
        """Return the failure of one request. Raises ``Transient``, ``EndpointError`` for others."""
        text = redacted(f"{type(error).__name__}: {error}")
        status = getattr(error, "status_code", None)
        if status in FATAL:
            raise EndpointError(f"{self.name}: {text}") from error
        decision = isinstance(error, Exception) and self._provider.api.should_retry(error)
        if getattr(decision, "retry", decision) or status == 429 or (status or 0) >= 500:
            raise Transient(text, getattr(decision, "retry_after", None), status == 429) from error
        return Failure("failed", text)

    async def close(self) -> None:
        """Close the provider's client."""
        await self._provider.api.aclose()


def _messages(request: Request) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in request.messages]


def _cause(error: BaseException) -> BaseException:
    """Return what Inspect's own errors wrap."""
    from tenacity import RetryError

    while True:
        inner = error.last_attempt.exception() if isinstance(error, RetryError) else error.__cause__
        if inner is None or not (
            isinstance(error, RetryError) or type(error).__module__.startswith("inspect_ai")
        ):
            return error
        error = inner


def _reply(output: ModelOutput) -> Reply | Failure:
    if output.empty:
        return Failure("failed", output.error or "the reply has no choices")
    usage = output.usage
    cached = (usage.input_tokens_cache_read or 0) if usage else 0
    written = (usage.input_tokens_cache_write or 0) if usage else 0
    return Reply(
        text=output.message.text,
        finish_reason=REASONS.get(output.stop_reason, output.stop_reason),
        prompt_tokens=usage.input_tokens + cached + written if usage else 0,
        completion_tokens=usage.output_tokens if usage else 0,
        cached_tokens=cached,
        model=output.model,
        latency=output.time or 0.0,
    )


def make(options: InspectOptions, kit: ModelKit) -> Model:
    """Make the model ``inspect:NAME``. Raises ``ModelError``."""
    name = kit.name
    if "/" not in name:
        raise ModelError(f"inspect:{name}: write inspect:PROVIDER/NAME, as in inspect:anthropic/…")
    try:
        from inspect_ai.model import get_model
    except ImportError as error:
        raise ModelError(f"inspect:{name} needs inspect_ai: pip install 'hinter-harness[inspect]'") from error
    try:
        arguments: dict[str, Any] = dict(options.args)
        provider = get_model(name, memoize=False, **arguments)
    except Exception as error:  # no such provider, no key, a package that is missing
        raise ModelError(f"inspect:{name}: {redacted(str(error)).strip().splitlines()[0]}") from error
    keep_secret(provider.api.api_key or "")
    return InspectModel(name, provider, dict(options.args))


plugin = ModelPlugin(
    name="inspect",
    about="a model of any provider that Inspect (inspect_ai) knows",
    options=InspectOptions,
    make=make,
    lists={"inspect:PROVIDER/NAME": "a model of any provider that Inspect (inspect_ai) knows"},
)
