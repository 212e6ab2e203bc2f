"""Options of engines: checked before any work, and part of an identity only if they decide answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from stressbed.check.models import check_embedder, check_generator
from stressbed.config.catalogue import identity
from stressbed.config.engine_options import OPTIONS, QUANTIZATION, VLLM, WAITING, gpus_of_copy, with_defaults
from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.endpoint.connection import Patience


def entry(engine="vllm", **kw):
    kw = {"id": "g", "engine": engine, "model": "a/b", "revision": "1", **kw}
    return GeneratorEntry(**kw, **({"base_url": "http://127.0.0.1:1/v1"} if engine == "openai" else {}))


def said(one):
    found = check_generator if isinstance(one, GeneratorEntry) else check_embedder
    return "\n".join(map(str, found(one, Path("c.yaml"))))


def embedder(**kw):
    return EmbedderEntry(
        **{"id": "e", "backend": "sentence-transformers", "model": "a/b", "revision": "1", **kw}
    )


@pytest.mark.parametrize("engine", ["vllm", "transformers", "fake"])
def test_an_unknown_option_is_told_with_those_there_are(engine):
    message = said(entry(engine, engine_options={"no_such_option": 1}))
    assert f"engine `{engine}` has no option 'no_such_option'" in message
    assert all(name in message for name in OPTIONS[engine])


def test_a_misspelt_option_is_guessed():
    assert "did you mean 'tensor_parallel_size'" in said(entry(engine_options={"tensor_paralel_size": 2}))


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"gpu_memory_utilization": 1.5}, "a number above 0 up to 1"),
        ({"gpu_memory_utilization": 0}, "a number above 0 up to 1"),
        ({"gpu_memory_utilization": "0.9"}, "a number above 0 up to 1"),
        ({"tensor_parallel_size": 0}, "a whole number from 1"),
        ({"tensor_parallel_size": 2.0}, "a whole number from 1"),
        ({"tensor_parallel_size": True}, "a whole number from 1"),
        ({"max_model_len": -1}, "a whole number from 1"),
        ({"enable_prefix_caching": 1}, "true or false"),
        ({"kv_cache_dtype": "int3"}, "fp8"),
        ({"guided_backend": "lmql"}, "xgrammar"),
        ({"attention_backend": ""}, "a word"),
        ({"max_num_seqs": None}, "a whole number from 1"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(options, allowed):
    message = said(entry(engine_options=options))
    assert next(iter(options)) in message
    assert allowed in message


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("vllm", {"gpu_memory_utilization": 1, "template_enable_thinking": False, "max_num_seqs": 64}),
        ("vllm", {"guided_backend": "guidance", "attention_backend": "FLASHINFER", "enforce_eager": True}),
        ("transformers", {"device": "cuda:1", "cache_gib": 4, "template_x": "y"}),
        ("openai", {"timeout_s": 30, "any_field_of_the_endpoint": "x"}),
        ("openai", {"temperature": None, "top_p": None, "seed": None, "longest_wait_s": 600}),
        ("fake", {"cut_rate": 0.5}),
    ],
)
def test_what_an_engine_takes_is_accepted(engine, options):
    assert said(entry(engine, engine_options=options)) == ""


def test_an_unknown_quantisation_is_told():
    assert "did you mean 'awq'" in said(entry(quantization="awk"))
    assert said(entry(quantization="fp8")) == ""


@pytest.mark.parametrize(
    ("kw", "message"),
    [
        ({"gpus_per_job": 3, "engine_options": {"tensor_parallel_size": 2}}, "3 GPUs cannot be shared"),
        ({"gpus_per_job": 1, "engine_options": {"tensor_parallel_size": 2}}, "1 GPUs cannot be shared"),
        (
            {"gpus_per_job": 6, "engine_options": {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}},
            "copies of the model on 4 GPUs each",
        ),
        ({"engine": "openai", "gpus_per_job": 2}, "no effect on engine 'openai'"),
        (
            {"engine": "transformers", "gpus_per_job": 2, "engine_options": {"device": "cuda:0"}},
            "names one device",
        ),
    ],
)
def test_gpus_of_a_job_must_hold_whole_copies(kw, message):
    assert message in said(entry(**kw))


def test_gpus_that_hold_whole_copies_are_accepted():
    fine = entry(gpus_per_job=4, engine_options={"tensor_parallel_size": 2})
    assert said(fine) == ""
    assert gpus_of_copy(fine) == 2


@pytest.mark.parametrize(
    ("kw", "message"),
    [
        ({"backend": "random", "model": "random", "gpus_per_job": 2}, "no effect on backend 'random'"),
        ({"backend": "tf", "model": "tf", "attention": "sdpa"}, "no effect on backend 'tf'"),
        ({"attention": "flash_attention_2", "dtype": "float32"}, "16 bits"),
    ],
)
def test_settings_without_effect_on_an_embedder_are_told(kw, message):
    assert message in said(embedder(**kw))


def test_flash_attention_in_sixteen_bits_is_accepted():
    assert said(embedder(attention="flash_attention_2", dtype="bfloat16", batch_size="auto")) == ""


@pytest.mark.parametrize("batch", [0, "large"])
def test_a_batch_is_a_number_or_auto(batch):
    with pytest.raises(ValueError, match="batch_size"):
        embedder(batch_size=batch)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (entry(), entry(engine_options={"gpu_memory_utilization": 0.8, "enforce_eager": True}), True),
        (entry(), entry(engine_options={"tensor_parallel_size": 2}, gpus_per_job=8), True),
        (entry(), entry(engine_options={"guided_backend": "guidance"}), True),
        (entry(), entry(engine_options={"max_model_len": 100}), False),
        (entry(), entry(engine_options={"kv_cache_dtype": "fp8"}), False),
        (entry(), entry(engine_options={"template_enable_thinking": False}), False),
        (entry(), entry(dtype="bfloat16"), False),
        (entry("transformers"), entry("transformers", engine_options={"device": "cpu"}), True),
        (entry("transformers"), entry("transformers", engine_options={"cache_gib": 2}), True),
        (entry("fake"), entry("fake", engine_options={"log": "a.txt"}), True),
        (entry("fake"), entry("fake", engine_options={"cut_rate": 0.5}), False),
        (entry(), entry(engine_options={"load_format": "dummy"}), False),
        (entry("openai"), entry("openai", engine_options={"top_k": 5}), False),
        (entry("openai"), entry("openai", engine_options={"temperature": None}), False),
        (entry("openai"), entry("openai", engine_options={"limit_field": "max_completion_tokens"}), False),
        (entry("openai"), entry("openai", engine_options=dict.fromkeys(WAITING, 7)), True),
        (
            entry("openai"),
            entry("openai", concurrency=3, batch_size=9, api_key_env="A", spending_cap=1.0),
            True,
        ),
        (embedder(), embedder(batch_size="auto", gpus_per_job=4, attention="sdpa"), True),
        (embedder(), embedder(dtype="bfloat16"), False),
    ],
)
def test_only_what_decides_a_value_is_part_of_an_identity(one, other, same):
    kind = "generator" if isinstance(one, GeneratorEntry) else "embedder"
    assert (identity(kind, one) == identity(kind, other)) == same


def test_options_and_quantisations_are_those_of_the_installed_vllm():
    pytest.importorskip("vllm", reason="needs vllm: it is not installed")
    import dataclasses

    from vllm.engine.arg_utils import EngineArgs
    from vllm.model_executor.layers.quantization import QUANTIZATION_METHODS

    theirs = {f.name for f in dataclasses.fields(EngineArgs)}
    nested = {"guided_backend": "structured_outputs_config", "attention_backend": "attention_config"}
    assert {nested.get(name, name) for name in VLLM} - theirs == set()
    assert set(QUANTIZATION) <= set(QUANTIZATION_METHODS)


def test_the_patience_of_a_connection_is_what_its_options_say():
    assert Patience.of(with_defaults(WAITING, {})) == Patience()
    assert set(Patience.__dataclass_fields__) == set(WAITING)
    assert Patience.of(with_defaults(OPTIONS["openai"], {"tries": 3, "x": 1})) == Patience(tries=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tries": 0}, "a whole number from 1"),
        ({"tries": None}, "None is no value of 'tries'"),
        ({"timeout_s": 0}, "a number above 0"),
        ({"stream": True}, "answers are read as a whole"),
        ({"n": 3}, "one answer is read"),
        ({"model": "x"}, "a key of the entry"),
        ({"reasoning_effort": None}, "null for temperature, top_p, seed"),
        ({"template_x": None}, "an option of the chat template is null"),
    ],
)
def test_options_of_an_endpoint_that_cannot_be_meant_are_told(options, message):
    assert message in said(entry("openai", engine_options=options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tries": 0}, "a whole number from 1"),
        ({"timeuot_s": 3}, "did you mean 'timeout_s'"),
        ({"limit_field": 3}, "no option 'limit_field'"),
        ({"timeout_s": 300, "tries": 2, "wait_scale": 0.5, "longest_wait_s": 9, "concurrency": 2}, ""),
    ],
)
def test_options_of_an_embeddings_endpoint_are_checked(options, message):
    found = said(embedder(backend="openai", base_url="http://127.0.0.1:1/v1", endpoint_options=options))
    assert message in found if message else found == ""
    assert "no effect on backend" in said(embedder(endpoint_options={"tries": 2}))
