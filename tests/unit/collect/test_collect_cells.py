import math

import pandas as pd
import pyarrow.parquet as pq
import pytest
from fabricate import (
    cell_record,
    cells_of,
    make_plan,
    part,
    path_of,
    write_cell,
    write_cells,
    write_transforms,
)

from stressbed.analyse.names import Names
from stressbed.collect.cells import collect
from stressbed.collect.rewrites import DISTINCT, rewrite_counts
from stressbed.collect.schema import ALL, ITEMS, SCORES, description
from stressbed.errors import DataError
from stressbed.paths import Variant


def run(plan):
    scores, items = plan.run_folder / "scores.parquet", plan.run_folder / "items.parquet"
    stats = collect(plan=plan, scores_out=scores, items_out=items)
    return stats, pq.read_table(scores), pq.read_table(items)


def totals(table):
    frame = table.to_pandas()
    return frame[frame["subset"] == ALL].set_index(["embedder", "dataset", "transformation", "seed"])


def test_every_expected_cell_is_a_row_with_delta_to_its_own_original(tmp_path):
    plan = make_plan(tmp_path)
    write_cells(plan, lambda c: 80.0 if c.variant.is_original else 70.0 + c.variant.seed)
    stats, scores, _ = run(plan)
    assert scores.schema.equals(SCORES)
    assert (stats.cells, stats.ok, stats.failed, stats.missing) == (2 * 2 * 17, 68, 0, 0)
    frame = totals(scores)
    assert len(frame) == 68
    assert frame.index.is_unique
    assert frame.loc[("alpha", "pairs", "translation", 2), "delta"] == pytest.approx(72 - 80)
    assert frame.loc[("alpha", "pairs", "translation", 2), "axis"] == "language"
    assert math.isnan(frame.loc[("beta", "topics", "original", 0), "delta"])
    assert frame.loc[("beta", "topics", "original", 0), "original"] == 80
    assert set(frame["status"]) == {"ok"}


def test_the_axis_is_the_catalogue_s_present_one_whatever_cells_say(tmp_path):
    """Cells of versions that kept the axis may still lie there."""
    plan = make_plan(tmp_path)
    write_cells(plan, lambda c: {"score": 50.0, "axis": "length"})
    entry = plan.catalogue.transformations["translation"].model_copy(update={"axis": "lexical_stylistic"})
    plan.catalogue.transformations["translation"] = entry
    frame = totals(run(plan)[1])
    assert frame.loc[("alpha", "pairs", "translation", 2), "axis"] == "lexical_stylistic"
    assert frame.loc[("alpha", "pairs", "cross_translation", 2), "axis"] == "language"


def test_missing_and_failed_cells_are_rows_with_reasons(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion", "translation"))

    def score(c):
        if c.embedder == "beta" and c.variant.seed == 2:
            return None
        if c.variant.transformation == "translation":
            return {"status": "failed", "error": "one class only", "score": None}
        return 50.0

    write_cells(plan, score)
    stats, scores, _ = run(plan)
    assert (stats.missing, stats.failed) == (4, 6)
    frame = totals(scores)
    assert frame.loc[("beta", "pairs", "expansion", 2), "status"] == "missing"
    assert frame.loc[("beta", "pairs", "expansion", 2), "axis"] == "length"
    assert "no file" in frame.loc[("beta", "pairs", "expansion", 2), "error"]
    told = frame.loc[("beta", "pairs", "expansion", 2)]  # by the catalogue
    known = ("task", "task_type", "metric", "language", "fingerprint", "higher_is_better", "marked")
    assert [told[k] for k in known] == ["pairs", "STS", "cosine_spearman", "eng-Latn", "", True, False]
    assert frame.loc[("alpha", "pairs", "translation", 1), "error"] == "one class only"
    assert math.isnan(frame.loc[("alpha", "pairs", "translation", 1), "score"])
    parts = scores.to_pandas().query("subset == 'default' and embedder == 'beta' and seed == 2")
    assert set(parts["status"]) == {"missing"}
    assert len(parts) == 4
    assert set(parts["language"]) == {"eng-Latn"}


def test_a_nan_score_is_a_failure_and_not_a_number(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion",), seeds=(1,))
    write_cells(plan, lambda c: float("nan"))
    stats, scores, _ = run(plan)
    assert stats.ok == 0
    assert stats.failed == stats.cells
    assert "not a number" in scores.to_pandas()["error"].iloc[0]


def test_matched_original_replaces_the_full_one_for_delta(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion",), seeds=(1,))

    def score(c):
        if c.variant.is_original:
            return 90.0
        return {"score": 70.0, "dropped": 3, "original_matched": 75.0}

    write_cells(plan, score)
    _, scores, _ = run(plan)
    row = totals(scores).loc[("alpha", "pairs", "expansion", 1)]
    assert (row["original"], row["delta"], row["dropped"]) == (75.0, -5.0, 3)
    assert row["matched"]


def test_subset_rows_hold_their_language_and_status(tmp_path):
    languages = {"en-de": ["eng-Latn", "deu-Latn"], "en-fr": ["eng-Latn", "fra-Latn"]}
    plan = make_plan(
        tmp_path,
        datasets={"bi": {"subsets": list(languages), "languages": languages}},
        transformations=("translation",),
        seeds=(1,),
    )

    def score(c):
        if c.variant.is_original:
            subsets = [part("en-de", 60, languages=languages["en-de"]), part("en-fr", 80)]
            return {"score": 70.0, "subsets": subsets}
        absent = part("en-fr", None, status="absent", reason="nothing left to draw")
        subsets = [part("en-de", 50, languages=languages["en-de"]), absent]
        return {"score": 50.0, "original_matched": 60.0, "subsets": subsets}

    write_cells(plan, score)
    _, scores, _ = run(plan)
    frame = scores.to_pandas().query("embedder == 'alpha' and seed == 1").set_index("subset")
    assert frame.loc["en-de", "language"] == "deu-Latn+eng-Latn"
    assert frame.loc["en-de", "delta"] == -10
    assert frame.loc["en-fr", "status"] == "absent"
    assert frame.loc["en-fr", "error"] == "nothing left to draw"
    assert frame.loc[ALL, "delta"] == -10
    assert frame.loc[ALL, "status"] == "ok"


@pytest.mark.parametrize(
    ("fallbacks", "dropped", "marked"),
    [(0, 0, False), (1, 0, False), (3, 0, True), (0, 3, True), (1, 1, True)],
)
def test_a_cell_is_marked_above_the_share_of_texts_without_an_answer(tmp_path, fallbacks, dropped, marked):
    plan = make_plan(tmp_path, transformations=("expansion",), seeds=(1,))
    write_cells(plan, lambda c: {"score": 5.0, "n_texts": 100, "fallbacks": fallbacks, "dropped": dropped})
    _, scores, _ = run(plan)
    row = totals(scores).loc[("alpha", "pairs", "expansion", 1)]
    assert row["fallback_share"] == pytest.approx(fallbacks / 100)
    assert row["marked"] == marked


def test_a_rewrite_is_distinct_once_in_a_dataset_and_transformation(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion", "translation"), seeds=(7, 5))
    write_cells(plan, lambda c: 5.0)
    french = {"target_language": "fra-Latn"}
    lost = {"text": "an original", "outcome": "fallback"}
    rows = {
        ("pairs", "expansion", 7): [{}, {}, lost, {"truncated": True, "original": "b"}],
        ("pairs", "expansion", 5): [{}, {}, lost, {"truncated": True, "original": "b"}],
        ("pairs", "translation", 7): [{}, french, french, lost],
        ("pairs", "translation", 5): [french, {**french, "text": "c"}, {}, {**lost, "outcome": "dropped"}],
        ("topics", "expansion", 5): [{}],  # the first seed's file is not there yet
    }
    for (dataset, name, seed), texts in rows.items():
        write_transforms(plan, dataset, Variant("llm", name, seed), texts)
    _, scores, _ = run(plan)
    frame = totals(scores)
    found = {key: [int(frame.loc[("beta", *key), c]) for c in DISTINCT] for key in rows}
    assert list(found.values()) == [[3, 1, 1, 0], [0, 0, 0, 0], [3, 0, 1, 0], [2, 0, 0, 1], [1, 0, 0, 0]]
    assert pd.isna(frame.loc[("beta", "topics", "expansion", 7), "distinct"])
    # The tables of outcomes count with the same first seed, in whatever order names of files sort.
    folder = plan.results / "transforms/pairs/llm/expansion"
    files = [folder / f"{seed}.parquet" for seed in (7, 5)]
    assert rewrite_counts(files).groupby("seed")["n_distinct"].sum().to_dict() == {7: 3, 5: 0}
    assert pd.isna(scores.to_pandas().query("subset != @ALL")["distinct"]).all()


def test_the_languages_that_were_drawn_stand_beside_the_cell_and_not_its_parts(tmp_path):
    plan = make_plan(tmp_path, transformations=("translation",), seeds=(5, 7, 9))
    write_cells(plan, lambda c: 5.0)
    for seed, languages in ((5, b"x"), (7, None)):
        write_transforms(plan, "pairs", Variant("llm", "translation", seed), [{}])
        path = plan.results / "transforms/pairs/llm/translation" / f"{seed}.parquet"
        known = {b"stressbed.drawn": languages} if languages else None
        pq.write_table(pq.read_table(path).replace_schema_metadata(known), path)
    _, scores, _ = run(plan)
    frame = totals(scores)
    found = [frame.loc[("beta", "pairs", "translation", seed), "drawn"] for seed in (5, 7, 9)]
    assert found == ["x", None, None]
    assert scores.to_pandas().query("subset != @ALL or transformation == 'original'")["drawn"].isna().all()


def items(values, ids=None):
    return [
        {
            "subset": "default",
            "split": "test",
            "unit": "pair",
            "metric": "similarity",
            "ids": ids,
            "values": values,
        }
    ]


def test_items_are_paired_by_id_with_the_original(tmp_path):
    plan = make_plan(tmp_path, embedders=("alpha",), transformations=("expansion",), seeds=(1,))

    def score(c):
        if c.variant.is_original:
            return {"score": 1.0, "items": items([0.1, 0.2, 0.3], ["a", "b", "c"])}
        return {"score": 1.0, "dropped": 1, "items": items([0.5, float("nan")], ["c", "b"])}

    write_cells(plan, score)
    stats, _, table = run(plan)
    assert table.schema.equals(ITEMS)
    assert stats.items == table.num_rows == 2 * 5
    frame = table.to_pandas().query("dataset == 'pairs' and seed == 1").set_index("item")
    assert frame.loc["c", "delta"] == pytest.approx(0.2)
    assert math.isnan(frame.loc["b", "value"])
    assert math.isnan(frame.loc["b", "delta"])


def test_numbered_items_are_not_paired_once_rows_were_dropped(tmp_path):
    plan = make_plan(tmp_path, embedders=("alpha",), transformations=("expansion",), seeds=(1, 2))

    def score(c):
        if c.variant.is_original:
            return {"score": 1.0, "items": items([0.1, 0.2])}
        return {
            "score": 1.0,
            "dropped": c.variant.seed - 1,
            "items": items([0.4, 0.4][: 3 - c.variant.seed]),
        }

    write_cells(plan, score)
    _, _, table = run(plan)
    frame = table.to_pandas().query("dataset == 'pairs'")
    assert frame.query("seed == 1")["delta"].tolist() == pytest.approx([0.3, 0.2])
    assert frame.query("seed == 2")["delta"].isna().all()


def test_a_damaged_or_foreign_cell_file_is_an_error_that_names_it(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion",), seeds=(1,))
    write_cells(plan, lambda c: 1.0)
    first, second = cells_of(plan)[:2]
    path_of(plan, first).write_text("{")
    with pytest.raises(DataError, match="not readable as JSON") as e:
        run(plan)
    assert str(path_of(plan, first)) in str(e.value)
    write_cell(plan, first, cell_record(plan, second, 1.0))
    with pytest.raises(DataError, match="another cell"):
        run(plan)


def test_tables_are_the_same_to_the_byte_whenever_they_are_collected(tmp_path):
    plan = make_plan(tmp_path)
    write_cells(plan, lambda c: {"score": 3.0, "created": "x"})
    run(plan)
    first = (plan.run_folder / "scores.parquet").read_bytes()
    write_cells(plan, lambda c: {"score": 3.0, "created": "y", "seconds": 9})
    run(plan)
    assert (plan.run_folder / "scores.parquet").read_bytes() == first


def test_every_column_is_described():
    for schema in (SCORES, ITEMS):
        for name in schema.names:
            assert description(schema, name).endswith(".")


def test_one_language_is_one_whatever_its_tag(tmp_path):
    tags = {"pairs": "arb-Arab", "topics": "ara"}
    datasets = {
        d: {"languages": {"default": [t]}, "task_type": "STS", "main_score": "cosine_spearman"}
        for d, t in tags.items()
    }
    plan = make_plan(tmp_path, datasets=datasets, transformations=("expansion",), seeds=(1,))
    write_cells(plan, lambda c: 5.0)
    _, scores, _ = run(plan)
    assert set(scores.to_pandas()["language"]) == {"ara-Arab"}
    files = [
        write_transforms(
            plan, d, Variant("llm", "expansion", 1), [{"source_language": t, "target_language": t}]
        )
        for d, t in tags.items()
    ]
    counts = rewrite_counts(files)
    assert set(counts["source_language"]) == set(counts["target_language"]) == {"ara-Arab"}
    english = make_plan(tmp_path, datasets={"a": {"languages": {"default": ["en", "en-US"]}}, "b": {}})
    assert Names.of(english).language_groups == {"a": "english", "b": "english"}
