"""A loopback endpoint whose every answer a test chooses."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    status: int = 200
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hang_up: bool = False


def chat(text: str, finish: str = "stop", usage: dict[str, int] | None = None) -> Reply:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    answer: dict[str, Any] = {"object": "chat.completion", "choices": [choice]}
    if usage is not None:
        answer["usage"] = usage
    return Reply(body=json.dumps(answer))


class Endpoint:
    """Counts requests, remembers bodies and headers, and answers by a rule `(body, n-th time) -> Reply`."""

    def __init__(self) -> None:
        self.rule: Callable[[dict[str, Any], int], Reply] = lambda body, n: chat(
            body["messages"][-1]["content"].upper()
        )
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.in_flight = self.most_in_flight = 0
        self._asked: dict[str, int] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def _handler(endpoint) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                body = json.loads(raw)
                with endpoint._lock:
                    endpoint.bodies.append(body)
                    endpoint.headers.append({k.lower(): v for k, v in self.headers.items()})
                    endpoint.times.append(time.monotonic())
                    n = endpoint._asked.get(raw.decode(), 0)
                    endpoint._asked[raw.decode()] = n + 1
                    endpoint.in_flight += 1
                    endpoint.most_in_flight = max(endpoint.most_in_flight, endpoint.in_flight)
                try:
                    reply = (
                        Reply(404, "no such path")
                        if self.path not in {"/v1/chat/completions", "/v1/embeddings"}
                        else endpoint.rule(body, n)
                    )
                    time.sleep(reply.delay)
                finally:
                    with endpoint._lock:
                        endpoint.in_flight -= 1
                if reply.hang_up:
                    self.close_connection = True
                    return
                data = reply.body.encode()
                try:
                    self.send_response(reply.status)
                    for k, v in {"content-length": str(len(data)), **reply.headers}.items():
                        self.send_header(k, v)
                    self.end_headers()
                    self.wfile.write(data)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *args: object) -> None:
                pass

        return Handler

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
