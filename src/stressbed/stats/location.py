"""The shift of paired differences with its interval, and the correction of several p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from stressbed.stats.interval import Floats, check_level, degenerate, finite
from stressbed.stats.signed_rank import EXACT_UP_TO, sum_distribution
from stressbed.stats.ties import SAME

ALL_AVERAGES_UP_TO = 2000
"""Largest n for which all n (n + 1) / 2 Walsh averages are held at once."""


@dataclass(frozen=True)
class Location:
    """The Hodges-Lehmann estimate of a shift.

    Attributes:
        estimate: The pseudomedian.
        low: Lower end of the interval; NaN where n is too small for one.
        high: Upper end.
        level_attained: Coverage for continuous data, at least the level asked for; NaN without interval.
        method: Where the interval comes from; `none` where there is none.
        n: Differences.
    """

    estimate: float
    low: float
    high: float
    level_attained: float
    method: Literal["exact", "normal approximation", "none"]
    n: int


def hodges_lehmann(differences: npt.ArrayLike, *, level: float = 0.95) -> Location:
    """Return the Hodges-Lehmann shift: the median of the Walsh averages, with its interval.

    The Walsh averages are the means of every pair of differences, each with itself included (Hodges and
    Lehmann, 1963). The interval holds the shifts that the signed-rank test does not reject. Its ends are
    the k-th smallest and k-th largest Walsh average, k from the exact distribution without ties, or
    beyond `EXACT_UP_TO` differences from its normal approximation.

    Assumes independent differences, each distributed symmetrically about the shift. For continuous ones
    the coverage is `level_attained` exactly. For discrete ones, with ties and zeros, it is at least that,
    because the ends belong to the interval (Noether, 1967, Wilcoxon confidence intervals for location
    parameters in the discrete case): a jitter breaks the ties, the interval of the jittered data covers
    exactly, and as the jitter shrinks its ends move into the closed interval. So with
    ties it may reach zero where the test, which is conditional on the ties, just rejects zero (rarely the
    other way round).

    The smallest n for an interval at 95 % is 6: with 5 even the range of the data covers 93.75 % only.

    Args:
        differences: Shape (n,). With none there is no estimate, with too few for the level no interval
            (NaN, with a warning).
        level: Coverage.

    Raises:
        ValueError: Not one-dimensional, not finite, or no level.
    """
    check_level(level)
    array = np.sort(finite(differences, dimensions=1, name="differences"))
    n, nan = len(array), float("nan")
    if n == 0:
        degenerate("a shift of no difference")
        return Location(nan, nan, nan, nan, "none", 0)
    count = n * (n + 1) // 2
    k, attained = _depth(n, level)
    places = [(count + 1) // 2, count // 2 + 1, *([k, count + 1 - k] if k else [])]
    lower, upper, *ends = _walsh_averages(array, places)
    estimate = _settled((lower + upper) / 2, array)
    if not ends:
        degenerate(f"{n} differences are too few for an interval at {100 * level:g} %")
        return Location(estimate, nan, nan, nan, "none", n)
    low, high = (_settled(end, array) for end in ends)
    method: Literal["exact", "normal approximation"] = "exact" if n <= EXACT_UP_TO else "normal approximation"
    return Location(estimate, low, high, attained, method, n)


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return p-values adjusted by Holm (1979), in the given order; NaN stays NaN.

    The family is the p-values that are there: a test that could not be made is no member of it.

    Args:
        p_values: Shape (k,).

    Raises:
        ValueError: Not one-dimensional, or a value outside [0, 1].
    """
    array = np.asarray(p_values, dtype=np.float64)
    there = ~np.isnan(array)
    if array.ndim != 1 or not ((array[there] >= 0) & (array[there] <= 1)).all():
        raise ValueError("p_values must be one-dimensional and lie between 0 and 1")
    found = np.full(len(array), np.nan)
    if there.any():
        found[there] = multipletests(array[there], method="holm")[1]
    return found


@lru_cache(maxsize=1024)
def _depth(n: int, level: float) -> tuple[int, float]:
    """Return how many Walsh averages from each end the interval begins, and its coverage.

    The depth is 0 where even the whole range covers too little.
    """
    alpha = 1 - level
    if n <= EXACT_UP_TO:
        below = np.cumsum(sum_distribution(np.arange(1, n + 1)))
        # Equality counts as reached, whatever the rounding.
        k = int(np.searchsorted(below, alpha / 2 * (1 + 1e-12), side="right"))
        return k, float(1 - 2 * below[k - 1]) if k else float("nan")
    mean, sd = n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    k = int(np.floor(mean + 0.5 + sd * norm.ppf(alpha / 2)))
    if k < 1:
        return 0, float("nan")
    return k, float(1 - 2 * norm.cdf((k - 0.5 - mean) / sd))


def _walsh_averages(ordered: Floats, places: Sequence[int]) -> list[float]:
    """Return the Walsh averages at these places in rising order, counted from 1."""
    if len(ordered) > ALL_AVERAGES_UP_TO:
        return [_by_bisection(ordered, place) for place in places]
    first, second = np.triu_indices(len(ordered))
    averages = (ordered[first] + ordered[second]) / 2
    averages.partition(sorted({p - 1 for p in places}))
    return [float(averages[p - 1]) for p in places]


def _by_bisection(ordered: Floats, place: int) -> float:
    """Return one Walsh average to 1e-14 of the largest difference, without holding all of them."""
    low, high = float(ordered[0]), float(ordered[-1])
    while high - low > 1e-14 * max(abs(low), abs(high), float(np.abs(ordered[[0, -1]]).max())):
        middle = (low + high) / 2
        both = int(np.searchsorted(ordered, 2 * middle - ordered, side="right").sum())
        alone = int(np.searchsorted(ordered, middle, side="right"))
        if (both + alone) // 2 >= place:
            high = middle
        else:
            low = middle
    return high


def _settled(value: float, ordered: Floats) -> float:
    """Return the value, or zero where only rounding keeps it from zero."""
    return 0.0 if abs(value) <= SAME * float(np.abs(ordered).max()) else float(value)
