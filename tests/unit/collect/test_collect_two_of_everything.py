"""Rows of scores and items beside plain loops over the cells' files, two of everything."""

from __future__ import annotations

import json
import random

import pyarrow.parquet as pq
import pytest
from fabricate import cell_record, cells_of, make_plan, part, path_of, write_cell, write_transforms

from stressbed.collect.cells import collect, joined
from stressbed.collect.drifts import cosines
from stressbed.collect.items import item_rows, item_values
from stressbed.collect.rewrites import rewrite_examples
from stressbed.fingerprint import text_digest
from stressbed.paths import Cell, Variant

PLACES = [(s, p) for s in ("de", "en") for p in ("test", "validation")]
METRICS = [("query", "ndcg_at_10"), ("query", "mrr"), ("experiment", "ndcg_at_10")]


def blocks_of(cell, *, numbered=False):
    """Return items that are told apart only by subset, split, unit and metric together."""
    return [
        {
            "subset": s, "split": p, "unit": unit, "metric": metric,
            "ids": None if numbered else [f"q{i}" for i in (2, 0, 1)],
            "values": [random.Random(f"{cell} {s} {p} {unit} {metric} {i}").expovariate(1) for i in range(3)],
        }
        for s, p in PLACES
        for unit, metric in METRICS
    ]  # fmt: skip


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    fields = {
        "subsets": ["de", "en"], "splits": ["test", "validation"],
        "languages": {"de": ["deu-Latn"], "en": ["eng-Latn", "deu-Latn"]},
    }  # fmt: skip
    datasets = {
        "x": fields | {"task_type": "Retrieval", "main_score": "ndcg_at_10"},
        "y": fields | {"task_type": "STS", "main_score": "cosine_pearson"},
    }
    plan = make_plan(
        tmp_path_factory.mktemp("c"), datasets=datasets,
        transformations=("expansion", "translation"), seeds=(1, 4), generators=("g", "h"), fallback_mark=0.1,
    )  # fmt: skip
    for cell in cells_of(plan):
        rng = random.Random(f"score {cell}")
        subsets = [
            part(s, rng.uniform(20, 90), p, plan.catalogue.datasets[cell.dataset].languages[s], n_items=4 + i)
            for i, (s, p) in enumerate(PLACES)
        ]
        more = {"subsets": subsets, "items": blocks_of(cell), "n_items": 22, "metric": f"m of {cell.dataset}"}
        if not cell.variant.is_original:
            n = rng.randrange(1, 8)
            more |= {"n_texts": 40, "fallbacks": n, "flagged": n + 1, "retried": n + 2, "dropped": n % 2}
        write_cell(plan, cell, cell_record(plan, cell, rng.uniform(20, 90), **more))
    scores, items = plan.run_folder / "scores.parquet", plan.run_folder / "items.parquet"
    stats = collect(plan=plan, scores_out=scores, items_out=items)
    return plan, stats, pq.read_table(scores).to_pylist(), pq.read_table(items).to_pylist()


def files(plan):
    return {cell: json.loads(path_of(plan, cell).read_text()) for cell in cells_of(plan)}


def cell_of(row):
    return Cell(
        row["embedder"], row["dataset"], Variant(row["generator"], row["transformation"], row["seed"])
    )


def original_of(cell):
    return Cell(cell.embedder, cell.dataset, Variant("none", "original", 0))


def test_counts_are_those_of_the_files(collected):
    plan, stats, scores, items = collected
    n = len(cells_of(plan))
    assert n == 2 * 2 * (1 + 2 * 2 * 2)
    assert (stats.cells, stats.ok, stats.failed, stats.absent, stats.missing) == (n, n, 0, 0, 0)
    assert (stats.rows, stats.items) == (len(scores), len(items)) == (5 * n, 36 * n)


def test_every_total_and_part_is_that_of_its_file(collected):
    plan, _, scores, _ = collected
    records = files(plan)
    for row in scores:
        cell = cell_of(row)
        record, original = records[cell], records[original_of(cell)]
        assert row["metric"] == f"m of {cell.dataset}"
        assert row["task_type"] == {"x": "Retrieval", "y": "STS"}[cell.dataset]
        assert row["fingerprint"] == record["fingerprint"]
        assert (
            row["axis"]
            == {"original": "original", "expansion": "length", "translation": "language"}[
                cell.variant.transformation
            ]
        )
        if row["subset"] == "(all)":
            found, before = record, original
            counts = [record[k] for k in ("fallbacks", "flagged", "retried", "dropped", "n_texts", "n_items")]
            assert [row[k] for k in ("fallbacks", "flagged", "retried", "dropped")] == counts[:4]
            assert row["n_items"] == 22
            assert row["language"] == "deu-Latn+eng-Latn"
            if cell.variant.is_original:
                assert not row["marked"]
            else:
                assert row["n_texts"] == 40
                assert row["fallback_share"] == pytest.approx(record["fallbacks"] / 40)
                assert row["marked"] == (record["fallbacks"] + record["dropped"] > 4)
        else:
            place = (row["subset"], row["split"])
            found, before = (r["subsets"][PLACES.index(place)] for r in (record, original))
            assert row["n_items"] == 4 + PLACES.index(place)
            assert row["language"] == {"de": "deu-Latn", "en": "deu-Latn+eng-Latn"}[row["subset"]]
            assert row["n_texts"] is None
        assert row["score"] == found["score"]
        assert row["original"] == before["score"]
        if cell.variant.is_original:
            assert row["delta"] is None
        else:
            assert row["delta"] == pytest.approx(found["score"] - before["score"])
    assert any(r["marked"] for r in scores)
    assert any(not r["marked"] for r in scores if r["n_texts"])


def test_every_item_stands_beside_the_same_item_of_the_original(collected):
    plan, _, _, items = collected
    records = files(plan)
    values = {
        (cell, b["subset"], b["split"], b["unit"], b["metric"], i): v
        for cell, record in records.items()
        for b in record["items"]
        for i, v in zip(b["ids"], b["values"], strict=True)
    }
    assert len(items) == len(values)
    for row in items:
        place = tuple(row[k] for k in ("subset", "split", "unit", "metric", "item"))
        cell = cell_of(row)
        assert row["value"] == values[(cell, *place)]
        assert row["original"] == values[(original_of(cell), *place)]
        if cell.variant.is_original:
            assert row["delta"] is None
        else:
            assert row["delta"] == pytest.approx(row["value"] - row["original"])


@pytest.mark.parametrize(
    ("dropped", "n", "paired"), [(0, 3, True), (1, 3, False), (0, 2, False), (None, 3, True)]
)
def test_numbered_items_are_paired_only_where_none_can_be_missing(dropped, n, paired):
    original = Cell("e", "d", Variant("none", "original", 0))
    cell = Cell("e", "d", Variant("g", "t", 1))
    before, after = blocks_of(original, numbered=True), blocks_of(cell, numbered=True)
    after = [b | {"values": b["values"][:n]} for b in after]
    rows = item_rows(
        "r", cell, {"items": after, "dropped": dropped}, item_values({"items": before})
    ).to_pylist()
    assert len(rows) == n * len(before)
    for block, start in zip(before, range(0, len(rows), n), strict=True):
        found = [r["original"] for r in rows[start : start + n]]
        assert found == (block["values"][:n] if paired else [None] * n)
        assert [r["item"] for r in rows[start : start + n]] == [str(i) for i in range(n)]


def test_gold_is_of_the_subset_and_split_and_of_pairs_alone():
    cell = Cell("e", "d", Variant("g", "t", 1))
    blocks = [
        {
            "subset": s,
            "split": p,
            "unit": unit,
            "metric": "m",
            "ids": None,
            "values": [0.5, float("inf"), 0.25, None],
        }
        for s, p in PLACES
        for unit in ("pair", "query")
    ]
    golds = {place: {str(i): 10.0 * n + i for i in range(4)} for n, place in enumerate(PLACES)}
    rows = item_rows("r", cell, {"items": blocks}, {}, golds=golds).to_pylist()
    for row in rows:
        n = PLACES.index((row["subset"], row["split"]))
        assert row["gold"] == (10.0 * n + int(row["item"]) if row["unit"] == "pair" else None)
        assert row["value"] == {"0": 0.5, "1": None, "2": 0.25, "3": None}[row["item"]]
        assert row["original"] is None


@pytest.mark.parametrize(
    ("unusable", "marked"),
    [({"fallbacks": 4}, False), ({"fallbacks": 5}, True), ({"fallbacks": 2, "dropped": 3}, True)],
)
def test_a_cell_is_marked_beyond_its_share(tmp_path, unusable, marked):
    plan = make_plan(
        tmp_path, embedders=("e",), datasets={"d": {}}, transformations=("expansion",), seeds=(1,),
        fallback_mark=0.1,
    )  # fmt: skip
    for cell in cells_of(plan):
        more = {} if cell.variant.is_original else {"n_texts": 40, **unusable}
        write_cell(plan, cell, cell_record(plan, cell, 50.0, **more))
    scores = tmp_path / "s.parquet"
    collect(plan=plan, scores_out=scores, items_out=tmp_path / "i.parquet")
    rows = [r for r in pq.read_table(scores).to_pylist() if r["transformation"] == "expansion"]
    assert [r["marked"] for r in rows] == [marked] * 2


def test_a_matched_original_counts_for_its_own_subset(tmp_path):
    plan = make_plan(
        tmp_path, embedders=("e",),
        datasets={"d": {"subsets": ["a", "b"], "languages": {"a": ["eng-Latn"], "b": ["deu-Latn"]}}},
        transformations=("expansion",), seeds=(1,),
    )  # fmt: skip
    for cell in cells_of(plan):
        subsets = [part("a", 61.0), part("b", 42.0, original_matched=47.5)]
        more = {} if cell.variant.is_original else {"subsets": subsets, "original_matched": 55.0}
        write_cell(plan, cell, cell_record(plan, cell, 50.0, **more))
    scores = tmp_path / "s.parquet"
    collect(plan=plan, scores_out=scores, items_out=tmp_path / "i.parquet")
    rows = {r["subset"]: r for r in pq.read_table(scores).to_pylist() if r["transformation"] == "expansion"}
    found = {s: (r["original"], r["delta"], r["matched"]) for s, r in rows.items()}
    assert found == {"(all)": (55.0, -5.0, True), "a": (50.0, 11.0, False), "b": (47.5, -5.5, True)}


def test_what_was_not_scored_says_so_once_per_subset(tmp_path):
    plan = make_plan(
        tmp_path, embedders=("e", "f"),
        datasets={"d": {"subsets": ["a", "b"], "languages": {"a": ["eng-Latn"], "b": ["deu-Latn"]}}},
        transformations=("expansion", "translation"), seeds=(1,),
    )  # fmt: skip
    for cell in cells_of(plan):
        if cell.embedder == "f":
            continue
        kind = cell.variant.transformation
        more = {"subsets": [part("a", 61.0), part("b", 42.0)], "score": 51.5}
        if kind == "expansion":
            subsets = [part("a", 61.0), part("b", None, status="failed", reason="one class")]
            more = {"subsets": subsets, "status": "failed", "error": "b/test: one class", "score": None}
        if kind == "translation":
            absent = part("b", None, status="absent", reason="nothing to draw")
            more = {"subsets": [part("a", 60.0), absent], "score": 60.0, "original_matched": 61.0}
        write_cell(plan, cell, cell_record(plan, cell, more.pop("score"), **more))
    scores = tmp_path / "s.parquet"
    stats = collect(plan=plan, scores_out=scores, items_out=tmp_path / "i.parquet")
    assert (stats.ok, stats.failed, stats.absent, stats.missing, stats.cells) == (2, 1, 0, 3, 6)
    rows = {
        (r["embedder"], r["transformation"], r["subset"]): (r["status"], r["score"], r["error"], r["delta"])
        for r in pq.read_table(scores).to_pylist()
    }
    assert rows["e", "expansion", "(all)"] == ("failed", None, "b/test: one class", None)
    assert rows["e", "expansion", "a"] == ("ok", 61.0, "", 0.0)
    assert rows["e", "expansion", "b"] == ("failed", None, "one class", None)
    assert rows["e", "translation", "(all)"] == ("ok", 60.0, "", -1.0)
    assert rows["e", "translation", "b"] == ("absent", None, "nothing to draw", None)
    for kind in ("original", "expansion", "translation"):
        for subset in ("(all)", "a", "b"):
            assert rows["f", kind, subset] == ("missing", None, "the cell has no file", None)


def test_a_subset_that_a_file_lacks_is_missing(tmp_path):
    plan = make_plan(
        tmp_path, embedders=("e",),
        datasets={"d": {"subsets": ["a", "b"], "languages": {"a": ["eng-Latn"], "b": ["deu-Latn"]}}},
        transformations=("expansion",), seeds=(1,),
    )  # fmt: skip
    for cell in cells_of(plan):
        subsets = [part("a", 61.0), *([part("b", 42.0)] if cell.variant.is_original else [part("c", 33.0)])]
        write_cell(plan, cell, cell_record(plan, cell, 50.0, subsets=subsets))
    scores = tmp_path / "s.parquet"
    collect(plan=plan, scores_out=scores, items_out=tmp_path / "i.parquet")
    rows = {r["subset"]: r for r in pq.read_table(scores).to_pylist() if r["transformation"] == "expansion"}
    assert list(rows) == ["(all)", "a", "b", "c"]
    assert (rows["b"]["status"], rows["b"]["error"]) == (
        "missing",
        "the cell's file does not hold this subset",
    )
    assert (rows["c"]["score"], rows["c"]["original"]) == (33.0, None)


def test_an_example_is_the_text_of_the_smallest_hash(tmp_path):
    """Of each generator, transformation and language, over datasets and seeds; some have no language."""
    plan = make_plan(
        tmp_path, transformations=("expansion", "translation"), seeds=(1, 4), generators=("g", "h")
    )
    files, best = [], {}
    for dataset in plan.config.datasets:
        for v in plan.rewrites:
            rows = []
            for i in range(9):
                spoken = (None, "deu-Latn", "fra-Latn")[i % 3] if v.transformation == "translation" else "x"
                told = {
                    "text_id": 3 * i, "source_language": f"source {i}", "original": f"{dataset} {i}",
                    "text": f"{v} {i}", "outcome": ("ok", "flagged")[i % 2],
                }  # fmt: skip
                rows.append({**told, "target_language": spoken, "empty": i > 2, "runaway": i % 2 == 1})
                key = (v.generator, v.transformation, spoken or "")
                rank = text_digest("example", "11", *key, dataset, str(v.seed), str(3 * i))
                flags = ["runaway"] * (i % 2) if i < 3 else ["empty", *["runaway"] * (i % 2)]
                whole = {"dataset": dataset, "seed": v.seed, **told, "flags": ", ".join(flags)}
                best[key] = min(best.get(key, (rank, whole)), (rank, whole), key=lambda b: b[0])
            files.append(write_transforms(plan, dataset, v, rows))
    expected = [
        {**dict(zip(("generator", "transformation", "language"), key, strict=True)), **best[key][1]}
        for key in sorted(best)
    ]
    found = rewrite_examples(files, seed=11)
    assert found.to_dict("records") == expected
    assert list(found) == [
        "generator", "transformation", "language", "dataset", "seed", "text_id", "source_language",
        "original", "text", "outcome", "flags",
    ]  # fmt: skip


def test_languages_are_joined_in_order_once():
    assert joined(["fra-Latn", "deu-Latn", "fra-Latn"]) == "deu-Latn+fra-Latn"


def test_a_cosine_stays_between_its_ends_and_is_none_of_a_zero():
    found = cosines([[3, 4], [1, 0], [0, 0], [1, 1], [2, 1]], [[6, 8], [-2, 0], [1, 0], [1, -1], [1, 3]])
    assert found.tolist()[:2] == [1.0, -1.0]
    assert found[2] != found[2]
    assert found.tolist()[3:] == pytest.approx([0.0, 5 / (5**0.5 * 10**0.5)])
