"""The signed-rank test: scipy, enumeration of every sign pattern, published data, simulation."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from stats_cases import AFTER, BEFORE

from stressbed.stats.interval import DegenerateWarning
from stressbed.stats.signed_rank import EXACT_UP_TO, signed_rank

coarse = st.lists(st.integers(-4, 4), min_size=1, max_size=9)


def rng(seed=0):
    return np.random.default_rng(seed)


def enumerated(differences, zeros):
    """Return statistic and p over all patterns of signs, from the definition."""
    sizes = [abs(d) for d in differences if d != 0 or zeros == "pratt"]
    rank = {s: np.mean([i for i, t in enumerate(sorted(sizes), start=1) if t == s]) for s in sizes}
    ranks = [rank[abs(d)] for d in differences if d != 0]
    statistic = sum(rank[abs(d)] for d in differences if d > 0)
    sums = np.array([sum(r for r, on in zip(ranks, signs, strict=True) if on)
                     for signs in product([0, 1], repeat=len(ranks))])  # fmt: skip
    off = abs(statistic - sum(ranks) / 2)
    return statistic, np.mean(np.abs(sums - sum(ranks) / 2) >= off - 1e-9)


@pytest.mark.parametrize("n", [1, 2, 6, 13, 19, 40])
def test_without_ties_equal_to_scipy_s_exact_test(n):
    for seed in range(5):
        differences = rng(seed).normal(0.3, size=n)
        theirs = scipy_stats.wilcoxon(differences, method="exact")
        ours = signed_rank(differences)
        assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)
        assert min(ours.statistic, n * (n + 1) / 2 - ours.statistic) == theirs.statistic
        assert (ours.n, ours.zeros, ours.ties, ours.method) == (n, 0, False, "exact")


@settings(max_examples=80, deadline=None)
@given(coarse, st.sampled_from(["pratt", "wilcox"]))
def test_with_ties_and_zeros_equal_to_all_patterns_of_signs(differences, zeros):
    found = signed_rank(differences, zeros=zeros)
    assert (found.statistic, found.p) == pytest.approx(enumerated(differences, zeros), abs=1e-12)
    assert found.zeros == differences.count(0)
    sizes = [abs(d) for d in differences if d]
    assert found.ties == (len(set(sizes)) < len(sizes))


@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
def test_with_ties_and_zeros_equal_to_scipy_s_permutation_test(zeros):
    differences = [0, 0, 1, 1, -2, 3, 3, 4, -4]
    every = scipy_stats.PermutationMethod(n_resamples=10_000)
    theirs = scipy_stats.wilcoxon(differences, zero_method=zeros, method=every)
    assert signed_rank(differences, zeros=zeros).p == pytest.approx(theirs.pvalue)


def test_the_depression_data_of_r_s_help_page():
    found = signed_rank(BEFORE - AFTER)
    assert found.statistic == 40
    assert round(found.p / 2, 5) == 0.01953


@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
def test_many_differences_equal_to_scipy_s_corrected_approximation(zeros):
    differences = np.round(rng(1).normal(0.2, 2, size=EXACT_UP_TO + 100))
    theirs = scipy_stats.wilcoxon(differences, zero_method=zeros, correction=True, method="asymptotic")
    found = signed_rank(differences, zeros=zeros)
    assert found.method == "normal approximation"
    assert found.p == pytest.approx(theirs.pvalue)


def test_the_approximation_meets_the_exact_test_where_it_takes_over(monkeypatch):
    differences = np.round(rng(2).normal(0.2, 2, size=EXACT_UP_TO))
    exact = signed_rank(differences)
    monkeypatch.setattr("stressbed.stats.signed_rank.EXACT_UP_TO", 10)
    close = signed_rank(differences)
    assert (exact.method, close.method) == ("exact", "normal approximation")
    assert close.p == pytest.approx(exact.p, rel=0.02)
    assert close.p != exact.p


def test_rounding_of_floats_breaks_no_tie_and_hides_no_zero():
    found = signed_rank([70.3 - 70.1, -(50.3 - 50.1), 0.1 + 0.2 - 0.3, 5.0, 7.0])
    assert (found.ties, found.zeros) == (True, 1)
    assert found == signed_rank([0.2, -0.2, 0, 5, 7])


def test_pratt_s_zeros_never_turn_better_data_into_weaker_evidence():
    worse = {"pratt": 0, "wilcox": 0}
    for differences in combinations_with_replacement(range(-2, 3), 6):
        if 0 not in differences or sum(np.sign(differences)) <= 0:
            continue
        for zeros in worse:
            now, raised = (signed_rank(np.add(differences, up), zeros=zeros) for up in (0, 0.25))
            # Only differences of which the larger part of the ranks is positive are positive evidence.
            total = enumerated(np.abs(differences), zeros)[0]
            worse[zeros] += now.statistic > total / 2 and raised.p > now.p + 1e-12
    assert worse["pratt"] == 0
    assert worse["wilcox"] > 0


@settings(max_examples=50, deadline=None)
@given(coarse, st.sampled_from([0.37, 3.0, 1e-8, 1e8]))
def test_the_sign_the_scale_and_the_order_do_not_matter(differences, factor):
    found = signed_rank(differences)
    turned = signed_rank([-d for d in differences])
    assert turned.p == found.p
    assert turned.statistic + found.statistic == enumerated(np.abs(differences), "pratt")[0]
    assert signed_rank([factor * d for d in differences]) == found
    assert signed_rank(sorted(differences)) == found


@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
@pytest.mark.parametrize("n", [1, 13, EXACT_UP_TO + 1])
def test_nothing_but_zeros_is_no_evidence(n, zeros):
    found = signed_rank(np.zeros(n), zeros=zeros)
    assert (found.p, found.statistic, found.n, found.zeros) == (1.0, 0.0, n, n)


def test_no_difference_at_all_has_no_p_value():
    with pytest.warns(DegenerateWarning, match="no difference"):
        found = signed_rank([])
    assert np.isnan(found.p)
    assert found.method == "none"


@pytest.mark.parametrize("differences", [[1.0, float("nan")], [[1.0]], [float("inf")]])
def test_what_is_no_list_of_numbers_is_refused(differences):
    with pytest.raises(ValueError, match="differences"):
        signed_rank(differences)


def test_an_unknown_treatment_of_zeros_is_refused():
    with pytest.raises(ValueError, match="'zsplit'"):
        signed_rank([1.0], zeros="zsplit")


@pytest.mark.parametrize("n", [13, 19])
@pytest.mark.parametrize("step", [0.0, 0.5, 1.5])
def test_the_size_is_at_most_five_per_cent_and_not_far_below(n, step):
    """A step of 1.5 SD leaves two thirds of the differences at zero or tied."""
    draws, generator = 1200, rng(n)
    data = generator.normal(size=(draws, n))
    data = np.round(data / step) * step if step else data
    size = np.mean([signed_rank(row).p <= 0.05 for row in data])
    spread = np.sqrt(0.05 * 0.95 / draws)
    assert size <= 0.05 + 3 * spread
    assert size >= (0.045 - 3 * spread if step < 1 else 0.005)
