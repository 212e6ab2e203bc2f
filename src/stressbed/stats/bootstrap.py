"""Bootstrap intervals of means and ranks, and paired comparisons of means.

Resampled are whole observations (rows): everything that was measured on one observation stays
together, so that comparisons are paired. Method: Efron and Tibshirani (1994), An Introduction to the
Bootstrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from statsmodels.stats.multitest import multipletests

from stressbed.stats.interval import (
    FEWEST,
    NOTHING,
    Floats,
    Interval,
    check_level,
    degenerate,
    enough,
    finite,
)
from stressbed.stats.ties import levels
from stressbed.stats.units import Units

CHUNK = 2_000_000
"""Largest number of weights held at once."""


@dataclass(frozen=True)
class Comparison:
    """The difference between two means over the same observations.

    Attributes:
        first: Name of the one.
        second: Name of the other.
        difference: Mean of first minus mean of second.
        low: Lower end of its interval, not adjusted for the number of comparisons.
        high: Upper end.
        p: Two-sided p-value.
        p_holm: The same, adjusted by Holm (1979) over all pairs that were compared.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    p_holm: float


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation with its interval, and the number of pairs."""

    rho: float
    low: float
    high: float
    n: int


def resample_means(
    values: npt.ArrayLike, *, resamples: int, rng: np.random.Generator, units: Units | None = None
) -> Floats:
    """Return the column means of bootstrap samples of the rows.

    Args:
        values: Shape (n, k): one row per observation.
        resamples: Number of samples B.
        rng: Source of chance.
        units: What is drawn where rows are not independent; by default each row. A sample that holds no row
            has NaN.

    Returns:
        Shape (B, k).

    Raises:
        ValueError: Not two-dimensional, empty, or not finite.
    """
    array = finite(values, dimensions=2, name="values")
    n = len(array)
    if n == 0:
        raise ValueError("values holds no observation")
    if units is None or not units.shared:
        found = [w @ array for w in _weights(n, resamples, rng)]
        return np.concatenate(found) / n
    weights = [units.weights(w.T).T for w in _weights(units.n, resamples, rng)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.concatenate([w @ array / w.sum(axis=1, keepdims=True) for w in weights])


def mean_interval(
    values: npt.ArrayLike,
    *,
    resamples: int,
    level: float = 0.95,
    rng: np.random.Generator,
    units: Units | None = None,
) -> Interval:
    """Return a mean with its percentile bootstrap interval.

    Args:
        values: Shape (n,). With fewer than `FEWEST` there is no interval (NaN, with a warning).
        resamples: Number of samples.
        level: Coverage.
        rng: Source of chance.
        units: What is drawn where observations are not independent; it takes `FEWEST` of them too.
    """
    check_level(level)
    array = finite(values, dimensions=1, name="values")
    if len(array) == 0:
        degenerate("a mean of no observation")
        return NOTHING
    n = len(array) if units is None else units.n
    if not enough(n):
        degenerate(f"an interval from {n} of the {FEWEST} observations that it needs")
        return Interval(float(array.mean()), float("nan"), float("nan"))
    means = resample_means(array[:, None], resamples=resamples, rng=rng, units=units)[:, 0]
    low, high = np.quantile(means[np.isfinite(means)], _ends(level))
    return Interval(float(array.mean()), float(low), float(high))


def mean_intervals(
    values: npt.ArrayLike, *, resamples: int, level: float = 0.95, rng: np.random.Generator
) -> list[Interval]:
    """Return the mean of each column with its percentile bootstrap interval.

    All columns share the same samples of rows, so what is measured on one row stays together.

    Args:
        values: Shape (n, k): one row per observation. With fewer than `FEWEST` there is no interval
            (NaN, with a warning).
        resamples: Number of samples.
        level: Coverage that is aimed at; `stressbed.stats.coverage` has what few observations reach.
        rng: Source of chance.

    Returns:
        k intervals.

    Raises:
        ValueError: Not two-dimensional, not finite, or no level.
    """
    check_level(level)
    array = finite(values, dimensions=2, name="values")
    if not enough(len(array)):
        return _without_ends(array.mean(axis=0) if len(array) else np.full(array.shape[1], np.nan))
    ends = np.quantile(resample_means(array, resamples=resamples, rng=rng), _ends(level), axis=0)
    return _intervals(array.mean(axis=0), ends)


def rank_intervals(
    values: npt.ArrayLike,
    *,
    higher_is_better: bool = True,
    resamples: int,
    level: float = 0.95,
    rng: np.random.Generator,
) -> list[Interval]:
    """Return the rank of each column's mean, 1 for the best, with its percentile bootstrap interval.

    The columns are ranked anew in each sample of rows. Ties get the mean of their ranks. The ends are
    ranks that occurred, the outer ones where a percentile falls between two.

    Args:
        values: Shape (n, k): one row per observation, such as a dataset, one column per embedder. With
            fewer than `FEWEST` rows there is no interval (NaN, with a warning).
        higher_is_better: Whether the largest mean has rank 1.
        resamples: Number of samples.
        level: Coverage that is aimed at.
        rng: Source of chance.

    Returns:
        k intervals.

    Raises:
        ValueError: Not two-dimensional, not finite, or no level.
    """
    check_level(level)
    array = finite(values, dimensions=2, name="values") * (-1 if higher_is_better else 1)
    if len(array) == 0:
        return _without_ends(np.full(array.shape[1], np.nan))
    ranks = _ranks(array.mean(axis=0)[None])[0]
    if not enough(len(array)):
        return _without_ends(ranks)
    drawn = _ranks(resample_means(array, resamples=resamples, rng=rng))
    low, high = _ends(level)
    ends = [
        np.quantile(drawn, low, axis=0, method="lower"),
        np.quantile(drawn, high, axis=0, method="higher"),
    ]
    return _intervals(ranks, np.array(ends))


def paired_comparisons(
    values: npt.ArrayLike,
    *,
    names: Sequence[str],
    resamples: int,
    level: float = 0.95,
    rng: np.random.Generator,
    units: Units | None = None,
) -> list[Comparison]:
    """Return the comparison of every pair of columns, in order of the names.

    Hypothesis: the means of both columns are equal. The p-value is the share of resampled
    differences, centred at zero, that are at least as far from zero as the observed one,
    (count + 1) / (B + 1).
    Family of Holm's correction: all pairs. Assumes that rows are independent of each other.

    Args:
        values: Shape (n, k): one row per observation, one column per name. With fewer than `FEWEST`
            rows there are differences, but neither intervals nor p-values (NaN, with a warning).
        names: k names.
        resamples: Number of samples.
        level: Coverage of the intervals.
        rng: Source of chance.
        units: What is drawn where rows are not independent; it takes `FEWEST` of them too.

    Raises:
        ValueError: Not two-dimensional, not finite, no level, or not a name for each column.
    """
    check_level(level)
    array = finite(values, dimensions=2, name="values")
    if array.shape[1] != len(names):
        raise ValueError(f"{array.shape[1]} columns but {len(names)} names")
    pairs = list(combinations(range(len(names)), 2))
    if not enough(n := len(array) if units is None else units.n):
        degenerate(f"comparisons on {n} of the {FEWEST} observations that they need")
        nan = float("nan")
        apart = [float((array[:, i] - array[:, j]).mean()) if len(array) else nan for i, j in pairs]
        return [
            Comparison(names[i], names[j], d, nan, nan, nan, nan)
            for (i, j), d in zip(pairs, apart, strict=True)
        ]
    means = resample_means(array, resamples=resamples, rng=rng, units=units)
    means = means[np.isfinite(means).all(axis=1)]
    found: list[tuple[float, float, float, float]] = []
    for i, j in pairs:
        observed = float((array[:, i] - array[:, j]).mean())
        resampled = means[:, i] - means[:, j]
        low, high = np.quantile(resampled, _ends(level))
        # Rounding must not decide whether a difference is "at least as far".
        further = np.abs(resampled - observed) >= abs(observed) * (1 - 1e-12)
        found.append((observed, float(low), float(high), (int(further.sum()) + 1) / (len(means) + 1)))
    adjusted = multipletests([p for *_, p in found], method="holm")[1] if found else []
    return [
        Comparison(names[i], names[j], d, low, high, p, float(holm))
        for (i, j), (d, low, high, p), holm in zip(pairs, found, adjusted, strict=True)
    ]


def spearman_interval(
    x: npt.ArrayLike, y: npt.ArrayLike, *, resamples: int, level: float = 0.95, rng: np.random.Generator
) -> Correlation:
    """Return Spearman's rho with its percentile bootstrap interval; pairs are resampled.

    Values that differ by rounding only are tied. Samples in which one side is constant have no rho and are
    left out.

    Args:
        x: Shape (n,). With fewer than three pairs, or one side constant, there is no rho, with fewer than
            `FEWEST` no interval (NaN, with a warning).
        y: Shape (n,).
        resamples: Number of samples.
        level: Coverage.
        rng: Source of chance.

    Raises:
        ValueError: Not one-dimensional, not finite, not of one length, or no level.
    """
    check_level(level)
    a, b = finite(x, dimensions=1, name="x"), finite(y, dimensions=1, name="y")
    if len(a) != len(b):
        raise ValueError(f"x has {len(a)} values, y has {len(b)}")
    a, b = (levels(v).astype(np.float64) for v in (a, b))
    nan = float("nan")
    if len(a) < 3 or (a == a[0]).all() or (b == b[0]).all():
        degenerate("a rank correlation needs three pairs, and both sides must vary")
        return Correlation(nan, nan, nan, len(a))
    rho = float(spearman_rows(a[None], b[None])[0])
    if not enough(len(a)):
        degenerate(f"an interval from {len(a)} of the {FEWEST} pairs that it needs")
        return Correlation(rho, nan, nan, len(a))
    size = max(1, CHUNK // (10 * len(a)))
    rhos = []
    for start in range(0, resamples, size):
        drawn = rng.integers(len(a), size=(min(size, resamples - start), len(a)))
        rhos.append(spearman_rows(a[drawn], b[drawn]))
    low, high = np.nanquantile(np.concatenate(rhos), _ends(level))
    return Correlation(rho, float(low), float(high), len(a))


def spearman_rows(x: Floats, y: Floats) -> Floats:
    """Return Spearman's rho of each row of x with that of y; NaN where a row is constant.

    Args:
        x: Shape (m, n).
        y: Shape (m, n).
    """
    a, b = (rankdata(v, axis=1) - (v.shape[1] + 1) / 2 for v in (x, y))
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = np.where(scale > 0, (a * b).sum(axis=1) / scale, np.nan)
    return found


def _weights(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each observation is drawn, shape (rows, n), a part of the samples at a time."""
    size = max(1, CHUNK // n)
    for start in range(0, resamples, size):
        rows = min(size, resamples - start)
        drawn = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def _ranks(means: Floats) -> Floats:
    """Return the ranks within each row, 1 for the smallest; ties get the mean of their ranks."""
    found: Floats = rankdata(levels(means), axis=1)
    return found


def _intervals(estimates: Floats, ends: Floats) -> list[Interval]:
    return [
        Interval(float(estimate), float(low), float(high))
        for estimate, low, high in zip(estimates, *ends, strict=True)
    ]


def _without_ends(estimates: Floats) -> list[Interval]:
    degenerate(f"intervals from fewer than the {FEWEST} observations that they need")
    return [Interval(float(estimate), float("nan"), float("nan")) for estimate in estimates]


def _ends(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2
