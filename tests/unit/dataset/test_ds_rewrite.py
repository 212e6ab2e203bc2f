"""`rewrite` touches what it is told to, and drops rows so that the rest stays a valid task."""

from __future__ import annotations

import pandas as pd
import pytest
from ds_samples import HashEncoder, assert_same, entry_of, evaluate, tables_of

from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import record, strings_of
from stressbed.dataset.rewrite import rewrite
from stressbed.dataset.thaw import thaw
from stressbed.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def ready(tmp_path):
    def make(task_type, **changes):
        tables = {**tables_of(task_type), **changes}
        freeze(entry_of(task_type, tables, tmp_path), tmp_path, tmp_path / "out")
        record(tmp_path / "out")
        texts = pd.read_parquet(tmp_path / "out" / "texts.parquet")
        inputs = pd.read_parquet(tmp_path / "out" / "inputs.parquet")
        return tables, texts, inputs, lambda: thaw(tmp_path / "out")

    return make


def find(texts: pd.DataFrame, **where) -> int:
    for column, value in where.items():
        texts = texts[texts[column] == value]
    return int(texts["text_id"].iloc[0])


def test_one_text_changes_and_nothing_else(ready):
    _, texts, _, fresh = ready("Retrieval")
    task, plain = fresh(), fresh()
    rewrite(task, texts, {find(texts, field="corpus.title", row="d1"): "Neu"})
    new, old = task.dataset["default"]["test"], plain.dataset["default"]["test"]
    changed = [i for i, (a, b) in enumerate(zip(new["corpus"], old["corpus"], strict=True)) if a != b]
    assert changed == [1]
    assert new["corpus"][1] == {**old["corpus"][1], "title": "Neu"}
    assert new["corpus"].column_names == old["corpus"].column_names
    assert new["corpus"].features == old["corpus"].features
    assert new["queries"].to_list() == old["queries"].to_list()
    assert (new["relevant_docs"], new["top_ranked"]) == (old["relevant_docs"], old["top_ranked"])


def test_a_summary_is_replaced_at_its_position(ready):
    _, texts, _, fresh = ready("Summarization")
    task, plain = fresh(), fresh()
    rewrite(task, texts, {find(texts, field="machine_summaries", row="2", position=3): "new"})
    got = task.dataset["test"]["machine_summaries"][2]
    assert got == [*plain.dataset["test"]["machine_summaries"][2][:3], "new",
                   *plain.dataset["test"]["machine_summaries"][2][4:]]  # fmt: skip


def test_no_replacement_gives_the_originals_score(ready):
    _, texts, _, fresh = ready("Classification")
    task = fresh()
    rewrite(task, texts, {})
    assert_same(evaluate(task, HashEncoder()), evaluate(fresh(), HashEncoder()))


@pytest.mark.parametrize(
    "task_type", ["STS", "PairClassification", "BitextMining", "Clustering", "Summarization"]
)
def test_the_row_of_a_dropped_text_is_gone(ready, task_type):
    _, texts, inputs, fresh = ready(task_type)
    task, plain, encoder = fresh(), fresh(), HashEncoder()
    rewrite(task, texts, {}, dropped=[find(texts, row="1"), find(texts, row="3")])
    rows = plain.dataset["test"].to_list()
    assert task.dataset["test"].to_list() == [r for i, r in enumerate(rows) if i not in {1, 3}]
    evaluate(task, encoder)
    assert encoder.seen <= set(strings_of(texts, inputs, {}))


def test_a_dropped_test_row_goes_and_a_dropped_training_row_stays(ready):
    _, texts, inputs, fresh = ready("Classification")
    task, plain, encoder = fresh(), fresh(), HashEncoder()
    train = texts[texts["split"] == "train"]["text_id"].iloc[0]
    rewrite(task, texts, {int(train): "ignored"}, dropped=[int(train), find(texts, split="test", row="5")])
    assert task.dataset["train"].to_list() == plain.dataset["train"].to_list()
    assert len(task.dataset["test"]) == len(plain.dataset["test"]) - 1
    evaluate(task, encoder)
    assert encoder.seen <= set(strings_of(texts, inputs, {}))


def test_a_dropped_query_takes_its_judgements_and_candidates_along(ready):
    _, texts, _, fresh = ready("Reranking")
    task = fresh()
    rewrite(task, texts, {}, dropped=[find(texts, field="queries.instruction", row="q2")])
    data = task.dataset["default"]["test"]
    assert "q2" not in data["queries"]["id"][:]
    assert "q2" not in data["relevant_docs"]
    assert "q2" not in data["top_ranked"]
    assert len(data["queries"]) == len(data["relevant_docs"]) == len(data["top_ranked"]) == 7
    assert set(evaluate(task, HashEncoder())["test"]) == {"default"}


def test_a_query_whose_only_documents_are_dropped_is_dropped(ready):
    tables, texts, _, fresh = ready("Retrieval")
    relevant = [r["corpus_id"] for r in tables["qrels"] if r["query_id"] == "q0"]
    task = fresh()
    rewrite(task, texts, {}, dropped=[find(texts, field="corpus.text", row=d) for d in relevant])
    data = task.dataset["default"]["test"]
    assert not set(relevant) & set(data["corpus"]["id"][:])
    assert "q0" not in data["queries"]["id"][:]
    assert not any(set(relevant) & set(d) for d in data["relevant_docs"].values())


def test_wrong_ids_and_empty_remains_are_errors(ready):
    _, texts, _, fresh = ready("STS")
    with pytest.raises(DataError, match="not in the dataset's texts"):
        rewrite(fresh(), texts, {10_000: "x"})
    with pytest.raises(DataError, match="too few rows"):
        rewrite(fresh(), texts, {}, dropped=texts[texts["row"] != "0"]["text_id"].tolist())
    moved = texts.assign(row=[str(int(r) + 1) for r in texts["row"]])
    with pytest.raises(DataError, match="not where"):
        rewrite(fresh(), moved, dict.fromkeys(moved["text_id"].tolist(), "x"))


def test_all_queries_dropped_is_an_error(ready):
    _, texts, _, fresh = ready("Retrieval")
    with pytest.raises(DataError, match="no query is left"):
        rewrite(fresh(), texts, {}, dropped=texts[texts["field"] == "queries.text"]["text_id"].tolist())
