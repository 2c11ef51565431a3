"""``hinter view`` as a user starts it, in a process of its own, and its answers over HTTP."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.commands import command, environment

TEXTS = "text,label\n" + "\n".join(f"The actor gave {n} great shows.,Positive" for n in range(6))


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.body.splitlines()]


@dataclass(frozen=True)
class Served:
    address: str
    port: int
    token: str
    process: subprocess.Popen[str]

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> str:
        return f"hinter-view-{self.port}={self.token}"

    def ask(
        self, path: str, headers: Mapping[str, str] = {}, body: object = None, method: str | None = None
    ) -> Answer:
        """What the server answers, with no headers but those given."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = None if body is None else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, content, dict(headers))
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, text)

    def get(self, path: str) -> Answer:
        """What the browser that opened the address sees."""
        return self.ask(path, {"Cookie": self.cookie})

    def post(self, path: str, body: object) -> Answer:
        """What the page's own script gets."""
        return self.ask(path, {"Cookie": self.cookie, "Origin": self.origin}, body)


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Served]:
    process = subprocess.Popen(
        command("view", str(folder), *options),
        cwd=folder.parent,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        parts = urlsplit(address)
        assert parts.port is not None, process.communicate()
        yield Served(address, parts.port, parse_qs(parts.query)["token"][0], process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def made(folder: Path, name: str, *options: str) -> None:
    """A run of a few texts in ``folder``, by a process of its own: a browser's loop may run in this one."""
    (folder.parent / "texts.csv").write_text(TEXTS)
    words = ("run", "--data", "texts.csv", "--model", "local:vader", "--out", str(folder / name), "--quiet")
    done = subprocess.run(
        command(*words, *options),
        cwd=folder.parent,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
