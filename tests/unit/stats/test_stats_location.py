"""The Hodges-Lehmann shift: brute force, inversion of the test, published data, simulation; Holm."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from stats_cases import AFTER, BEFORE

from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.location import hodges_lehmann, holm
from stressbed.stats.signed_rank import EXACT_UP_TO, signed_rank

numbers = st.lists(st.integers(-50, 50), min_size=6, max_size=12)


def rng(seed=0):
    return np.random.default_rng(seed)


def walsh_averages(differences):
    return np.sort([(a + b) / 2 for a, b in combinations_with_replacement(differences, 2)])


def ends(found):
    return (found.estimate, found.low, found.high)


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_the_estimate_is_the_median_of_all_walsh_averages(n):
    differences = rng(n).normal(size=n)
    with pytest.warns(DegenerateWarning) if n < 6 else np.errstate():
        found = hodges_lehmann(differences)
    assert found.estimate == pytest.approx(np.median(walsh_averages(differences)))


def test_the_textbook_s_interval():
    """Hollander and Wolfe (1973), examples 3.3 and 3.4: -0.46, and -0.786 to -0.010 at 96.1 %."""
    found = hodges_lehmann(AFTER - BEFORE)
    assert ends(found) == pytest.approx((-0.46, -0.786, -0.010))
    assert round(found.level_attained, 3) == 0.961
    assert found.method == "exact"


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [9, 13, 19])
def test_the_interval_holds_exactly_the_shifts_that_the_test_does_not_reject(n, level):
    differences = rng(n).normal(size=n)
    found = hodges_lehmann(differences, level=level)
    averages = walsh_averages(differences)
    between = (averages[1:] + averages[:-1]) / 2
    for shift in between:
        kept = signed_rank(differences - shift).p > 1 - level
        assert kept == (found.low < shift < found.high), shift


@pytest.mark.parametrize("n", [6, 10, 13, 25])
def test_the_level_attained_is_the_test_s(n):
    """The next larger p-value would leave an interval below 95 %."""
    found = hodges_lehmann(np.arange(float(n)) ** 2)
    p_values = {signed_rank(sign * np.arange(1.0, n + 1)).p for sign in _signs(n)}
    assert found.level_attained == pytest.approx(1 - max(p for p in p_values if p <= 0.05))
    assert found.level_attained >= 0.95


def _signs(n):
    """Sign patterns that reach every sum of positive ranks from 0 to n (n + 1) / 2."""
    for total in range(n * (n + 1) // 2 + 1):
        signs, left = -np.ones(n), total
        for rank in range(n, 0, -1):
            if rank <= left:
                left -= rank
                signs[rank - 1] = 1
        yield signs


def test_six_differences_have_their_range_and_five_have_no_interval():
    found = hodges_lehmann([5, 1, 9, 2, 7, 4])
    assert (found.low, found.high, found.level_attained) == (1, 9, 1 - 2 / 64)
    with pytest.warns(DegenerateWarning, match="5 differences are too few for an interval at 95 %"):
        found = hodges_lehmann([5, 1, 9, 2, 7])
    assert found.estimate == 5
    assert np.isnan([found.low, found.high, found.level_attained]).all()
    assert found.method == "none"
    assert hodges_lehmann([5, 1, 9, 2, 7], level=0.9375).low == 1


def test_nothing_has_no_estimate():
    with pytest.warns(DegenerateWarning, match="no difference"):
        found = hodges_lehmann([])
    assert np.isnan(ends(found)).all()


@settings(max_examples=80, deadline=None)
@given(numbers, st.integers(-20, 20), st.sampled_from([0.25, 3.0]))
def test_estimate_and_ends_follow_shift_scale_and_sign(differences, shift, factor):
    found = hodges_lehmann(differences)
    moved = hodges_lehmann(factor * np.array(differences) + shift)
    assert ends(moved) == pytest.approx(tuple(factor * v + shift for v in ends(found)))
    turned = hodges_lehmann([-d for d in differences])
    assert ends(turned) == (-found.estimate, -found.high, -found.low)
    assert hodges_lehmann(sorted(differences)) == found


def test_rounding_of_floats_does_not_move_an_end_off_zero():
    found = hodges_lehmann([0.1 + 0.2 - 0.3] * 10 + [4.0, 5.0])
    assert ends(found) == (0.0, 0.0, pytest.approx(2.0))


@pytest.mark.parametrize("size", ["odd", "even"])
def test_averages_found_one_by_one_equal_those_of_the_whole_list(monkeypatch, size):
    differences = rng(3).normal(size=57 if size == "odd" else 60)
    whole = hodges_lehmann(differences)
    monkeypatch.setattr("stressbed.stats.location.ALL_AVERAGES_UP_TO", 5)
    assert ends(hodges_lehmann(differences)) == pytest.approx(ends(whole), abs=1e-10)


def test_many_differences_get_the_interval_of_the_normal_approximation(monkeypatch):
    differences = rng(4).normal(size=EXACT_UP_TO)
    exact = hodges_lehmann(differences)
    from stressbed.stats import location

    location._depth.cache_clear()
    monkeypatch.setattr("stressbed.stats.location.EXACT_UP_TO", 10)
    close = hodges_lehmann(differences)
    location._depth.cache_clear()
    assert (exact.method, close.method) == ("exact", "normal approximation")
    assert ends(close) == pytest.approx(ends(exact), abs=0.002)
    assert close.level_attained == pytest.approx(0.95, abs=0.0005)


@pytest.mark.parametrize(("differences", "level"), [([1, float("nan")], 0.95), ([[1, 2]], 0.95), ([1, 2], 1)])
def test_bad_differences_and_levels_are_refused(differences, level):
    with pytest.raises(ValueError, match=r"differences|level"):
        hodges_lehmann(differences, level=level)


@pytest.mark.parametrize("n", [13, 19])
@pytest.mark.parametrize("step", [0.0, 0.5, 1.5])
def test_the_interval_holds_the_shift_in_95_of_100_draws_with_ties_and_zeros_too(n, step):
    draws, shift = 1500, 3.0
    data = rng(n + 100).normal(size=(draws, n))
    data = (np.round(data / step) * step if step else data) + shift
    found = [hodges_lehmann(row) for row in data]
    covered = np.mean([i.low <= shift <= i.high for i in found])
    spread = np.sqrt(0.05 * 0.95 / draws)
    assert covered >= 0.95 - 3 * spread
    assert covered <= 0.97 or step > 0


@pytest.mark.parametrize(("raw", "adjusted"), [
    ([0.01, 0.02, 0.03, 0.04], [0.04, 0.06, 0.06, 0.06]),
    ([0.04, 0.01], [0.04, 0.02]),
    ([0.6, 0.5], [1.0, 1.0]),
    ([0.03], [0.03]),
])  # fmt: skip
def test_holm_by_hand(raw, adjusted):
    assert holm(raw).tolist() == pytest.approx(adjusted)


def test_a_test_that_could_not_be_made_is_no_member_of_holm_s_family():
    nan = float("nan")
    assert holm([nan, 0.04, nan, 0.01]).tolist() == pytest.approx([nan, 0.04, nan, 0.02], nan_ok=True)
    assert np.isnan(holm([nan, nan])).all()
    assert holm([]).shape == (0,)


@pytest.mark.parametrize("raw", [[1.2], [-0.1], [[0.1]]])
def test_what_is_no_probability_is_refused(raw):
    with pytest.raises(ValueError, match="p_values"):
        holm(raw)


def test_the_shift_s_interval_agrees_with_the_t_interval_on_normal_data():
    differences = rng(6).normal(1, size=200)
    theirs = scipy_stats.ttest_1samp(differences, 0).confidence_interval()
    found = hodges_lehmann(differences)
    assert (found.low, found.high) == pytest.approx(tuple(theirs), abs=0.03)
