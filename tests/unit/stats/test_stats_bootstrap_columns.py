"""Intervals of several means and of their ranks over the same resamples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stressbed.stats.bootstrap import mean_interval, mean_intervals, rank_intervals
from stressbed.stats.interval import DegenerateWarning


def rng(seed=0):
    return np.random.default_rng(seed)


def triples(found):
    return [(i.estimate, i.low, i.high) for i in found]


def test_each_column_has_the_interval_it_has_alone():
    values = rng(1).normal(size=(20, 3))
    found = mean_intervals(values, resamples=20_000, rng=rng(2))
    for column, interval in zip(values.T, found, strict=True):
        alone = mean_interval(column, resamples=20_000, rng=rng(3))
        assert interval.estimate == pytest.approx(column.mean())
        assert (interval.low, interval.high) == pytest.approx((alone.low, alone.high), abs=0.03)


def test_columns_share_their_resamples():
    base = rng(4).normal(size=(15, 1))
    one, shifted = mean_intervals(np.hstack([base, base + 2]), resamples=200, rng=rng(5))
    assert (shifted.low, shifted.high) == pytest.approx((one.low + 2, one.high + 2))
    first, second = rank_intervals(np.hstack([base, base - 1e-6]), resamples=200, rng=rng(6))
    assert triples([first, second]) == [(1, 1, 1), (2, 2, 2)]


def test_ranks_follow_the_exact_bootstrap_distribution():
    values = np.array([[3.0, 2, 1], [0, 2, 1], [1, 0, 2], [2, 2, 0], [1, 2, 3], [4, 0, 1]])
    every = np.array([values[list(rows)].mean(axis=0) for rows in product(range(6), repeat=6)])
    ranks = scipy_stats.rankdata(-np.round(every, 9), axis=1)
    found = rank_intervals(values, level=0.5, resamples=40_000, rng=rng(7))
    low = np.quantile(ranks, 0.25, axis=0, method="lower")
    high = np.quantile(ranks, 0.75, axis=0, method="higher")
    best = scipy_stats.rankdata(-values.mean(axis=0))
    assert triples(found) == list(zip(best, low, high, strict=True))


def test_the_largest_mean_is_first_unless_small_is_good():
    values = np.array([[1.0, 5, 3]] * 3)
    assert [i.estimate for i in rank_intervals(values, resamples=100, rng=rng())] == [3, 1, 2]
    small = rank_intervals(values, higher_is_better=False, resamples=100, rng=rng())
    assert [i.estimate for i in small] == [1, 3, 2]


def test_ties_share_the_mean_of_their_ranks_and_rounding_breaks_none():
    values = np.array([[0.1, 0.3, 0.9], [0.2, 0.2, 0.9], [0.3, 0.1, 0.9]] * 2)
    assert [i.estimate for i in rank_intervals(values, resamples=100, rng=rng())] == [2.5, 2.5, 1]
    same = np.repeat(values[:, :1], 2, axis=1)
    assert triples(rank_intervals(same, resamples=100, rng=rng())) == [(1.5, 1.5, 1.5)] * 2


def test_the_ends_are_ranks_that_occur_and_hold_the_estimate():
    values = rng(8).normal(size=(13, 9)) + np.linspace(0, 1, 9)
    # The percentiles of 20 samples fall between two of them.
    for interval in rank_intervals(values, resamples=20, rng=rng(9)):
        assert 1 <= interval.low <= interval.estimate <= interval.high <= 9
        assert {interval.low % 1, interval.high % 1} == {0}


@pytest.mark.parametrize("intervals", [mean_intervals, rank_intervals])
def test_the_order_of_rows_and_the_seed_decide_nothing_else(intervals):
    values = rng(10).normal(size=(12, 4))
    one, two = (intervals(values, resamples=300, rng=rng(11)) for _ in range(2))
    assert one == two
    estimates = [i.estimate for i in intervals(values[::-1], resamples=300, rng=rng(11))]
    assert estimates == pytest.approx([i.estimate for i in one])


@pytest.mark.parametrize("intervals", [mean_intervals, rank_intervals])
@pytest.mark.parametrize("rows", [1, 5])
def test_fewer_than_six_rows_have_estimates_without_ends_and_no_row_has_nothing(intervals, rows):
    values = [[3.0, 1.0], [2.0, 4.0], [7.0, 0.0], [1.0, 1.0], [2.0, 1.5]][:rows]
    with pytest.warns(DegenerateWarning, match="fewer than the 6"):
        found = intervals(values, resamples=100, rng=rng())
    means = [3, 1.5] if rows == 5 else [3, 1]
    assert [i.estimate for i in found] == (means if intervals is mean_intervals else [1, 2])
    assert np.isnan([(i.low, i.high) for i in found]).all()
    with pytest.warns(DegenerateWarning, match="fewer than the 6"):
        found = intervals(np.empty((0, 2)), resamples=100, rng=rng())
    assert np.isnan(triples(found)).all()
    assert intervals(np.empty((5, 0)), resamples=100, rng=rng()) == []


@pytest.mark.parametrize("intervals", [mean_intervals, rank_intervals])
@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0], [float("nan")]]])
def test_what_is_no_table_of_numbers_is_refused(intervals, values):
    with pytest.raises(ValueError, match="values"):
        intervals(values, resamples=100, rng=rng())


@pytest.mark.parametrize("n", [6, 13])
def test_rank_intervals_hold_the_true_ranks(n):
    """Eleven embedders one point apart on datasets that differ far more: the paired design ranks them."""
    draws, hits, generator = 100, 0.0, rng(n)
    for _ in range(draws):
        shared, own = generator.normal(size=(n, 1)), generator.normal(size=(n, 11))
        found = rank_intervals(-np.arange(11) + 10 * shared + 3 * own, resamples=300, rng=generator)
        hits += np.mean([i.low <= rank <= i.high for rank, i in enumerate(found, start=1)])
    assert hits / draws > 0.93
