"""The proxy before a real server: what passes, what is checked, what goes wrong on either side."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import openai
import pytest

from harness import config
from harness.guard.guard import assembled
from harness.guard.proxy import Proxy
from harness.guard.server import HOST, running
from tests.servers import Answer, Endpoint, Script, completion, error, serve

LEXICON = """
[attribute.gender.groups]
male = ["man", "actor"]
female = ["woman", "actress"]
"""
KEY = "sk-client-0123456789"
NOBODY, SHE, HE = "A fine film about a red car.", "The woman smiled.", "The man smiled."


def sexist(body: dict[str, Any], number: int) -> Answer:
    return completion("Negative" if "woman" in asked(body) else "Positive")


def asked(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)


class Client:
    """A client of the proxy at ``address``."""

    def __init__(self, address: str, session: aiohttp.ClientSession, proxy: Proxy) -> None:
        self.address = address
        self.proxy = proxy
        self._session = session

    async def post(
        self, text: object, path: str = "/chat/completions", **more: object
    ) -> tuple[int, dict[str, str], Any]:
        body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
        return await self.send("POST", path, json.dumps(body).encode())

    async def send(
        self, method: str, path: str, content: bytes = b"", **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """Return status, headers in lower case, and the content, as JSON where it is that."""
        given = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **headers}
        async with self._session.request(
            method, self.address + path, data=content, headers=given
        ) as response:
            read = await response.read()
            told = {name.lower(): value for name, value in response.headers.items()}
        try:
            return response.status, told, json.loads(read)
        except ValueError:
            return response.status, told, read

    async def metrics(self) -> str:
        async with self._session.get(self.address.removesuffix("/v1") + "/metrics") as response:
            return await response.text()


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("words") / "words.toml"
    file.write_text(LEXICON, encoding="utf-8")
    return file


Using = Callable[..., None]


@pytest.fixture
def using(lexicon: Path, tmp_path: Path) -> Using:
    """Run ``act`` with a client of a proxy with some settings before a server with a ``script``."""

    def use(
        act: Callable[[Client, Endpoint], Awaitable[None]], script: Script = sexist, **settings: object
    ) -> None:
        with serve(script, models=Answer({"object": "list", "data": [{"id": "m"}]})) as endpoint:
            url = settings.pop("url", endpoint.base_url)
            given = {"task": "sst2", "model.name": "m", "model.base_url": url}
            given |= {"hinter.lexicon": [str(lexicon)], "cache": str(tmp_path / "cache.sqlite")}
            given |= {key.replace("__", "."): value for key, value in settings.items()}

            async def run() -> None:
                async with client(config.load(None, given, one_text=True)) as made:
                    await act(made, endpoint)

            asyncio.run(run())

    return use


@asynccontextmanager
async def client(by: config.RunConfig) -> AsyncIterator[Client]:
    proxy = Proxy(assembled(by))
    with socket.create_server((HOST, 0)) as bound:
        async with running(proxy, bound) as address, aiohttp.ClientSession() as session:
            yield Client(address, session, proxy)


def test_a_text_that_names_nobody_passes_at_once(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, headers, answer = await client.post(NOBODY)
        assert (status, headers["x-hinter-verdict"], headers["x-hinter-reason"]) == (
            200,
            "not-checked",
            "nobody",
        )
        assert answer.pop("hinter") == {"verdict": "not-checked", "reason": "nobody", "requests": 1}
        assert answer == completion("Positive").body, "all else is as it came"
        assert len(endpoint.requests) == 1

    using(act)


def test_an_unfair_answer_comes_with_its_verdict_and_evidence(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, headers, answer = await client.post(SHE, temperature=0.3)
        assert (status, headers["x-hinter-verdict"]) == (200, "unfair")
        assert answer["choices"][0]["message"]["content"] == "Negative"
        (difference,) = answer["hinter"]["differences"]
        assert difference["means"] == {"female": 0.0, "male": 1.0}
        assert (difference["outcome"], difference["worse"]) == ("Positive", "female")
        assert [version["text"] for version in answer["hinter"]["versions"]] == [HE]
        first, second = endpoint.requests
        assert second == {**first, "messages": [{"role": "user", "content": HE}]}, "all else is the client's"
        assert endpoint.authorizations == [f"Bearer {KEY}"] * 2

    using(act)


def test_a_fair_answer_says_so(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        _, headers, answer = await client.post(SHE)
        assert headers["x-hinter-verdict"] == answer["hinter"]["verdict"] == "fair"
        assert "x-hinter-reason" not in headers

    using(act, script=lambda body, number: completion("Positive"))


def test_the_official_client_of_openai_is_served(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        async with openai.AsyncOpenAI(base_url=client.address, api_key=KEY, max_retries=0) as official:
            raw = await official.chat.completions.with_raw_response.create(
                model="m", messages=[{"role": "user", "content": SHE}]
            )
            assert raw.headers["x-hinter-verdict"] == "unfair"
            answer = raw.parse()
            assert answer.choices[0].message.content == "Negative"
            assert answer.model_extra is not None
            assert answer.model_extra["hinter"]["verdict"] == "unfair"
            assert [model.id async for model in await official.models.list()] == ["m"]

    using(act)


def test_a_refused_answer_is_an_answer_that_clients_understand(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, headers, answer = await client.post(SHE)
        (choice,) = answer["choices"]
        assert (status, headers["x-hinter-verdict"]) == (200, "unfair")
        assert (choice["message"]["content"], choice["finish_reason"]) == (None, "content_filter")
        assert choice["message"]["refusal"]
        assert answer["hinter"]["action"] == "refused"
        _, _, fair = await client.post(NOBODY)
        assert fair["choices"][0]["message"]["content"] == "Positive"

    using(act, guard__action="refuse")


def test_a_healed_answer_is_that_of_the_majority(using: Using, tmp_path: Path) -> None:
    words = tmp_path / "three.toml"
    origins = "\n".join(f'{name.lower()} = ["{name}"]' for name in ("Irish", "Dutch", "English", "Swedish"))
    words.write_text(f"[attribute.origin.groups]\n{origins}\n", encoding="utf-8")

    async def act(client: Client, endpoint: Endpoint) -> None:
        _, _, answer = await client.post("The Irish waiter smiled.")
        assert answer["choices"][0]["message"]["content"] == "Positive"
        assert answer["hinter"]["action"] == "healed"
        assert answer["hinter"]["answer"] == "Negative"

    def script(body: dict[str, Any], number: int) -> Answer:
        return completion("Negative" if "Irish" in asked(body) else "Positive")

    using(act, script, guard__action="heal", hinter__lexicon=[str(words)])


def test_the_last_user_message_is_the_text_and_only_it_changes(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        parts = [{"type": "text", "text": SHE}, {"type": "image_url", "image_url": {"url": "data:,"}}]
        messages = [
            {"role": "system", "content": "You rate what a woman says."},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": "Positive"},
        ]
        body = json.dumps({"model": "m", "messages": messages}).encode()
        await client.send("POST", "/chat/completions", body)
        first, second = endpoint.requests
        assert first["messages"] == messages
        changed = [{"type": "text", "text": HE}, parts[1]]
        assert second["messages"] == [messages[0], {"role": "user", "content": changed}, messages[2]]

    using(act, script=lambda body, number: completion("Positive"))


def test_the_text_within_the_tasks_own_prompt(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        before, after = client.proxy.audit.planner.prompt.around
        _, headers, _ = await client.post(f"{before}{SHE}{after}")
        assert headers["x-hinter-verdict"] == "unfair"
        assert asked(endpoint.requests[-1]) == f"{before}{HE}{after}"
        _, headers, answer = await client.post(SHE)
        assert headers["x-hinter-verdict"] == "not-checked"
        assert answer == completion("Negative").body, "another request passes through untouched"
        assert len(endpoint.requests) == 3

    using(act, guard__text="prompt")


def test_what_is_no_single_answer_passes_through(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        for more in ({"n": 2}, {"stream": True}):
            _, headers, answer = await client.post(SHE, **more)
            assert headers["x-hinter-verdict"] == "not-checked"
            assert answer == completion("Negative").body
        status, headers, answer = await client.send("GET", "/models")
        assert (status, answer["data"], headers["x-hinter-verdict"]) == (200, [{"id": "m"}], "not-checked")
        await client.post(SHE, path="/completions?x=1")
        assert endpoint.paths[-1] == "/v1/completions?x=1"
        assert len(endpoint.requests) == 3

    using(act)


def test_a_request_that_is_no_json_is_the_endpoints_to_judge(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        for content in (b"{}", b'{"messages": 3}', b'{"messages": [{"role": "user", "content": 3}]}'):
            status, _, _ = await client.send("POST", "/chat/completions", content)
            assert status == 200
        assert endpoint.requests[1] == {"messages": 3}

    using(act, script=lambda body, number: completion("Positive"))


def test_errors_of_the_endpoint_come_as_they_are(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, headers, answer = await client.post(SHE)
        assert (status, answer["error"]["code"], headers["retry-after"]) == (429, "slow", "7")
        assert headers["x-hinter-verdict"] == "not-checked"
        assert len(endpoint.requests) == 1, "nothing is asked about a text without an answer"

    using(act, script=lambda body, number: error(429, "slow", retry_after="7"))


def test_failing_versions_leave_the_plain_answer(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, headers, answer = await client.post(SHE)
        assert (status, headers["x-hinter-verdict"], headers["x-hinter-reason"]) == (
            200,
            "not-checked",
            "failed",
        )
        assert answer["choices"][0]["message"]["content"] == "Negative"

    def script(body: dict[str, Any], number: int) -> Answer:
        return sexist(body, number) if asked(body) == SHE else error(401)

    using(act, script)


def test_closed_gives_an_error_in_place_of_an_unchecked_answer(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, headers, answer = await client.post(SHE)
        assert (status, answer["error"]["code"], headers["x-hinter-verdict"]) == (
            503,
            "not-checked",
            "not-checked",
        )
        status, _, _ = await client.post(NOBODY)
        assert status == 200, "there is nothing to check in it"

    def script(body: dict[str, Any], number: int) -> Answer:
        return completion("Positive") if asked(body) in (SHE, NOBODY) else error(401)

    using(act, script, guard__fail="closed")


@pytest.mark.parametrize(("fail", "status"), [("open", 200), ("closed", 503)])
def test_a_text_that_is_too_long_to_check(using: Using, fail: str, status: int) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        answered, headers, _ = await client.post(f"{SHE} " * 2000)
        assert (answered, headers["x-hinter-verdict"]) == (status, "not-checked")
        assert len(endpoint.requests) == 1

    using(act, guard__fail=fail)


def test_an_endless_answer_is_a_bad_gateway(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, _, answer = await client.post(NOBODY)
        assert (status, answer["error"]["message"]) == (502, "hinter guard: the answer is larger than 8 MB")

    using(act, script=lambda body, number: Answer(b"{" + b" " * (9 << 20)))


def test_a_hanging_check_ends_in_time(using: Using) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        if asked(body) != SHE:
            time.sleep(3)
        return completion("Positive")

    async def act(client: Client, endpoint: Endpoint) -> None:
        started = time.monotonic()
        status, headers, _ = await client.post(SHE)
        assert (status, headers["x-hinter-reason"]) == (200, "time")
        assert time.monotonic() - started < 2.5

    using(act, script, guard__seconds=0.3)


def test_an_endpoint_that_hangs_is_a_gateway_timeout(using: Using) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        time.sleep(1.5)
        return completion("Positive")

    async def act(client: Client, endpoint: Endpoint) -> None:
        for text in (SHE, NOBODY):
            status, _, answer = await client.post(text)
            assert (status, answer["error"]["type"]) == (504, "hinter_guard")
        status, _, answer = await client.post(SHE, stream=True)
        assert status == 504

    using(act, script, guard__answer_seconds=0.3)


def test_an_endpoint_that_is_gone_or_breaks_off_is_a_bad_gateway(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        for text in (SHE, NOBODY):
            status, _, answer = await client.post(text)
            assert (status, answer["error"]["code"]) == (502, "endpoint")

    using(act, script=lambda body, number: Answer(None))
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
    using(act, url=f"http://127.0.0.1:{port}/v1")


def test_an_answer_that_is_cut_short_is_a_bad_gateway(using: Using) -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
        await writer.drain()
        writer.close()

    async def act(client: Client, endpoint: Endpoint) -> None:
        server = await asyncio.start_server(cut, "127.0.0.1", 0)
        client.proxy._upstream._url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        status, _, answer = await client.post(NOBODY)
        assert (status, answer["error"]["code"]) == (502, "endpoint")
        with pytest.raises(aiohttp.ClientError):
            await client.post(NOBODY, stream=True)
        server.close()

    using(act)


def test_a_stream_comes_as_it_is_sent_and_not_at_its_end(using: Using) -> None:
    first, last = b'data: {"a": 1}\n\n', b"data: [DONE]\n\n"
    more = asyncio.Event()

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        for part in (first, last):
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
            await more.wait()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def act(client: Client, endpoint: Endpoint) -> None:
        server = await asyncio.start_server(stream, "127.0.0.1", 0)
        client.proxy._upstream._url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        body = {"stream": True, "messages": [{"role": "user", "content": SHE}]}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{client.address}/chat/completions", json=body) as response,
        ):
            assert response.headers["x-hinter-verdict"] == "not-checked"
            assert response.content_type == "text/event-stream"
            assert await response.content.readexactly(len(first)) == first, "before the rest is sent"
            more.set()
            assert await response.content.read() == last
        server.close()

    using(act)


def test_beyond_the_queue_requests_are_told_to_come_again(using: Using) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        time.sleep(0.3)
        return completion("Positive")

    async def act(client: Client, endpoint: Endpoint) -> None:
        answers = await asyncio.gather(*(client.post(NOBODY) for _ in range(6)))
        statuses = sorted(status for status, _, _ in answers)
        assert statuses == [200, 200, 200, 503, 503, 503]
        (again,) = {headers.get("retry-after") for status, headers, _ in answers if status == 503}
        assert again == "1"
        assert "hinter_guard_turned_away_total 3" in await client.metrics()

    using(act, script, guard__at_once=2, guard__queue=1)


def test_versions_have_a_budget_by_the_minute(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        reasons = [(await client.post(SHE))[1].get("x-hinter-reason") for _ in range(5)]
        assert reasons == [None, None, None, "budget", "budget"]
        assert len(endpoint.requests) == 5 + 3

    using(act, guard__versions_per_minute=3)


def test_metrics_in_the_text_format(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        for text in (NOBODY, NOBODY, SHE):
            await client.post(text)
        told = await client.metrics()
        for line in (
            'requests_total{reason="nobody",status="200",verdict="not-checked"} 2',
            'requests_total{reason="",status="200",verdict="unfair"} 1',
            'upstream_requests_total{kind="answer"} 3',
            'upstream_requests_total{kind="version"} 1',
            'findings_total{attribute="gender"} 1',
            "overhead_seconds_count 2",
            "in_flight 0",
        ):
            assert f"hinter_guard_{line}\n" in told
        form = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{(\w+="[^"]*",?)+\})? [\d.e+-]+)')
        assert all(form.fullmatch(each) for each in told.splitlines()), told

    using(act)


@pytest.mark.parametrize("texts", [False, True])
def test_the_log_has_texts_only_where_asked_for_and_never_the_key(
    using: Using, tmp_path: Path, texts: bool
) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        for text in (NOBODY, SHE, HE):
            await client.post(text)

    file = tmp_path / "logs" / "guard.jsonl"
    using(act, guard__log=str(file), guard__log_texts=texts)
    written = file.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    assert [line["verdict"] for line in lines] == ["unfair", "unfair"], "one that names nobody has no line"
    assert lines[0]["groups"] == {"gender": ["female", "male"]}
    assert lines[0]["time"] <= lines[1]["time"]
    assert ("smiled" in written) == texts
    assert KEY not in written
    assert not list(tmp_path.rglob("responses.sqlite")), "answers to clients are kept nowhere"


def test_other_hosts_and_paths_are_refused(using: Using) -> None:
    async def act(client: Client, endpoint: Endpoint) -> None:
        status, _, answer = await client.send("GET", "/models", Host="evil.example")
        assert (status, answer["error"]["code"]) == (421, "host")
        assert not endpoint.looks
        status, _, _ = await client.send("GET", "/../other")
        assert status == 404

    using(act)


def test_a_client_that_goes_away_ends_its_check(using: Using) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        if asked(body) != SHE:
            time.sleep(0.5)
        return completion("Positive")

    async def act(client: Client, endpoint: Endpoint) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.post(SHE), 0.2)
        await asyncio.sleep(0.1)
        assert client.proxy._gate.inside == 0

    using(act, script)
