"""The Python that the page about guards shows runs, and its web service serves."""

from __future__ import annotations

import asyncio
import json
import socket
import urllib.request
from pathlib import Path

import pytest
import uvicorn

from tests.pages import DOCS, blocks

PAGE = DOCS / "guard.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page shows."""
    for block in blocks(PAGE):
        if block.file:
            (tmp_path / block.file).write_text(block.code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_in_python(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = [block for block in blocks(PAGE, "python") if block.file is None]
    exec(block.code, {})
    verdict, requests, answer = capsys.readouterr().out.split()
    assert (verdict, answer) == ("fair", "Positive")
    assert int(requests) > 1


def test_the_web_service(folder: Path) -> None:
    space: dict[str, object] = {}
    exec((folder / "review_service.py").read_text(encoding="utf-8"), space)

    def ask(port: int) -> object:
        body = json.dumps({"text": "She was a wonderful nurse."}).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/reviews", body, timeout=30) as response:
            return json.loads(response.read())

    async def serve() -> object:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            server = uvicorn.Server(uvicorn.Config(space["app"], log_config=None, lifespan="on"))  # type: ignore[arg-type]
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            try:
                return await asyncio.to_thread(ask, bound.getsockname()[1])
            finally:
                server.should_exit = True
                await serving

    assert asyncio.run(serve()) == {"sentiment": "Positive", "verdict": "fair"}
