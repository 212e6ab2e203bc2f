"""Where model files come from, and what is said when they do not."""

from __future__ import annotations

import pytest

from stressbed.config.entries import GeneratorEntry, ModelSource
from stressbed.errors import ConfigError, EngineError
from stressbed.generate.engines import open_engine
from stressbed.models import model_folder


def test_a_folder_with_a_model_is_itself(tmp_path):
    (tmp_path / "models" / "m").mkdir(parents=True)
    (tmp_path / "models" / "m" / "config.json").write_text("{}")
    source = ModelSource(model="models/m")
    assert model_folder(source, cache=tmp_path, folder=tmp_path) == tmp_path / "models" / "m"
    absolute = ModelSource(model=str(tmp_path / "models" / "m"))
    assert model_folder(absolute, cache=tmp_path) == tmp_path / "models" / "m"


def test_a_sentence_transformers_folder_counts(tmp_path):
    (tmp_path / "modules.json").write_text("[]")
    assert model_folder(ModelSource(model="."), cache=tmp_path, folder=tmp_path) == tmp_path


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (ModelSource(model="./nowhere"), "does not exist"),
        (ModelSource(model="/no/such/folder"), "does not exist"),
        (ModelSource(model="a/b/c"), "does not exist"),
        (ModelSource(model="empty"), "holds no model"),
        (ModelSource(model="empty", gguf_file="x.gguf"), "GGUF file is missing"),
    ],
)
def test_what_is_missing_is_named(tmp_path, source, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(EngineError, match=message) as e:
        model_folder(source, cache=tmp_path / "store", folder=tmp_path)
    assert "empty" in str(e.value) or source.model.strip(".") in str(e.value)


def test_a_damaged_gguf_file_is_an_error_and_leaves_nothing(tmp_path):
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(EngineError, match="GGUF file could not be read"):
        model_folder(ModelSource(model="m.gguf"), cache=tmp_path / "store", folder=tmp_path)
    assert [p.name for p in (tmp_path / "store" / "models").iterdir() if not p.name.endswith(".lock")] == []


def test_a_package_that_is_not_installed(tmp_path):
    with pytest.raises(ConfigError, match="not installed"):
        model_folder(ModelSource(model="package:no_such_package"), cache=tmp_path)


def test_an_unreachable_hub_says_prefetch(tmp_path, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(EngineError, match="prefetch"):
        model_folder(ModelSource(model="someone/some-model", revision="abc"), cache=tmp_path, folder=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"engine_options": {"gpu_memory_utilization": 0.5}}, "no option"),
        ({"quantization": "awq"}, "unquantised"),
    ],
)
def test_settings_that_do_not_fit_the_embedded_engine(tmp_path, change, message):
    entry = GeneratorEntry(id="g", engine="transformers", model="m", **change)
    with pytest.raises(EngineError, match=message):
        open_engine(entry, cache=tmp_path, folder=tmp_path)
