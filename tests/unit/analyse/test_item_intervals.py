import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from item_runs import PAIR, item_rows, names_of, pairs, score_row

from stressbed.analyse.items.intervals import item_intervals
from stressbed.analyse.items.panels import blocks, panels, read_blocks
from stressbed.collect.schema import ITEMS

SECOND = ("llm", "expansion", 2)


def intervals(items, scores, names=None, resamples=400, seed=0):
    held = names or names_of()
    table = item_intervals(blocks([items]), pd.DataFrame(scores), held, resamples=resamples, seed=seed)
    return table.frame


def of_pairs(kind, n=60, seed=0, **more):
    values, original, gold, score, task = pairs(kind, n, seed, **more)
    items = item_rows(values, original, gold=gold, **PAIR)
    return items, score_row(100 * score(values, gold), 100 * score(original, gold), **task), score


def test_a_mean_falls_by_the_mean_of_its_items_with_the_interval_of_its_items():
    rng = np.random.default_rng(0)
    original, values = rng.uniform(0.5, 1, 300), rng.uniform(0.2, 0.9, 300)
    drop = 100 * (original - values)
    found = intervals(
        item_rows(values, original), [score_row(100 * values.mean(), 100 * original.mean())], resamples=4000
    ).iloc[0]
    assert (found["n"], found["unit"], found["note"]) == (300, "query", "")
    assert found["drop"] == pytest.approx(drop.mean())
    half = 1.96 * drop.std() / np.sqrt(300)
    assert (found["low"], found["high"]) == pytest.approx((drop.mean() - half, drop.mean() + half), abs=0.25)


@pytest.mark.parametrize("kind", ["spearman", "pearson", "average precision"])
def test_the_interval_of_pairs_is_that_of_scoring_drawn_pairs_anew(kind):
    items, row, score = of_pairs(kind, n=80)
    found = intervals(items, [row], resamples=4000).iloc[0]
    rng, drops = np.random.default_rng(9), []
    x, y, g = (items[c].to_numpy() for c in ("value", "original", "gold"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(1000):
            i = rng.integers(80, size=80)
            drops.append(100 * (score(y[i], g[i]) - score(x[i], g[i])))
    low, high = np.nanquantile(drops, [0.025, 0.975])
    assert found["drop"] == pytest.approx(row["original"] - row["score"])
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.12 * (high - low))
    assert kind in found["method"]


def test_the_interval_is_narrower_than_that_of_unpaired_items():
    rng = np.random.default_rng(1)
    original = rng.uniform(0, 1, 200)
    values = original - 0.1 + 0.01 * rng.normal(size=200)
    row = score_row(100 * values.mean(), 100 * original.mean())
    found = intervals(item_rows(values, original), [row]).iloc[0]
    assert found["high"] - found["low"] < 0.5  # unpaired: about 11


def test_subsets_are_averaged_and_drawn_apart():
    rng = np.random.default_rng(2)
    parts, drops = [], []
    for subset, n, fall in (("en", 20, 0.3), ("de", 400, 0.0)):
        original = rng.uniform(0.5, 1, n)
        values = original - fall + 0.05 * rng.normal(size=n)
        parts.append(item_rows(values, original, subset=subset))
        drops.append(100 * (original - values))
    score = [100 * np.mean([p[c].mean() for p in parts]) for c in ("value", "original")]
    found = intervals(pd.concat(parts, ignore_index=True), [score_row(*score)], resamples=3000).iloc[0]
    assert found["n"] == 420
    assert found["drop"] == pytest.approx((drops[0].mean() + drops[1].mean()) / 2)
    half = 1.96 * np.sqrt(sum(d.var() / len(d) for d in drops)) / 2
    assert found["high"] - found["low"] == pytest.approx(2 * half, rel=0.12)


def test_seeds_embedders_and_generators_are_rows_of_their_own_in_the_run_s_order():
    rng = np.random.default_rng(3)
    frames, rows = [], []
    for embedder in ("b", "a"):
        original = rng.uniform(size=30)
        for variant in (("llm", "expansion", 2), ("llm", "expansion", 1), ("other", "expansion", 1)):
            values = original - rng.uniform(size=30) / 5
            frames.append(item_rows(values, original, variant, embedder=embedder))
            rows.append(score_row(100 * values.mean(), 100 * original.mean(), variant, embedder=embedder))
    found = intervals(
        pd.concat(frames, ignore_index=True),
        rows,
        names_of(embedders=("b", "a"), generators=("other", "llm")),
    )
    assert found[["generator", "embedder", "seed"]].to_numpy().tolist() == [
        ["other", "b", 1], ["other", "a", 1],
        ["llm", "b", 1], ["llm", "b", 2], ["llm", "a", 1], ["llm", "a", 2],
    ]  # fmt: skip
    assert found["low"].notna().all()


def test_rows_in_any_order_give_the_same_cells():
    items, row, _ = of_pairs("spearman")
    second = items.assign(seed=2, value=items["value"] - items["gold"])
    from scipy.stats import spearmanr

    other = score_row(
        100 * spearmanr(second["value"], second["gold"]).statistic, row["original"], SECOND,
        task_type="STS", metric="cosine_spearman",
    )  # fmt: skip
    both = pd.concat([items, second], ignore_index=True)
    mixed = both.sort_values(["item", "seed"], ignore_index=True)
    found, expected = (intervals(f, [row, other]) for f in (mixed, both))
    assert found["low"].notna().all()
    # Items stand in another order, so others are drawn; the cells are the same.
    pd.testing.assert_frame_equal(found.drop(columns=["low", "high"]), expected.drop(columns=["low", "high"]))


def test_the_draw_depends_on_the_seed_alone():
    items, row, _ = of_pairs("spearman")
    first, again, other = (intervals(items, [row], seed=s) for s in (0, 0, 1))
    pd.testing.assert_frame_equal(first, again)
    assert first["low"].iloc[0] != other["low"].iloc[0]


def test_dropped_rows_leave_the_pairs_that_are_known_in_both():
    items, _, score = of_pairs("spearman")
    kept = items.iloc[5:].reset_index(drop=True)
    x, y, g = (kept[c].to_numpy() for c in ("value", "original", "gold"))
    row = score_row(100 * score(x, g), 100 * score(y, g), task_type="STS", metric="cosine_spearman")
    found = intervals(kept, [row]).iloc[0]
    assert found["n"] == 55
    assert found["low"] < found["drop"] < found["high"]


@pytest.mark.parametrize(
    ("change", "note"),
    [
        (lambda i, s: (i.assign(original=np.nan), s), "rows were dropped"),
        (lambda i, s: (i, s | {"score": s["score"] + 0.02}), "made again from the items is"),
        (lambda i, s: (i, s | {"original": s["original"] - 0.02}), "original made again"),
        (lambda i, s: (i.assign(gold=np.nan), s), "what people said of the pairs is not known"),
        (
            lambda i, s: (i, s | {"metric": "cosine_accuracy"}),
            "cosine_accuracy is not made of values per item",
        ),
        (lambda i, s: (i.iloc[:1], s), "one pair is too few for an interval, which needs 6"),
        (lambda i, s: (i.assign(value=i["original"]), s | {"score": s["original"]}), "no item changed"),
        (lambda i, s: (i, s | {"seed": 7}), "the cell has no score"),
    ],
)
def test_where_items_do_not_make_the_score_there_is_a_reason_and_no_interval(change, note):
    items, row, _ = of_pairs("spearman")
    found = intervals(*(x if isinstance(x, pd.DataFrame) else [x] for x in change(items, row))).iloc[0]
    assert note in found["note"]
    assert np.isnan([found["low"], found["high"]]).all()
    assert found["method"] == ""


def test_a_score_of_the_largest_similarity_has_an_interval_where_all_are_there():
    values, original, gold, score, _ = pairs("average precision", 80, 0)
    other = item_rows(-(values**3), -(original**3), gold=gold, unit="pair", metric="manhattan_distance")
    items = item_rows(values, original, gold=gold, unit="pair", metric="similarity")
    worse = items.assign(value=np.sin(3 * items["value"]))
    row = score_row(100 * score(values, gold), 100 * score(original, gold), task_type="PairClassification")
    row["metric"] = "max_ap"
    found = intervals(pd.concat([worse, other], ignore_index=True), [row]).iloc[0]
    assert "too narrow" in found["note"]
    assert found["low"] < found["drop"] < found["high"]
    alone = intervals(worse, [row]).iloc[0]
    assert "largest over several similarities" in alone["note"]


def test_one_similarity_whose_original_is_not_known_is_enough_to_have_no_interval():
    values, original, gold, score, _ = pairs("average precision", 80, 0)
    row = score_row(100 * score(values, gold), 100 * score(original, gold), task_type="PairClassification")
    row["metric"] = "max_ap"
    known = item_rows(values, original, gold=gold, unit="pair", metric="similarity")
    other = item_rows(values, np.where(gold > 0, np.nan, original), gold=gold, unit="pair", metric="dot")
    found = intervals(pd.concat([known, other], ignore_index=True), [row]).iloc[0]
    assert found["note"] == "the original's items are not known one by one: rows were dropped"
    assert np.isnan(found["low"])


def test_one_similarity_that_changes_is_a_change():
    values, original, gold, score, _ = pairs("average precision", 80, 0)
    row = score_row(100 * score(values, gold), 100 * score(original, gold), task_type="PairClassification")
    row["metric"] = "max_ap"
    changed = item_rows(values, original, gold=gold, unit="pair", metric="similarity")
    still = item_rows(-gold, -gold, gold=gold, unit="pair", metric="dot")
    found = intervals(pd.concat([changed, still], ignore_index=True), [row]).iloc[0]
    assert found["low"] < found["drop"] < found["high"]


def test_experiments_are_said_not_to_be_independent_items():
    rng = np.random.default_rng(0)
    original, values = rng.uniform(size=10), rng.uniform(size=10)
    row = score_row(100 * values.mean(), 100 * original.mean(), metric="accuracy", task_type="Classification")
    found = intervals(item_rows(values, original, unit="experiment", metric="accuracy"), [row]).iloc[0]
    assert "share their test data" in found["note"]
    assert found["low"] < found["drop"] < found["high"]


def test_experiments_that_all_change_alike_have_no_interval_of_no_width():
    original, values = np.full(10, 0.6), np.full(10, 0.5)
    row = score_row(50.0, 60.0, metric="accuracy", task_type="Classification")
    found = intervals(item_rows(values, original, unit="experiment", metric="accuracy"), [row]).iloc[0]
    assert found["drop"] == pytest.approx(10)
    assert np.isnan(found["low"])
    assert "every experiment changes alike" in found["note"]


@pytest.mark.parametrize(
    ("kind", "n", "note"),
    [
        ("spearman", 8, "less than 82 %"), ("spearman", 12, "about 82 %"), ("spearman", 30, ""),
        ("average precision", 30, "about 86 %"),
    ],
)  # fmt: skip
def test_too_few_pairs_are_said_to_be_too_few(kind, n, note):
    items, row, _ = of_pairs(kind, n=n)
    found = intervals(items, [row])["note"].iloc[0]
    assert note in found
    assert bool(found) == bool(note)


def test_seeds_that_cannot_differ_are_said_to_be_identical():
    items, row, _ = of_pairs("spearman", n=120)
    for varying, note in (
        (frozenset({"expansion"}), ""),
        (frozenset(), "identical in all seeds by construction"),
    ):
        found = intervals(items, [row], replace(names_of(), varying={"llm": varying}))
        assert found["note"].tolist() == [note]


def test_a_run_without_items_has_a_table_with_columns_and_no_rows():
    table = item_intervals([], pd.DataFrame([score_row(1, 2)]), names_of(), resamples=100, seed=0)
    assert len(table.frame) == 0
    assert list(table.frame.columns) == [
        "embedder", "dataset", "transformation", "seed", "unit", "n", "resampled", "n_resampled", "drop",
        "low", "high", "method", "note",
    ]  # fmt: skip


def test_blocks_of_the_file_are_one_embedder_and_dataset_each(tmp_path):
    frames = [
        item_rows([0.1, 0.2], [0.3, 0.4], embedder=e, dataset=d) for e in ("a", "b") for d in ("d", "c")
    ]
    table = pa.concat_tables(
        pa.Table.from_pandas(f.reindex(columns=ITEMS.names), schema=ITEMS, preserve_index=False)
        for f in frames
    )
    pq.write_table(table, tmp_path / "items.parquet", row_group_size=3)
    found = list(read_blocks(tmp_path / "items.parquet"))
    assert [(str(b["embedder"].iloc[0]), str(b["dataset"].iloc[0]), len(b)) for b in found] == [
        ("a", "d", 2), ("a", "c", 2), ("b", "d", 2), ("b", "c", 2),
    ]  # fmt: skip
    (panel,) = panels(found[1])
    assert panel.values["ndcg_at_10"][:, 0].tolist() == [0.1, 0.2]


@pytest.mark.parametrize("kind", ["mean", "spearman", "average precision"])
def test_intervals_hold_the_true_drop_as_often_as_they_promise(kind):
    rng, n, runs = np.random.default_rng(5), 80, 200

    def draw(size, seed):
        if kind != "mean":
            return pairs(kind, size, seed)[:4]
        own = np.random.default_rng(seed)
        original = own.uniform(size=size)
        values = original * own.uniform(0.3, 1, size)
        return values, original, np.full(size, np.nan), lambda x, g: np.mean(x)

    values, original, gold, score = draw(200_000, 10**6)
    truth = 100 * (score(original, gold) - score(values, gold))
    frames, rows = [], []
    for i in range(runs):
        values, original, gold, _ = draw(n, int(rng.integers(1e9)))
        more = PAIR if kind != "mean" else {}
        frames.append(item_rows(values, original, ("llm", "expansion", 1), gold, dataset=f"d{i}", **more))
        metric = {"mean": "ndcg_at_10", "spearman": "cosine_spearman"}.get(kind, "similarity_ap")
        task = {"mean": "Retrieval", "spearman": "STS"}.get(kind, "PairClassification")
        scores = (100 * score(x, gold) for x in (values, original))
        rows.append(score_row(*scores, dataset=f"d{i}", metric=metric, task_type=task))
    held = names_of(datasets=[f"d{i}" for i in range(runs)])
    table = item_intervals(blocks(frames), pd.DataFrame(rows), held, resamples=400, seed=1).frame
    assert table["low"].notna().all()
    coverage = ((table["low"] <= truth) & (truth <= table["high"])).mean()
    # Three standard errors of 200 trials at 95 % are 5 points; the percentile interval is a little short.
    assert 0.88 <= coverage <= 0.99
