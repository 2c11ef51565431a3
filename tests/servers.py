"""A real OpenAI-compatible HTTP server on loopback, scripted by a small function."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from harness.models.probing import PROBE


@dataclass(frozen=True)
class Answer:
    """What the server sends, as JSON or as it is; ``body`` None closes the connection without a word."""

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Script = Callable[[dict[str, Any], int], Answer]
"""From the request's JSON and its number (from 1) to what is answered."""


@dataclass
class Endpoint:
    """A running server: where it is, and every request it has received."""

    base_url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    looks: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def completion(text: str | None, finish_reason: str = "stop", **more: Any) -> Answer:
    """A chat completion as a server sends it."""
    return Answer(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted-1",
            "system_fingerprint": "fp",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": finish_reason,
                    "message": {"role": "assistant", "content": text},
                    "logprobs": None,
                }
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": 2, "total_tokens": 13},
            **more,
        }
    )


def error(status: int, code: str = "", message: str = "no", **headers: str) -> Answer:
    """An error as a server sends it."""
    return Answer({"error": {"message": message, "code": code, "type": code}}, status, headers)


@contextmanager
def serve(
    script: Script,
    probe: Script | None = None,
    models: Answer | None = None,
    certificate: Path | None = None,
) -> Iterator[Endpoint]:
    """The server, in threads of its own, until the block ends.

    ``probe`` answers the question by which a client finds out whether labels are enforced (default: they
    are not), ``models`` the list of models (default: there is none). With ``certificate``, a PEM file with
    its key, it speaks TLS.
    """
    lock = threading.Lock()
    endpoint = Endpoint("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            probing = PROBE in str(body.get("messages") or body.get("prompt"))
            with lock:
                seen = endpoint.probes if probing else endpoint.requests
                seen.append(body)
                endpoint.authorizations.append(self.headers.get("Authorization", ""))
                endpoint.paths.append(self.path)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                number = len(seen)
            if probing:
                self._send(probe(body, number) if probe else completion("hello"))
            else:
                self._send(script(body, number))

        def do_GET(self) -> None:
            with lock:
                endpoint.looks.append({name.lower(): value for name, value in self.headers.items()})
            self._send(models or error(404))

        def _send(self, answer: Answer) -> None:
            if answer.body is None:
                self.close_connection = True
                return
            data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in answer.headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            return None

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: Any, client_address: Any) -> None:
            return None  # a client that was killed is part of the script

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    scheme = "http" if certificate is None else "https"
    endpoint.base_url = f"{scheme}://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
