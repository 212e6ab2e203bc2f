from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from item_runs import PAIR, item_rows, names_of, score_row
from scipy.stats import spearmanr

from stressbed.analyse.items.causes import item_causes
from stressbed.analyse.items.panels import blocks


def texts_of(items, length, edit=0.5, variant=("llm", "expansion", 1), **more):
    generator, transformation, seed = variant
    frame = {
        "dataset": "d", "generator": generator, "transformation": transformation, "seed": seed,
        "subset": "default", "split": "test", "item": items, "language": "deu-Latn", "flags": "",
        "length_ratio": length, "edit_distance": edit,
    }  # fmt: skip
    return pd.DataFrame(frame | more)


def drift_of(items, drift, variant=("llm", "expansion", 1), **more):
    generator, transformation, seed = variant
    frame = {
        "embedder": "a", "dataset": "d", "generator": generator, "transformation": transformation,
        "seed": seed, "subset": "default", "split": "test", "item": items, "drift": drift,
    }  # fmt: skip
    return pd.DataFrame(frame | more)


def causes(items, texts, drifts=(), names=None, scores=None, resamples=500, seed=0):
    return item_causes(
        blocks(items), pd.DataFrame(scores or [score_row(50, 60)]), texts, blocks(drifts),
        names or names_of(), resamples=resamples, seed=seed,
    )  # fmt: skip


def made(n=200, seed=0, slope=-1.0):
    rng = np.random.default_rng(seed)
    cause = rng.normal(size=n)
    original = rng.uniform(size=n)
    items = item_rows(original + slope * cause + rng.normal(size=n), original)
    return items, cause, rng


def test_a_measured_cause_has_scipys_rank_correlation_with_the_change():
    items, cause, _ = made()
    table = causes([items], [texts_of(items["item"], cause)]).frame.set_index("cause")
    row = table.loc["length_ratio"]
    assert row["rho"] == pytest.approx(spearmanr(cause, items["delta"]).statistic)
    assert row["low"] < row["rho"] < row["high"] < 0
    assert np.isnan(row["difference"])
    assert row["n"] == 200
    assert "edit_distance" not in table.index  # it does not vary


def test_the_drift_is_that_of_the_same_embedder():
    items, cause, rng = made()
    other = items.assign(embedder="b", value=items["original"] - items["delta"])
    drifts = [drift_of(items["item"], cause), drift_of(items["item"], cause, embedder="b")]
    scores = [score_row(50, 60), score_row(50, 60, embedder="b")]
    found = causes(
        [items, other], [texts_of(items["item"], rng.normal(size=200))], drifts,
        names_of(embedders=("b", "a")), scores,
    ).frame.set_index(["embedder", "cause"])  # fmt: skip
    assert found.loc[("a", "drift"), "rho"] == pytest.approx(-found.loc[("b", "drift"), "rho"])
    assert found.loc[("a", "drift"), "rho"] < -0.3
    assert found.index.get_level_values(0)[0] == "b"


def test_items_are_compared_within_their_dataset_and_variant_only():
    items, cause, _ = made(slope=0.0)
    # Long texts and large losses in one dataset, short ones and gains in the other: nothing within either.
    shifted = items.assign(dataset="c", value=items["value"] - 5)
    texts = [texts_of(items["item"], cause), texts_of(items["item"], cause + 10, dataset="c")]
    scores = [score_row(50, 60), score_row(50, 60, dataset="c")]
    row = causes([items, shifted], texts, (), names_of(datasets=("d", "c")), scores).frame.iloc[0]
    assert row["rho"] == pytest.approx(spearmanr(cause, items["delta"]).statistic)
    assert abs(row["rho"]) < 0.2


def test_a_flag_and_a_language_are_differences_of_group_means_in_points():
    rng = np.random.default_rng(0)
    flagged = np.arange(100) < 30
    original = np.full(100, 0.8)
    delta = np.where(flagged, -0.5, -0.1) + 0.01 * rng.normal(size=100)
    items = item_rows(original + delta, original)
    text = texts_of(
        items["item"], 1.0, flags=np.where(flagged, "runaway,ellipsis", ""),
        language=np.where(flagged, "fra-Latn", "spa-Latn"),
    )  # fmt: skip
    table = causes([items], [text]).frame.set_index("cause")
    expected = 100 * (items["delta"][flagged].mean() - items["delta"][~flagged].mean())
    for cause in ("flag:any", "flag:runaway", "flag:ellipsis", "language:fra-Latn"):
        assert table.loc[cause, "difference"] == pytest.approx(expected)
        assert table.loc[cause, "low"] < expected < table.loc[cause, "high"]
        assert np.isnan(table.loc[cause, "rho"])
        assert table.loc[cause, "note"].startswith("30 of 100 texts")
    assert table.loc["language:spa-Latn", "difference"] == pytest.approx(-expected)


def test_a_pair_counts_by_its_agreement_with_people_and_by_the_mean_of_its_texts():
    rng = np.random.default_rng(0)
    gold = np.linspace(0, 5, 60)
    change = rng.uniform(size=60)
    original = gold / 5
    items = item_rows(original + change * np.where(gold > 2.5, -1, 1), original, gold=gold, **PAIR)
    texts = pd.concat(
        [texts_of(items["item"], change + k, field=f"sentence{k}") for k in (1, 2)], ignore_index=True
    )
    scores = [score_row(50, 60, task_type="STS", metric="cosine_spearman")]
    row = causes([items], [texts], scores=scores).frame.iloc[0]
    assert row["rho"] < -0.5  # a low pair that rises is a loss as well


def test_all_variants_of_an_item_are_drawn_together():
    items, cause, _ = made(n=60)
    copies, texts = [], []
    for seed in range(1, 11):
        copies.append(items.assign(seed=seed))
        texts.append(texts_of(items["item"], cause, variant=("llm", "expansion", seed)))
    once = causes([items], [texts_of(items["item"], cause)], resamples=2000).frame.iloc[0]
    ten = causes([pd.concat(copies, ignore_index=True)], texts, resamples=2000).frame.iloc[0]
    assert ten["n"] == 10 * once["n"]
    assert ten["rho"] == pytest.approx(once["rho"])
    assert ten["high"] - ten["low"] == pytest.approx(once["high"] - once["low"], rel=0.1)


def test_seeds_that_cannot_differ_count_once():
    items, cause, _ = made(n=60)
    both = pd.concat([items, items.assign(seed=2)], ignore_index=True)
    texts = [texts_of(items["item"], cause, variant=("llm", "expansion", seed)) for seed in (1, 2)]
    same = replace(names_of(), varying={"llm": frozenset()})
    assert causes([both], texts).frame.iloc[0]["n"] == 120
    assert causes([both], texts, names=same).frame.iloc[0]["n"] == 60


def test_items_without_a_rewritten_text_do_not_count():
    items, cause, _ = made(n=100)
    text = texts_of(items["item"], cause)
    text.loc[50:, ["length_ratio", "edit_distance"]] = np.nan
    row = causes([items], [text]).frame.iloc[0]
    assert row["n"] == 50
    assert row["rho"] == pytest.approx(spearmanr(cause[:50], items["delta"][:50]).statistic)


def test_what_is_lacking_is_said():
    items, cause, _ = made(n=50)
    without = causes([items], [])
    assert without.frame.empty
    assert any("nothing to compare" in n for n in without.notes)
    table = causes([items], [texts_of(items["item"], cause)])
    assert any("drift is lacking" in n for n in table.notes)
    gone = [drift_of(items["item"], np.nan)]
    table = causes([items], [texts_of(items["item"], cause)], gone)
    assert any("drift is lacking" in n for n in table.notes)
    few = causes([items.iloc[:6]], [texts_of(items["item"], cause)]).frame.iloc[0]
    assert few["note"] == "only 6 independent items: the interval is too narrow"
    fewer = causes([items.iloc[:5]], [texts_of(items["item"], cause)]).frame.iloc[0]
    assert fewer["note"] == "5 items are too few for an interval, which needs 6"
    assert np.isnan([fewer["low"], fewer["high"]]).all()


def test_experiments_are_left_out():
    items, cause, _ = made(n=50)
    experiments = items.assign(unit="experiment")
    assert causes([experiments], [texts_of(items["item"], cause)]).frame.empty


@pytest.mark.parametrize("measured", [True, False])
def test_intervals_hold_the_truth_as_often_as_they_promise(measured):
    rng = np.random.default_rng(4)

    def draw(n):
        cause = rng.normal(size=n) if measured else (rng.uniform(size=n) < 0.3).astype(float)
        return cause, -0.5 * cause + rng.normal(size=n) * 0.8

    cause, delta = draw(300_000)
    truth = spearmanr(cause, delta).statistic if measured else -50.0
    held, runs = 0, 200
    for i in range(runs):
        cause, delta = draw(80)
        items = item_rows(delta, np.zeros(80))
        text = texts_of(items["item"], cause if measured else 1.0, flags=np.where(cause > 0.5, "empty", ""))
        table = causes([items], [text], resamples=300, seed=i).frame.set_index("cause")
        row = table.loc["length_ratio" if measured else "flag:any"]
        held += row["low"] <= truth <= row["high"]
    assert 0.88 <= held / runs <= 0.99


def test_a_variant_that_changes_every_item_alike_says_nothing():
    items, cause, rng = made(n=80)
    flat = items.assign(seed=2, value=items["original"] - 0.25, delta=-0.25)
    texts = [
        texts_of(items["item"], cause),
        texts_of(items["item"], rng.normal(size=80), variant=("llm", "expansion", 2)),
    ]
    both = causes([pd.concat([items, flat], ignore_index=True)], texts).frame.iloc[0]
    alone = causes([items], texts[:1]).frame.iloc[0]
    assert both["rho"] == pytest.approx(alone["rho"])


def test_items_of_all_datasets_are_counted():
    one, cause, _ = made(n=60)
    other, slower, _ = made(n=45, seed=1)
    other = other.assign(dataset="c")
    texts = [texts_of(one["item"], cause), texts_of(other["item"], slower, dataset="c")]
    scores = [score_row(50, 60), score_row(50, 60, dataset="c")]
    row = causes([one, other], texts, (), names_of(datasets=("d", "c")), scores).frame.iloc[0]
    assert row["n"] == 105
