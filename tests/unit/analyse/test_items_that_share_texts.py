"""Items that share texts: which texts are drawn, what tables say of it, and that nothing else changes."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from item_runs import PAIR, item_rows, names_of, pairs, score_row
from scipy.stats import spearmanr

from stressbed.analyse.items.causes import item_causes
from stressbed.analyse.items.intervals import item_intervals
from stressbed.analyse.items.samples import NoSamplesError, item_samples
from stressbed.analyse.items.weighted import draw_items
from stressbed.stats.units import Units, shared_units


def shares(places):
    return [" ".join(map(str, u)) or None for u in shared_units(places)]


def cell(n_texts, statistic="spearman"):
    """Return the items of all pairs of some texts, and the row of their score."""
    places = list(combinations(range(n_texts), 2))
    values, original, gold, measure, task = pairs(statistic, len(places), seed=n_texts)
    items = item_rows(values, original, gold=gold, shares=shares(places), **PAIR)
    return items, score_row(100 * measure(values, gold), 100 * measure(original, gold), **task), gold


def table(items, row, resamples=2000):
    return item_intervals([items], pd.DataFrame([row]), names_of(), resamples=resamples, seed=3)


def test_twenty_eight_pairs_of_eight_texts_are_eight_texts():
    items, row, _ = cell(8)
    found = table(items, row).frame.iloc[0]
    assert found[["n", "resampled", "n_resampled"]].tolist() == [28, "shared text of pairs", 8]
    assert "with n = 8 the interval, aimed at 95 %, covers" in found["note"]
    alone = table(items.assign(shares=None), row).frame.iloc[0]
    assert alone[["n", "resampled", "n_resampled"]].tolist() == [28, "pair", 28]
    assert found["high"] - found["low"] > 1.2 * (alone["high"] - alone["low"])


def test_the_interval_is_that_of_a_plain_loop_over_drawn_texts():
    items, row, gold = cell(8)
    places, rng, drops = list(combinations(range(8), 2)), np.random.default_rng(1), []
    for _ in range(800):
        drawn = np.bincount(rng.integers(8, size=8), minlength=8)
        chosen = np.repeat(np.arange(28), [drawn[a] * drawn[b] for a, b in places])
        with np.errstate(invalid="ignore"):
            before, after = (
                spearmanr(items[c].to_numpy()[chosen], gold[chosen]).statistic if len(chosen) > 1 else np.nan
                for c in ("original", "value")
            )
        drops.append(100 * (before - after))
    found = table(items, row, resamples=6000).frame.iloc[0]
    low, high = np.nanquantile(drops, [0.025, 0.975])
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_five_texts_have_no_interval_and_the_reason_is_said():
    items, row, _ = cell(5)
    found = table(items, row).frame.iloc[0]
    assert np.isnan([found["low"], found["high"]]).all()
    assert found["note"] == "5 shared texts of pairs are too few for an interval, which needs 6"


def test_queries_with_the_same_text_are_one_unit_and_subsets_are_added_up():
    rng = np.random.default_rng(2)
    parts, scores = [], []
    for subset, texts in (("a", [*"ppqqrr", *"stuvwxyzabcdefghijklmno"]), ("b", [*"ABCDEFGHIJ"])):
        original = rng.random(len(texts))
        values = original - 0.2 * rng.random(len(texts))
        parts.append(item_rows(values, original, subset=subset, shares=shares([[t] for t in texts])))
        scores.append((values.mean(), original.mean()))
    score, original = 100 * np.mean(scores, axis=0)
    found = table(pd.concat(parts), score_row(score, original)).frame.iloc[0]
    assert found[["n", "resampled", "n_resampled"]].tolist() == [39, "shared text of queries", 36]
    assert np.isfinite(found["low"])


def test_items_that_share_nothing_have_the_numbers_that_they_had():
    rng = np.random.default_rng(5)
    for n in (6, 40):
        plain = draw_items(Units.own(n), 50, np.random.default_rng(7))
        drawn = np.random.default_rng(7).integers(n, size=(n, 50))
        assert (plain == np.stack([np.bincount(d, minlength=n) for d in drawn.T], axis=1)).all()
    original = rng.random(30)
    items = item_rows(original - 0.1 * rng.random(30), original)
    row = score_row(100 * items["value"].mean(), 100 * original.mean())
    old, new = (table(i, row).frame for i in (items, items.assign(shares=None)))
    pd.testing.assert_frame_equal(old, new)


def test_samples_of_several_cells_are_drawn_by_text_too():
    rng = np.random.default_rng(6)
    places = list(combinations(range(9), 2))
    both = {c: rng.random(len(places)) for c in ("x", "y")}
    parts = [item_rows(v, v, unit="query", shares=shares(places)).assign(cell=c) for c, v in both.items()]
    options = {"metric": "ndcg_at_10", "task_type": "Retrieval", "resamples": 400}
    found = item_samples(
        pd.concat(parts), cells=["x", "y"], scores=[100 * v.mean() for v in both.values()], rng=rng, **options
    )
    assert (found.n, found.unit, found.resampled, found.n_resampled) == (
        36, "query", "shared text of queries", 9,
    )  # fmt: skip
    plain = item_samples(
        pd.concat(parts).drop(columns="shares"), cells=["x", "y"],
        scores=[100 * v.mean() for v in both.values()], rng=rng, **options,
    )  # fmt: skip
    assert (plain.resampled, plain.n_resampled) == ("query", 36)
    assert found.samples.std() > 1.3 * plain.samples.std()
    few = pd.concat([p[p["item"].isin([f"i{i}" for i in range(4)])] for p in parts])
    with pytest.raises(NoSamplesError, match="5 shared texts of queries are too few"):
        item_samples(
            few.assign(shares=["0 1", "0 2", "0 3", "0 4"] * 2), cells=["x", "y"],
            scores=[100 * v[:4].mean() for v in both.values()], rng=rng, **options,
        )  # fmt: skip


def test_causes_draw_the_texts_that_items_share():
    rng = np.random.default_rng(8)
    places = list(combinations(range(8), 2))
    original = rng.random(28)
    items = item_rows(original - 0.3 * rng.random(28), original, shares=shares(places))
    texts = pd.DataFrame(
        {"dataset": "d", "generator": "llm", "transformation": "expansion", "seed": 1, "subset": "default",
         "split": "test", "item": items["item"], "language": None, "flags": "",
         "length_ratio": rng.random(28), "edit_distance": rng.random(28)}
    )  # fmt: skip
    found = {}
    for name, held in (("shared", items), ("own", items.assign(shares=None))):
        frame = item_causes(
            [held], pd.DataFrame([score_row(1, 2)]), [texts], [], names_of(), resamples=2000, seed=1
        ).frame.set_index("cause")
        found[name] = frame.loc["length_ratio"]
    assert found["shared"]["rho"] == found["own"]["rho"]
    assert "only 7 independent items" in found["shared"]["note"]
    widths = {k: v["high"] - v["low"] for k, v in found.items()}
    assert widths["shared"] > 1.1 * widths["own"]
