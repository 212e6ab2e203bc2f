"""Two generators compared on cells whose truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from stressbed.analyse.names import Names
from stressbed.analyse.statistics.crosscheck import cells, crosscheck, crosscheck_cells
from stressbed.analyse.study import Analysed
from stressbed.collect.schema import ALL
from stressbed.config.model import Analysis
from stressbed.plot.crosscheck import crosscheck_figure

EMBEDDERS, DATASETS, SEEDS = ["e1", "e2", "e3"], ["d1", "d2", "d3", "d4", "d5", "d6"], [1, 2]
AXES = {"paraphrasing": "lexical_stylistic", "expansion": "length", "translation": "language"}
GENERATORS = ["gemma", "qwen"]
NAMES = Names(
    {e: e for e in EMBEDDERS}, {d: d for d in DATASETS}, {g: g.title() for g in GENERATORS},
    {t: t.title() for t in AXES}, AXES,
)  # fmt: skip


def scores(shift: float = 1.0, noise: float = 0.0) -> pd.DataFrame:
    """Return cells in which expansion costs `shift` points more under the first generator."""
    rng = np.random.default_rng(0)
    rows = []
    for e, embedder in enumerate(EMBEDDERS):
        for d, dataset in enumerate(DATASETS):
            base = {
                "embedder": embedder, "dataset": dataset, "subset": ALL, "split": ALL, "metric": "m",
                "higher_is_better": True, "status": "ok", "matched": False, "marked": False,
            }  # fmt: skip
            full = 80.0 + d
            rows.append({**base, "generator": "none", "transformation": "original", "axis": "original",
                         "seed": 0, "score": full, "original": full, "delta": np.nan})  # fmt: skip
            for generator in GENERATORS:
                for t, axis in AXES.items():
                    for seed in SEEDS:
                        delta = -2.0 - e - d + (seed - 1.5)
                        delta -= shift * (t == "expansion" and generator == "gemma")
                        delta += rng.normal(scale=noise) if noise else 0.0
                        rows.append({**base, "generator": generator, "transformation": t, "axis": axis,
                                     "seed": seed, "score": full + delta, "original": full,
                                     "delta": delta})  # fmt: skip
    return pd.DataFrame(rows)


def run(frame: pd.DataFrame, **options) -> Analysed:
    """Return what the analyses take; `options` are those of `analysis` in a config."""
    return Analysed(frame, NAMES, Analysis(**options))


def by_group(table) -> pd.DataFrame:
    return table.frame.set_index("group")


def test_only_the_transformation_that_differs_differs():
    found = by_group(crosscheck(run(scores())))
    assert list(found.index) == [
        "lexical_stylistic", "paraphrasing", "length", "expansion", "language", "translation", "overall",
    ]  # fmt: skip
    assert found.loc["paraphrasing", "difference"] == pytest.approx(0)
    assert found.loc["expansion", "difference"] == pytest.approx(-1)
    assert found.loc["overall", "difference"] == pytest.approx(-1 / 3)
    assert found.loc["expansion", "pearson"] == pytest.approx(1)
    assert found.loc["expansion", "kendall"] == pytest.approx(1)
    assert found["n"].tolist() == [18, 18, 18, 18, 18, 18, 54]
    # e and d from 0 up: the mean delta is -2 - 1 - 2.5.
    assert found.loc["paraphrasing", "mean_first"] == pytest.approx(-5.5)


def test_a_delta_is_the_mean_over_seeds():
    frame = scores()
    third = frame[frame["seed"] == 2].assign(seed=3)
    third[["score", "delta"]] -= 5.5
    found = cells(pd.concat([frame, third]), NAMES).iloc[0]
    assert found[["embedder", "dataset", "transformation"]].tolist() == ["e1", "d1", "paraphrasing"]
    # Seeds lose 2.5, 1.5 and 7.
    assert (found["delta_first"], found["delta_second"]) == pytest.approx((-11 / 3, -11 / 3))


def test_correlations_and_interval_agree_with_scipy():
    noisy = scores(noise=1.0)
    held = cells(noisy, NAMES)
    found = by_group(crosscheck(run(noisy)))
    assert found.loc["overall", "spearman"] == pytest.approx(
        stats.spearmanr(held["delta_first"], held["delta_second"]).statistic
    )
    units = held.groupby("dataset")["difference"].mean()
    found = by_group(crosscheck(run(noisy, resamples=10_000)))
    theirs = stats.bootstrap((units,), np.mean, n_resamples=10_000, method="percentile", rng=1)
    assert (found.loc["overall", "low"], found.loc["overall", "high"]) == pytest.approx(
        tuple(theirs.confidence_interval), abs=0.03
    )


def test_the_interval_is_over_datasets_because_embedders_share_their_rewrites():
    frame = scores()
    # Under the first generator every other dataset suffers, alike in all embedders: one observation each.
    worse = frame["dataset"].map({d: float(i % 2) for i, d in enumerate(DATASETS)})
    frame.loc[frame["generator"] == "gemma", "delta"] -= worse
    frame["score"] = frame["original"] + frame["delta"].fillna(0.0)
    found = by_group(crosscheck(run(frame, resamples=5000))).loc["paraphrasing"]
    assert found["difference"] == pytest.approx(-0.5)
    # Half of the resampled means lie within 2 / 6 of it; 18 independent values would give half that width.
    assert (found["low"], found["high"]) == pytest.approx((-5 / 6, -1 / 6))


def test_resamples_and_seed_are_those_of_the_run():
    frame = scores(noise=1.0)
    table = crosscheck(run(frame, resamples=150, seed=1))
    assert "150 resamples" in table.notes[0]
    ends = ["low", "high"]
    again = by_group(crosscheck(run(frame, resamples=150, seed=1))).loc["overall", ends].tolist()
    assert by_group(table).loc["overall", ends].tolist() == again
    assert by_group(crosscheck(run(frame, resamples=150, seed=2))).loc["overall", ends].tolist() != again
    assert by_group(crosscheck(run(frame, resamples=151, seed=1))).loc["overall", ends].tolist() != again


def test_few_datasets_have_no_interval():
    frame = scores(noise=1.0)
    found = by_group(crosscheck(run(frame[frame["dataset"] != "d6"])))
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["difference"].notna().all()


def test_deltas_that_differ_by_rounding_only_are_tied():
    frame = scores(shift=0.0)
    levels = {"e1": 3.0, "e2": 3.0, "e3": 5.0}
    sevenths = frame["dataset"].map({d: (i + 1) / 7 for i, d in enumerate(DATASETS)})
    frame["original"] = 70.1 + sevenths
    loss = frame["embedder"].map(levels)
    # The same loss off two originals is not the same floating-point number.
    frame["score"] = frame["original"] - loss
    frame["delta"] = frame["score"] - frame["original"]
    frame.loc[frame["transformation"] == "original", ["score", "delta"]] = None
    frame["score"] = frame["score"].fillna(frame["original"])
    nudge = (frame["generator"] == "qwen") & (frame["embedder"] == "e1")
    frame.loc[nudge, "score"] += 1e-13
    found = by_group(crosscheck(run(frame))).loc["overall"]
    assert found["kendall"] == pytest.approx(1.0)
    assert found["spearman"] == pytest.approx(1.0)


def test_embedders_are_ranked_over_the_same_datasets():
    frame = scores(shift=0.0)
    # Two datasets weigh on everyone; the embedder that lacks them must not pass for the most robust.
    heavy = frame["dataset"].isin(["d5", "d6"]) & (frame["transformation"] != "original")
    frame.loc[heavy, ["score", "delta"]] -= 40.0
    hole = heavy & (frame["generator"] == "qwen") & (frame["embedder"] == "e3")
    frame.loc[hole, ["score", "delta"]] = np.nan
    found = by_group(crosscheck(run(frame)))
    assert found.loc["paraphrasing", "kendall"] == pytest.approx(1.0)
    assert found.loc["paraphrasing", ["n", "left_out"]].tolist() == [16, 2]
    assert any("incomplete_cells.csv says why" in n for n in crosscheck(run(frame)).notes)
    assert not any("left_out" in n for n in crosscheck(run(scores())).notes)


def test_an_embedder_without_rows_of_a_dataset_is_not_ranked():
    frame = scores(noise=1.0)
    gone = (frame["embedder"] == "e3") & (frame["dataset"] == "d6")
    found = by_group(crosscheck(run(frame[~gone]))).loc["overall"]
    assert found[["n", "left_out"]].tolist() == [51, 0]
    assert np.isnan(found["kendall"])  # of two embedders
    assert not np.isnan(found["spearman"])  # of all cells


def test_cells_stand_in_the_order_of_the_config():
    turned = Names(
        {e: e for e in ("e2", "e3", "e1")}, {d: d for d in reversed(DATASETS)}, NAMES.generators,
        {t: t for t in ("translation", "expansion", "paraphrasing")}, AXES,
    )  # fmt: skip
    found = cells(scores(), turned)
    keys = ["embedder", "dataset", "transformation"]
    assert list(found[keys].itertuples(index=False, name=None)) == [
        (e, d, t) for e in turned.embedders for d in turned.datasets for t in turned.transformations
    ]


def test_a_cell_that_is_lacking_under_one_is_left_out_and_counted():
    frame = scores()
    hole = (frame["generator"] == "qwen") & (frame["embedder"] == "e1") & (frame["dataset"] == "d1")
    frame.loc[hole & (frame["seed"] == 2), ["score", "delta"]] = np.nan
    found = by_group(crosscheck(run(frame)))
    assert found.loc["paraphrasing", ["n", "left_out"]].tolist() == [17, 1]
    assert found.loc["overall", ["n", "left_out"]].tolist() == [51, 3]
    held = cells(frame, NAMES)
    assert held["difference"].isna().sum() == 3


def test_every_pair_of_three_generators():
    third = scores()
    third = third[third["generator"] == "qwen"].assign(generator="llama")
    names = Names(
        NAMES.embedders, NAMES.datasets, {g: g for g in [*GENERATORS, "llama"]}, NAMES.transformations, AXES
    )
    frame = pd.concat([scores(), third], ignore_index=True)
    found = crosscheck_cells(frame, names).frame
    assert set(zip(found["first"], found["second"], strict=True)) == {
        ("gemma", "qwen"), ("gemma", "llama"), ("qwen", "llama"),
    }  # fmt: skip
    assert len(crosscheck_figure(found, names).axes) == 3


def test_the_figure_shows_every_compared_cell():
    held = cells(scores(), NAMES)
    (ax,) = crosscheck_figure(held, NAMES).axes
    assert sum(len(c.get_offsets()) for c in ax.collections) == len(held)
    assert ax.get_xlabel() == "Δ under Gemma (points)"
