import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fabricate import make_plan, write_transforms
from rapidfuzz.distance import Levenshtein

from stressbed.collect.drifts import collect_drift
from stressbed.collect.schema import ITEM_DRIFT, ITEM_TEXTS, description
from stressbed.collect.texts import collect_texts, texts_of_items
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.paths import Variant

VARIANT = Variant("llm", "translation", 1)
HOSTILE = "<script>alert(1)</script> | a\nb \u202eright to left"


def freeze(results, dataset, task_type, rows, templates=None, **more):
    """Write what later stages read of a frozen dataset; `rows`: (subset, split, field, row, text)."""
    folder = results / "datasets" / dataset
    folder.mkdir(parents=True, exist_ok=True)
    manifest = {"task_type": task_type, "splits": ["test"], "subsets": ["default"], **more}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    names = ("subset", "split", "field", "row", "text")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    texts = pa.table({"text_id": range(len(rows)), **columns, "position": [0] * len(rows)})
    pq.write_table(texts, folder / "texts.parquet")
    templates = templates or [("none", ["", ""], [i]) for i in range(len(rows))]
    inputs = {
        "role": [t[0] for t in templates], "literals": [t[1] for t in templates],
        "text_ids": [t[2] for t in templates], "strip": [False] * len(templates),
    }  # fmt: skip
    pq.write_table(pa.table(inputs), folder / "inputs.parquet")
    return texts.to_pandas()


def sentence_pairs(results, task_type="STS"):
    rows = [("default", "test", f"sentence{k}", str(i), f"text {i}{k}") for i in range(3) for k in (1, 2)]
    return freeze(results, "pairs", task_type, rows)


def planned(tmp_path, **more):
    return make_plan(
        tmp_path, embedders=("alpha",), datasets={"pairs": {}}, transformations=("translation",), seeds=(1,),
        **more,
    )  # fmt: skip


def texts_of(plan):
    out = plan.run_folder / "item_texts.parquet"
    n = collect_texts(plan=plan, out=out)
    table = pq.read_table(out)
    assert table.schema.equals(ITEM_TEXTS)
    assert table.num_rows == n
    return table.to_pandas()


def test_every_text_of_a_pair_is_a_row_rewritten_or_not(tmp_path):
    plan = planned(tmp_path)
    sentence_pairs(tmp_path)
    change = {"text_id": 2, "text": HOSTILE, "target_language": "arb-Arab", "runaway": True, "empty": True}
    write_transforms(plan, "pairs", VARIANT, [change])
    frame = texts_of(plan)
    assert len(frame) == 6
    row = frame[(frame["item"] == "1") & (frame["field"] == "sentence1")].iloc[0]
    assert (row["original"], row["rewritten"], row["language"]) == ("text 11", HOSTILE, "ara-Arab")
    assert (row["flags"], row["outcome"]) == ("empty,runaway", "ok")
    assert row["length_ratio"] == pytest.approx(len(HOSTILE) / 7)
    assert row["edit_distance"] == pytest.approx(Levenshtein.normalized_distance("text 11", HOSTILE))
    others = frame.drop(row.name)
    assert set(others["outcome"]) == {"untouched"}
    assert others[["rewritten", "language", "length_ratio", "edit_distance"]].isna().all(axis=None)


def test_a_query_has_its_text_and_instruction_and_documents_belong_to_no_item(tmp_path):
    rows = [
        ("default", "test", "queries.text", "q1", "what"),
        ("default", "test", "queries.instruction", "q1", "find it"),
        ("default", "test", "corpus.text", "d1", "a document"),
    ]
    texts = freeze(tmp_path, "search", "Retrieval", rows)
    found = texts_of_items({"task_type": "Retrieval", "splits": ["test"], "subsets": ["default"]}, texts)
    assert found[["item", "field"]].to_numpy().tolist() == [
        ["q1", "queries.text"], ["q1", "queries.instruction"],
    ]  # fmt: skip


def test_parallel_columns_are_the_fields_of_every_pair_of_languages(tmp_path):
    rows = [("parallel", "test", field, "0", field) for field in ("eng", "deu", "fra")]
    texts = freeze(tmp_path, "bitext", "BitextMining", rows)
    manifest = {"task_type": "BitextMining", "splits": ["test"], "subsets": ["eng-deu", "fra-eng"]}
    found = texts_of_items(manifest, texts).groupby("subset")["field"].agg(set).to_dict()
    assert found == {"eng-deu": {"eng", "deu"}, "fra-eng": {"eng", "fra"}}


@pytest.mark.parametrize("task_type", ["Classification", "Clustering", "MultilabelClassification"])
def test_experiments_have_no_texts_of_their_own(tmp_path, task_type):
    plan = planned(tmp_path)
    sentence_pairs(tmp_path, task_type)
    write_transforms(plan, "pairs", VARIANT, [{}])
    assert texts_of(plan).empty


def test_a_run_that_goes_on_has_the_texts_that_are_there(tmp_path):
    assert texts_of(planned(tmp_path)).empty
    sentence_pairs(tmp_path)
    assert texts_of(planned(tmp_path)).empty


def embed(plan, strings, *, role="none", without=()):
    """Store a vector of each string (angle in degrees by string), and the manifest that finds them."""
    store = VectorStore(plan.results / ".store", "made")
    kept = {s: a for s, a in strings.items() if s not in without}
    vectors = np.array([[np.cos(np.radians(a)), np.sin(np.radians(a))] for a in kept.values()], np.float32)
    store.put_chunk([vector_key("task: ", role, s) for s in kept], vectors)
    path = plan.results / "embeddings" / "alpha" / "pairs" / f"{VARIANT}.json"
    path.parent.mkdir(parents=True)
    contexts = {"none": "task: ", "query": "task: ", "document": ""}
    path.write_text(json.dumps({"embedder_identity": "made", "fitted_on": None, "contexts": contexts}))


def drift_of(plan):
    out = plan.run_folder / "item_drift.parquet"
    stats = collect_drift(plan=plan, store_root=plan.results / ".store", out=out)
    table = pq.read_table(out)
    assert table.schema.equals(ITEM_DRIFT)
    return stats, table.to_pandas().set_index("item")["drift"]


def test_the_drift_of_a_pair_is_the_mean_over_its_rewritten_sentences(tmp_path):
    plan = planned(tmp_path)
    sentence_pairs(tmp_path)
    new = [
        {"text_id": 0, "text": "new 01"},
        {"text_id": 1, "text": "new 02"},
        {"text_id": 5, "text": "new 22"},
    ]
    write_transforms(plan, "pairs", VARIANT, new)
    embed(plan, {"text 01": 0, "new 01": 60, "text 02": 10, "new 02": 10, "text 22": 0, "new 22": 90})
    stats, drift = drift_of(plan)
    assert (stats.rows, stats.missing) == (2, 0)
    assert drift["0"] == pytest.approx(0.25, abs=1e-6)
    assert drift["2"] == pytest.approx(1, abs=1e-6)


def test_the_drift_of_a_query_is_that_of_the_string_that_was_embedded(tmp_path):
    plan = planned(tmp_path)
    rows = [
        ("default", "test", "queries.text", "q1", "what"),
        ("default", "test", "queries.instruction", "q1", "find it"),
        ("default", "test", "corpus.text", "d1", "a document"),
    ]
    joined = [("query", ["", " ", ""], [0, 1]), ("document", ["", ""], [2])]
    freeze(tmp_path, "pairs", "Retrieval", rows, joined)
    new = [{"text_id": i, "text": t} for i, t in enumerate(("was", "finde es", "ein Text"))]
    write_transforms(plan, "pairs", VARIANT, new)
    embed(plan, {"what find it": 0, "was finde es": 90}, role="query")
    stats, drift = drift_of(plan)
    assert stats.rows == 1
    assert drift["q1"] == pytest.approx(1, abs=1e-6)


def test_where_a_vector_is_gone_there_is_no_drift_and_it_is_counted(tmp_path, caplog):
    plan = planned(tmp_path)
    sentence_pairs(tmp_path)
    new = [{"text_id": 0, "text": "new"}, {"text_id": 1, "text": "new"}, {"text_id": 4, "text": "new"}]
    write_transforms(plan, "pairs", VARIANT, new)
    strings = {"text 01": 0, "text 02": 10, "text 21": 0, "new": 90}
    embed(plan, strings, without=["text 02"])
    stats, drift = drift_of(plan)
    assert (stats.rows, stats.missing) == (2, 1)
    assert math.isnan(drift["0"])
    assert drift["2"] == pytest.approx(1, abs=1e-6)
    assert "no drift" in caplog.text


def test_without_manifests_of_vectors_or_with_dropped_texts_nothing_is_made_up(tmp_path):
    plan = planned(tmp_path)
    sentence_pairs(tmp_path)
    write_transforms(
        plan,
        "pairs",
        VARIANT,
        [{"text_id": 0, "text": "x"}, {"text_id": 2, "text": "", "outcome": "dropped"}],
    )
    stats, drift = drift_of(plan)
    assert (stats.rows, stats.missing) == (1, 1)
    assert drift.index.tolist() == ["0"]


def test_every_column_of_the_texts_is_described():
    for schema in (ITEM_TEXTS, ITEM_DRIFT):
        for name in schema.names:
            assert description(schema, name).endswith(".")
