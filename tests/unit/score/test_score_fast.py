"""Slow paths taken out: equal numbers, and nothing left behind."""

from __future__ import annotations

import numpy as np
import pytest
from eq_tasks import make_task
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.score.evaluate import limited_threads
from stressbed.score.fast import InMemory, by_pattern, fast, remembered
from stressbed.score.lookup import LookupEncoder

matrices = st.tuples(st.integers(1, 30), st.integers(1, 5), st.integers(0, 2**32 - 1))


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_ranking_each_pattern_once_gives_scikit_learns_number(shape: tuple[int, int, int]) -> None:
    from sklearn.metrics import label_ranking_average_precision_score as lrap

    rows, labels, seed = shape
    rng = np.random.default_rng(seed)
    y_true, y_pred = (rng.integers(0, 2, (rows, labels)) for _ in range(2))
    try:
        expected = lrap(y_true, y_pred)
    except ValueError:  # one label: scikit-learn takes it for another format
        with pytest.raises(ValueError, match="format is not supported"):
            by_pattern(lrap)(y_true, y_pred)
        return
    assert by_pattern(lrap)(y_true, y_pred) == expected


@pytest.mark.parametrize(
    "kind", ["Classification", "MultilabelClassification", "Retrieval", "STS", "Summarization"]
)
def test_nothing_stays_behind(kind: str) -> None:
    from mteb import _create_dataloaders as loaders
    from mteb._evaluators import retrieval_metrics
    from mteb._evaluators.text import summarization_evaluator
    from mteb.abstasks import multilabel_classification

    modules = (loaders, retrieval_metrics, multilabel_classification, summarization_evaluator)
    before = [dict(vars(m)) for m in modules]
    task = make_task(kind)
    own, corpus = dict(vars(task)), task.dataset
    swapped = []

    def interrupted() -> None:
        with fast(task):
            swapped.extend(vars(m) != b for m, b in zip(modules, before, strict=True))
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        interrupted()
    assert any(swapped)
    assert [dict(vars(m)) for m in modules] == before
    assert dict(vars(task)) == own
    if kind == "Retrieval":
        assert not isinstance(corpus["default"]["test"]["corpus"], InMemory)


def test_documents_by_column_are_those_of_mteb() -> None:
    from mteb import _create_dataloaders as loaders
    from mteb.types import PromptType

    task = make_task("Retrieval")
    corpus = task.dataset["default"]["test"]["corpus"]
    rows = [dict(r) for r in corpus]
    rows[1] |= {"title": " Blank ", "text": "  spaces around  "}
    rows[2] |= {"title": "", "text": " \tno title\n"}
    table = type(corpus).from_list(rows)
    expected = loaders._prepare_dataset(table, task.metadata, prompt_type=PromptType.document)["text"][:]
    with fast(task):
        found = loaders._prepare_dataset(InMemory(table), task.metadata, prompt_type=PromptType.document)
    assert found["text"][:] == expected
    assert expected[1] == "Blank    spaces around"


def test_threads_are_those_of_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from threadpoolctl import threadpool_info

    before = torch.get_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with limited_threads():
        assert torch.get_num_threads() == 1
        assert {pool["num_threads"] for pool in threadpool_info()} <= {1}
    assert torch.get_num_threads() == before
    for nothing in ("0", "", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", nothing)
        with limited_threads():
            assert torch.get_num_threads() == before
    monkeypatch.delenv("OMP_NUM_THREADS")
    with limited_threads():
        assert torch.get_num_threads() == before


def test_a_correlation_is_computed_once_for_equal_lists() -> None:
    calls = []

    def correlation(x: list[float], y: list[float]) -> float:
        calls.append((x, y))
        return len(calls)

    once = remembered(correlation)
    assert [once([1, 2], [3, 4]), once([1, 2], [3, 4]), once([3, 4], [1, 2])] == [1, 1, 2]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_single_vectors_have_mtebs_cosine(seed: int) -> None:
    from mteb.similarity_functions import cos_sim

    vectors = np.random.default_rng(seed).normal(size=(6, 48)).astype(np.float32)
    encoder = LookupEncoder(None, contexts={})
    for a in vectors[:3]:
        for b in vectors[3:]:
            assert float(encoder.similarity(a, b)) == float(cos_sim(a, b))
