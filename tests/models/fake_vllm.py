"""A stand-in for ``vllm``: a real server with vLLM's paths, faulty as ``FAKE_VLLM`` says (words):

``slow`` is healthy only after a second; ``dies`` ends at once; ``late`` ends at the first question;
``never`` is not healthy; ``child`` has a child that outlives it; ``stubborn`` ignores SIGTERM, its child too.
After ``FAKE_VLLM_AFTER`` answers: ``killed`` is killed; the engine of ``dead`` is; ``errs`` has faults.
At its start it logs ``FAKE_VLLM_SAYS``, before it ends what the file ``FAKE_VLLM_LOG`` holds. Its version is
``FAKE_VLLM_VERSION``, the fingerprint of its replies ``FAKE_VLLM_FINGERPRINT``.

In ``FAKE_VLLM_HOME`` it leaves its arguments and environment, and a lock held while any of it lives.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HOME = Path(os.environ["FAKE_VLLM_HOME"])
MODES = os.environ.get("FAKE_VLLM", "").split()
AFTER = int(os.environ.get("FAKE_VLLM_AFTER", "0"))
LOG = os.environ.get("FAKE_VLLM_LOG")
VERSION = os.environ.get("FAKE_VLLM_VERSION", "0.32.0+fake")
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."
KEY = os.environ.get("VLLM_API_KEY")
SLEEPER = "import time; time.sleep(600)"  # SIG_IGN is inherited
METRICS = """# HELP vllm:prefix_cache_queries_total Prefix cache queries.
vllm:prefix_cache_queries_total{engine="0",model_name="m"} 100.0
vllm:prefix_cache_queries_total{engine="1",model_name="m"} 100.0
vllm:prefix_cache_queries_created{engine="0",model_name="m"} 1.7e+09
vllm:prefix_cache_hits_total{engine="0",model_name="m"} 90.0
vllm:prefix_cache_hits_total{engine="1",model_name="m"} 60.0
"""


def log(default: str = "") -> None:
    print(Path(LOG).read_text(encoding="utf-8") if LOG else default, flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers = 0
    ended = False
    started = time.monotonic()

    def do_GET(self) -> None:
        if self.path == "/health":
            late = "slow" in MODES and time.monotonic() - self.started < 1
            self.answer(503 if late or Handler.ended or "never" in MODES else 200, "")
        elif self.path == "/version":
            self.answer(200, json.dumps({"version": VERSION}))
        elif self.path == "/metrics":
            self.answer(200, METRICS)
        elif self.path == "/v1/models":
            self.answer(200, json.dumps({"data": [{"id": sys.argv[2], "owned_by": "vllm"}]}))
        else:
            self.answer(404, "{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "late" in MODES:
            log("the GPU has fallen off the bus")
            os._exit(3)
        Handler.answers += 1
        if Handler.answers > AFTER and "killed" in MODES:
            log()
            os.kill(os.getpid(), signal.SIGKILL)
        if Handler.answers > AFTER and "dead" in MODES:
            if not Handler.ended:
                log()
            Handler.ended = True
            return self.answer(500, json.dumps({"error": {"message": DEAD, "code": 500}}))
        if Handler.answers > AFTER and "errs" in MODES:
            return self.answer(
                500, json.dumps({"error": {"message": "list index out of range", "code": 500}})
            )
        if KEY is not None and self.headers["Authorization"] != f"Bearer {KEY}":
            self.answer(401, json.dumps({"error": "Unauthorized"}))
        elif body["model"] != sys.argv[2]:
            self.answer(404, json.dumps({"error": {"message": "no such model", "code": 404}}))
        else:
            self.answer(200, json.dumps(completion(body)))

    def answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """The first of the choices, or "hello" where there are none."""
    text = body.get("structured_outputs", {}).get("choice", ["hello"])[0]
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 1,
        "total_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
        "usage": usage,
        "system_fingerprint": os.environ.get("FAKE_VLLM_FINGERPRINT"),
    }


def main() -> None:
    lock = (HOME / "lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_SH)
    environment = {k: v for k, v in os.environ.items() if k.startswith(("VLLM_", "DO_NOT", "PYTHON"))}
    record = json.dumps({"arguments": sys.argv[1:], "environment": environment, "parent": os.getppid()})
    (HOME / f"start-{os.getpid()}.json").write_text(record)
    print("INFO the engine is starting", flush=True)
    print(os.environ.get("FAKE_VLLM_SAYS", ""), flush=True)
    if "dies" in MODES:
        log("ValueError: no such weights")
        sys.exit(1)
    if "stubborn" in MODES:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "child" in MODES:
        subprocess.Popen([sys.executable, "-c", SLEEPER], pass_fds=[lock.fileno()])
    port = int(sys.argv[sys.argv.index("--port") + 1])
    ThreadingHTTPServer.request_queue_size = 128
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
