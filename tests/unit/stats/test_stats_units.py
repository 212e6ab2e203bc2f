"""What is resampled where items share texts: the units by hand, and what intervals then cover."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from stressbed.stats.bootstrap import mean_interval, paired_comparisons, resample_means
from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.units import Units, shared_units


def rng(seed=0):
    return np.random.default_rng(seed)


def test_items_that_share_nothing_have_no_unit_but_their_own():
    assert shared_units([["a", "b"], ["c", "d"], ["e", "e"]]) == [(), (), ()]
    units = Units.of([(), (), ()])
    assert (units.n, units.shared) == (3, False)
    values = rng(1).normal(size=40)
    own = mean_interval(values, resamples=300, rng=rng(2), units=Units.own(40))
    assert own == mean_interval(values, resamples=300, rng=rng(2))  # to the last digit


def test_a_few_items_that_hang_together_are_one_unit():
    texts = [["a", "b"], ["b", "c"], ["x", "y"], ["y", "x"], *([f"p{i}", f"q{i}"] for i in range(40))]
    found = shared_units(texts)
    assert found[0] == found[1] != found[2]
    assert found[2] == found[3]
    assert set(found[4:]) == {()}
    units = Units.of(found)
    assert (units.n, units.shared) == (42, True)
    drawn = np.arange(42.0)[:, None]
    assert units.weights(drawn)[:5, 0].tolist() == [0, 0, 1, 1, 2]


def test_a_net_of_many_items_is_drawn_by_its_texts():
    found = shared_units(list(combinations("abcd", 2)))
    assert found == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    units = Units.of(found)
    assert units.n == 4
    assert units.weights(np.array([[2.0], [0], [1], [1]]))[:, 0].tolist() == [0, 2, 2, 0, 0, 1]


def test_only_the_shared_text_of_a_star_is_drawn():
    found = shared_units([["hub", "a"], ["hub", "b"], ["rim", "c"], ["rim", "d"], ["e", "f"]])
    assert found == [(0,), (0,), (1,), (1,), ()]
    assert Units.of(found).n == 3


@pytest.mark.parametrize(("others", "whole"), [(17, False), (18, True)])
def test_where_a_net_becomes_large(others, whole):
    # A triangle of 2 items: at a tenth of 20 it is still one unit, of 19 no longer.
    found = shared_units([["a", "b"], ["a", "b"], *([f"p{i}", f"q{i}"] for i in range(others))])
    assert found[:2] == ([(0,), (0,)] if whole else [(0, 1), (0, 1)])


def test_an_item_with_three_shared_texts_is_drawn_with_its_net():
    found = shared_units([["a", "b", "c"], ["a", "x"], ["b", "y"], ["c", "z"]])
    assert found[0] == (0,)


def test_means_of_samples_of_units_by_hand():
    values = np.array([[1.0], [2.0], [4.0], [10.0]])
    units = Units.of([(0,), (0,), (1,), ()])
    found = set(np.round(resample_means(values, resamples=2000, rng=rng(3), units=units)[:, 0], 9))
    # Three units of sums 3 (two items), 4 and 10: every way to draw three of them.
    sums, sizes = np.array([3.0, 4, 10]), np.array([2, 1, 1])
    every = [(i, j, k) for i in range(3) for j in range(3) for k in range(3)]
    assert found == {round(float(sums[list(d)].sum() / sizes[list(d)].sum()), 9) for d in every}


def test_a_sample_that_holds_no_item_has_no_mean_and_is_left_out_without_a_word():
    # Six pairs of 12 texts that are drawn alone: a sample without both texts of any pair is empty.
    pairs = [(i, 6 + i) for i in range(6)]
    units, values = Units.of(pairs), np.arange(6.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        means = resample_means(values, resamples=4000, rng=rng(3), units=units)[:, 0]
        found = mean_interval(values[:, 0], resamples=4000, rng=rng(3), units=units)
        (pair,) = paired_comparisons(
            np.hstack([values, 0 * values]), names=["a", "b"], resamples=4000, rng=rng(3), units=units
        )
    kept = means[~np.isnan(means)]
    assert 0 < len(kept) < 4000
    assert (found.low, found.high) == tuple(np.quantile(kept, [0.025, 0.975]))
    assert (pair.low, pair.high) == (found.low, found.high)
    assert pair.p == ((np.abs(kept - 2.5) >= 2.5).sum() + 1) / (len(kept) + 1)


def test_five_texts_give_no_interval_and_no_test_whatever_the_items():
    units = Units.of(shared_units(list(combinations("abcde", 2))))
    with pytest.warns(DegenerateWarning, match="5 of the 6"):
        found = mean_interval(rng(4).normal(size=10), resamples=100, rng=rng(), units=units)
    assert np.isnan([found.low, found.high]).all()
    with pytest.warns(DegenerateWarning, match="5 of the 6"):
        (pair,) = paired_comparisons(
            rng(5).normal(size=(10, 2)), names=["a", "b"], resamples=100, rng=rng(), units=units
        )
    assert np.isnan([pair.low, pair.high, pair.p]).all()


def coverage(pairs, share, units, draws=400, seed=0):
    """Return how often the interval of a mean holds the truth; `share` of the variance is of the texts."""
    pairs, generator, hits = np.asarray(pairs), rng(seed), 0
    for _ in range(draws // 50):
        texts = generator.normal(size=(pairs.max() + 1, 50))
        noise = generator.normal(size=(len(pairs), 50))
        values = np.sqrt(share / 2) * (texts[pairs[:, 0]] + texts[pairs[:, 1]]) + np.sqrt(1 - share) * noise
        means = resample_means(values, resamples=600, rng=generator, units=units)
        low, high = np.nanquantile(means, [0.025, 0.975], axis=0)
        hits += ((low <= 0) & (high >= 0)).sum()
    return hits / draws


@pytest.mark.parametrize(
    ("pairs", "share", "before", "after"),
    [
        (list(combinations(range(8), 2)), 0.3, 0.80, 0.91),
        (list(combinations(range(20), 2)), 0.3, 0.65, 0.91),
        ([(i, 30 + 5 * i + j) for i in range(30) for j in range(5)], 0.8, 0.84, 0.90),
        ([(i, 10 + j) for i in range(10) for j in range(10)], 0.3, 0.77, 0.93),
    ],
    ids=["28 pairs of 8", "190 pairs of 20", "30 texts with 5 each", "10 x 10"],
)
def test_intervals_over_shared_texts_cover_what_those_over_items_do_not(pairs, share, before, after):
    units = Units.of(shared_units(pairs))
    assert coverage(pairs, share, None) < before
    assert coverage(pairs, share, units) > after
