"""Ratings from vLLM's own OpenAI-compatible server on loopback, guided in both ways."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest
from rating_requests import SCALE, ratings
from smollm2_requests import keys, smollm2
from vllm_server import serving

from stressbed.config.entries import GeneratorEntry
from stressbed.generate.engines import open_engine

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="needs vllm: it is not installed"),
]


@pytest.fixture(scope="module")
def embedded(store):
    engine = open_engine(smollm2("transformers"), cache=store, folder=store)
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def server(embedded) -> Iterator[str]:
    with serving(embedded.files.path) as address:
        yield address


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
