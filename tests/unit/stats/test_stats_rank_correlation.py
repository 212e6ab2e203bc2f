"""Kendall's tau-b against scipy and against its definition."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.rank_correlation import kendall_tau_b, kendall_taus

pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12)
varied = pairs.filter(lambda p: len({x for x, _ in p}) > 1 and len({y for _, y in p}) > 1)


def rng(seed=0):
    return np.random.default_rng(seed)


def by_definition(x, y):
    agree = disagree = tied_x = tied_y = 0
    for i, j in combinations(range(len(x)), 2):
        product = (x[i] - x[j]) * (y[i] - y[j])
        agree += product > 0
        disagree += product < 0
        tied_x += x[i] == x[j]
        tied_y += y[i] == y[j]
    n_pairs = len(x) * (len(x) - 1) / 2
    return (agree - disagree) / np.sqrt((n_pairs - tied_x) * (n_pairs - tied_y))


@settings(max_examples=150, deadline=None)
@given(varied)
def test_equal_to_scipy_and_to_the_definition_with_ties(both):
    x, y = zip(*both, strict=True)
    found = kendall_tau_b(x, y)
    assert found == pytest.approx(by_definition(x, y))
    assert found == pytest.approx(scipy_stats.kendalltau(x, y).statistic)
    assert kendall_tau_b(y, x) == found
    assert kendall_tau_b([-v for v in x], y) == -found


@pytest.mark.parametrize("n", [2, 9, 11, 300])
def test_equal_to_scipy_without_ties(n):
    x, noise = rng(n).normal(size=(2, n))
    assert kendall_tau_b(x, x + noise) == pytest.approx(scipy_stats.kendalltau(x, x + noise).statistic)


def test_equal_rankings_have_one_and_opposite_ones_minus_one_exactly():
    x = [0.3, 0.1, 0.7, 0.2, 0.9, 0.2]
    assert kendall_tau_b(x, np.exp(x)) == 1.0
    assert kendall_tau_b(x, np.negative(x)) == -1.0


@pytest.mark.parametrize("chunk", [10, 4_000_000])
def test_each_row_is_compared_with_the_same_row_or_with_the_only_one(monkeypatch, chunk):
    monkeypatch.setattr("stressbed.stats.rank_correlation.CHUNK", chunk)
    x, y = rng(1).integers(0, 6, size=(2, 20, 8)).astype(float)
    assert kendall_taus(x, y).tolist() == [kendall_tau_b(a, b) for a, b in zip(x, y, strict=True)]
    assert kendall_taus(x, y[:1]).tolist() == [kendall_tau_b(a, y[0]) for a in x]


def test_rounding_of_floats_breaks_no_tie():
    scores = [70.0, (0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3, 0.5]
    assert scores[1] != scores[2]
    assert kendall_tau_b(scores, [4, 1, 2, 3]) == kendall_tau_b([3, 1, 1, 2], [4, 1, 2, 3])


@pytest.mark.parametrize(("x", "y"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2], [5, 5])])
def test_where_nothing_is_ranked_there_is_no_tau(x, y):
    with pytest.warns(DegenerateWarning, match="both sides must vary"):
        assert np.isnan(kendall_tau_b(x, y))


def test_one_warning_counts_the_rows_without_a_tau():
    x, y = [[1, 2, 3], [1, 1, 1], [3, 2, 1]], [[1, 2, 3]] * 3
    with pytest.warns(DegenerateWarning, match="1 of 3") as caught:
        found = kendall_taus(x, y)
    assert len(caught) == 1
    assert found.tolist() == pytest.approx([1, float("nan"), -1], nan_ok=True)
    assert kendall_taus(np.empty((0, 4)), np.empty((0, 4))).shape == (0,)


@pytest.mark.parametrize("call", [
    lambda: kendall_tau_b([1, 2], [1, 2, 3]),
    lambda: kendall_tau_b([1, float("nan")], [1, 2]),
    lambda: kendall_taus([1, 2], [1, 2]),
    lambda: kendall_taus([[1, 2]], [[1, 2, 3]]),
    lambda: kendall_taus([[1, 2]] * 3, [[1, 2]] * 2),
])  # fmt: skip
def test_shapes_that_do_not_fit_are_refused(call):
    with pytest.raises(ValueError, match="x"):
        call()
