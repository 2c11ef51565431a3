"""What the stand-in for vLLM leaves of its starts."""

from __future__ import annotations

import fcntl
import json
import socket
import time
from pathlib import Path
from typing import Any


def starts(home: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in home.glob("start-*.json")]


def nothing_is_left(home: Path, seconds: float = 10.0) -> bool:
    """Whether a server was started and, within some seconds, no process of it lives any more."""
    assert starts(home)
    with (home / "lock").open("w") as lock:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
            else:
                return True
    return False


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])
