"""The model hub: where it does not answer, that is said at once, and nothing waits for its libraries."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest

from harness import hub
from harness.core import DocumentOptions
from harness.errors import DocumentError
from harness.tasks.imdb import read
from tests.commands import environment
from tests.servers import completion, serve

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def online(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def test_a_server_that_answers_anything_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda *_: completion("x")) as endpoint:  # it knows no HEAD: that is an answer, too
        monkeypatch.setenv("HF_ENDPOINT", endpoint.base_url)
        assert hub.unreachable() is None


def test_why_there_is_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    assert str(hub.unreachable()).startswith(f"{NOBODY} does not answer: ")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert hub.unreachable() == f"HF_HUB_OFFLINE is set, so that {NOBODY} is not asked"


def test_a_hub_that_says_nothing_is_given_up_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        assert "does not answer: " in str(hub.unreachable())
        assert time.monotonic() - began < 2 * hub.SECONDS == 10


def test_a_data_set_of_a_hub_that_is_away_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", ModuleType("datasets"))  # which is not even asked
    monkeypatch.setenv("HF_ENDPOINT", NOBODY)
    options = DocumentOptions(dataset="stanfordnlp/imdb", split="test", revision="main")
    with pytest.raises(DocumentError, match=f"stanfordnlp/imdb test: {NOBODY} does not answer: ") as raised:
        list(read(options))
    assert "\n" not in str(raised.value)


def test_a_model_of_a_hub_that_is_away_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="needs the extra transformers")
    code = "from harness.models.model_files import Files; Files('someone/model', None)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment() | {"HF_ENDPOINT": NOBODY, "HF_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    said = done.stderr.strip().splitlines()[-1]
    start = "harness.errors.ModelError: transformers:someone/model is not whole in this machine's cache, and"
    assert said.startswith(f"{start} {NOBODY} does not answer: ")
