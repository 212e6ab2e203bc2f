"""The paper's grid, planned without data: fast, and of the right size."""

from __future__ import annotations

import pytest
from plan_runs import ROOT

from stressbed.check import load_run
from stressbed.config.load import read_config
from stressbed.plan.build import forecast


@pytest.fixture(scope="module")
def english(tmp_path_factory):
    config = read_config(ROOT / "config" / "hteb-english.yaml")
    results = tmp_path_factory.mktemp("plan") / "results"
    return forecast(load_run(config | {"results": str(results)}, base=ROOT))


def test_the_grid_has_its_jobs_and_cells(english):
    assert english.stage("score").units == 8 * 19 * 25
    assert (english.stage("embed").jobs, english.stage("generate").jobs) == (8 * 19, 19)
    assert english.share_done == 0


def test_each_text_is_asked_about_12_times_and_not_30(english):
    per_text = {d.dataset: d.requests / d.unique for d in english.datasets}
    assert all(11 < n < 13 for n in per_text.values()), per_text
    once = [d for d in english.datasets if d.texts == d.unique]
    assert once
    assert all(d.naive / d.unique == pytest.approx(30, rel=0.001) for d in once)


def test_an_embedder_encodes_fewer_strings_than_25_variants_have(english):
    for d in english.datasets:
        assert 5 < d.strings / d.unique < 15, d


def test_numbers_are_marked_as_assumed(english):
    assert not english.stage("generate").exact
    assert not any(d.exact for d in english.datasets)
    assert not english.stage("embed").measured


def test_faster_devices_take_less_time(english):
    hours = english.other_devices
    assert hours["RTX 4090"] > hours["A100 80 GB"] > hours["H100 SXM"] > 0
    assert hours["A100 80 GB"] == pytest.approx(english.hours("gpu"))


def test_vectors_take_four_bytes_a_number(english):
    rows = {m.model: m for m in english.models}
    row = rows["qwen3-embedding-8b"]
    assert row.bytes / row.units == pytest.approx(4 * 4096 + 32)
    assert rows["all-minilm-l12-v2"].bytes / rows["all-minilm-l12-v2"].units == pytest.approx(4 * 384 + 32)
