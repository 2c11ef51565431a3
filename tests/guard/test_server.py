"""``hinter guard`` as a process: it starts, is told to end and ends what it has begun, and can be killed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import called, command, environment
from tests.servers import Answer, completion, serve

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGTERM ends a process there at once")
NOBODY = "A fine film about a red car."


@contextmanager
def guarding(folder: Path, base_url: str, **settings: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A proxy before ``base_url``, with its address."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    (folder / "guard.toml").write_text(
        f'task = "sst2"\n[hinter]\nattributes = ["gender"]\n[model]\nname = "m"\nbase_url = "{base_url}"\n'
        "[guard]\n" + "\n".join(lines),
        encoding="utf-8",
    )
    process = subprocess.Popen(
        command("guard", "guard.toml", "--port", "0"),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def post(address: str, text: str) -> tuple[int, Any]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()
    request = urllib.request.Request(
        f"{address}/chat/completions", body, {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_told_to_end_it_answers_what_it_has_begun_and_takes_nothing_new(tmp_path: Path) -> None:
    asked = threading.Event()

    def script(body: dict[str, Any], number: int) -> Answer:
        asked.set()
        time.sleep(1.0)
        return completion("Positive")

    answers: list[tuple[int, Any]] = []
    with serve(script) as endpoint, guarding(tmp_path, endpoint.base_url) as (process, address):
        waiting = threading.Thread(target=lambda: answers.append(post(address, "The woman smiled.")))
        waiting.start()
        assert asked.wait(20)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        with pytest.raises(OSError, match="refused"):
            post(address, NOBODY)
        waiting.join(20)
        ((status, answer),) = answers
        assert (status, answer["hinter"]["verdict"]) == (200, "fair"), "its check is made to the end"
        assert process.wait(20) == 0


def test_a_proxy_that_is_killed_leaves_a_clear_error(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Answer:
        process.kill()
        time.sleep(0.5)
        return completion("Positive")

    with serve(script) as endpoint, guarding(tmp_path, endpoint.base_url) as (process, address):
        with pytest.raises(OSError):  # noqa: PT011
            post(address, NOBODY)
        process.wait(20)
        with pytest.raises(OSError, match="refused"):
            post(address, NOBODY)


def test_an_endpoint_that_is_gone_is_an_error_and_not_the_end_of_the_proxy(tmp_path: Path) -> None:
    with serve(lambda body, number: completion("Positive")) as endpoint:
        port = int(endpoint.base_url.rsplit(":", 1)[1].removesuffix("/v1"))
    base_url = f"http://127.0.0.1:{port}/v1"
    with guarding(tmp_path, base_url) as (_, address):
        for _ in range(2):
            status, answer = post(address, NOBODY)
            assert (status, answer["error"]["code"]) == (502, "endpoint")


def test_bad_use_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "no_endpoint.toml").write_text(
        'task = "sst2"\n[model]\nname = "local:vader"\n', encoding="utf-8"
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for arguments, said in (
            (("none.toml",), "none.toml"),
            (("no_endpoint.toml", "--port", "0"), "model.base_url"),
            (("no_endpoint.toml", "--port", port), f"port {port} cannot be used"),
            (("no_endpoint.toml", "--alpha", "2"), "alpha"),
        ):
            done = called(tmp_path, "guard", *arguments)
            assert done.returncode == 2
            assert said in done.stderr
            assert len(done.stderr.splitlines()) == 1
