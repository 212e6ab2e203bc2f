"""Hashes of files: they follow contents, whatever names and times say, and a large file is read once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from stressbed import contents
from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.config.model_files import check_unchanged, model_files
from stressbed.contents import content_of, contents_below
from stressbed.errors import StressbedError


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(contents, "_known", {})
    monkeypatch.setattr(contents, "_read_from", set())


def test_the_same_contents_have_the_same_hash_wherever_they_lie(tmp_path: Path) -> None:
    for name in ("a/one", "b/two"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"x" * 10)
    assert content_of("a/one") == content_of("b/two")
    assert content_of("a") != content_of("b"), "names within a folder count"
    assert content_of("c") is None


@pytest.mark.parametrize("size", [10, contents.LARGE + 10])
def test_a_file_of_the_same_size_and_time_is_read_again(tmp_path: Path, size: int) -> None:
    (tmp_path / ".snakemake").mkdir()
    path = tmp_path / "f"
    path.write_bytes(b"a" * size)
    before, first = path.stat(), content_of(path)
    path.write_bytes(b"b" * size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert content_of(path) != first
    path.write_bytes(b"a" * size)
    assert content_of(path) == first


def test_a_large_file_is_read_once_by_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".snakemake").mkdir()
    path = tmp_path / "weights"
    path.write_bytes(b"a" * contents.LARGE)
    first = content_of(path)
    monkeypatch.setattr(contents, "_known", {})
    monkeypatch.setattr(contents, "_read_from", set())
    monkeypatch.setattr(contents, "file_digest", lambda _: pytest.fail("read again"))
    assert content_of(path) == first


@pytest.mark.parametrize("kept", ["", "{", "[]", '{"x": 1}', '{"x": [1, 2, 3]}'])
def test_damaged_hashes_are_made_again(tmp_path: Path, kept: str) -> None:
    file = tmp_path / contents.KEPT
    file.parent.mkdir(parents=True)
    file.write_text(kept)
    (tmp_path / "weights").write_bytes(b"a" * contents.LARGE)
    assert content_of("weights") is not None


def test_without_a_place_to_keep_hashes_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"a" * contents.LARGE)
    assert content_of("weights") is not None
    assert [p.name for p in tmp_path.iterdir()] == ["weights"]


def test_hidden_files_and_caches_do_not_count(tmp_path: Path) -> None:
    for name in ("m/a", "m/.git/b", "m/.hidden", "m/__pycache__/c", "m/sub/d"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert list(contents_below(tmp_path / "m")) == ["a", "sub/d"]


def embedder(model: str, **values: object) -> EmbedderEntry:
    return EmbedderEntry(id="e", model=model, **{"backend": "sentence-transformers", **values})  # type: ignore[arg-type]


def test_the_files_of_a_model_are_those_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for name in ("config.json", "model.safetensors", "README.md", "model.onnx"):
        (tmp_path / "model" / name).write_text(name)
    found = model_files(embedder("./model"), tmp_path)
    assert list(found or {}) == ["config.json", "model.safetensors"]
    shutil.move(tmp_path / "model", tmp_path / "moved")
    assert model_files(embedder("./moved"), tmp_path) == found
    generator = GeneratorEntry(id="g", engine="transformers", model="./moved")
    assert model_files(generator, tmp_path) == found


@pytest.mark.parametrize(
    "entry",
    [
        embedder("some/hub-id"),
        embedder("random", backend="random"),
        embedder("model", backend="openai", base_url="http://127.0.0.1:1/v1"),
        embedder("package:no_such_package/model"),
    ],
    ids=["hub", "without a model", "endpoint", "no such package"],
)
def test_others_have_no_files(tmp_path: Path, entry: EmbedderEntry) -> None:
    (tmp_path / "random").mkdir()
    (tmp_path / "model").mkdir()
    assert model_files(entry, tmp_path) is None


def test_a_job_refuses_a_model_that_changed_since_the_run_began(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").write_text("a")
    files = model_files(embedder("./model"), tmp_path)
    check_unchanged(embedder("./model"), tmp_path, files)
    (tmp_path / "model" / "weights.bin").write_text("b")
    with pytest.raises(StressbedError, match="files have changed since the run was started") as e:
        check_unchanged(embedder("./model"), tmp_path, files)
    assert "weights.bin" in str(e.value)
