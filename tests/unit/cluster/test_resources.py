"""What jobs ask a cluster for."""

from __future__ import annotations

from pathlib import Path

import pytest

from stressbed.check import load_run
from stressbed.config.entries import DatasetEntry, EmbedderEntry, GeneratorEntry
from stressbed.config.load import Plan, read_config
from stressbed.resources import (
    BASE_MB,
    LONGEST,
    UNKNOWN_PARAMETERS,
    UNKNOWN_TEXTS,
    Needs,
    bytes_per_parameter,
    gpus_of,
    parameters_of,
    texts_of,
    weights_mb,
)

ROOT = Path(__file__).resolve().parents[3]
STAGES = sorted(BASE_MB)


@pytest.fixture(scope="module")
def english() -> Plan:
    return load_run(read_config(ROOT / "config" / "hteb-english.yaml"), base=ROOT)


def generator(**kw) -> GeneratorEntry:
    return GeneratorEntry(**{"id": "g", "engine": "vllm", "model": "m", **kw})


def embedder(**kw) -> EmbedderEntry:
    return EmbedderEntry(**{"id": "e", "backend": "sentence-transformers", "model": "m", **kw})


def wildcards(stage: str, plan: Plan) -> dict[str, str]:
    return {
        "dataset": plan.config.datasets[0],
        "embedder": plan.config.embedders[0],
        "generator": plan.generators[0],
        "judge": plan.generators[0],
    }


@pytest.mark.parametrize("stage", STAGES)
def test_a_second_attempt_gets_twice_the_memory_and_more_time(stage, english):
    needs, at = Needs(english), wildcards(stage, english)
    first, second = (needs.mem_mb(stage, at, n) for n in (1, 2))
    assert second == 2 * first
    once, again = (needs.runtime(stage, at, n) for n in (1, 2))
    assert again == min(LONGEST, 2 * once)
    assert again > once or once == LONGEST


@pytest.mark.parametrize("stage", STAGES)
def test_no_stage_asks_for_less_than_its_base_or_for_longer_than_a_day(stage, english):
    needs, at = Needs(english), wildcards(stage, english)
    assert needs.mem_mb(stage, at) >= BASE_MB[stage]
    assert 10 <= needs.runtime(stage, at, 5) <= LONGEST


def test_a_larger_model_asks_for_more_memory_and_time(english):
    needs = Needs(english)
    dataset = english.config.datasets[0]
    small, large = ({"dataset": dataset, "embedder": e} for e in ("all-minilm-l12-v2", "qwen3-embedding-8b"))
    assert needs.mem_mb("embed", large) > needs.mem_mb("embed", small) + 10_000
    assert needs.runtime("embed", large) > needs.runtime("embed", small)
    assert needs.mem_mb("score", large) == needs.mem_mb("score", small)


def test_a_larger_dataset_asks_for_more_memory_and_time(english):
    needs, sizes = (
        Needs(english),
        {d: texts_of(english.catalogue.datasets[d]) for d in english.config.datasets},
    )
    small, large = (
        {"dataset": d, "embedder": "qwen3-embedding-8b"}
        for d in (min(sizes, key=sizes.get), max(sizes, key=sizes.get))
    )
    for stage in ("embed", "score"):
        assert needs.mem_mb(stage, large) > needs.mem_mb(stage, small)
        assert needs.runtime(stage, large) > needs.runtime(stage, small)


def test_a_job_of_all_datasets_asks_for_the_largest_ones_memory_and_everyones_time(english):
    needs = Needs(english)
    one = {"embedder": "all-minilm-l12-v2"}
    each = [{**one, "dataset": d} for d in english.config.datasets]
    assert needs.mem_mb("embed", one) == max(needs.mem_mb("embed", at) for at in each)
    assert needs.runtime("embed", one) > max(needs.runtime("embed", at) for at in each)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (generator(), 1),
        (generator(engine="transformers"), 1),
        (generator(engine_options={"tensor_parallel_size": 4}), 4),
        (generator(engine="openai"), 0),
        (generator(engine="fake"), 0),
        (embedder(), 1),
        (embedder(backend="mteb"), 1),
        (embedder(backend="tf"), 0),
        (embedder(backend="wordllama"), 0),
    ],
)
def test_only_networks_on_this_machine_ask_for_gpus(model, expected):
    assert gpus_of(model) == expected
    assert (weights_mb(model) > 0) == (expected > 0)


@pytest.mark.parametrize("stage", ["generate", "embed", "judge"])
def test_stages_with_models_ask_for_gpus_and_no_others(stage):
    assert "gpu" in Needs.of(None, stage)  # type: ignore[arg-type]
    assert all("gpu" not in Needs.of(None, s) for s in set(STAGES) - {"generate", "embed", "judge"})


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("org/gemma-3-27b-it-int4-awq", 27e9),
        ("Qwen/Qwen3-0.6B", 0.6e9),
        ("org/SmolLM2-135M-Instruct", 135e6),
        ("org/mixtral-8b-of-56b", 56e9),
        ("intfloat/e5-small", UNKNOWN_PARAMETERS),
        ("org/b2b-4bit", UNKNOWN_PARAMETERS),
    ],
)
def test_a_models_size_is_read_off_its_name_where_its_entry_has_none(name, parameters):
    assert parameters_of(generator(model=name)) == int(parameters)
    assert parameters_of(generator(model=name, parameters=7)) == 7


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"model": "x-7b", "dtype": "float32"}, 4.0),
        ({"model": "x-7b", "dtype": "bfloat16"}, 2.0),
        ({"model": "x-7b-int4-awq", "dtype": "bfloat16"}, 0.5),
        ({"model": "x-7b-AWQ", "dtype": "auto"}, 0.5),
        ({"model": "x-7b-w8a8", "dtype": "bfloat16"}, 1.0),
        ({"model": "x-7b-Q4_1", "dtype": "float32", "gguf_file": "f.gguf"}, 4.0),
    ],
)
def test_a_weights_bytes_follow_number_type_and_quantisation(options, expected):
    assert bytes_per_parameter(generator(**options)) == expected


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, UNKNOWN_TEXTS),
        ({"n_texts": 70}, 70),
        ({"row_limit": 30}, 30),
        ({"n_texts": 70, "row_limit": 30}, 30),
    ],
)
def test_a_datasets_size_is_what_its_entry_knows(known, expected):
    entry = DatasetEntry(
        id="d", task_type="STS", languages={"default": ["eng-Latn"]}, main_score="cosine_spearman", **known
    )
    assert texts_of(entry) == expected
