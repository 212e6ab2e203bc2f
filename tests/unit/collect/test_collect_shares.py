"""What items of frozen datasets share: by task type, subset and split."""

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stressbed.collect.items import item_rows
from stressbed.collect.shares import read_shares
from stressbed.paths import Cell, Variant


def frozen(folder, task_type, rows, subsets=("default", "other")):
    """Write a manifest and texts: rows of (subset, split, field, row, text)."""
    folder.mkdir()
    (folder / "manifest.json").write_text(
        json.dumps({"task_type": task_type, "splits": ["test"], "subsets": list(subsets)})
    )
    frame = pd.DataFrame(rows, columns=["subset", "split", "field", "row", "text"])
    frame = frame.assign(text_id=range(len(frame)), position=0, side="both", language="eng-Latn")
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), folder / "texts.parquet")
    return folder


def pairs(subset, split, places):
    return [
        (subset, split, f"sentence{i + 1}", str(row), text)
        for row, place in enumerate(places)
        for i, text in enumerate(place)
    ]


@pytest.mark.parametrize("task_type", ["STS", "PairClassification", "BitextMining"])
def test_pairs_share_texts_within_a_subset_and_split(tmp_path, task_type):
    rows = [
        *pairs("default", "test", ["ab", "ac", "bc", "xy"]),
        *pairs("other", "test", ["ab", "cd"]),  # the same texts, but another subset
        *pairs("default", "train", ["ab", "ab"]),
    ]
    found = read_shares(frozen(tmp_path / "d", task_type, rows))
    assert found == {("default", "test"): {"0": "0 1", "1": "0 2", "2": "1 2"}, ("other", "test"): {}}


@pytest.mark.parametrize("task_type", ["Retrieval", "Reranking"])
def test_queries_with_the_same_text_are_told_and_instructions_and_documents_are_not(tmp_path, task_type):
    rows = [
        *(
            ("default", "test", "queries.text", q, text)
            for q, text in (("q1", "a"), ("q2", "a"), ("q3", "b"))
        ),
        *(("default", "test", "queries.instruction", q, "find") for q in ("q1", "q2", "q3")),
        *(("default", "test", "corpus.text", d, "b") for d in ("d1", "d2")),
    ]
    assert read_shares(frozen(tmp_path / "d", task_type, rows)) == {
        ("default", "test"): {"q1": "0", "q2": "0"}
    }


def test_a_summarised_document_is_told_by_its_own_text(tmp_path):
    rows = [
        ("default", "test", field, row, text)
        for row, held in (("0", ("a", "s")), ("1", ("b", "s")), ("2", ("a", "t")))
        for field, text in zip(("text", "human_summaries"), held, strict=True)
    ]
    found = read_shares(frozen(tmp_path / "d", "Summarization", rows))
    assert found == {("default", "test"): {"0": "0", "2": "0"}}


def test_experiments_and_datasets_that_are_not_there_share_nothing(tmp_path):
    rows = [("default", "test", "text", str(i), "a") for i in range(3)]
    assert read_shares(frozen(tmp_path / "d", "Classification", rows)) == {}
    assert read_shares(tmp_path / "none") == {}


def test_what_is_shared_stands_beside_the_items_of_its_place():
    def block(subset, unit="pair", metric="m"):
        return {"subset": subset, "split": "test", "unit": unit, "metric": metric, "values": [0.1, 0.2, 0.3]}

    record = {"items": [block("a"), block("b"), block("a", "experiment", "accuracy")]}
    held = {("a", "test"): {"0": "0 1", "2": "1"}, ("b", "test"): {"1": "0"}}
    cell = Cell("e", "d", Variant("g", "t", 1))
    rows = item_rows("r", cell, record, {}, shares=held).to_pandas()
    assert rows["shares"].where(rows["shares"].notna(), None).tolist() == [
        "0 1", None, "1", None, "0", None, None, None, None,
    ]  # fmt: skip
