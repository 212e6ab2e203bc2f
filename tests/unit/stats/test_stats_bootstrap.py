"""Bootstrap intervals and comparisons: exact enumeration, scipy, and simulations with known truth."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stressbed.analyse.statistics.profiles import cluster_spearman
from stressbed.stats.bootstrap import (
    mean_interval,
    paired_comparisons,
    resample_means,
    spearman_interval,
)
from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.letters import compact_letters
from stressbed.stats.proportion import wilson


def rng(seed=0):
    return np.random.default_rng(seed)


def test_means_follow_the_exact_bootstrap_distribution():
    values = np.array([0.0, 1.0, 5.0])
    every = np.array([np.mean(draw) for draw in product(values, repeat=3)])
    drawn = resample_means(values[:, None], resamples=60_000, rng=rng())[:, 0]
    for point in np.unique(every):
        share = np.mean(np.isclose(every, point))
        assert np.mean(np.isclose(drawn, point)) == pytest.approx(share, abs=4 * np.sqrt(share / 60_000))


def test_rows_stay_together():
    values = rng().normal(size=(50, 1)) @ np.array([[1.0, 2.0]])
    means = resample_means(values, resamples=100, rng=rng())
    assert means[:, 1] == pytest.approx(2 * means[:, 0])


def test_memory_is_bounded_but_the_parts_are_one_sample(monkeypatch):
    values = rng().normal(size=(30, 2))
    monkeypatch.setattr("stressbed.stats.bootstrap.CHUNK", 70)
    means = resample_means(values, resamples=101, rng=rng())
    assert means.shape == (101, 2)
    assert len(np.unique(means[:, 0])) > 95


def test_interval_agrees_with_scipy():
    values = rng(1).exponential(size=80)
    ours = mean_interval(values, resamples=20_000, rng=rng(2))
    theirs = scipy_stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=3)
    assert ours.estimate == values.mean()
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), abs=0.012)


def test_the_p_value_agrees_with_the_t_test_on_normal_differences():
    values = rng(4).normal(size=(400, 2)) + np.array([0.0, 0.1])
    (found,) = paired_comparisons(values, names=["a", "b"], resamples=20_000, rng=rng(5))
    assert found.p == pytest.approx(scipy_stats.ttest_rel(*values.T).pvalue, abs=0.015)
    assert found.difference == pytest.approx(np.mean(values[:, 0] - values[:, 1]))
    assert found.low < found.difference < found.high


def test_equal_columns_do_not_differ_and_the_smallest_p_is_one_in_b_plus_one():
    base = rng(6).normal(size=(100, 1))
    same, far = paired_comparisons(
        np.hstack([base, base, base + 1]), names=["a", "b", "c"], resamples=999, rng=rng(7)
    )[:2]
    assert same.p == 1.0
    assert same.difference == 0
    assert far.p == 1 / 1000
    assert far.p_holm == pytest.approx(3 / 1000)


def test_holm_by_hand():
    values = rng(8).normal(size=(60, 3)) + np.array([0, 0.25, 0.5])
    found = paired_comparisons(values, names=list("abc"), resamples=4999, rng=rng(9))
    ordered = sorted(found, key=lambda c: c.p)
    running = 0.0
    for i, c in enumerate(ordered):
        running = max(running, min(1.0, c.p * (3 - i)))
        assert c.p_holm == pytest.approx(running)


def test_the_same_seed_gives_the_same_numbers():
    values = rng(10).normal(size=(40, 3))
    one, two = (paired_comparisons(values, names=list("abc"), resamples=500, rng=rng(11)) for _ in range(2))
    assert one == two


def test_spearman_agrees_with_scipy_ties_included():
    x = rng(12).integers(0, 6, 60).astype(float)
    y = x + rng(13).integers(0, 6, 60)
    found = spearman_interval(x, y, resamples=4000, rng=rng(14))
    assert found.rho == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
    boot = scipy_stats.bootstrap(
        (x, y), lambda a, b: scipy_stats.spearmanr(a, b).statistic, paired=True, vectorized=False,
        n_resamples=2000, method="percentile", rng=1,
    )  # fmt: skip
    assert (found.low, found.high) == pytest.approx(tuple(boot.confidence_interval), abs=0.04)


def test_rounding_breaks_no_tie_of_ranks():
    x = [70.3 - 70.1, 50.3 - 50.1, 0.2, 0.5, 0.7, 0.9, 0.4]  # the first three are 0.2
    y = [1.0, 2, 3, 7, 6, 5, 4]
    assert len(set(x)) == 7
    plain = [0.2, 0.2, 0.2, 0.5, 0.7, 0.9, 0.4]
    found, same = (spearman_interval(v, y, resamples=300, rng=rng(3)) for v in (x, plain))
    assert found == same
    assert found.rho == pytest.approx(scipy_stats.spearmanr(plain, y).statistic)
    matrices = [np.array([v, v[::-1]] * 3) for v in (x, plain)]
    other = np.array([y, y[::-1]] * 3)
    first, second = (cluster_spearman(m, other, resamples=200, rng=rng(4)) for m in matrices)
    assert first == second


@pytest.mark.parametrize("call", [
    lambda: mean_interval([], resamples=100, rng=rng()),
    lambda: mean_interval([1.0], resamples=100, rng=rng()),
    lambda: mean_interval([1.0, 2, 3, 4, 5], resamples=100, rng=rng()),
    lambda: paired_comparisons([[1.0, 2.0]], names=["a", "b"], resamples=100, rng=rng())[0],
    lambda: paired_comparisons([[1.0, 2.0]] * 5, names=["a", "b"], resamples=100, rng=rng())[0],
    lambda: spearman_interval([1, 2, 3, 4, 5], [1, 3, 2, 5, 4], resamples=100, rng=rng()),
    lambda: spearman_interval([1, 2, 3], [1, 1, 1], resamples=100, rng=rng()),
    lambda: wilson(0, 0),
])  # fmt: skip
def test_degenerate_data_give_nan_and_say_so(call):
    with pytest.warns(DegenerateWarning):
        found = call()
    assert np.isnan(found.low)
    assert np.isnan(found.high)


@pytest.mark.parametrize("call", [
    lambda: resample_means([[1.0, float("nan")]], resamples=10, rng=rng()),
    lambda: resample_means([1.0, 2.0], resamples=10, rng=rng()),
    lambda: paired_comparisons([[1.0, 2.0]], names=["a"], resamples=10, rng=rng()),
    lambda: spearman_interval([1, 2, 3], [1, 2], resamples=10, rng=rng()),
    lambda: mean_interval([1, 2], resamples=10, level=1.0, rng=rng()),
    lambda: wilson(3, 2),
])  # fmt: skip
def test_bad_input_is_refused(call):
    with pytest.raises(ValueError, match=r"."):
        call()


def test_wilson_by_hand():
    """1 of 10 at 95 %: the textbook's (0.0179, 0.4042)."""
    found = wilson(1, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0179, 0.4042)
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0


# Simulations with known truth: 1,379 pairs, SD 0.3 within a generator, correlation 0.5 between generators.

N, SD, NAMES = 1379, 0.3, ["a", "b", "c", "d", "e"]


def draw(generator, shifts):
    common = generator.normal(size=(N, 1))
    own = generator.normal(size=(N, len(shifts)))
    return SD * (np.sqrt(0.5) * common + np.sqrt(0.5) * own) + np.asarray(shifts)


def letters_of(values, resamples, generator):
    found = paired_comparisons(values, names=NAMES, resamples=resamples, rng=generator)
    different = {frozenset({c.first, c.second}) for c in found if c.p_holm < 0.05}
    return found, compact_letters(NAMES, dict(zip(NAMES, values.mean(axis=0), strict=True)), different)


@pytest.mark.slow
def test_family_wise_error_is_five_per_cent_when_generators_are_equal():
    generator, draws = rng(20), 400
    errors = lettered = 0
    for _ in range(draws):
        found, letters = letters_of(draw(generator, [4.0] * 5), 1999, generator)
        errors += min(c.p_holm for c in found) < 0.05
        lettered += len(set(letters.values())) > 1
    assert lettered == errors
    # 5 % within Monte-Carlo error; Holm is a little conservative here (64 of 1,500 draws: 4.3 %).
    assert scipy_stats.binomtest(errors, draws, 0.05).pvalue > 0.01


@pytest.mark.slow
def test_the_order_is_found_when_neighbours_differ_by_five_hundredths():
    generator, draws = rng(21), 100
    right = 0
    for _ in range(draws):
        values = draw(generator, [4.0, 3.95, 3.9, 3.85, 3.8])
        _, letters = letters_of(values, 1999, generator)
        right += letters == dict(zip(NAMES, "abcde", strict=True))
    assert right >= 95


@pytest.mark.slow
def test_intervals_cover_the_truth():
    generator, draws = rng(22), 600
    covered = 0
    for _ in range(draws):
        found = mean_interval(generator.normal(4, 0.3, size=200), resamples=999, rng=generator)
        covered += found.low <= 4 <= found.high
    assert 0.92 <= covered / draws <= 0.975


def test_a_resample_exactly_as_far_as_the_observed_difference_counts():
    """One of six rows differs by 1: a sample holds it K times, and only K = 1 lies nearer than 1/6."""
    values = np.zeros((6, 2))
    values[0, 0] = 1.0
    (found,) = paired_comparisons(values, names="ab", resamples=20_000, rng=rng(3))
    assert found.p == pytest.approx(1 - 6 * (1 / 6) * (5 / 6) ** 5, abs=0.02)


@pytest.mark.parametrize("step", [1.0, 0.1, 1 / 3, 70.3 - 70.1])
def test_a_resample_exactly_as_far_counts_as_at_least_as_far(step):
    # Means of six draws of 0 and 1 lie as far as the observed half where all are equal: 2 of 64.
    values = np.array([[0.0, 0.0]] * 3 + [[step, 0.0]] * 3)
    (found,) = paired_comparisons(values, names=["a", "b"], resamples=20_000, rng=rng(21))
    assert found.p == pytest.approx(2 / 64, abs=4 * np.sqrt(2 / 64 / 20_000))
