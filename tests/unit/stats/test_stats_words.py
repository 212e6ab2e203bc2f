"""What the statistics say, word for word: why there is no value, and how far an interval can be trusted."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from stressbed.human.drift import cosine
from stressbed.stats.agreement import gwet_ac2
from stressbed.stats.bootstrap import (
    mean_interval,
    mean_intervals,
    paired_comparisons,
    rank_intervals,
    spearman_interval,
)
from stressbed.stats.coverage import coverage_note, interval_words, words_beside
from stressbed.stats.interval import DegenerateWarning, check_level, finite
from stressbed.stats.location import hodges_lehmann, holm
from stressbed.stats.proportion import wilson
from stressbed.stats.rank_correlation import kendall_tau_b, kendall_taus
from stressbed.stats.signed_rank import signed_rank
from stressbed.stats.split_half import split_half
from stressbed.stats.units import Units


def drawn():
    return {"resamples": 20, "rng": np.random.default_rng(0)}


FIVE = np.arange(10.0).reshape(5, 2) ** 2
NO = np.empty((0, 2))
PAIRS = Units.of([(0,), (0,), (1,), (1,), (2,)])
WITHOUT = "intervals from fewer than the 6 observations that they need"
RANKED = "a rank correlation needs three pairs, and both sides must vary"
TAU = "a rank correlation needs two pairs, and both sides must vary"
CASES = [
    (lambda: mean_interval([], **drawn()), "a mean of no observation"),
    (lambda: mean_interval(FIVE[:, 0], **drawn()), "an interval from 5 of the 6 observations that it needs"),
    (
        lambda: mean_interval(FIVE[:, 0], units=PAIRS, **drawn()),
        "an interval from 3 of the 6 observations that it needs",
    ),
    (lambda: mean_intervals(FIVE, **drawn()), WITHOUT),
    (lambda: mean_intervals(NO, **drawn()), WITHOUT),
    (lambda: rank_intervals(FIVE, **drawn()), WITHOUT),
    (lambda: rank_intervals(NO, **drawn()), WITHOUT),
    (
        lambda: paired_comparisons(FIVE, names="ab", **drawn()),
        "comparisons on 5 of the 6 observations that they need",
    ),
    (
        lambda: paired_comparisons(FIVE, names="ab", units=PAIRS, **drawn()),
        "comparisons on 3 of the 6 observations that they need",
    ),
    (lambda: spearman_interval([1, 2], [2, 1], **drawn()), RANKED),
    (lambda: spearman_interval([1, 1, 1], [1, 2, 3], **drawn()), RANKED),
    (
        lambda: spearman_interval(range(5), [1, 0, 2, 4, 3], **drawn()),
        "an interval from 5 of the 6 pairs that it needs",
    ),
    (lambda: hodges_lehmann([]), "a shift of no difference"),
    (lambda: hodges_lehmann([1, 2, 4], level=0.9), "3 differences are too few for an interval at 90 %"),
    (lambda: wilson(0, 0), "a share of no trials"),
    (lambda: kendall_tau_b([1], [1]), TAU),
    (lambda: kendall_tau_b([1, 1], [1, 2]), TAU),
    (
        lambda: kendall_taus([[1, 1, 1], [1, 2, 3], [3, 2, 1], [4, 4, 4]], [[1, 2, 4]]),
        "2 of 4 rank correlations lack two pairs or vary on one side only",
    ),
    (lambda: signed_rank([]), "a signed-rank test of no difference"),
    (
        lambda: split_half(FIVE, "aabbb", halves=5, rng=np.random.default_rng(0)),
        "split halves need two datasets and three embedders",
    ),
    (
        lambda: split_half(np.ones((4, 3)), "aabb", halves=5, rng=np.random.default_rng(0)),
        "all embedders have the same mean in a half, so there is no ranking to compare",
    ),
    (
        lambda: gwet_ac2([[1, float("nan")], [float("nan"), 2]], categories=[1, 2]),
        "no item was rated twice, so there is no agreement",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("function", "why"), CASES)
def test_what_has_no_value_says_why(function, why):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        function()
    assert [(w.category, str(w.message)) for w in told] == [(DegenerateWarning, why)]


REFUSED = [
    (lambda: finite([[1.0]], dimensions=1, name="x"), "x must have 1 dimensions, got shape (1, 1)"),
    (lambda: finite([float("inf")], dimensions=1, name="x"), "x holds values that are not finite"),
    (lambda: check_level(0.0), "level must lie between 0 and 1, got 0.0"),
    (lambda: check_level(1.0), "level must lie between 0 and 1, got 1.0"),
    (lambda: wilson(4, 3), "4 successes of 3 trials"),
    (lambda: wilson(-1, 3), "-1 successes of 3 trials"),
    (lambda: kendall_tau_b([1, 2], [1]), "x has 2 values, y has 1"),
    (lambda: spearman_interval([1, 2], [1], **drawn()), "x has 2 values, y has 1"),
    (lambda: paired_comparisons(FIVE, names="a", **drawn()), "2 columns but 1 names"),
]


@pytest.mark.parametrize(("function", "why"), REFUSED)
def test_what_is_refused_says_why(function, why):
    with pytest.raises(ValueError, match=r".") as told:
        function()
    assert str(told.value) == why


COVERED = {
    6: (86, 75), 7: (87, 76), 8: (88, 78), 9: (90, 80), 10: (90, 80), 13: (91, 83), 16: (92, 84),
    19: (93, 85), 25: (93, 87), 32: (94, 88), 50: (94, 90), 75: None,
}  # fmt: skip


def test_every_number_of_observations_has_its_own_words():
    for n in range(121):
        known = [COVERED[m] for m in COVERED if m <= n]
        normal, skewed = (known[-1] if known else None) or (None, None)
        note = words = ""
        if 6 <= n < 10:
            words = f"≈ {normal} % interval"
            note = (
                f"with n = {n} the bootstrap interval, aimed at 95 %, covers about {normal} % ({skewed} % if "
                "the data are strongly skewed): read it as a lower bound of the uncertainty"
            )
        elif n >= 10:
            words = "95 % interval"
            if normal:
                note = (
                    f"with n = {n} the 95 % bootstrap interval covers about {normal} %, but about {skewed} % "
                    "if the data are strongly skewed"
                )
        assert (n, interval_words(n), coverage_note(n)) == (n, words, note)
        low = "aimed at" in note
        assert words_beside(note) == ("interval, aimed at 95 %," if low else "95 % interval")


def test_a_side_without_ranks_gives_nan_and_only_the_warning_that_says_so():
    rare = [0, 0, 0, 0, 0, 1, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = spearman_interval(rare, [3, 1, 2, 5, 4, 7, 6], resamples=200, rng=np.random.default_rng(1))
        with pytest.warns(DegenerateWarning, match="1 of 2"):
            taus = kendall_taus([[1, 1, 1], [1, 2, 3]], [[1, 2, 4]])
        assert np.isnan(cosine([[0, 0], [1, 0]], [[1, 2], [1, 0]])).tolist() == [True, False]
    assert found.low < found.rho < found.high
    assert np.isnan(taus).tolist() == [True, False]


def test_what_is_missing_is_none_or_nan_and_whole_numbers_are_numbers():
    nan = float("nan")
    assert finite([1, 2], dimensions=1, name="x").dtype == np.float64
    assert holm([None, 0.01, 0.04]).tolist() == pytest.approx([nan, 0.02, 0.04], nan_ok=True)
    rows = [[1, 2], [2, 2], [3, None], [4, 4], [1, 1], [None, 2], [5, 4], [2, 3]]
    held = [[nan if v is None else v for v in row] for row in rows]
    assert gwet_ac2(rows, categories=range(1, 6)) == gwet_ac2(held, categories=range(1, 6))
