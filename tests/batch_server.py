"""A real HTTP server on loopback that plays the OpenAI Batch API; and one that plays ``vllm run-batch``."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.servers import Answer, completion, error

Line = dict[str, Any]
Script = Callable[[Line], "list[tuple[str, Line | str]]"]
"""From a line of the batch file to lines of the ``output`` and ``error`` files; a text stands as it is."""


def text_of(line: Line) -> str:
    """What a line of a batch file asks about."""
    return str(line["body"]["messages"][-1]["content"])


def reply(line: Line, text: str | None = "Positive", **more: Any) -> tuple[str, Line | str]:
    """A complete answer, in the output file."""
    return "output", envelope(line, 200, completion(text, **more).body)


def refused(line: Line, status: int, code: str, message: str) -> tuple[str, Line | str]:
    """An HTTP error for one request, in the error file."""
    return "error", envelope(line, status, error(status, code, message).body)


def unexecuted(line: Line, code: str = "batch_expired", message: str = "Not in time.") -> tuple[str, Line]:
    """A request that was never executed, in the error file."""
    return "error", {**envelope(line, 0, None), "response": None, "error": {"code": code, "message": message}}


def envelope(line: Line, status: int, body: Any) -> Line:
    response = {"status_code": status, "request_id": "req_1", "body": body}
    return {"id": "batch_req_1", "custom_id": line["custom_id"], "response": response, "error": None}


def vllm_run_batch(lines: Sequence[bytes], answer: Callable[[Line], Answer]) -> bytes:
    """The output file of ``vllm run-batch``: an error stands beside a response that has no body."""
    written = []
    for raw in lines:
        line = json.loads(raw)
        assert line["method"] == "POST"
        assert line["url"] == "/v1/chat/completions"
        given = answer(line)
        fine = given.status == 200
        response = {
            "status_code": given.status,
            "request_id": "vllm-batch-1",
            "body": given.body if fine else None,
        }
        out = {"id": "vllm-1", "custom_id": line["custom_id"], "response": response}
        written.append(json.dumps({**out, "error": None if fine else given.body}))
    return "\n".join(written).encode()


@dataclass
class BatchServer:
    """A running server and all that it was sent. ``plan`` are the states that a job goes through.

    ``fault`` may answer in place of the server: from method, path and how often that was asked before; a body
    of None closes the connection, after the server has done what it was asked.
    """

    script: Script
    plan: Sequence[str] = ("validating", "in_progress", "completed")
    reason: Mapping[str, Any] | None = None
    fault: Callable[[str, str, int], Answer | None] = lambda method, path, number: None
    probe: Callable[[dict[str, Any]], Answer] = lambda _: completion("hello")
    base_url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: list[dict[str, Any]] = field(default_factory=list)
    chats: list[dict[str, Any]] = field(default_factory=list)
    looks: dict[str, int] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    asked: dict[str, int] = field(default_factory=dict)
    looked: threading.Event = field(default_factory=threading.Event)

    @property
    def uploads(self) -> list[list[Line]]:
        """The lines of each uploaded file."""
        return [
            [json.loads(line) for line in data.splitlines()]
            for name, data in self.files.items()
            if name.startswith("file-in")
        ]

    def post(self, path: str, body: bytes, kind: str) -> Answer:
        if path == "/v1/files":
            name = f"file-in-{len(self.files)}"
            message = message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + body)
            parts: dict[str, bytes] = {}
            for part in message.get_payload():
                name_of = str(part.get_param("name", header="content-disposition"))  # type: ignore[union-attr]
                parts[name_of] = part.get_payload(decode=True)  # type: ignore[union-attr,assignment]
            assert parts["purpose"] == b"batch"
            self.files[name] = parts["file"]
            return Answer({"id": name, "object": "file", "created_at": 1000, "status": "processed"})
        if path == "/v1/batches":
            job = {
                "id": f"batch_{len(self.jobs)}",
                "object": "batch",
                "created_at": 1001,
                "status": "validating",
                **json.loads(body),
            }
            self.jobs.append(job)
            return Answer(job)
        self.chats.append(json.loads(body))
        return self.probe(self.chats[-1])

    def get(self, path: str) -> Answer | bytes:
        *_, last = path.split("/")
        if path == "/v1/batches":
            return Answer({"object": "list", "data": self.jobs[::-1], "has_more": False})
        if path.startswith("/v1/batches/"):
            job = next(job for job in self.jobs if job["id"] == last)
            return Answer(self._look(job))
        if path.startswith("/v1/files/") and last == "content":
            return self.files[path.split("/")[-2]]
        return error(404)

    def _look(self, job: dict[str, Any]) -> dict[str, Any]:
        number = self.looks.setdefault(job["id"], 0)
        self.looks[job["id"]] += 1
        self.looked.set()
        job["status"] = self.plan[min(number, len(self.plan) - 1)]
        if job["status"] in ("completed", "expired", "cancelled"):
            self._answer(job)
        if job["status"] == "failed" and self.reason:
            job["errors"] = {"object": "list", "data": [self.reason]}
        return job

    def _answer(self, job: dict[str, Any]) -> None:
        written: dict[str, list[str]] = {"output": [], "error": []}
        for raw in self.files[job["input_file_id"]].splitlines():
            for kind, line in self.script(json.loads(raw)):
                written[kind].append(line if isinstance(line, str) else json.dumps(line))
        for kind, lines in written.items():
            if lines:
                job[f"{kind}_file_id"] = f"file-{kind}-{job['id']}"
                data = "".join(f"{line}\n" for line in lines)
                self.files[job[f"{kind}_file_id"]] = data.encode("utf-8", "surrogateescape")


@contextmanager
def serve_batches(server: BatchServer) -> Iterator[BatchServer]:
    """Serve in threads of its own, until the block ends."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self._do(lambda path: server.post(path, body, self.headers["Content-Type"]))

        def do_GET(self) -> None:
            self._do(server.get)

        def _do(self, act: Callable[[str], Answer | bytes]) -> None:
            path = self.path.partition("?")[0]
            with lock:
                server.keys.add(self.headers.get("Authorization", ""))
                number = server.asked.get(f"{self.command} {path}", 0)
                server.asked[f"{self.command} {path}"] = number + 1
                fault = server.fault(self.command, path, number)
                answer = act(path) if fault is None or fault.body is None else fault
            self._send(fault if fault is not None else answer)

        def _send(self, answer: Answer | bytes) -> None:
            if isinstance(answer, Answer) and answer.body is None:
                self.close_connection = True
                return
            data = answer if isinstance(answer, bytes) else json.dumps(answer.body).encode()
            self.send_response(200 if isinstance(answer, bytes) else answer.status)
            kind = "application/octet-stream" if isinstance(answer, bytes) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return None

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            return None

    running = Server(("127.0.0.1", 0), Handler)
    server.base_url = f"http://127.0.0.1:{running.server_address[1]}/v1"
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
