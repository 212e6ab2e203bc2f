"""Given the same vectors, a cell's score is mteb's own, to the last digit, for every task type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eq_chain import LEGACY, ORIGINAL, Chain, independent
from eq_tasks import KINDS, data_of, make_task, rewrite_data

from stressbed.config.entries import EmbedderEntry

ENTRY = EmbedderEntry(id="random", backend="random", model="random", instructions={"query": "Find: "})
CHAIN_KINDS = [k for k in KINDS if k != "InstructionRetrieval"]
MEAN_OF_ITEMS = {
    "Classification", "MultilabelClassification", "Clustering", "ClusteringLegacy", "Summarization",
    "Retrieval", "RetrievalMRR", "Reranking",
}  # fmt: skip


def mteb_directly(kind: str, encoder: Any, *, transformed: bool) -> dict[str, Any]:
    """Scores of a task object of mteb that our code never touched."""
    if kind != "ClusteringLegacy":
        return make_task(kind, transformed=transformed).evaluate(encoder, "test", encode_kwargs={})
    import mteb
    from datasets import Dataset, DatasetDict

    task = type(mteb.get_task(LEGACY))(seed=42)
    table = data_of(kind)["default"]["test"]
    task.dataset = DatasetDict({"test": Dataset.from_dict(rewrite_data(table) if transformed else table)})
    task.data_loaded = True
    return task.evaluate(encoder, "test", encode_kwargs={})


@pytest.mark.parametrize("kind", CHAIN_KINDS)
def test_original_and_transformed_score_as_mteb_does(kind: str, tmp_path: Path) -> None:
    chain = Chain(tmp_path, kind, ENTRY)
    variant = chain.add()
    chain.embed()
    stats = chain.score()
    assert (stats.computed, stats.ok) == (2, 2)
    encoder = independent(ENTRY, chain.manifest, tmp_path)
    scores = {}
    for v in (ORIGINAL, variant):
        expected = mteb_directly(kind, encoder, transformed=v is variant)
        cell = chain.cell(v)
        found = {s["subset"]: s["score"] for s in cell["subsets"]}
        assert found == {s: float(e["main_score"]) * 100 for s, e in expected.items()}
        mains = [e["main_score"] for e in expected.values()]
        assert cell["score"] == float(np.mean(mains)) * 100
        for s in cell["subsets"]:
            shown = {k: v for k, v in expected[s["subset"]].items() if k in s["metrics"]}
            assert s["metrics"] == {k: float(v) for k, v in shown.items()}
            assert len(s["metrics"]) > 1
        scores[v] = cell["score"]
    assert scores[ORIGINAL] != scores[variant]


@pytest.mark.parametrize("kind", sorted(MEAN_OF_ITEMS))
def test_the_mean_of_the_items_is_the_score(kind: str, tmp_path: Path) -> None:
    chain = Chain(tmp_path, kind, ENTRY)
    chain.embed()
    chain.score()
    cell = chain.cell()
    (items,) = cell["items"]
    assert np.mean(items["values"]) * 100 == pytest.approx(cell["score"], abs=5e-4)  # retrieval: 5 digits
    assert len(items["values"]) > 2
    assert items["ids"] is None or len(items["ids"]) == len(items["values"])


def test_the_f1_of_bitext_is_the_mean_over_its_sentences(tmp_path: Path) -> None:
    chain = Chain(tmp_path, "BitextMining", ENTRY)
    chain.embed()
    chain.score()
    by_metric = {i["metric"]: i["values"] for i in chain.cell()["items"]}
    assert set(by_metric) == {"correct", "f1", "similarity"}
    assert np.mean(by_metric["f1"]) * 100 == pytest.approx(chain.cell()["score"], abs=1e-9)
    assert np.mean(by_metric["correct"]) * 100 == pytest.approx(
        chain.cell()["subsets"][0]["metrics"]["accuracy"] * 100
    )


@pytest.mark.parametrize("normalise", [True, False])
def test_the_best_of_several_similarities_can_be_found_again(normalise: bool, tmp_path: Path) -> None:
    from sklearn.metrics import average_precision_score

    entry = EmbedderEntry(id="r", backend="random", model="random", normalise=normalise, dimensions=6)
    chain = Chain(tmp_path, "PairClassification", entry)
    chain.embed()
    chain.score()
    labels = np.array(data_of("PairClassification")["default"]["test"]["label"])
    found = {
        i["metric"]: average_precision_score(
            labels, np.array(i["values"]) * (-1 if i["metric"].endswith("distance") else 1)
        )
        for i in chain.cell()["items"]
    }
    assert max(found.values()) * 100 == pytest.approx(chain.cell()["score"], abs=1e-9)
    assert {"similarity", "manhattan_distance"} <= set(found)
    # With vectors of length one, cosine, dot product and Euclidean distance rank alike.
    assert len(found) == 2 if normalise else len(found) > 2


def test_aggregation_over_subsets_is_that_of_mteb_results(tmp_path: Path) -> None:
    from mteb.results import TaskResult

    chain = Chain(tmp_path, "STSMany", ENTRY)
    chain.embed()
    chain.score()
    task = make_task("STSMany")
    scores = {"test": task.evaluate(independent(ENTRY, chain.manifest, tmp_path), "test", encode_kwargs={})}
    result = TaskResult.from_task_results(task, scores, evaluation_time=0.0)
    assert chain.cell()["score"] == pytest.approx(result.get_score() * 100, abs=1e-12)
    assert len(chain.cell()["subsets"]) == 3


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_similarity_function_reaches_the_metric(similarity: str, tmp_path: Path) -> None:
    entry = EmbedderEntry(
        id="tf", backend="random", model="random", similarity=similarity, normalise=False, dimensions=4
    )
    chain = Chain(tmp_path, "STR", entry)  # main score: the model's own similarity
    chain.embed()
    chain.score()
    encoder = independent(entry, chain.manifest, tmp_path)
    expected = make_task("STR").evaluate(encoder, "test", encode_kwargs={})["default"]
    assert chain.cell()["score"] == float(expected["spearman"]) * 100


def test_a_followed_instruction_task_of_mteb_scores_the_same(tmp_path: Path) -> None:
    """InstructionRetrieval is no type of the catalogue, but a query's instruction takes the same way."""
    from stressbed.score.evaluate import evaluate_task
    from stressbed.score.lookup import LookupEncoder

    encoder = independent(ENTRY, {"task_type": "Retrieval", "dataset": "x"}, tmp_path)
    expected = make_task("InstructionRetrieval").evaluate(encoder, "test", encode_kwargs={})
    seen: list[str] = []

    class Stored:
        def index(self, keys: Any) -> Any:
            return np.arange(len(keys))

        def rows(self, positions: Any) -> Any:
            return np.ones((len(positions), 4), np.float32)

    class Listening(LookupEncoder):
        def encode(self, inputs: Any, **kwargs: Any) -> Any:
            super().encode(inputs, **kwargs)
            seen.extend(inputs.dataset["text"][:])
            return encoder.encode(inputs, **kwargs)

    (found,) = evaluate_task(
        make_task("InstructionRetrieval"),
        Listening(Stored(), contexts={}),
        subsets=["default"],
        splits=["test"],
    )
    assert found.metrics["ndcg_at_10"] == float(expected["default"]["main_score"])
    assert any("Prefer what is about" in s for s in seen)
