"""OpenAI-compatible endpoints, asked without retries, which are up to the runner.

The key appears neither in the model's identity nor in any error. Several base URLs are replicas of one model.

Before the first request ``prepare`` finds out how to ask the endpoint: what server it is, which parameters it
rejects, whether answers can be constrained to labels. The result is stored in the response cache, so that a
resumed run uses the same dialect.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from harness import posts
from harness.core import Capabilities, Failure, JsonObject, Message, Reply, Request
from harness.dialect import Dialect, Wanted
from harness.disclosure import one_line
from harness.errors import EndpointError, Transient
from harness.http_client import Answer, TooLarge
from harness.keys import Key
from harness.models import probing, wire
from harness.models.endpoint import Endpoint, refusal, root
from harness.models.endpoint_likelihood import EndpointLikelihood
from harness.models.negotiation import Negotiation
from harness.models.parameters import SYSTEM
from harness.models.refusals import Refused, Rejected
from harness.models.tokenizers import server_tokens, tiktoken
from harness.plugins import BatchAccess, Model, ModelKit, ModelPlugin, Options, Scorer, Tokenizer

if TYPE_CHECKING:
    import openai

DEFAULT_URL = "https://api.openai.com/v1"
HOSTS_WITH_NEW_LIMIT = ("openai.com", "azure.com")
DEADLINE = 120.0
CEILING = 64
REFUSED_IN_A_ROW = 5
"""After so many refusals in a row a plain question is asked, which any endpoint answers."""
SHOWN = 80
"""The characters that are shown of a body that is not JSON."""
HELLO = Message("user", "hello")


class OpenAIModel(Model):
    """A model called ``name`` at one or more base URLs."""

    capabilities = Capabilities(choices=True, logprobs=True)

    def __init__(
        self,
        name: str,
        base_url: str | Sequence[str] | None = None,
        api_key_env: str | None = None,
        *,
        api_key_file: str | None = None,
        api_version: str | None = None,
        choices: Wanted = "auto",
        omit: Sequence[str] = (),
        deadline: float = DEADLINE,
        ceiling: int = CEILING,
        identity: JsonObject | None = None,
    ) -> None:
        urls = [base_url] if isinstance(base_url, str) else list(base_url or [DEFAULT_URL])
        self.name = name
        self.urls = [url.rstrip("/") for url in urls]
        self.concurrency = ceiling
        self.identity = identity or {
            "kind": "openai",
            "base_url": ",".join(sorted(self.urls)),
            "name": name,
            **({"api_version": api_version} if api_version else {}),
            **({"omit": sorted(omit)} if omit else {}),
        }
        self._omit = tuple(omit)
        self.dialect = self._omitting(
            Dialect(token_limit=self._limit_name(), choices="unknown" if choices == "auto" else choices)
        )
        self._key = Key(api_key_env, api_key_file, needed=base_url is None)
        self._api_version = api_version
        self._deadline = deadline
        self.endpoints: list[Endpoint] = []
        self._settling = asyncio.Lock()
        self._settled = False
        self._refused, self._patience = 0, REFUSED_IN_A_ROW

    @property
    def facts(self) -> JsonObject:
        """The dialect, and whether the endpoint is asked at temperature zero."""
        return self.dialect.facts

    @property
    def batch(self) -> BatchAccess:
        """The endpoint's batch API, at the first address where there are several."""
        return BatchAccess(self.name, self.dialect, self._batch_client)

    def _batch_client(self) -> openai.AsyncOpenAI:
        self.connect()
        return self.endpoints[0].client

    async def tokenizer(self) -> Tokenizer | None:
        """Return the server's own tokenizer where it has one, else tiktoken where it knows the model."""
        if self.urls != [DEFAULT_URL] and await self._count(Request(self.identity, (HELLO,), {})) is not None:
            return Tokenizer("the server's tokenizer", self._count)
        return tiktoken(self.name)

    async def prepare(self, known: JsonObject | None) -> JsonObject | None:
        """Adopt the dialect ``known`` from an earlier run, or find it out and return it for later runs.

        Asks a vLLM server for its version in any case, and returns a version that is not known.
        """
        self.connect()
        if known is not None:
            self.dialect = self._omitting(Dialect.from_json(known))
        else:
            kind = await probing.server(self.endpoints[0], self.name, self._deadline)
            self.dialect = replace(self.dialect, server=kind)
            if self.dialect.choices == "unknown":
                await self._try_constraints()
        told, self.dialect = self.dialect.versions, replace(self.dialect, versions=await self._ask_versions())
        return None if known is not None and told == self.dialect.versions else self.dialect.to_json()

    def recall(self, known: JsonObject) -> None:
        """Adopt the dialect ``known``."""
        self.dialect = self._omitting(Dialect.from_json(known))

    async def _ask_versions(self) -> tuple[str, ...]:
        """Return the versions of the vLLM servers, each once; none where they do not tell."""
        if self.dialect.server == "vllm":
            for endpoint in self.endpoints:
                endpoint.version = await probing.version(endpoint, self._deadline)
        return tuple(sorted({endpoint.version for endpoint in self.endpoints if endpoint.version}))

    async def answer(self, request: Request) -> Reply | Failure:
        """Make one attempt, or more as long as the endpoint has answered nothing yet and rejects the form.

        A refusal whose reason is unknown is a ``Failure`` of this request if the endpoint answers others.
        """
        self.connect()
        if not self._settled:
            async with self._settling:  # one at a time, so that nothing is learnt twice
                if not self._settled:
                    return await self._settle(request)
        try:
            answer = await self._send(request, self.dialect, adapt=False)
        except Refused as refused:
            return await self._sentence(request, refused)
        if isinstance(answer, Reply):
            self._refused, self._patience = 0, REFUSED_IN_A_ROW
        return answer

    async def _settle(self, request: Request) -> Reply | Failure:
        """Make as many attempts as it takes to learn the dialect; the first reply settles it."""
        try:
            answer = await self._negotiate(request)
        except Refused as refused:
            await self._control(request, refused)
            return _own(refused)
        self._settled = isinstance(answer, Reply)
        return answer

    async def _negotiate(self, request: Request) -> Reply | Failure:
        negotiation = Negotiation(request, self.dialect, self._send)
        answer = await negotiation.answer()
        self.dialect = negotiation.dialect
        return answer

    async def _sentence(self, request: Request, refused: Refused) -> Failure:
        """Return the failure of a refused request.

        After too many in a row, raises ``refused`` unless the endpoint still answers a plain question.
        """
        self._refused += 1
        if self._refused >= self._patience:
            await self._control(request, refused)
            self._refused, self._patience = 0, 2 * self._patience
        return _own(refused)

    async def _control(self, request: Request, refused: Refused) -> None:
        """Ask a plain question as ``request`` was asked. Raises ``refused`` where it is not answered."""
        plain = probing.plain(self.identity, request)
        asked = self._send(plain, self.dialect) if self._settled else self._negotiate(plain)
        try:
            answer = await asked
        except (EndpointError, Rejected):
            raise refused from None
        if not isinstance(answer, Reply):
            raise refused

    async def _try_constraints(self) -> None:
        """Find a way to constrain answers.

        A plain question goes first, so that an unreachable endpoint does not count as one without
        constraints.
        """
        probe = probing.plain(self.identity)
        self.dialect = replace(self.dialect, choices="none")
        try:
            await self._negotiate(probe)
            self.dialect = await probing.constrained(self.dialect, probe, self._send)
        except Transient:
            self.dialect = replace(self.dialect, choices="unknown")
            raise

    async def close(self) -> None:
        """Close the clients."""
        for endpoint in self.endpoints:
            await endpoint.client.close()
        self.endpoints = []

    async def _send(self, request: Request, dialect: Dialect, adapt: bool = True) -> Reply | Failure:
        """Make one attempt at the least busy endpoint; the deadline starts when the request is sent.

        Raises ``Rejected`` only where it may ``adapt``.
        """
        import httpx2

        now = time.monotonic()
        endpoint = min(self.endpoints, key=lambda e: (max(0.0, e.resume - now), e.busy))
        body = wire.body(self.name, request, dialect)
        await endpoint.ready()
        endpoint.busy += 1
        try:
            async with asyncio.timeout(self._deadline):
                answer = await endpoint.post(wire.path(dialect), body)
            if not answer.is_success:
                return refusal(endpoint, answer, dialect if adapt else None, self.name, body)
            endpoint.heed(answer.headers)
            read = wire.read(_json(answer))
            if isinstance(read, Reply):
                posts.replied(read)
            return endpoint.signed(read)
        except TooLarge as error:
            return Failure("failed", str(error))
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise Transient(f"no answer within {self._deadline:.0f} s", throttled=True) from error
        except httpx2.TransportError as error:
            raise Transient(f"{endpoint.url}: {root(error)}") from error
        except (httpx2.HTTPError, ValueError, RecursionError) as error:
            raise Transient(f"{endpoint.url}: not a chat completion: {one_line(error)}") from error
        finally:
            endpoint.busy -= 1

    async def _count(self, request: Request) -> int | None:
        return await server_tokens(self.urls[0], self.name, request.messages)

    def connect(self) -> None:
        """Create the clients unless they exist; a run answered from the cache needs no key."""
        connections = 2 * self.concurrency
        self.endpoints = self.endpoints or [
            Endpoint.connect(url, self._key, connections, self._api_version) for url in self.urls
        ]

    def _omitting(self, dialect: Dialect) -> Dialect:
        """Return ``dialect`` without what the configuration omits."""
        dropped = (*dialect.dropped, *(name for name in self._omit if name not in dialect.dropped))
        return replace(dialect, dropped=dropped, system=dialect.system and SYSTEM not in self._omit)

    def _limit_name(self) -> str:
        new = any(host in url for url in self.urls for host in HOSTS_WITH_NEW_LIMIT)
        return "max_completion_tokens" if new else "max_tokens"


def _own(refused: Refused) -> Failure:
    """Return a refusal as the failure of its request alone."""
    return Failure("failed", one_line(refused))


def _json(answer: Answer) -> object:
    """Return the JSON of a response. Raises ``ValueError`` that shows how another text begins."""
    try:
        body: object = answer.json()
    except ValueError as error:
        begins = one_line(answer.text, SHOWN)
        raise ValueError(f"it begins with {begins!r}" if begins else "it is empty") from error
    return body


def _make(options: Options, kit: ModelKit) -> Model:
    settings = kit.settings
    return OpenAIModel(
        kit.name,
        settings.base_url,
        settings.api_key_env,
        api_key_file=settings.api_key_file,
        api_version=settings.api_version,
        choices=settings.choices,
        omit=settings.omit,
    )


def _scorer(options: Options, kit: ModelKit) -> Scorer:
    settings = kit.settings
    url = settings.base_url or DEFAULT_URL
    key = Key(settings.api_key_env, settings.api_key_file, needed=settings.base_url is None)
    return EndpointLikelihood(kit.name, url if isinstance(url, str) else url[0], key, settings.api_version)


plugin = ModelPlugin(
    name="openai",
    about="any OpenAI-compatible endpoint, with --base-url and --api-key-env",
    options=Options,
    make=_make,
    lists={"NAME": "any OpenAI-compatible endpoint, with --base-url and --api-key-env"},
    scorer=_scorer,
)
