"""Intervals of proportions."""

from __future__ import annotations

from statsmodels.stats.proportion import proportion_confint

from stressbed.stats.interval import NOTHING, Interval, check_level, degenerate


def wilson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Return a share with Wilson's score interval (Wilson, 1927), as statsmodels computes it.

    It keeps its coverage for rare events and never leaves [0, 1].

    Args:
        successes: Number of events.
        n: Number of trials; with none there is no share (NaN, with a warning).
        level: Coverage.

    Raises:
        ValueError: Negative numbers, or more events than trials.
    """
    check_level(level)
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} trials")
    if n == 0:
        degenerate("a share of no trials")
        return NOTHING
    low, high = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    # At the ends the formula gives 0 and 1, but rounding may leave -1e-18 or 1 - 1e-16.
    return Interval(successes / n, float(low) if successes else 0.0, float(high) if successes < n else 1.0)
