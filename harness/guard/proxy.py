"""An OpenAI-compatible endpoint before the real one: each answer is checked before it is given.

What cannot be checked passes through untouched: streams, other requests, answers of more than one choice.
Whatever goes wrong with a check, there is the plain answer, or a clear error where the settings say so.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from harness import run_log
from harness.answering.limiter import Bucket, Limiter
from harness.answering.reading import Reader
from harness.answering.runner import Answer
from harness.audit.assembly import Audit
from harness.core import Failure
from harness.errors import ConfigError, EndpointError, Transient
from harness.guard import evidence
from harness.guard.gate import Full, Gate
from harness.guard.guard import steps
from harness.guard.journal import Journal
from harness.guard.messages import Located, Locator
from harness.guard.metrics import CONTENT_TYPE, Metrics
from harness.guard.records import Checked, Heard, NotChecked, Place
from harness.guard.upstream import Headers, Unreachable, Upstream, Whole, kept, said
from harness.guard.versions import LONGEST, Versions
from harness.guard.watch import Entry, Watch
from harness.settings import GuardSettings

log = logging.getLogger(__name__)

ROOT, COMPLETIONS = "/v1", "/chat/completions"
HOSTS = ("127.0.0.1", "localhost")
VERSIONS_AT_ONCE = 64
MINUTE = 60.0
NOBODY = json.dumps({"verdict": "not-checked", "reason": "nobody", "requests": 1}).encode()
AGAIN = "1"
"""Seconds after which a request that found no place may come again."""


class Unchecked(Exception):
    """A check that is not made, or not to the end."""

    def __init__(self, reason: NotChecked) -> None:
        super().__init__(reason)
        self.reason: NotChecked = reason


@dataclass
class Proxy:
    """Answers as the endpoint of ``audit`` does, with checks; once ``ending``, connections are not kept."""

    audit: Audit
    metrics: Metrics = field(default_factory=Metrics)
    ending: bool = False

    def __post_init__(self) -> None:
        config = self.audit.config
        url = config.model.base_url
        if url is None:
            raise ConfigError("model.base_url: a proxy needs the endpoint behind it, such as https://…/v1")
        self.settings: GuardSettings = config.guard
        fixed = config.model.concurrency if isinstance(config.model.concurrency, int) else None
        limiter = Limiter(VERSIONS_AT_ONCE, fixed)
        self._upstream = Upstream(
            url if isinstance(url, str) else url[0], self.settings.answer_seconds, limiter
        )
        self._gate = Gate(self.settings.at_once, self.settings.queue)
        self._journal = Journal(
            Path(self.settings.log) if self.settings.log else None, self.settings.log_texts
        )
        self._versions = Versions(self.audit.suite, config.seed)
        self._steps = steps(self.audit)
        prompt = self.audit.planner.prompt
        self._locator = Locator(*prompt.around) if self.settings.text == "prompt" else Locator()
        asked = f"{prompt.system}\n{prompt.template}\n{prompt.question}"
        self._reader = Reader.of(self.audit.task, False, (), asked)
        self._watching = Watch(self.settings.baseline)
        rate = self.settings.versions_per_minute
        self._budget = Bucket(rate, burst_seconds=MINUTE) if rate else None

    async def open(self) -> None:
        """Open the log and the client, and load the parser. Raises ``HarnessError``."""
        self._journal.open()
        await self._upstream.open()
        await asyncio.to_thread(self._versions.made, "He said that she was a kind woman.")

    async def close(self) -> None:
        """Close what was opened."""
        await self._upstream.close()
        self._versions.close()
        self._journal.close()

    async def measured(self, request: web.Request) -> web.StreamResponse:
        """Return the metrics."""
        self.metrics.set("in_flight", self._gate.inside)
        self.metrics.set("waiting", self._gate.waiting)
        return web.Response(text=self.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request; at the end, the last one of its connection."""
        response = await self._handled(request)
        if self.ending and not response.prepared:
            response.force_close()
        return response

    async def _handled(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, or tell why it is not answered."""
        if request.url.host not in HOSTS:
            return self._fault(421, "host", "this endpoint is for this machine alone")
        try:
            async with self._gate.entered():
                return await self._answered(request)
        except Full:
            self.metrics.count("turned_away_total")
            return self._fault(503, "busy", "too many requests wait: come again", {"Retry-After": AGAIN})
        except Unreachable as error:
            return self._fault(error.status, "endpoint", str(error))
        except web.HTTPRequestEntityTooLarge:
            return self._fault(413, "too-large", "the request is too large")

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        started = time.perf_counter()
        raw = await request.read()
        path = request.raw_path.partition("?")[0].removeprefix(ROOT)
        located = None
        if request.method == "POST" and path == COMPLETIONS:
            located = self._locator.locate(_parsed(raw))
        if located is None:
            return await self._passed(request, path, raw)
        headers, query = kept(request.headers), request.query_string
        making = self._making(located.text)
        try:
            self.metrics.count("upstream_requests_total", kind="answer")
            whole = await self._upstream.whole(path, query, headers, raw)
            if whole.status != 200 or not whole.plain:
                return self._unchecked(whole, "failed")
            if making is None:
                self.metrics.took(time.perf_counter() - started - whole.seconds)
                reason: NotChecked = "too-long" if len(located.text) > LONGEST else "nobody"
                return self._unchecked(whole, reason)
            checked = await self._checked(located, whole, making, (path, query, headers))
        finally:
            if making is not None:
                making.cancel()
        return self._given(located.text, whole, checked)

    def _making(self, text: str) -> asyncio.Future[list[Place]] | None:
        """Begin to make the versions of ``text``; None where there can be none, which is told at once."""
        if len(text) > LONGEST or not self.audit.suite.concerns(text):
            return None
        return asyncio.ensure_future(self._versions.of(text))

    async def _checked(
        self, located: Located, whole: Whole, making: Awaitable[list[Place]], to: tuple[str, str, Headers]
    ) -> Checked:
        """Check an answer; whatever goes wrong, the answer remains."""

        async def ask(texts: Sequence[str]) -> dict[str, Heard]:
            """Ask about versions with the request of the client."""
            if self._budget is not None and not self._budget.spare(len(texts)):
                raise Unchecked("budget")
            self.metrics.count("upstream_requests_total", len(texts), kind="version")
            path, query, headers = to
            answers = await _together(
                [self._upstream.answer(path, query, headers, located.put(text)) for text in texts]
            )
            return {text: self._heard(said) for text, said in zip(texts, answers, strict=True)}

        reason: NotChecked
        answer = self._heard(_said(whole))
        try:
            async with asyncio.timeout(self.settings.seconds):
                return await self._steps.check(located.text, answer, await making, ask)
        except Unchecked as unchecked:
            reason = unchecked.reason
        except TimeoutError:
            reason = "time"
        except (Transient, EndpointError) as error:
            log.warning("a check was not made: %s", error)
            reason = "failed"
        except Exception as error:
            log.warning("a check was not made: %s (%s)", run_log.summary(error), run_log.traced(error))
            reason = "failed"
        return Checked(answer, answer, "not-checked", reason)

    def _heard(self, answer: Answer) -> Heard:
        return Heard(answer, self._reader.outcome(answer))

    def _given(self, text: str, whole: Whole, checked: Checked) -> web.Response:
        """Return the response after a check."""
        if checked.reason == "nobody":
            return self._unchecked(whole, "nobody")
        self._journal.add(text, checked)
        if checked.verdict != "not-checked":
            self._watch(checked)
        for difference in checked.differences:
            self.metrics.count("findings_total", attribute=difference.attribute)
        if checked.verdict == "unfair":
            self.metrics.count("actions_total", action=checked.action)
        elif checked.reason is not None and self.settings.fail == "closed":
            return self._unanswered(checked.reason)
        return self._response(whole, evidence.body(whole.content, checked), checked.verdict, checked.reason)

    def _watch(self, checked: Checked) -> None:
        """Raise an alarm where the rate of findings has risen."""
        for attribute, group in self._watching.add(Entry.of(checked)):
            self.metrics.count("alarms_total", attribute=attribute, group=group)
            log.warning("alarm: more answers than usual depend on %s", f"{attribute} {group}".strip())

    def _unchecked(self, whole: Whole, reason: NotChecked) -> web.Response:
        """Return the endpoint's response without a check, or an error where there should be one."""
        if whole.status == 200 and reason != "nobody" and self.settings.fail == "closed":
            return self._unanswered(reason)
        content = evidence.marked(whole.content, NOBODY) if reason == "nobody" else whole.content
        return self._response(whole, content, "not-checked", reason)

    def _unanswered(self, reason: NotChecked) -> web.Response:
        return self._fault(503, "not-checked", f"the answer could not be checked: {reason}")

    def _response(
        self, whole: Whole, content: bytes, verdict: str, reason: NotChecked | None
    ) -> web.Response:
        headers = Headers(whole.headers)
        headers[evidence.VERDICT] = verdict
        if reason is not None:
            headers[evidence.REASON] = reason
        self._count(verdict, reason or "", whole.status)
        return web.Response(status=whole.status, headers=headers, body=content)

    async def _passed(self, request: web.Request, path: str, raw: bytes) -> web.StreamResponse:
        """Send a request on and its response back, both as they come.

        A response that breaks off does so for the client, too.
        """
        self.metrics.count("upstream_requests_total", kind="answer")
        headers, response = kept(request.headers), web.StreamResponse()
        try:
            async with self._upstream.sent(
                request.method, path, request.query_string, headers, raw
            ) as answer:
                response = _begun(answer)
                self._count("not-checked", "passed", answer.status)
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
        except Unreachable:
            if not response.prepared:
                raise
            if request.transport is not None:
                request.transport.abort()
        return response

    def _fault(
        self, status: int, code: str, message: str, headers: dict[str, str] | None = None
    ) -> web.Response:
        """Return an error as an OpenAI-compatible endpoint does."""
        self._count("not-checked", code, status)
        return web.json_response(
            {"error": {"message": f"hinter guard: {message}", "type": "hinter_guard", "code": code}},
            status=status,
            headers={**(headers or {}), evidence.VERDICT: "not-checked"},
        )

    def _count(self, verdict: str, reason: str, status: int) -> None:
        self.metrics.count("requests_total", verdict=verdict, reason=reason, status=str(status))


def _begun(answer: aiohttp.ClientResponse) -> web.StreamResponse:
    """Return the response that begins as ``answer`` does."""
    response = web.StreamResponse(status=answer.status, headers=kept(answer.headers))
    response.headers[evidence.VERDICT] = "not-checked"
    if answer.content_length is not None:
        response.content_length = answer.content_length
    return response


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _said(whole: Whole) -> Answer:
    """Return what a response says; a failure where it says nothing."""
    try:
        return said(whole)
    except (Transient, EndpointError) as error:
        return Failure("failed", str(error))


async def _together(acts: Sequence[Awaitable[Answer]]) -> list[Answer]:
    """Return what all ``acts`` return; where one fails, the others are cancelled."""
    tasks = [asyncio.ensure_future(act) for act in acts]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
