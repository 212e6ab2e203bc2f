import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fabricate import make_plan, write_cells

from stressbed.collect.cells import collect
from stressbed.collect.gold import read_golds
from stressbed.errors import StoreError


def freeze(folder, columns, task_type="STS", subset="default"):
    path = folder / "data" / "rows.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table(columns), path)
    tables = [{"subset": subset, "split": "test", "table": "rows", "path": "data/rows.parquet"}]
    manifest = {"dataset": "d", "task_type": task_type, "tables": tables, "source": "mteb", "task": "x"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("task_type", ["STS", "STR"])
def test_the_scores_of_pairs_are_read_by_row(tmp_path, task_type):
    freeze(tmp_path, {"sentence1": ["a", "b"], "sentence2": ["c", "d"], "score": [0.5, 4.0]}, task_type)
    assert read_golds(tmp_path) == {("default", "test"): {"0": 0.5, "1": 4.0}}


@pytest.mark.parametrize("name", ["label", "labels"])
def test_the_labels_of_pairs_are_read_whatever_their_column_is_called(tmp_path, name):
    freeze(tmp_path, {"sentence1": ["a", "b"], name: [0, 1]}, "PairClassification")
    assert read_golds(tmp_path)["default", "test"] == {"0": 0.0, "1": 1.0}


def test_a_task_of_mteb_says_which_of_two_columns_is_the_label(tmp_path):
    freeze(tmp_path, {"label": [7, 7], "labels": [0, 1]}, "PairClassification")
    path = tmp_path / "manifest.json"
    more = {"task": "TwitterURLCorpus", "revision": None, "subsets": ["default"], "splits": ["test"]}
    path.write_text(json.dumps(json.loads(path.read_text()) | more | {"main_score": "max_ap"}))
    assert read_golds(tmp_path)["default", "test"] == {"0": 0.0, "1": 1.0}


@pytest.mark.parametrize("task_type", ["Retrieval", "Classification", "BitextMining"])
def test_other_task_types_have_no_gold_per_pair(tmp_path, task_type):
    freeze(tmp_path, {"text": ["a"], "label": [1]}, task_type)
    assert read_golds(tmp_path) == {}


def test_labels_that_are_no_numbers_rank_nothing(tmp_path):
    freeze(tmp_path, {"label": ["yes", "no"]}, "PairClassification")
    assert read_golds(tmp_path) == {("default", "test"): {}}


def test_a_dataset_that_is_not_frozen_has_none(tmp_path):
    assert read_golds(tmp_path) == {}


def test_a_damaged_table_is_named(tmp_path):
    freeze(tmp_path, {"score": [1.0]})
    (tmp_path / "data" / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(StoreError, match="not readable"):
        read_golds(tmp_path)


def test_items_carry_the_gold_of_their_own_row_after_rows_were_dropped(tmp_path):
    plan = make_plan(tmp_path, embedders=("alpha",), transformations=("expansion",), seeds=(1,))
    freeze(tmp_path / "datasets" / "pairs", {"sentence1": ["a"] * 3, "score": [1.0, 2.0, 3.0]})

    def score(c):
        block = {"subset": "default", "split": "test", "unit": "pair", "metric": "cosine_similarity"}
        if c.dataset == "topics":
            return {"score": 1.0, "items": [block | {"unit": "experiment", "ids": None, "values": [0.5]}]}
        if c.variant.is_original:
            return {"score": 1.0, "items": [block | {"ids": None, "values": [0.1, 0.2, 0.3]}]}
        return {"score": 1.0, "dropped": 1, "items": [block | {"ids": ["0", "2"], "values": [0.5, 0.6]}]}

    write_cells(plan, score)
    out = plan.run_folder / "items.parquet"
    collect(plan=plan, scores_out=plan.run_folder / "scores.parquet", items_out=out)
    frame = pq.read_table(out).to_pandas()
    pairs = frame[frame["dataset"] == "pairs"]
    assert pairs["gold"].tolist() == [1.0, 2.0, 3.0, 1.0, 3.0]
    assert pairs["original"].tolist() == [0.1, 0.2, 0.3, 0.1, 0.3]
    assert frame.loc[frame["dataset"] == "topics", "gold"].isna().all()
