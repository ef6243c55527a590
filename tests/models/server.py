"""A scripted server on a real socket that speaks as much of OpenAI's API as ripple uses."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: Any
    at: float


@dataclass(frozen=True)
class Answer:
    """What the server does with one request, in the order of the fields.

    ``delay`` in seconds before anything; ``reset`` ends the connection with RST; ``cut`` sends so many bytes of
    the body and then closes; ``trickle`` sends a byte at a time with so many seconds between, head and all
    where ``trickle_head`` is set.
    """

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    reset: bool = False
    cut: int | None = None
    trickle: float = 0.0
    trickle_head: bool = False

    def payload(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Script = Answer | Callable[[Received], Answer]


def chat(
    text: Any = "{}",
    *,
    finish: Any = "stop",
    refusal: str | None = None,
    usage: Any = (10, 5),
    **how: Any,
) -> Answer:
    """An answer with the body of a chat completion."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    body: dict[str, Any] = {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if isinstance(usage, tuple):
        usage = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    if usage is not None:
        body["usage"] = usage
    return Answer(body, **how)


def error(status: int, message: str = "no", *, code: Any = None, param: Any = None, **how: Any) -> Answer:
    """An answer with the body of an error."""
    return Answer({"error": {"message": message, "type": "x", "param": param, "code": code}}, status, **how)


def embeddings(rows: Sequence[Sequence[Any]], *, indices: Sequence[Any] | None = None, **how: Any) -> Answer:
    """An answer with the body of embeddings."""
    places = range(len(rows)) if indices is None else indices
    data = [{"object": "embedding", "index": i, "embedding": list(row)} for i, row in zip(places, rows, strict=True)]
    return Answer({"object": "list", "data": data, "model": "scripted", "usage": {"prompt_tokens": 1}}, **how)


class ScriptedServer:
    """Gives its answers in the order of the requests, the last one for ever."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.most_open = 0
        self._open = {"now": 0}
        self._script: list[Script] = [chat()]
        self._lock = threading.Lock()
        self._ended = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._serve(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: Any) -> None:
                pass  # clients that hang up are what is tested

        self._http = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    @property
    def bodies(self) -> list[Any]:
        return [each.body for each in self.received]

    def script(self, *answers: Script) -> ScriptedServer:
        """Forget what was received and answer so from now on."""
        with self._lock:
            self.received.clear()
            self.most_open = 0
            self._open = {"now": 0}  # a request of the script before, which still runs, counts there
            self._script = list(answers)
        return self

    def stop(self) -> None:
        self._ended.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        received = Received(
            handler.path, {k.lower(): v for k, v in handler.headers.items()}, json.loads(body), time.monotonic()
        )
        with self._lock:
            script = self._script[min(len(self.received), len(self._script) - 1)]
            self.received.append(received)
            is_open = self._open
            is_open["now"] += 1
            self.most_open = max(self.most_open, is_open["now"])
        try:
            self._answer(handler, script if isinstance(script, Answer) else script(received))
        finally:
            with self._lock:
                is_open["now"] -= 1

    def _answer(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        self._ended.wait(answer.delay)
        if answer.reset:
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            handler.close_connection = True
            handler.connection.close()
            return
        payload = answer.payload()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(payload)), **answer.headers}
        head = f"HTTP/1.1 {answer.status} Scripted\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        if answer.trickle:
            slow = head.encode() + payload if answer.trickle_head else payload
            if not answer.trickle_head:
                handler.wfile.write(head.encode())
            for byte in slow:
                handler.wfile.write(bytes([byte]))
                if self._ended.wait(answer.trickle):
                    return
            return
        handler.wfile.write(head.encode() + payload[: answer.cut])
        handler.close_connection = handler.close_connection or answer.cut is not None


@contextlib.contextmanager
def running_server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    try:
        yield server
    finally:
        server.stop()
