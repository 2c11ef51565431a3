"""A chat endpoint that answers at once, as bare as asyncio allows, for measuring clients.

python benchmarks/instant_server.py [SECONDS] [FILE]    # prints its base URL, serves until it is killed

It answers after SECONDS, and writes what is posted to FILE, a line each, in the order in which it comes.
"""

from __future__ import annotations

import asyncio
import json
import sys

ANSWER = json.dumps(
    {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "instant",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Positive"}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102},
    }
).encode()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
DELAY = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0
KEPT = open(sys.argv[2], "wb", buffering=0) if len(sys.argv) > 2 else None  # noqa: SIM115
answered = 0


class Instant(asyncio.Protocol):
    """One connection: whatever is posted is answered with ``ANSWER``."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.WriteTransport = transport  # type: ignore[assignment]
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            length = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            if head.startswith(b"post"):
                if KEPT is not None:
                    KEPT.write(body + b"\n")
                asyncio.get_running_loop().call_later(DELAY, self._answer)
            else:
                self._transport.write(HEAD % len(str(answered)) + str(answered).encode())

    def _answer(self) -> None:
        global answered
        answered += 1
        self._transport.write(HEAD % len(ANSWER) + ANSWER)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Instant, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
