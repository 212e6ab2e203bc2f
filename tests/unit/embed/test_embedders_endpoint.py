"""The endpoint embedder against a server on loopback that fails, waits and shuffles."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stressbed.config.catalogue import identity
from stressbed.embed.embedders import open_embedder
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
        self.refuse: Callable[[list[str]], tuple[int, str] | None] = lambda texts: None

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
        status, payload = s.refuse(body["input"]) or (status, payload)
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
def server() -> Iterator[Server]:
    s = Server()
    threading.Thread(target=s.serve_forever, args=(0.01,), daemon=True).start()
    yield s
    s.shutdown()
    s.server_close()


@pytest.fixture
def model(server: Server, entry_of: Any) -> Iterator[Any]:
    entry = entry_of(
        "openai",
        model="m",
        base_url=server.url,
        batch_size=3,
        normalise=False,
        instructions={"STS": "I: "},
        endpoint_options=FAST,
    )
    m = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    yield m
    m.close()


FAST = {"wait_scale": 0.01, "tries": 6}
TEXTS = [f"text number {i}" + "!" * i for i in range(20)]
EXPECTED = np.array([vector_of("I: " + t) for t in TEXTS], dtype=np.float32)


def test_vectors_come_in_the_order_of_the_texts(server, model) -> None:
    vectors = model.encode(TEXTS, role="none", manifest=MANIFEST)
    np.testing.assert_array_equal(vectors, EXPECTED)
    assert vectors.dtype == np.float32
    assert sorted(len(b["input"]) for b in server.bodies) == [2, 3, 3, 3, 3, 3, 3]
    assert {b["model"] for b in server.bodies} == {"m"}
    assert {tuple(b) for b in server.bodies} == {("model", "input", "encoding_format")}
    assert {b["encoding_format"] for b in server.bodies} == {"float"}


@pytest.mark.parametrize("plan", [[429, 429], [503, 500, 502], [408] * 5])
def test_failures_that_pass_are_waited_for(server, model, plan) -> None:
    server.plan = list(plan)
    np.testing.assert_array_equal(model.encode(TEXTS, role="none", manifest=MANIFEST), EXPECTED)
    assert len(server.bodies) == 7 + len(plan)


def test_an_endpoint_that_keeps_failing_is_an_error(server, model) -> None:
    server.plan = [503] * 100
    with pytest.raises(EmbedError, match="status 503: slow down"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    assert len(server.bodies) == FAST["tries"]


@pytest.mark.parametrize(
    ("status", "remedy"), [(400, "the server's words"), (401, "api_key_env"), (404, "`base_url`")]
)
def test_a_refusal_is_not_repeated(server, model, status, remedy) -> None:
    server.plan = [status]
    with pytest.raises(EmbedError, match=f"status {status}[\\s\\S]*do: .*{remedy}"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    assert len(server.bodies) == 1


def test_few_requests_are_in_flight(server, model) -> None:
    server.delay = 0.05
    model.encode(TEXTS, role="none", manifest=MANIFEST)
    assert 2 <= server.most <= 4
    assert model.strings_per_call == 3 * 4


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": None},
        {"hello": "world"},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": [{"index": 0, "embedding": "x"}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["0.1", "0.2"]}]},
        {"data": [{"index": 0, "embedding": [True, 0.2]}]},
        {"data": [{"index": 0, "embedding": [[0.1, 0.2]]}]},
        {"data": [{"index": 0, "embedding": [0.1, float("nan")]}]},
        {"data": [{"index": 0, "embedding": [0.1, 1e39]}]},
        {"data": [{"index": 0, "embedding": [0.1, 10**400]}]},
        {"data": [{"index": 1, "embedding": [1]}]},
        {"data": [{"index": "0", "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]},
        {"data": ["x"]},
    ],
    ids=lambda a: str(a)[:60],
)
def test_answers_without_the_vectors_are_refused_at_once(server, model, answer) -> None:
    server.answer = answer
    with pytest.raises(EmbedError, match="the endpoint's answer is of no use"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    assert len(server.bodies) == 1


def test_no_server_is_an_error_that_names_the_address(entry_of) -> None:
    entry = entry_of("openai", model="m", base_url="http://127.0.0.1:9/v1", endpoint_options=FAST)
    with pytest.raises(
        EmbedError, match=r"ConnectError[\s\S]*where: embedder 'openai', http://127.0.0.1:9/v1"
    ):
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
        assert m._connection._client is not None
    assert "leave this machine: they are sent to embeddings.example" in caplog.text
    client = m._connection._client
    m.close()
    assert client.is_closed


def test_an_endpoint_needs_an_address(entry_of) -> None:
    with pytest.raises(EmbedError, match="needs its address"):
        open_embedder(entry_of("openai"), catalogue_folder=Path(), fit_texts=list)


def vectors(n: int, **changes: Any) -> list[dict[str, Any]]:
    return [{"index": i, "embedding": [float(i), 1.0], **changes} for i in range(n)]


def test_vectors_without_numbers_count_in_the_order_of_their_arrival(server, model) -> None:
    server.answer = {"data": [{"embedding": d["embedding"]} for d in vectors(3)]}
    found = model.encode(TEXTS[:3], role="none", manifest=MANIFEST)
    np.testing.assert_array_equal(found, [[0, 1], [1, 1], [2, 1]])


@pytest.mark.parametrize("numbers", [[0, 0, 1], [0, None, 2], [1, 2, 3], [0, 1, 5]])
def test_vectors_whose_numbers_do_not_fit_are_refused(server, model, numbers) -> None:
    server.answer = {"data": [{**d, "index": n} for d, n in zip(vectors(3), numbers, strict=True)]}
    with pytest.raises(EmbedError, match="its vectors are numbered"):
        model.encode(TEXTS[:3], role="none", manifest=MANIFEST)


def test_base64_is_read_as_openai_writes_it(server, model) -> None:
    packed = base64.b64encode(np.array([0.25, -3.5], dtype="<f4").tobytes()).decode()
    server.answer = {"data": vectors(1, embedding=packed)}
    np.testing.assert_array_equal(model.encode(TEXTS[:1], role="none", manifest=MANIFEST), [[0.25, -3.5]])


def test_vectors_of_different_sizes_are_refused_within_and_between_answers(server, model) -> None:
    data = vectors(2)
    data[1]["embedding"] = [1.0]
    server.answer = {"data": data}
    with pytest.raises(EmbedError, match=r"not hold 2 vectors of one size: \[1, 2\] numbers"):
        model.encode(TEXTS[:2], role="none", manifest=MANIFEST)
    server.answer = {"data": vectors(1)}
    model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    server.answer = {"data": vectors(1, embedding=[1.0, 2.0, 3.0])}
    with pytest.raises(EmbedError, match=r"\[2, 3\] numbers"):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)


def test_vectors_of_another_size_than_dimensions_says_are_refused(server, entry_of) -> None:
    entry = entry_of("openai", model="m", base_url=server.url, dimensions=5)
    m = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    with pytest.raises(EmbedError, match=r"\[3, 5\] numbers"):
        m.encode(["a"], role="none", manifest=MANIFEST)


TOO_MANY = '{"message": "batch size 3 > maximum allowed batch size 2", "code": 413}'


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (413, TOO_MANY),
        (413, "payload too large"),
        (422, '{"error": "batch size 3 > maximum allowed batch size 2", "error_type": "Validation"}'),
        (400, '{"error": {"message": "at most 2 inputs are allowed"}}'),
        (400, '{"error": {"message": "Requested 300001 tokens, max 300000 tokens per request"}}'),
    ],
)
def test_a_request_of_too_many_texts_is_sent_in_parts(server, model, status, words) -> None:
    server.refuse = lambda texts: (status, words) if len(texts) > 2 else None
    np.testing.assert_array_equal(model.encode(TEXTS, role="none", manifest=MANIFEST), EXPECTED)
    before = len(server.bodies)
    np.testing.assert_array_equal(model.encode(TEXTS, role="none", manifest=MANIFEST), EXPECTED)
    asked = [len(b["input"]) for b in server.bodies[before:]]
    if words == "payload too large":  # which may be one long text: the next requests are as large as before
        assert sorted(asked) == [1] * 6 + [2] * 7 + [3] * 6
    else:
        assert asked == [2] * 10


def test_a_single_text_that_is_too_long_is_named_and_no_other(server, model) -> None:
    long = '{"error": {"message": "This model\'s maximum context length is 8 tokens"}}'
    server.refuse = lambda texts: (400, long) if any("number 4" in t for t in texts) else None
    with pytest.raises(EmbedError, match=r"finds a single text too long[\s\S]*text number 4!!!!"):
        model.encode(TEXTS, role="none", manifest=MANIFEST)


def test_a_text_that_is_refused_for_what_it_says_is_named(server, model) -> None:
    server.refuse = lambda texts: (400, "content_filter: no") if any("number 4" in t for t in texts) else None
    said = (
        r"the endpoint refuses a text for what it says: [^\n]*content_filter: no\n"
        rf"\s*where: embedder 'openai', {server.url}, 20 characters: 'I: text number 4!!!!'\n"
        r"\s*do: leave this text out of the dataset"
    )
    with pytest.raises(EmbedError, match=said):
        model.encode(TEXTS, role="none", manifest=MANIFEST)


def test_an_answer_without_a_vector_names_its_text_and_what_came(server, model) -> None:
    server.answer = {"data": [{"index": 0, "embedding": "x" * 70}]}
    said = (
        rf"of no use: a vector is {'x' * 60}\n\s*where: embedder 'openai', {server.url}, "
        r"text 'I: text number 0'\n[\s\S]*\"embedding\": \[0.1, ...\][\s\S]*do: look at the server"
    )
    with pytest.raises(EmbedError, match=said):
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)


@pytest.mark.parametrize("code", [502, "rate_limit_exceeded"])
def test_an_error_within_a_good_answer_is_waited_for(server, model, code) -> None:
    server.refuse = lambda texts: (
        (200, json.dumps({"error": {"code": code, "message": "x"}})) if len(server.bodies) < 3 else None
    )
    assert len(model.encode(TEXTS[:1], role="none", manifest=MANIFEST)) == 1
    assert len(server.bodies) == 3


def test_lone_surrogates_are_sent_as_question_marks(server, model) -> None:
    model.encode(["a \ud800 b"], role="none", manifest=MANIFEST)
    assert server.bodies[0]["input"] == ["I: a ? b"]


@pytest.mark.parametrize("around", ["\n", "\r\n", " "])
def test_the_key_is_sent_without_blanks_around_it_and_never_shown(
    server, entry_of, monkeypatch, caplog, around
) -> None:
    monkeypatch.setenv("TEST_EMBED_KEY", f"made-up-key-123{around}")
    entry = entry_of(
        "openai", model="m", base_url=server.url, api_key_env="TEST_EMBED_KEY", endpoint_options=FAST
    )
    m = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    server.refuse = lambda texts: (400, "no key like made-up-key-123")
    with pytest.raises(EmbedError, match=r"no key like \*\*\*"):
        m.encode(["a"], role="none", manifest=MANIFEST)
    assert server.keys == ["Bearer made-up-key-123"]
    assert "made-up-key-123" not in caplog.text


def test_waiting_options_are_no_identity_of_an_embedder(entry_of) -> None:
    one = entry_of("openai", model="m", base_url="http://127.0.0.1:1/v1")
    other = one.model_copy(update={"endpoint_options": {"tries": 2, "timeout_s": 3, "concurrency": 9}})
    assert identity("embedder", one) == identity("embedder", other)


def test_a_refused_text_does_not_make_other_requests_smaller(server, model) -> None:
    refusal = '{"error": {"code": "content_filter", "message": "content filter triggered"}}'
    server.refuse = lambda texts: (400, refusal) if any("number 4" in t for t in texts) else None
    with pytest.raises(EmbedError, match="refuses a text for what it says"):
        model.encode(TEXTS, role="none", manifest=MANIFEST)
    server.refuse = lambda texts: None
    before = len(server.bodies)
    model.encode(TEXTS, role="none", manifest=MANIFEST)
    assert sorted(len(b["input"]) for b in server.bodies[before:]) == [2, *[3] * 6]


def test_an_endpoints_errors_name_the_embedder(server, model) -> None:
    server.refuse = lambda texts: (401, "no")
    with pytest.raises(EmbedError) as caught:
        model.encode(TEXTS[:1], role="none", manifest=MANIFEST)
    assert caught.value.where.startswith("embedder 'openai', http")
