"""The endpoint embedder against a server on loopback that fails, waits and shuffles."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stressbed.embed.embedders import endpoint, open_embedder
from stressbed.errors import EmbedError

MANIFEST = {"dataset": "d", "task": None, "source": "local", "task_type": "STS"}


def vector_of(text: str) -> list[float]:
    return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0]


class Server(ThreadingHTTPServer):
    """Answers `/v1/embeddings`; `plan` holds status codes for the first requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan: list[int] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.now, self.most, self.delay = 0, 0, 0.0
        self.lock = threading.Lock()
        self.answer: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        s = self.server
        with s.lock:
            s.bodies.append(body)
            s.keys.append(self.headers.get("authorization"))
            status = s.plan.pop(0) if s.plan else 200
            s.now += 1
            s.most = max(s.most, s.now)
        time.sleep(s.delay)
        with s.lock:
            s.now -= 1
        data = [{"index": i, "embedding": vector_of(t)} for i, t in enumerate(body["input"])][::-1]
        answer = json.dumps({"data": data} if s.answer is None else s.answer)
        payload = answer if status == 200 else "slow down"
        if self.path != "/v1/embeddings":
            status = 404
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0.01")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload.encode())

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.01)
    s = Server()
    threading.Thread(target=s.serve_forever, args=(0.01,), daemon=True).start()
    yield s
    s.shutdown()
    s.server_close()


@pytest.fixture
def model(server: Server, entry_of: Any) -> Iterator[Any]:
    entry = entry_of(
        "openai", model="m", base_url=server.url, batch_size=3, normalise=False, instructions={"STS": "I: "}
    )
    m = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    yield m
    m.close()


TEXTS = [f"text number {i}" + "!" * i for i in range(20)]
EXPECTED = np.array([vector_of("I: " + t) for t in TEXTS], dtype=np.float32)


def test_vectors_come_in_the_order_of_the_texts(server, model) -> None:
    vectors = model.encode(TEXTS, role="none", manifest=MANIFEST)
    np.testing.assert_array_equal(vectors, EXPECTED)
    assert vectors.dtype == np.float32
    assert sorted(len(b["input"]) for b in server.bodies) == [2, 3, 3, 3, 3, 3, 3]
    assert {b["model"] for b in server.bodies} == {"m"}


@pytest.mark.parametrize("plan", [[429, 429], [503, 500, 502], [408] * 5])
def test_failures_that_pass_are_waited_for(server, model, plan) -> None:
    server.plan = list(plan)
    np.testing.assert_array_equal(model.encode(TEXTS, role="none", manifest=MANIFEST), EXPECTED)
    assert len(server.bodies) == 7 + len(plan)


def test_an_endpoint_that_keeps_failing_is_an_error(server, model) -> None:
    server.plan = [503] * 100
    with pytest.raises(EmbedError, match="status 503: slow down"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    assert len(server.bodies) == endpoint.ATTEMPTS


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_is_not_repeated(server, model, status) -> None:
    server.plan = [status]
    with pytest.raises(EmbedError, match=f"status {status}[\\s\\S]*the key"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    assert len(server.bodies) == 1


def test_few_requests_are_in_flight(server, model) -> None:
    server.delay = 0.05
    model.encode(TEXTS, role="none", manifest=MANIFEST)
    assert 2 <= server.most <= endpoint.CONCURRENCY
    assert model.strings_per_call == 3 * endpoint.CONCURRENCY


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"error": "no"},
        [],
        {"data": [{"index": 0, "embedding": "x"}]},
        {"data": [{"index": 1, "embedding": [1]}]},
    ],
)
def test_answers_without_the_vectors_are_refused(server, model, answer) -> None:
    server.answer = answer
    with pytest.raises(EmbedError, match="does not hold 1 vectors"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)


def test_no_server_is_an_error_that_names_the_address(entry_of, monkeypatch) -> None:
    monkeypatch.setattr(endpoint, "FIRST_WAIT", 0.001)
    entry = entry_of("openai", model="m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(EmbedError, match=r"ConnectError[\s\S]*127.0.0.1:9"):
        open_embedder(entry, catalogue_folder=Path(), fit_texts=list).encode(
            ["a"], role="none", manifest=MANIFEST
        )


def test_the_key_comes_from_the_environment(server, entry_of, monkeypatch) -> None:
    entry = entry_of("openai", model="m", base_url=server.url, api_key_env="TEST_EMBED_KEY", dimensions=3,
                     normalise=True)  # fmt: skip
    m = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    monkeypatch.delenv("TEST_EMBED_KEY", raising=False)
    with pytest.raises(EmbedError, match="TEST_EMBED_KEY is not set"):
        m.encode(["a"], role="none", manifest=MANIFEST)
    monkeypatch.setenv("TEST_EMBED_KEY", "abc")
    vectors = m.encode(["a"], role="none", manifest=MANIFEST)
    assert server.keys == ["Bearer abc"]
    assert server.bodies[0]["dimensions"] == 3
    assert np.linalg.norm(vectors) == pytest.approx(1)


def test_a_distant_host_is_pointed_out(entry_of, caplog) -> None:
    entry = entry_of("openai", model="m", base_url="https://embeddings.example/v1")
    m = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    with caplog.at_level("WARNING", logger="stressbed"):
        assert m._client is not None
    assert "leave this machine, to embeddings.example" in caplog.text
    m.close()


def test_an_endpoint_needs_an_address(entry_of) -> None:
    with pytest.raises(EmbedError, match="needs its address"):
        open_embedder(entry_of("openai"), catalogue_folder=Path(), fit_texts=list)
