"""The notes on few observations, and whether the measured coverage behind them is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats

from stressbed.stats.bootstrap import mean_intervals
from stressbed.stats.coverage import MEASURED, coverage_note, interval_words
from stressbed.stats.interval import enough, too_few


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("n", MEASURED)
def test_the_measured_coverage_of_normal_data_is_what_theory_says(n):
    """With many resamples the interval is the mean plus or minus 1.96 s sqrt((n - 1) / n) / sqrt(n)."""
    inside = scipy_stats.t.cdf(1.96 * np.sqrt((n - 1) / n), n - 1) * 2 - 1
    assert MEASURED[n][0] == pytest.approx(100 * inside, abs=1.5)


@pytest.mark.parametrize("n", [6, 13, 32])
def test_the_measured_coverage_of_skewed_data_is_found_again(n):
    draws, generator = 4000, rng(n)
    hits = 0
    for _ in range(draws // 200):
        found = mean_intervals(generator.lognormal(size=(n, 200)), resamples=500, rng=generator)
        hits += sum(i.low <= np.exp(0.5) <= i.high for i in found)
    share = MEASURED[n][1] / 100
    # Columns share resamples, and 500 of them cover a little less than 2,000 do.
    assert hits / draws == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / draws) + 0.005)


def test_a_reader_is_warned_where_the_coverage_is_under_ninety_per_cent():
    assert "n = 6 the bootstrap interval, aimed at 95 %, covers about 86 %" in coverage_note(6)
    assert "lower bound" in coverage_note(6)
    assert "about 91 %, but about 83 % if" in coverage_note(13)
    assert "lower bound" not in coverage_note(13)
    assert coverage_note(1) == coverage_note(0) == coverage_note(5) == ""  # there is no interval
    assert coverage_note(75) == coverage_note(10_000) == ""


def test_an_interval_is_called_what_it_covers():
    assert [interval_words(n) for n in (0, 5)] == ["", ""]
    assert interval_words(6) == "≈ 86 % interval"
    assert interval_words(9) == "≈ 90 % interval"  # 89.8
    assert [interval_words(n) for n in (10, 19, 10_000)] == ["95 % interval"] * 3


def test_the_one_rule_of_how_many_observations_an_interval_needs():
    assert [enough(n) for n in (0, 1, 5, 6, 7)] == [False, False, False, True, True]
    assert too_few(1, "dataset") == "one dataset is too few for an interval, which needs 6"
    assert too_few(5, "query", "queries") == "5 queries are too few for an interval, which needs 6"
    assert too_few(0, "dataset") == "no datasets are too few for an interval, which needs 6"
    assert too_few(6, "dataset") == ""


def test_between_measured_numbers_the_smaller_one_speaks():
    assert coverage_note(18) == coverage_note(16).replace("n = 16", "n = 18")


def test_coverage_grows_with_n_and_skewed_data_cover_less():
    normal, skewed = zip(*(MEASURED[n] for n in sorted(MEASURED)), strict=True)
    assert list(normal) == sorted(normal)
    assert list(skewed) == sorted(skewed)
    assert all(s < m for m, s in zip(normal, skewed, strict=True))
