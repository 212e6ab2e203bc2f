"""Every number of the statistics' results beside plain arithmetic; borders from both sides."""

from __future__ import annotations

import math
from itertools import combinations, product
from statistics import fmean, median

import numpy as np
import pytest
from scipy import stats

from stressbed.stats import bootstrap, rank_correlation
from stressbed.stats.agreement import gwet_ac2, weight_matrix
from stressbed.stats.bootstrap import (
    mean_interval,
    mean_intervals,
    paired_comparisons,
    rank_intervals,
    resample_means,
    spearman_interval,
)
from stressbed.stats.coverage import coverage_note, interval_words
from stressbed.stats.interval import DegenerateWarning, enough, too_few
from stressbed.stats.letters import compact_letters
from stressbed.stats.location import _walsh_averages, hodges_lehmann, holm
from stressbed.stats.proportion import wilson
from stressbed.stats.rank_correlation import kendall_taus
from stressbed.stats.signed_rank import signed_rank
from stressbed.stats.split_half import random_halves, split_half
from stressbed.stats.ties import levels

SKEWED = np.exp(np.random.default_rng(3).normal(size=(9, 4))) * [1.0, 1.3, 2.2, 0.9]
"""Nine observations of four: no mean is a median, no two columns are alike."""
B = 60


def drawn(seed, n, b=B):
    """Return which observations each resample holds, as the generator gives them."""
    return np.random.default_rng(seed).integers(n, size=(b, n))


def quantile(values, q):
    """Return a quantile by linear interpolation between the ordered values."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def means_by_hand(values, seed, b=B):
    return [
        [fmean(values[i][k] for i in rows) for k in range(len(values[0]))]
        for rows in drawn(seed, len(values), b)
    ]


def test_means_of_resamples_are_those_of_the_rows_drawn():
    found = resample_means(SKEWED, resamples=B, rng=np.random.default_rng(5))
    assert found == pytest.approx(np.array(means_by_hand(SKEWED.tolist(), 5)))
    assert found.shape == (B, 4)


@pytest.mark.parametrize("chunk", [1, 9, 10, 27, 100])
def test_parts_of_the_samples_make_no_difference(monkeypatch, chunk):
    whole = resample_means(SKEWED, resamples=B, rng=np.random.default_rng(5))
    rho = spearman_interval(SKEWED[:, 0], SKEWED[:, 1], resamples=B, rng=np.random.default_rng(5))
    monkeypatch.setattr(bootstrap, "CHUNK", chunk)
    assert resample_means(SKEWED, resamples=B, rng=np.random.default_rng(5)) == pytest.approx(whole)
    assert spearman_interval(SKEWED[:, 0], SKEWED[:, 1], resamples=B, rng=np.random.default_rng(5)) == rho


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_an_interval_of_a_mean_has_the_quantiles_of_the_resampled_means(level):
    column = SKEWED[:, 2].tolist()
    means = [m[0] for m in means_by_hand([[v] for v in column], 8)]
    ends = [quantile(means, (1 - level) / 2), quantile(means, (1 + level) / 2)]
    found = mean_interval(column, resamples=B, level=level, rng=np.random.default_rng(8))
    assert (found.estimate, found.low, found.high) == pytest.approx((fmean(column), *ends))
    (same,) = mean_intervals(
        np.array(column)[:, None], resamples=B, level=level, rng=np.random.default_rng(8)
    )
    assert (same.estimate, same.low, same.high) == pytest.approx((fmean(column), *ends))


def test_the_level_is_95_unless_said_otherwise():
    for function, values in (
        (mean_interval, SKEWED[:, 0]), (mean_intervals, SKEWED), (rank_intervals, SKEWED),
    ):  # fmt: skip
        made = [
            function(values, resamples=B, rng=np.random.default_rng(1), **more)
            for more in ({}, {"level": 0.95})
        ]
        assert made[0] == made[1]
    made = [
        spearman_interval(SKEWED[:, 0], SKEWED[:, 1], resamples=B, rng=np.random.default_rng(1), **more)
        for more in ({}, {"level": 0.95})
    ]
    assert made[0] == made[1]
    assert wilson(3, 9) == wilson(3, 9, level=0.95)
    assert hodges_lehmann(SKEWED[:, 0]) == hodges_lehmann(SKEWED[:, 0], level=0.95)


@pytest.mark.parametrize("higher", [True, False])
def test_intervals_of_ranks_have_ranks_that_occurred(higher):
    values = SKEWED[:, :3]
    sign = -1 if higher else 1
    ranks = [
        stats.rankdata([sign * round(m, 9) for m in means]) for means in means_by_hand(values.tolist(), 4)
    ]
    observed = stats.rankdata([sign * fmean(c) for c in values.T.tolist()])
    found = rank_intervals(
        values, higher_is_better=higher, resamples=B, level=0.9, rng=np.random.default_rng(4)
    )
    for k, interval in enumerate(found):
        mine = sorted(r[k] for r in ranks)
        at = [0.05 * (B - 1), 0.95 * (B - 1)]
        ends = (mine[math.floor(at[0])], mine[math.ceil(at[1])])
        assert (interval.estimate, interval.low, interval.high) == (observed[k], *ends)


def test_comparisons_are_those_of_plain_arithmetic():
    names = ["a", "b", "c", "d"]
    found = paired_comparisons(SKEWED, names=names, resamples=B, level=0.9, rng=np.random.default_rng(6))
    assert [(c.first, c.second) for c in found] == list(combinations(names, 2))
    means = means_by_hand(SKEWED.tolist(), 6)
    raw = []
    for c in found:
        i, j = names.index(c.first), names.index(c.second)
        observed = fmean(SKEWED[:, i] - SKEWED[:, j])
        apart = [m[i] - m[j] for m in means]
        assert c.difference == pytest.approx(observed)
        assert (c.low, c.high) == pytest.approx((quantile(apart, 0.05), quantile(apart, 0.95)))
        further = sum(abs(a - observed) >= abs(observed) - 1e-12 for a in apart)
        assert c.p == pytest.approx((further + 1) / (B + 1))
        raw.append(c.p)
    assert [c.p_holm for c in found] == pytest.approx(holm_by_hand(raw))


def holm_by_hand(p):
    adjusted, largest = [0.0] * len(p), 0.0
    for place, i in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - place) * p[i]))
        adjusted[i] = largest
    return adjusted


def test_holm_by_hand():
    p = [0.011, 0.3, 0.02, 0.9, 0.012]
    assert holm(p).tolist() == pytest.approx(holm_by_hand(p))
    assert np.isnan(holm([0.5, float("nan")])).tolist() == [False, True]
    assert holm([0.0, 1.0]).tolist() == [0.0, 1.0]
    for wrong in ([1.001], [-0.001]):
        with pytest.raises(ValueError, match="between 0 and 1"):
            holm(wrong)


def test_equal_columns_are_no_further_apart_by_rounding():
    values = np.array([[0.1 * i, 0.1 * i + 0.3] for i in range(8)])
    (found,) = paired_comparisons(values, names="ab", resamples=B, rng=np.random.default_rng(0))
    assert (found.difference, found.p) == (pytest.approx(-0.3), 1 / (B + 1))
    (equal,) = paired_comparisons(values[:, [0, 0]], names="ab", resamples=B, rng=np.random.default_rng(0))
    assert (equal.difference, equal.p, equal.p_holm) == (0.0, 1.0, 1.0)


def test_spearmans_interval_is_that_of_scipy_on_the_pairs_drawn():
    x, y = np.round(SKEWED[:, 0], 1), np.round(SKEWED[:, 1] + SKEWED[:, 0], 1)
    rhos = [stats.spearmanr(x[rows], y[rows]).statistic for rows in drawn(2, 9)]
    found = spearman_interval(x, y, resamples=B, level=0.8, rng=np.random.default_rng(2))
    assert found.rho == pytest.approx(stats.spearmanr(x, y).statistic)
    assert (found.low, found.high) == pytest.approx((quantile(rhos, 0.1), quantile(rhos, 0.9)))
    assert found.n == 9


def test_three_pairs_have_a_rho_two_have_none():
    with pytest.warns(DegenerateWarning, match="3 of the 6 pairs"):
        found = spearman_interval([1, 2, 4], [1, 3, 2], resamples=9, rng=np.random.default_rng(0))
    assert found.rho == pytest.approx(0.5)
    with pytest.warns(DegenerateWarning):
        assert math.isnan(spearman_interval([1, 2], [1, 3], resamples=9, rng=np.random.default_rng(0)).rho)
    for x, y in (([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [2, 2, 2])):
        with pytest.warns(DegenerateWarning):
            assert math.isnan(spearman_interval(x, y, resamples=9, rng=np.random.default_rng(0)).rho)


@pytest.mark.filterwarnings("ignore::stressbed.stats.interval.DegenerateWarning")
def test_five_observations_have_a_mean_and_six_an_interval():
    rng = np.random.default_rng
    for n, there in ((5, False), (6, True)):
        assert enough(n) == there
        rows = SKEWED[:n]
        single = mean_interval(rows[:, 0], resamples=B, rng=rng(1))
        several = mean_intervals(rows, resamples=B, rng=rng(1))[1]
        ranks = rank_intervals(rows, resamples=B, rng=rng(1))[0]
        pair = paired_comparisons(rows, names="abcd", resamples=B, rng=rng(1))[0]
        rho = spearman_interval(rows[:, 0], rows[:, 1], resamples=B, rng=rng(1))
        shift = hodges_lehmann(rows[:, 0])
        for found in (single, several, ranks, pair, rho, shift):
            assert math.isnan(found.low) is not there
            assert math.isnan(found.high) is not there
        assert math.isnan(pair.p) is not there
        assert pair.difference == pytest.approx(fmean(rows[:, 0] - rows[:, 1]))
        assert single.estimate == pytest.approx(fmean(rows[:, 0]))
        assert several.estimate == pytest.approx(fmean(rows[:, 1]))


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "no datasets are too few for an interval, which needs 6"),
        (1, "one dataset is too few for an interval, which needs 6"),
        (5, "5 datasets are too few for an interval, which needs 6"),
        (6, ""),
    ],
)
def test_too_few_are_counted_in_words(n, said):
    assert too_few(n, "dataset") == said
    assert too_few(2, "query", "queries") == "2 queries are too few for an interval, which needs 6"


SIX = "with n = 6 the bootstrap interval, aimed at 95 %, covers about 86 % (75 % if the data"
NINE = "with n = 9 the bootstrap interval, aimed at 95 %, covers about 90 % (80 % if the data"


@pytest.mark.parametrize(
    ("n", "words", "note"),
    [
        (5, "", ""),
        (6, "≈ 86 % interval", SIX),
        (9, "≈ 90 % interval", NINE),
        (10, "95 % interval", "with n = 10 the 95 % bootstrap interval covers about 90 %, but about 80 % if"),
        (12, "95 % interval", "with n = 12 the 95 % bootstrap interval covers about 90 %, but about 80 % if"),
        (13, "95 % interval", "with n = 13 the 95 % bootstrap interval covers about 91 %, but about 83 % if"),
        (74, "95 % interval", "with n = 74 the 95 % bootstrap interval covers about 94 %, but about 90 % if"),
        (75, "95 % interval", ""),
        (5000, "95 % interval", ""),
    ],
)  # fmt: skip
def test_what_intervals_of_few_cover_is_said(n, words, note):
    assert interval_words(n) == words
    assert coverage_note(n).startswith(note)
    assert bool(coverage_note(n)) == bool(note)


def exact_p_by_hand(differences, zeros):
    """Return the share of all patterns of signs whose sum is as far from the middle (two-sided)."""
    kept = [d for d in differences if d or zeros == "pratt"]
    ranks = [r for r, d in zip(stats.rankdata(np.abs(kept)), kept, strict=True) if d]
    signs = [d > 0 for d in kept if d]
    sums = [sum(r for r, s in zip(ranks, p, strict=True) if s) for p in product([0, 1], repeat=len(ranks))]
    mine = sum(r for r, s in zip(ranks, signs, strict=True) if s)
    tail = min(sum(s <= mine for s in sums), sum(s >= mine for s in sums))
    return mine, min(1.0, 2 * tail / len(sums))


@pytest.mark.parametrize("zeros", ["pratt", "wilcox"])
@pytest.mark.parametrize(
    "differences",
    [[1, 2, -3, 4, 0, 0, 2.5], [1, -1, 2, 2, -5], [3.0], [-1, -2, -3, -4], [0, 0, 1, -2, 7, 9, 9, 9]],
)
def test_the_signed_rank_test_counts_patterns_of_signs(differences, zeros):
    mine, p = exact_p_by_hand(differences, zeros)
    found = signed_rank(differences, zeros=zeros)
    assert (found.statistic, found.p) == (mine, pytest.approx(p))
    assert (found.n, found.zeros) == (len(differences), differences.count(0))
    sizes = [abs(d) for d in differences if d]
    assert found.ties == (len(set(sizes)) < len(sizes))
    assert found.method == "exact"


def test_300_differences_are_exact_and_301_are_not():
    data = np.random.default_rng(1).normal(0.1, 1, 301)
    exact, normal = signed_rank(data[:300]), signed_rank(data)
    assert (exact.method, normal.method) == ("exact", "normal approximation")
    assert exact.p == pytest.approx(stats.wilcoxon(data[:300], mode="exact").pvalue)
    assert normal.p == pytest.approx(stats.wilcoxon(data, mode="approx", correction=True).pvalue)
    assert signed_rank([0.0] * 301).p == 1.0
    assert hodges_lehmann(data[:300]).method == "exact"
    shift = hodges_lehmann(data)
    walsh = sorted((data[i] + data[j]) / 2 for i in range(301) for j in range(i, 301))
    mean, sd = 301 * 302 / 4, math.sqrt(301 * 302 * 603 / 24)
    k = math.floor(mean + 0.5 - sd * stats.norm.ppf(0.975))
    assert (shift.low, shift.high) == pytest.approx((walsh[k - 1], walsh[-k]))
    assert shift.estimate == pytest.approx(median(walsh))
    assert shift.level_attained == pytest.approx(1 - 2 * stats.norm.cdf((k - 0.5 - mean) / sd))
    assert shift.method == "normal approximation"


@pytest.mark.parametrize("n", [6, 7, 8, 11])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_the_shift_is_the_median_walsh_average_with_exact_ends(n, level):
    data = SKEWED.ravel()[:n].tolist()
    walsh = sorted((a + b) / 2 for i, a in enumerate(data) for b in data[i:])
    sums = [sum(r for r, s in zip(range(1, n + 1), p, strict=True) if s) for p in product([0, 1], repeat=n)]
    below = [sum(s <= t for s in sums) / 2**n for t in range(len(walsh) + 1)]
    k = sum(b <= (1 - level) / 2 * (1 + 1e-12) for b in below)
    found = hodges_lehmann(data, level=level)
    assert found.estimate == pytest.approx(median(walsh))
    assert (found.low, found.high) == pytest.approx((walsh[k - 1], walsh[-k]))
    assert found.level_attained == pytest.approx(1 - 2 * below[k - 1])
    assert (found.n, found.method) == (n, "exact")


def test_walsh_averages_of_many_are_found_by_halving():
    data = np.sort(np.random.default_rng(2).exponential(size=2001))
    first, second = np.triu_indices(len(data))
    ordered = np.sort((data[first] + data[second]) / 2)
    places = [1, 2, 777, len(ordered) // 2, len(ordered)]
    assert _walsh_averages(data, places) == pytest.approx([ordered[p - 1] for p in places], abs=1e-12)


@pytest.mark.filterwarnings("ignore::stressbed.stats.interval.DegenerateWarning")
def test_a_shift_that_only_rounding_keeps_from_zero_is_zero():
    assert hodges_lehmann([0.3 - 0.1 - 0.2, 0.1 + 0.2 - 0.3, 1, -1]).estimate == 0.0
    assert hodges_lehmann([1e-6, 1e-6, 1e-6]).estimate == pytest.approx(1e-6)


def test_neighbours_are_tied_up_to_the_tolerance():
    assert levels(np.array([1.0, 1.0 + 0.9e-10, 2.0])).tolist() == [0, 0, 1]
    assert levels(np.array([1.0, 1.0 + 2.2e-10, 2.0])).tolist() == [0, 1, 2]
    assert levels(np.array([[3.0, 1.0, 2.0], [5.0, 5.0, -5.0]])).tolist() == [[2, 0, 1], [1, 1, 0]]
    assert levels(np.array([-2.0, 1.0])).tolist() == [0, 1]


@pytest.mark.parametrize(("k", "n"), [(0, 7), (7, 7), (3, 7), (1, 1000)])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_wilsons_interval_by_formula(k, n, level):
    z, p = stats.norm.ppf((1 + level) / 2), k / n
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    found = wilson(k, n, level=level)
    ends = ((middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n))
    assert (found.estimate, found.low, found.high) == pytest.approx((p, *ends), abs=1e-12)


def ac2_by_hand(ratings, scale, weight):
    """Return Gwet's coefficient, observed and chance agreement by loops over items and pairs of raters."""
    items = [[r for r in row if not math.isnan(r)] for row in ratings]
    items = [i for i in items if i]
    twice = [i for i in items if len(i) > 1]
    agreed = [
        fmean(
            weight(scale.index(a), scale.index(b)) for n, a in enumerate(i) for m, b in enumerate(i) if n != m
        )
        for i in twice
    ]
    shares = [fmean(i.count(c) / len(i) for i in items) for c in scale]
    q = len(scale)
    total = sum(weight(a, b) for a in range(q) for b in range(q))
    chance = total / (q * (q - 1)) * sum(s * (1 - s) for s in shares)
    return (fmean(agreed) - chance) / (1 - chance), fmean(agreed), chance


SCALE = [1.0, 2.0, 4.0, 5.0]
WEIGHTS = {
    "identity": lambda a, b: float(a == b),
    "linear": lambda a, b: 1 - abs(SCALE[a] - SCALE[b]) / 4,
    "quadratic": lambda a, b: 1 - (SCALE[a] - SCALE[b]) ** 2 / 16,
    "ordinal": lambda a, b: 1 - math.comb(abs(a - b) + 1, 2) / math.comb(4, 2),
}
NAN = float("nan")
RATINGS = [
    [1, 2, NAN, NAN], [4, 4, 5, NAN], [1, 1, 1, NAN], [5, NAN, NAN, NAN], [2, 4, NAN, NAN], [5, 4, 5, NAN],
    [NAN, NAN, NAN, NAN], [1, 2, 1, NAN],
]  # fmt: skip


@pytest.mark.parametrize("kind", WEIGHTS)
def test_agreement_by_loops(kind):
    found = gwet_ac2(RATINGS, categories=SCALE, weights=kind)
    expected = ac2_by_hand(RATINGS, SCALE, WEIGHTS[kind])
    assert (found.coefficient, found.observed, found.chance) == pytest.approx(expected)
    assert (found.n_items, found.n_raters) == (7, 3)
    for a in range(4):
        for b in range(4):
            assert weight_matrix(np.array(SCALE), kind)[a, b] == pytest.approx(WEIGHTS[kind](a, b))


def test_agreement_is_ordinal_at_95_unless_said_otherwise():
    assert gwet_ac2(RATINGS, categories=SCALE) == gwet_ac2(
        RATINGS, categories=SCALE, weights="ordinal", level=0.95
    )
    wide, narrow = (gwet_ac2(RATINGS, categories=SCALE, level=level) for level in (0.95, 0.6))
    ratio = stats.t.ppf(0.975, 6) / stats.t.ppf(0.8, 6)
    assert (wide.coefficient - wide.low) / (narrow.coefficient - narrow.low) == pytest.approx(ratio)
    assert wide.high <= 1.0


def test_without_an_interval_both_ends_of_an_agreement_are_missing():
    for n, there in ((5, False), (6, True)):
        found = gwet_ac2([[1, 2], [4, 4], [5, 4], [2, 2], [1, 1], [4, 5]][:n], categories=SCALE)
        assert (math.isnan(found.low), math.isnan(found.high)) == (not there, not there)
        assert not math.isnan(found.coefficient)


def test_two_categories_are_a_scale_one_is_not():
    assert gwet_ac2([[1, 1], [2, 2]], categories=[1, 2]).coefficient == pytest.approx(1.0)
    for scale in ([1], [1, 1], [2, 1]):
        with pytest.raises(ValueError, match="at least two in rising order"):
            gwet_ac2([[1, 1]], categories=scale)


def test_taus_are_scipys_row_by_row(monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 5, (7, 6)).astype(float), rng.integers(0, 5, (7, 6)).astype(float)
    expected = [stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    assert kendall_taus(x, y) == pytest.approx(np.array(expected))
    monkeypatch.setattr(rank_correlation, "CHUNK", 40)
    assert kendall_taus(x, y) == pytest.approx(np.array(expected))
    once = [stats.kendalltau(a, y[0]).statistic for a in x]
    assert kendall_taus(x, y[:1]) == pytest.approx(np.array(once))
    with pytest.raises(ValueError, match="shape"):
        kendall_taus(x, y[:2])


def test_split_halves_by_hand():
    """Each half ranks the embedders by its own mean; the result is the median over halvings."""
    strata = ["a"] * 4 + ["b"] * 3 + ["c", "c"]
    halves = random_halves(strata, halves=25, rng=np.random.default_rng(7))
    assert halves.shape == (25, 9)
    for half in halves:
        assert half[:4].sum() == 2
        assert half[4:7].sum() in {1, 2}
        assert half[7:].sum() == 1
    rhos = []
    for half in halves.tolist():
        sides = [
            [r for r, h in zip(SKEWED.tolist(), half, strict=True) if h == side] for side in (True, False)
        ]
        means = [[fmean(c) for c in zip(*side, strict=True)] for side in sides]
        rhos.append(stats.spearmanr(*means).statistic)
    found = split_half(SKEWED, strata, halves=25, rng=np.random.default_rng(7))
    assert (found.median, found.low, found.high) == pytest.approx((median(rhos), min(rhos), max(rhos)))
    assert found.halves == 25
    assert found.rhos.tolist() == pytest.approx(rhos)


def test_two_datasets_of_one_kind_and_three_embedders_are_enough_to_halve():
    found = split_half([[1.0, 2, 3], [1, 3, 2]], ["a", "a"], halves=1, rng=np.random.default_rng(0))
    assert (found.median, found.halves) == (pytest.approx(0.5), 1)
    alone = random_halves(["a", "b"], halves=40, rng=np.random.default_rng(0))
    assert set(alone.sum(axis=1).tolist()) == {1}
    with pytest.warns(DegenerateWarning):
        assert split_half([[1.0, 2], [1, 3]], "ab", halves=5, rng=np.random.default_rng(0)).halves == 0
    with pytest.raises(ValueError, match="at least 1"):
        split_half([[1.0, 2, 3]], "a", halves=0, rng=np.random.default_rng(0))


def test_letters_go_on_after_z():
    names = [f"n{i:02}" for i in range(28)]
    different = {frozenset(p) for p in combinations(names, 2)}
    found = compact_letters(names, {n: -i for i, n in enumerate(names)}, different)
    assert [found[n] for n in ("n00", "n25", "n26", "n27")] == ["a", "z", "a'", "b'"]


def test_of_equal_means_the_first_name_has_the_first_letter():
    found = compact_letters(["x", "y", "z"], {"x": 1.0, "y": 1.0, "z": 2.0}, {frozenset("xy")})
    assert found == {"x": "a", "y": "b", "z": "ab"}
