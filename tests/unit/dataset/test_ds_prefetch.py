"""What `prefetch` lists, and the store's copy of a frozen task."""

from __future__ import annotations

import json

import pytest
from ds_samples import entry_of, tables_of

from stressbed.dataset import freeze as module
from stressbed.dataset.freeze import freeze, kept_folder
from stressbed.dataset.thaw import read_manifest
from stressbed.errors import StoreError
from stressbed.prefetch import Requirement, code_repositories, forbids_commercial_use


@pytest.mark.parametrize(
    ("licence", "forbids"),
    [
        ("cc-by-nc-4.0", True),
        ("CC-BY-NC-SA-4.0", True),
        ("non-commercial", True),
        ("Noncommercial research licence", True),
        ("research-only", True),
        ("cc-by-4.0", False),
        ("apache-2.0", False),
        ("ncsa", False),
        ("MIT", False),
    ],
)
def test_a_licence_that_forbids_commercial_use_is_known_by_its_name(licence, forbids):
    assert forbids_commercial_use(licence) is forbids


def test_a_line_of_the_list_starts_with_what_a_reader_must_know():
    line = str(Requirement("embedder", "m", "hub", "o/m", "abc", "cc-by-nc-4.0", True, True))
    assert line == "GATED NON-COMMERCIAL embedder m: hub o/m at abc, licence cc-by-nc-4.0"


def test_code_that_a_config_names_in_other_repositories_is_found(tmp_path):
    auto_map = {
        "AutoModel": "other/code--model.M",
        "AutoConfig": "own.C",
        "AutoTokenizer": ["x/y--t.T", None],
    }
    (tmp_path / "config.json").write_text(json.dumps({"auto_map": auto_map}))
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"auto_map": {"AutoTokenizer": ["z/w--t.T", None]}})
    )
    assert code_repositories(tmp_path) == {"other/code", "x/y", "z/w"}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """An mteb entry whose data lie in the store already: frozen from local files in its place."""
    local = entry_of("STS", tables_of("STS"), tmp_path)
    entry = local.model_copy(update={"task": "STSBenchmark", "files": {}, "id": "first", "revision": "r"})
    freeze(local, tmp_path, kept_folder(entry, tmp_path / "store"))

    def hub(*_):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(module, "_load", hub)
    return entry, tmp_path


def test_a_frozen_task_is_copied_from_the_store_under_any_id(kept):
    entry, folder = kept
    freeze(entry, folder, folder / "a", store=folder / "store")
    renamed = entry.model_copy(update={"id": "second", "licence": "MIT"})
    manifest = freeze(renamed, folder, folder / "b", store=folder / "store")
    first = read_manifest(folder / "a")
    assert (first["dataset"], manifest["dataset"], manifest["licence"]) == ("first", "second", "MIT")
    assert first["content_hash"] == manifest["content_hash"]
    path = first["tables"][0]["path"]
    assert (folder / "a" / path).read_bytes() == (folder / "b" / path).read_bytes()


def test_another_limit_is_another_copy(kept):
    entry, folder = kept
    assert kept_folder(entry, folder) != kept_folder(entry.model_copy(update={"row_limit": 5}), folder)


def test_another_main_score_is_the_same_copy_and_needs_no_network(kept):
    entry, folder = kept
    other = entry.model_copy(update={"main_score": "cosine_pearson"})
    assert kept_folder(other, folder / "store") == kept_folder(entry, folder / "store")
    assert freeze(other, folder, folder / "c", store=folder / "store")["main_score"] == "cosine_pearson"


def test_a_damaged_copy_is_an_error_that_names_the_file(kept):
    entry, folder = kept
    table = kept_folder(entry, folder / "store") / "data" / "default" / "test" / "rows.parquet"
    table.write_bytes(table.read_bytes() + b"x")
    with pytest.raises(StoreError, match=r"rows\.parquet"):
        freeze(entry, folder, folder / "out", store=folder / "store")
    assert not (folder / "out" / "manifest.json").exists()
