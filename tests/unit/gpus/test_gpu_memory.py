"""What is said when a model does not fit, and what is done when a batch does not."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace

import numpy as np
import pytest
from gpu_stubs import SmallMemory

from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.embed import probe
from stressbed.embed.encode import Item, encode_missing
from stressbed.embed.vectors import VectorStore
from stressbed.errors import EmbedError, EngineError
from stressbed.fit import GIB, Memory, Need, check, check_kernel, file_bytes, need_of, token_bytes
from stressbed.generate.engines.halving import in_halves

CONFIG = SimpleNamespace(
    num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8, head_dim=128, hidden_size=4096
)


def generator(**kw):
    return GeneratorEntry(**{"id": "g", "engine": "vllm", "model": "m", "dtype": "bfloat16", **kw})


def refused(need, memory, **kw):
    check(need, memory, where="generator 'g', m", do="take a quantised variant", error=EngineError, **kw)


def test_a_model_that_is_too_large_is_told_with_both_sizes():
    need, memory = Need(54 * GIB, 2 * GIB), Memory(23 * GIB, 24 * GIB)
    with pytest.raises(EngineError) as e:
        refused(need, memory, share=0.9)
    said = str(e.value)
    assert "at least 56.0 GiB" in said
    assert "weights 54.0 GiB" in said
    assert "21.6 GiB are available" in said
    assert "90% may be used" in said
    assert "generator 'g', m" in said
    assert "quantised" in said


@pytest.mark.parametrize(
    ("need", "memory", "share"),
    [
        (None, Memory(1, 1), 1.0),
        (Need(10 * GIB), None, 1.0),
        (Need(20 * GIB), Memory(23 * GIB, 24 * GIB), 0.9),
        (Need(0.9 * 24 * GIB), Memory(24 * GIB, 24 * GIB), 0.9),
    ],
)
def test_what_fits_or_is_not_known_is_not_refused(need, memory, share):
    refused(need, memory, share=share)


def test_memory_that_others_use_is_not_available():
    with pytest.raises(EngineError, match=r"5\.0 GiB are available"):
        refused(Need(20 * GIB), Memory(5 * GIB, 24 * GIB), share=0.9)


def test_a_size_that_is_only_read_from_a_name_refuses_nothing_but_warns(caplog):
    refused(Need(100 * GIB, certain=False), Memory(20 * GIB, 24 * GIB))
    assert "100.0 GiB" in caplog.text
    assert "read from its name" in caplog.text


@pytest.mark.parametrize(
    ("entry", "gib", "certain"),
    [
        (generator(parameters=8 * 2**30), 16, True),
        (generator(parameters=8 * 2**30, dtype="float32"), 32, True),
        (generator(parameters=8 * 2**30, quantization="fp8"), 8, True),
        (generator(parameters=8 * 2**30, quantization="awq"), 4, True),
        (generator(model="a/m-8B-AWQ", parameters=8 * 2**30), 4, True),
        (generator(model="a/m-27b-it-int4-awq"), 27e9 / 2 / GIB, False),
    ],
)
def test_weights_follow_from_parameters_and_number_type(entry, gib, certain):
    need = need_of(entry, None)
    assert need.weights / GIB == pytest.approx(gib)
    assert need.certain == certain


def test_a_model_whose_size_nothing_tells_has_no_need():
    assert need_of(EmbedderEntry(id="e", backend="mteb", model="a/b"), None) is None


def test_gpus_share_weights_and_cache():
    entry = generator(parameters=8 * 2**30)
    one, four = (need_of(entry, None, config=CONFIG, tokens=8192, gpus=n) for n in (1, 4))
    assert one.cache == 2 * 32 * 8 * 128 * 2 * 8192
    assert four.total == pytest.approx(one.total / 4)
    fp8 = generator(parameters=8 * 2**30, engine_options={"kv_cache_dtype": "fp8"})
    assert need_of(fp8, None, config=CONFIG, tokens=8192).cache == one.cache / 2


def test_layers_with_a_sliding_window_keep_no_whole_prompt():
    kinds = ["sliding_attention"] * 30 + ["full_attention"] * 2
    config = SimpleNamespace(**vars(CONFIG), layer_types=kinds)
    assert token_bytes(config, "bfloat16") == token_bytes(CONFIG, "bfloat16") // 16


@pytest.mark.parametrize(
    ("config", "dtype", "factor"),
    [
        ({"dtype": "bfloat16"}, "bfloat16", 1),
        ({"torch_dtype": "bfloat16"}, "float32", 2),
        ({"torch_dtype": "float32"}, "float16", 0.5),
        ({"torch_dtype": "float16"}, "auto", 1),
        ({"torch_dtype": "float16", "quantization_config": {"bits": 4}}, "float32", 1),
        ({}, "float32", 1),
    ],
)
def test_files_count_as_what_they_become(tmp_path, config, dtype, factor):
    (tmp_path / "config.json").write_text(json.dumps(config))
    for i in range(2):
        (tmp_path / f"model-{i}.safetensors").write_bytes(bytes(1000))
    (tmp_path / "old.bin").write_bytes(bytes(5000))
    assert file_bytes(tmp_path, dtype) == 2000 * factor


def test_weights_that_lie_there_twice_count_once(tmp_path):
    for name, size in (("model-1", 10), ("model-2", 20), ("consolidated", 30)):
        (tmp_path / f"{name}.safetensors").write_bytes(bytes(size))
    weights = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))
    assert file_bytes(tmp_path, "auto") == 30
    (tmp_path / "model.safetensors.index.json").unlink()
    (tmp_path / "model.safetensors").write_bytes(bytes(25))
    assert file_bytes(tmp_path, "auto") == 25


def test_a_folder_without_weights_tells_nothing(tmp_path):
    assert file_bytes(tmp_path, "float32") is None


def test_a_kernel_that_is_missing_is_told():
    with pytest.raises(EmbedError, match=r"needs a CUDA device and the package flash-attn"):
        check_kernel("flash_attention_2", "bfloat16", "embedder 'e'", error=EmbedError, cuda=False)
    check_kernel("sdpa", "float32", "embedder 'e'", error=EmbedError, cuda=False)
    check_kernel(None, "float32", "embedder 'e'", error=EmbedError, cuda=False)


def limited(most, tried):
    def encode(n):
        tried.append(n)
        if n > most:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    return encode


@pytest.mark.parametrize(
    ("most", "available", "size", "tries"),
    [
        (10**6, 10**6, 512, [128, 256, 512]),
        (300, 10**6, 256, [128, 256, 512]),
        (64, 10**6, 64, [128]),
        (10**6, 200, 128, [128]),
        (10**6, 100, 64, []),
    ],
)
def test_the_largest_batch_that_fits_is_found(most, available, size, tries):
    tried: list[int] = []
    assert probe.largest(limited(most, tried), start=64, available=available, where="e") == size
    assert tried == tries


def test_a_slow_try_is_the_last_one():
    times = iter([0.0, 1.0, 1.0, 7.0])
    assert (
        probe.largest(lambda n: None, start=64, available=1000, where="e", clock=lambda: next(times)) == 256
    )


def test_another_error_of_a_try_is_not_hidden():
    def broken(n):
        raise RuntimeError("index out of range")

    with pytest.raises(RuntimeError, match="index out of range"):
        probe.largest(broken, start=64, available=1000, where="e")


def test_trying_changes_the_batches_and_no_vector(tmp_path):
    items = [Item.of("", "none", f"{'x' * (i % 9)}{i}", f"{i:032x}") for i in range(200)]
    keys, found = [i.key for i in items], []
    for probing, most in ((False, 10**9), (True, 70)):
        model, store = SmallMemory(most), VectorStore(tmp_path / str(probing), "id", "")
        done = encode_missing(items, model, manifest={}, store=store, where="e/d", probing=probing)
        assert done.peak_batch == (64 if probing else 16)
        found.append(store.get_many(keys))
    np.testing.assert_array_equal(*found)


def test_a_pass_that_is_too_much_is_run_in_halves_in_order(caplog):
    caplog.set_level(logging.WARNING)
    ran: list[list[int]] = []

    def run(part):
        if len(part) > 2:
            raise MemoryError
        ran.append(part)

    in_halves(run, [[1, 2, 3, 4, 5], [6]], where="g")
    assert [i for part in ran for i in part] == [1, 2, 3, 4, 5, 6]
    assert "ran out with 5 requests at once; going on with 2" in caplog.text


def test_a_request_that_is_too_much_alone_is_an_error():
    def run(part):
        raise MemoryError

    with pytest.raises(EngineError, match="single request"):
        in_halves(run, [[1, 2]], where="g")
