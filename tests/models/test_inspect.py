"""Models of Inspect as systems under test: through its own client against a real server on loopback."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from harness import config, registry
from harness.core import Failure, Message, Reply, Request
from harness.errors import EndpointError, ModelError, Transient
from harness.plugins import Model
from tests import servers
from tests.commands import called

ASKED = Request(
    {"kind": "inspect"},
    (Message("system", "Be brief."), Message("user", "Is it good?")),
    {"temperature": 0.0, "top_p": 1.0, "max_tokens": 8, "seed": 0},
)


def test_what_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = called(tmp_path, "plan", "--model", "inspect:nobody")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "inspect:PROVIDER/NAME" in done.stderr


def made(name: str = "openai-api/local/m") -> Model:
    loaded = config.load(None, {"model.name": f"inspect:{name}"})
    return registry.make_model(loaded.model, loaded.model_options)


def answered(endpoint: servers.Endpoint, monkeypatch: pytest.MonkeyPatch) -> Reply | Failure:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("LOCAL_BASE_URL", endpoint.base_url)

    async def ask() -> Reply | Failure:
        model = made()
        try:
            return await model.answer(ASKED)
        finally:
            await model.close()

    return asyncio.run(ask())


@pytest.mark.filterwarnings("default::DeprecationWarning", "default::ResourceWarning")
class TestInspect:
    """With Inspect installed."""

    @pytest.fixture(autouse=True)
    def _installed(self) -> None:
        pytest.importorskip("inspect_ai", reason="needs the extra inspect")

    def test_a_provider_that_is_unknown_is_one_line(self) -> None:
        with pytest.raises(ModelError, match="nobody") as raised:
            made("nobody/m")
        assert "\n" not in str(raised.value)

    def test_an_answer_has_its_tokens_and_its_model(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with servers.serve(lambda body, number: servers.completion("Positive")) as endpoint:
            reply = answered(endpoint, monkeypatch)
        assert isinstance(reply, Reply)
        assert (reply.text, reply.finish_reason, reply.model) == ("Positive", "stop", "scripted-1")
        assert (reply.prompt_tokens, reply.completion_tokens) == (11, 2)
        (sent,) = endpoint.requests
        assert [m["role"] for m in sent["messages"]] == ["system", "user"]
        assert (sent["temperature"], sent["seed"]) == (0.0, 0)

    def test_a_cut_and_a_filter_are_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for reason in ("length", "content_filter"):
            with servers.serve(lambda body, n, r=reason: servers.completion("Pos", r)) as endpoint:  # type: ignore[misc]
                reply = answered(endpoint, monkeypatch)
            assert isinstance(reply, Reply)
            assert reply.finish_reason == reason

    @pytest.mark.parametrize(
        ("status", "outcome"), [(429, Transient), (500, Transient), (401, EndpointError), (400, None)]
    )
    def test_a_fault_is_of_its_kind(
        self, status: int, outcome: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with servers.serve(
            lambda body, n: servers.error(status, message="sk-test-0123456789 no")
        ) as endpoint:
            if outcome is None:
                failure = answered(endpoint, monkeypatch)
                assert isinstance(failure, Failure)
                told = failure.message
            else:
                with pytest.raises(outcome) as raised:
                    answered(endpoint, monkeypatch)
                told = str(raised.value)
        assert "no" in told
        assert "0123456789" not in told

    def test_a_run(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def script(body: dict[str, Any], number: int) -> servers.Answer:
            return servers.completion("Negative" if "woman" in str(body["messages"][-1]) else "Positive")

        with servers.serve(script) as endpoint:
            monkeypatch.setenv("LOCAL_API_KEY", "sk-test-0123456789")
            monkeypatch.setenv("LOCAL_BASE_URL", endpoint.base_url)
            (tmp_path / "t.csv").write_text("text\n" + "\n".join(f"The man {n} was kind." for n in range(3)))
            done = called(
                tmp_path,
                *("run", "--data", "t.csv", "--model", "inspect:openai-api/local/m", "--json", "--quiet"),
                *("--attributes", "gender", "--control", "0"),
            )
        figures = json.loads(done.stdout)
        assert figures["model"] == "inspect:openai-api/local/m"
        assert figures["answers"]["read"] == figures["requests"]["sent"] > 3
        assert sum(row["biased"] for row in figures["results"]) > 0
