"""What the percentile bootstrap of a mean covers when there are few observations."""

from __future__ import annotations

from stressbed.stats.interval import enough

ENOUGH = 90.0
"""Coverage in per cent from which an interval aimed at 95 % needs no note."""

MEASURED: dict[int, tuple[float, float]] = {
    6: (85.9, 74.6),
    7: (87.3, 76.5),
    8: (88.4, 78.0),
    9: (89.8, 79.5),
    10: (90.1, 80.1),
    13: (91.4, 82.7),
    16: (92.3, 84.3),
    19: (92.7, 85.4),
    25: (93.2, 86.9),
    32: (93.6, 88.2),
    50: (94.1, 89.8),
    75: (94.5, 90.9),
}
"""Per cent of 20,000 data sets whose 95 % interval held the true mean, by their number of observations:
normal data, and strongly skewed ones (log-normal, sigma 1). The standard error is below 0.5.

Source: `benchmarks/bench_statistics.py --draws 20000 --part mean`. For normal data the coverage is about
the chance that Student's t with n - 1 degrees of freedom stays within 1.96 sqrt((n - 1) / n).
"""


def interval_words(n: int) -> str:
    """Return what a percentile bootstrap interval of n observations is called in legends and captions.

    `95 % interval` only where that is about what it covers: where the measured coverage is under 90 % for
    normal data, the words say what it is instead. Empty where there is no interval.

    Args:
        n: Number of observations that were resampled.
    """
    if not enough(n):
        return ""
    normal, _ = _measured(n)
    return "95 % interval" if normal >= ENOUGH else f"≈ {normal:.0f} % interval"


AIMED = "aimed at 95 %"
"""Words of a note on an interval that covers less than it should."""


def words_beside(note: str) -> str:
    """Return what an interval is called beside its note: `95 % interval` unless that says that it is less."""
    return f"interval, {AIMED}," if AIMED in note else "95 % interval"


def _measured(n: int) -> tuple[float, float]:
    """Return the coverage of the largest measured number of observations that is not above n."""
    return MEASURED[max(m for m in MEASURED if m <= n)]


def coverage_note(n: int) -> str:
    """Return what to tell the reader of a 95 % bootstrap interval of n observations, or nothing.

    There is a note where the measured coverage is under 90 %, for normal data or only for skewed ones.
    Between two measured n the smaller one speaks.

    Args:
        n: Number of observations that were resampled. Below `FEWEST` there is no interval and no note.
    """
    if not enough(n):
        return ""
    normal, skewed = _measured(n)
    if normal < ENOUGH:
        return (
            f"with n = {n} the bootstrap interval, {AIMED}, covers about {normal:.0f} % "
            f"({skewed:.0f} % if the data are strongly skewed): read it as a lower bound of the uncertainty"
        )
    if skewed < ENOUGH:
        return (
            f"with n = {n} the 95 % bootstrap interval covers about {normal:.0f} %, but about {skewed:.0f} % "
            "if the data are strongly skewed"
        )
    return ""
