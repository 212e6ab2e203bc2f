"""Where model files come from, and what is said when they do not."""

from __future__ import annotations

import hashlib

import pytest

from stressbed.config.entries import GeneratorEntry, ModelSource
from stressbed.errors import ConfigError, EngineError
from stressbed.generate.engines import open_engine
from stressbed.models import conversion_key, model_folder
from stressbed.sources import gguf_parts


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


def in_parts(folder, *, said=None):
    """A package `weights` whose file m.gguf lies in three parts in packages beside it."""
    whole = b"GGUF" + bytes(range(200))
    for i in range(3):
        data = folder / f"weights_part{i + 1}" / "data"
        data.mkdir(parents=True)
        (data / f"m.gguf.part0{i}").write_bytes(whole[i * 70 : (i + 1) * 70])
    (folder / "weights" / "data").mkdir(parents=True)
    found = hashlib.sha256(whole[:210]).hexdigest()
    (folder / "weights" / "data" / "SHA256SUMS").write_text(f"{found if said is None else said}  m.gguf\n")
    return ModelSource(model=str(folder / "weights"), gguf_file="m.gguf")


def left(store):
    return [p.name for p in (store / "models").iterdir() if not p.name.endswith(".lock")]


def test_parts_are_put_together_in_order_and_checked(tmp_path):
    source = in_parts(tmp_path)
    gguf = tmp_path / "weights" / "m.gguf"
    assert [p.name for p in gguf_parts(gguf)] == ["m.gguf.part00", "m.gguf.part01", "m.gguf.part02"]
    with pytest.raises(EngineError, match="GGUF file could not be read"):  # whole, but no real model
        model_folder(source, cache=tmp_path / "store")
    assert left(tmp_path / "store") == []
    key = conversion_key(gguf)
    (tmp_path / "weights_part2" / "data" / "m.gguf.part01").write_bytes(b"x")
    assert conversion_key(gguf) != key


@pytest.mark.parametrize("fault", ["damaged", "missing part", "another sum", "no sum"])
def test_parts_that_make_another_file_are_refused(tmp_path, fault):
    source = in_parts(tmp_path, said="0" * 64 if fault == "another sum" else None)
    second = tmp_path / "weights_part2" / "data" / "m.gguf.part01"
    if fault == "damaged":
        second.write_bytes(second.read_bytes()[:-1] + b"?")
    if fault == "missing part":
        second.unlink()
    if fault == "no sum":
        (tmp_path / "weights" / "data" / "SHA256SUMS").unlink()
    with pytest.raises(EngineError, match="parts of the GGUF file do not make the file"):
        model_folder(source, cache=tmp_path / "store")
    assert left(tmp_path / "store") == []
