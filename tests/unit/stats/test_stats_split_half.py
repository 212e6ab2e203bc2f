"""Split halves: what a half may hold, enumeration of every halving, and profiles that are known."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.split_half import random_halves, split_half

STRATA = ["sts"] * 4 + ["retrieval"] * 3 + ["pair"]


def rng(seed=0):
    return np.random.default_rng(seed)


def test_each_half_takes_half_of_each_stratum():
    first = random_halves(STRATA, halves=2000, rng=rng())
    assert (first[:, :4].sum(axis=1) == 2).all()
    assert set(first[:, 4:7].sum(axis=1)) == {1, 2}
    assert set(first[:, 7]) == {False, True}


def test_every_dataset_and_the_extra_one_fall_on_a_side_by_a_fair_coin():
    first = random_halves(STRATA, halves=8000, rng=rng(1))
    spread = np.sqrt(0.25 / 8000)
    assert np.abs(first.mean(axis=0) - 0.5).max() < 4 * spread
    assert abs((first[:, 4:7].sum(axis=1) == 2).mean() - 0.5) < 4 * spread
    # Every choice of two of four is as likely as any other, and the strata do not follow each other.
    counts = Counter(map(tuple, first[:, :4]))
    assert len(counts) == 6
    assert scipy_stats.chisquare(list(counts.values())).pvalue > 0.001
    assert abs(np.corrcoef(first[:, 7], first[:, 4:7].sum(axis=1))[0, 1]) < 4 / np.sqrt(8000)


def test_no_half_is_empty_though_every_stratum_holds_one_dataset():
    first = random_halves(["a", "b"], halves=500, rng=rng(2))
    assert (first.sum(axis=1) == 1).all()
    assert set(first[:, 0]) == {False, True}


def test_equal_to_spearman_over_every_halving():
    values = np.round(rng(3).normal(size=(5, 4)), 1)
    strata = ["a", "a", "b", "b", "b"]
    expected = set()
    for chosen in product([False, True], repeat=5):
        first = np.array(chosen)
        if first[:2].sum() == 1 and first[2:].sum() in {1, 2}:
            means = values[first].mean(axis=0), values[~first].mean(axis=0)
            expected.add(round(scipy_stats.spearmanr(*means).statistic, 9))
    found = split_half(values, strata, halves=600, rng=rng(4))
    assert {round(r, 9) for r in found.rhos} == expected
    assert (found.low, found.high) == pytest.approx((min(expected), max(expected)))
    assert found.median == np.median(found.rhos)
    assert found.halves == 600


def test_profiles_that_every_dataset_shares_agree_and_noise_does_not():
    profile = np.arange(11.0)
    shared = split_half(profile + 0.1 * rng(5).normal(size=(19, 11)), range(19), rng=rng(6))
    assert (shared.low, shared.median, shared.high) == (1, 1, 1)
    medians = [
        split_half(rng(s).normal(size=(20, 11)), [0] * 20, halves=50, rng=rng(7)).median for s in range(200)
    ]
    assert abs(np.mean(medians)) < 0.08


def test_level_and_scale_of_the_scores_and_the_order_of_embedders_do_not_matter():
    values = rng(8).normal(size=(8, 6))
    found = split_half(values, STRATA, halves=200, rng=rng(9))
    for other in (3 * values + rng(10).normal(size=(8, 1)), values[:, ::-1], -values):
        assert split_half(other, STRATA, halves=200, rng=rng(9)).rhos == pytest.approx(found.rhos)


def test_rounding_of_floats_breaks_no_tie_of_means():
    whole = rng(14).integers(1, 4, size=(6, 5))
    found, tenths = (split_half(v, [0] * 6, halves=200, rng=rng(15)) for v in (whole, whole / 10))
    assert tenths.rhos == pytest.approx(found.rhos)


def test_the_same_seed_gives_the_same_halves():
    values = rng(11).normal(size=(8, 6))
    one, two = (split_half(values, STRATA, rng=rng(12)) for _ in range(2))
    assert one == two
    assert one.rhos.tolist() == two.rhos.tolist()


def test_halves_without_a_ranking_are_left_out():
    """A half with both rankings has equal means; that is so in two of three halvings."""
    values = np.array([[1.0, 2, 3], [3, 2, 1]] * 2)
    found = split_half(values, ["a"] * 4, halves=900, rng=rng(13))
    assert 200 < found.halves < 400
    assert (found.low, found.median, found.high) == (-1, -1, -1)


@pytest.mark.parametrize(("values", "why"), [
    (np.ones((4, 2)), "three embedders"),
    (np.ones((1, 5)), "two datasets"),
    (np.ones((4, 5)), "same mean"),
    (np.empty((0, 5)), "two datasets"),
])  # fmt: skip
def test_where_nothing_can_be_split_or_ranked_there_is_no_rho(values, why):
    with pytest.warns(DegenerateWarning, match=why):
        found = split_half(values, range(len(values)), rng=rng())
    assert np.isnan([found.median, found.low, found.high]).all()
    assert found.halves == 0


@pytest.mark.parametrize("call", [
    lambda: split_half(np.ones((4, 5)), [1, 2], rng=rng()),
    lambda: split_half(np.ones((4, 5)), range(4), halves=0, rng=rng()),
    lambda: split_half(np.full((4, 5), np.nan), range(4), rng=rng()),
    lambda: split_half(np.ones(4), range(4), rng=rng()),
    lambda: random_halves(["a"], halves=10, rng=rng()),
])  # fmt: skip
def test_bad_input_is_refused(call):
    with pytest.raises(ValueError, match=r"."):
        call()
