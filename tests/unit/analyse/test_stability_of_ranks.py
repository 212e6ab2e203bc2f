"""Rank stability and split halves against plain loops and planted rankings."""

from itertools import combinations
from statistics import mean, stdev

import numpy as np
import pytest
from scipy.stats import kendalltau
from study_cases import analysed, hash_of, made_names, made_scores, noisy

from stressbed.analyse.statistics.halves import split_half_table
from stressbed.analyse.statistics.stability import (
    IDENTICAL,
    rank_stability,
    rank_stability_by_dataset,
    seed_spread,
)

E, D = tuple("abcdef"), tuple(f"d{i}" for i in range(7))


def plain(scores, dataset, members, seeds):
    """Scores of the embedders on a dataset: mean over seeds, then over transformations."""
    rows = scores[(scores["dataset"] == dataset) & scores["seed"].isin(seeds)]
    by = {(r.embedder, r.transformation): [] for r in rows.itertuples() if r.transformation in members}
    for r in rows.itertuples():
        if r.transformation in members:
            by[r.embedder, r.transformation].append(r.score)
    return [mean(mean(by[e, t]) for t in members) for e in E]


def original(scores, dataset):
    rows = scores[(scores["dataset"] == dataset) & (scores["transformation"] == "original")]
    return rows.set_index("embedder")["score"].reindex(list(E)).tolist()


@pytest.fixture(scope="module")
def case():
    names = made_names(E, D)
    scores = made_scores(names, noisy(1, spread=6))
    return names, scores, analysed(names, scores)


@pytest.mark.parametrize(
    ("row", "members"),
    [
        ("expansion", ["expansion"]),
        ("length", ["expansion", "summarisation", "summarised_expansion"]),
        ("language", ["translation", "cross_translation"]),
    ],
)
def test_tau_is_scipys_over_plain_means(case, row, members):
    _, scores, data = case
    expected = [kendalltau(original(scores, d), plain(scores, d, members, (1, 2, 3))).statistic for d in D]
    found = rank_stability(data).frame.set_index("row").loc[row]
    assert found["tau_mean"] == pytest.approx(mean(expected))
    assert found["tau_sd"] == pytest.approx(stdev(expected))
    assert (found["n_datasets"], found["n_embedders"]) == (len(D), len(E))


def test_within_tau_is_the_mean_over_pairs_of_seeds(case):
    _, scores, data = case
    members = ["translation"]
    expected = [
        mean(
            kendalltau(plain(scores, d, members, (s,)), plain(scores, d, members, (t,))).statistic
            for s, t in combinations((1, 2, 3), 2)
        )
        for d in D
    ]
    found = rank_stability(data).frame.set_index("row").loc["translation"]
    assert found["within_mean"] == pytest.approx(mean(expected))
    assert found["within_sd"] == pytest.approx(stdev(expected))


def test_within_and_tau_there_are_over_datasets_that_have_both():
    names, base = made_names(E, D), noisy(1, spread=6)
    # On d0 all originals are alike: no tau, though seeds rank the embedders.
    scores = made_scores(names, lambda e, d, t, s: 50.0 if (d, t) == ("d0", "original") else base(e, d, t, s))
    one = lambda d, *pair: kendalltau(*(plain(scores, d, ["translation"], (s,)) for s in pair)).statistic  # noqa: E731
    within = [mean(one(d, *pair) for pair in combinations((1, 2, 3), 2)) for d in D]
    there = [
        kendalltau(original(scores, d), plain(scores, d, ["translation"], (1, 2, 3))).statistic for d in D[1:]
    ]
    table = rank_stability(analysed(names, scores))
    found = table.frame.set_index("row").loc["translation"]
    assert (found["n_within"], found["n_datasets"]) == (len(D) - 1, len(D) - 1)
    assert found["within_mean"] == pytest.approx(mean(within[1:]))
    assert found["within_mean"] != pytest.approx(mean(within))
    assert (found["tau_there"], found["tau_mean"]) == pytest.approx((mean(there), mean(there)))
    # Eight transformations, three axes and the total.
    assert "12 taus are left out: all embedders have the same score there." in table.notes


def test_originals_that_rank_nobody_leave_no_tau_and_it_is_said():
    names, base = made_names(E, D[:2]), noisy(1)
    scores = made_scores(names, lambda e, d, t, s: 50.0 if t == "original" else base(e, d, t, s))
    table = rank_stability(analysed(names, scores))
    frame = table.frame.set_index("row")
    assert frame.loc[["translation", "expansion"], "within"].tolist() == ["no tau", IDENTICAL]
    assert frame["n_datasets"].tolist() == [0] * 12
    alone = made_scores(
        made_names(E, D[:1], transformations=("expansion",)),
        lambda e, d, t, s: 50.0 if t == "expansion" else base(e, d, t, s),
    )
    found = rank_stability(analysed(made_names(E, D[:1], transformations=("expansion",)), alone))
    assert "3 taus are left out: all embedders have the same score there." in found.notes


def test_an_axis_is_not_the_mean_of_its_transformations_nor_the_total_that_of_axes(case):
    frame = rank_stability(case[2]).frame.set_index("row")["tau_mean"]
    lone = frame[["expansion", "summarisation", "summarised_expansion"]].mean()
    assert frame["length"] != pytest.approx(lone, abs=0.01)
    assert frame["hteb"] != pytest.approx(frame[["lexical_stylistic", "length", "language"]].mean(), abs=0.01)


def test_seeds_that_cannot_differ_are_identical_by_construction_and_have_no_number(case):
    stability = rank_stability(case[2]).frame.set_index("row")
    spread = seed_spread(case[2]).frame.set_index("transformation")
    for t in ("paraphrasing", "expansion", "summarisation", "style_change", "summarised_expansion"):
        assert stability.loc[t, "within"] == spread.loc[t, "within"] == IDENTICAL
        assert np.isnan(stability.loc[t, "within_mean"])
        assert np.isnan(spread.loc[t, "sd_mean"])
    assert stability.loc["length", "within"] == IDENTICAL
    for row in ("translation", "language", "lexical_stylistic", "hteb"):
        assert stability.loc[row, "within"] == ""
        assert np.isfinite(stability.loc[row, "within_mean"])
    assert spread.loc["translation", "sd_mean"] > 0


def test_the_table_averages_the_taus_of_the_datasets(case):
    by_dataset = rank_stability_by_dataset(case[2]).frame
    mean_of = by_dataset.groupby("row")["tau"].mean()
    table = rank_stability(case[2]).frame.set_index("row")["tau_mean"]
    assert mean_of.to_dict() == pytest.approx(table.to_dict())


def test_the_same_ranking_everywhere_has_tau_one_and_a_turned_one_minus_one():
    names = made_names(E, D)

    def score(e, d, t, s):
        place = hash_of(e)
        return float(-place if t == "translation" else place)

    frame = rank_stability(analysed(names, made_scores(names, score))).frame.set_index("row")["tau_mean"]
    assert (frame["expansion"], frame["translation"]) == (1.0, -1.0)


@pytest.mark.parametrize(
    ("embedders", "datasets", "seeds", "said"),
    [(E[:1], D, (1, 2), "has no ranking"), (E[:2], D, (1, 2), "says little"), (E, D[:1], (1, 2), "no SD")],
)
def test_what_a_run_lacks_is_said(embedders, datasets, seeds, said):
    names = made_names(embedders, datasets)
    table = rank_stability(analysed(names, made_scores(names, noisy(2), seeds=seeds)))
    assert any(said in note for note in table.notes)
    assert (len(table.frame) == 0) == (len(embedders) == 1)


def test_one_seed_has_no_spread_and_no_within():
    names = made_names(E, D)
    data = analysed(names, made_scores(names, noisy(2), seeds=(1,)))
    assert len(seed_spread(data).frame) == 0
    assert seed_spread(data).notes == ["Spread over seeds: left out, the run has one seed."]
    assert rank_stability(data).frame.set_index("row").loc["translation", "within"] == "one seed"


def test_planted_profiles_are_reliable_and_noise_is_not():
    names = made_names(E, tuple(f"d{i}" for i in range(16)))

    def planted(e, d, t, s):
        weak = {"translation": 3.0, "cross_translation": 3.0}.get(t, 0.0) * E.index(e)
        return noisy(3, spread=1)(e, d, t, s) - weak

    found = split_half_table(analysed(names, made_scores(names, planted), halves=200)).frame
    rho = found[found["measure"] == "delta"].set_index("row")["median"]
    assert rho["language"] > 0.9
    assert rho["length"] < 0.5  # below zero even: what one half has, the other lacks
    ranges = found.set_index(["measure", "row"])
    assert (ranges["low"] <= ranges["median"]).all()
    assert (ranges["median"] <= ranges["high"]).all()


@pytest.mark.parametrize(("n_embedders", "n_datasets"), [(2, 7), (6, 1)])
def test_split_halves_need_embedders_and_datasets(n_embedders, n_datasets):
    names = made_names(E[:n_embedders], D[:n_datasets])
    table = split_half_table(analysed(names, made_scores(names, noisy(2))))
    assert len(table.frame) == 0
    assert "two datasets and three embedders" in " ".join(table.notes)


def test_an_embedder_with_a_missing_cell_is_not_ranked_on_that_dataset_and_it_is_said():
    names = made_names(E, D)
    base = noisy(4)
    lost = ("c", "d3", "expansion", 2)
    data = analysed(names, made_scores(names, lambda *c: None if c == lost else base(*c)))
    table = rank_stability(data)
    assert set(table.frame["n_embedders"]) == {len(E) - 1}
    assert any("fewest that were ranked" in note for note in table.notes)
    by_dataset = rank_stability_by_dataset(data).frame.groupby("dataset")["n_embedders"].first()
    assert by_dataset.to_dict() == {d: len(E) - (d == "d3") for d in D}
