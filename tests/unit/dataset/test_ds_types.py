"""Every task type from local files: the frozen task is the one that mteb would evaluate."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from ds_samples import TYPES, HashEncoder, assert_same, by_hand, entry_of, evaluate, tables_of

from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import record, strings_of
from stressbed.dataset.rewrite import rewrite
from stressbed.dataset.thaw import thaw

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module", params=TYPES)
def case(request, tmp_path_factory):
    tables, folder = tables_of(request.param), tmp_path_factory.mktemp("dataset")
    freeze(entry_of(request.param, tables, folder), folder, folder / "out")
    record(folder / "out")
    return request.param, tables, folder / "out"


def read(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    return pd.read_parquet(folder / "texts.parquet"), pd.read_parquet(folder / "inputs.parquet")


def test_scores_and_strings_are_those_of_mteb(case):
    task_type, tables, folder = case
    ours, theirs = HashEncoder(), HashEncoder()
    got = evaluate(thaw(folder), ours)
    expected = evaluate(by_hand(task_type, tables), theirs)
    assert_same(got, expected)
    assert ours.seen == theirs.seen
    texts, inputs = read(folder)
    listed = strings_of(texts, inputs, {})
    assert set(listed) == theirs.seen
    assert len(listed) == len(set(listed))


def test_a_rewritten_task_is_the_hand_made_task_over_rewritten_data(case):
    """`rewrite` and `strings_of` agree with mteb when every text is new."""
    _, _, folder = case
    texts, inputs = read(folder)
    new = {i: f"new {i}: {t.upper()} " for i, t in zip(texts["text_id"], texts["text"], strict=True)}
    task, encoder = thaw(folder), HashEncoder()
    rewrite(task, texts, new)
    evaluate(task, encoder)
    assert encoder.seen == set(strings_of(texts, inputs, new))
    assert all("new " in s for _, s in encoder.seen)


def test_the_list_of_texts_has_the_declared_schema(case):
    task_type, _, folder = case
    texts, inputs = read(folder)
    assert list(texts) == [
        "text_id",
        "subset",
        "split",
        "field",
        "row",
        "position",
        "side",
        "language",
        "text",
    ]
    assert texts["text_id"].tolist() == list(range(len(texts)))
    assert {str(texts[c].dtype) for c in ("text_id", "position")} == {"int64"}
    assert (texts["text"].str.strip() != "").all()
    assert set(texts["language"]) == {"eng-Latn"}
    assert not texts.duplicated(["subset", "split", "field", "row", "position"]).any()
    assert {i for ids in inputs["text_ids"] for i in ids} == set(texts["text_id"])
    sides = {f: set(g) for f, g in texts.groupby("field")["side"]}
    expected = {
        "Classification": {"text": {"query", "document"}},
        "MultilabelClassification": {"text": {"query", "document"}},
        "Clustering": {"text": {"both"}},
        "Summarization": {"human_summaries": {"document"}, "machine_summaries": {"query"}},
    }
    pair = {"sentence1": {"query"}, "sentence2": {"document"}}
    retrieval = {"queries.text": {"query"}, "queries.instruction": {"query"}, "corpus.title": {"document"},
                 "corpus.text": {"document"}}  # fmt: skip
    default = retrieval if task_type in {"Retrieval", "Reranking"} else pair
    assert sides == expected.get(task_type, default)


def test_rows_and_positions_lead_back_to_the_files(case):
    _, tables, folder = case
    texts, _ = read(folder)
    for _, t in texts.iterrows():
        table, _, column = t["field"].rpartition(".")
        rows = tables[table or t["split"]]
        row = next(r for r in rows if r["id"] == t["row"]) if table else rows[int(t["row"])]
        value = row[column]
        assert (value[t["position"]] if isinstance(value, list) else value) == t["text"]
