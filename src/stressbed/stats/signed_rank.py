"""Wilcoxon's signed-rank test, exact with ties and zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, rankdata

from stressbed.stats.interval import Floats, degenerate, finite
from stressbed.stats.ties import levels

Zeros = Literal["pratt", "wilcox"]

EXACT_UP_TO = 300
"""Largest number of differences for which the distribution is computed, not approximated."""


@dataclass(frozen=True)
class SignedRank:
    """The result of a signed-rank test.

    Attributes:
        statistic: Sum of the ranks of the positive differences.
        p: Two-sided p-value.
        n: Differences, zeros included.
        zeros: Differences that are zero.
        ties: Whether two differences other than zero have the same size.
        method: Where the p-value comes from; `none` where there is none.
    """

    statistic: float
    p: float
    n: int
    zeros: int
    ties: bool
    method: Literal["exact", "normal approximation", "none"]


def signed_rank(differences: npt.ArrayLike, *, zeros: Zeros = "pratt") -> SignedRank:
    """Return Wilcoxon's signed-rank test of paired differences, two-sided.

    Hypothesis: the differences are independent, each distributed symmetrically about zero. Then, given
    their sizes, all 2^m patterns of signs of the m differences other than zero are equally likely. The
    p-value is exact under that condition, whatever ties and zeros there are, so the size never exceeds
    the level. Beyond `EXACT_UP_TO` differences: the normal approximation with the same conditional mean
    and variance (the usual correction for ties) and a continuity correction of 1/2.

    Ties get the mean of their ranks. Zeros: Pratt (1959), Remarks on zeros and ties in the Wilcoxon
    signed rank procedures, ranks them along with the rest and drops their ranks afterwards. Dropping the
    zeros first ("wilcox") has a flaw: raising differences, which makes them more positive, can make the
    test find them less so. Pratt's does not, and a zero counts as evidence of no difference.

    If all differences are zero every pattern gives the same sum and p is 1: the data are as the
    hypothesis says. With no difference at all there is no test (NaN, with a warning).

    Args:
        differences: Shape (n,).
        zeros: Treatment of zeros.

    Raises:
        ValueError: Not one-dimensional, not finite, or an unknown treatment of zeros.
    """
    array = finite(differences, dimensions=1, name="differences")
    if zeros not in {"pratt", "wilcox"}:
        raise ValueError(f"zeros must be 'pratt' or 'wilcox', got {zeros!r}")
    nan = float("nan")
    if len(array) == 0:
        degenerate("a signed-rank test of no difference")
        return SignedRank(nan, nan, 0, 0, False, "none")
    sizes = levels(np.concatenate([[0.0], np.abs(array)]))[1:]
    other = sizes > 0
    # Midranks are whole numbers once doubled, so that equal sums are equal.
    kept = other if zeros == "wilcox" else np.ones_like(other)
    doubled = np.zeros(len(array), dtype=np.int64)
    doubled[kept] = np.rint(2 * rankdata(sizes[kept])).astype(np.int64)
    statistic = int(doubled[other & (array > 0)].sum())
    ranks = np.sort(doubled[other])
    exact = len(array) <= EXACT_UP_TO
    return SignedRank(
        statistic / 2,
        exact_p(statistic, ranks) if exact else _normal_p(statistic / 2, ranks / 2),
        len(array),
        int((~other).sum()),
        len(np.unique(sizes[other])) < len(ranks),
        "exact" if exact else "normal approximation",
    )


def exact_p(statistic: int, ranks: npt.NDArray[np.int64]) -> float:
    """Return the two-sided p-value of a sum of positive ranks, given all ranks as whole numbers."""
    chances = sum_distribution(ranks)
    tail = min(chances[: statistic + 1].sum(), chances[statistic:].sum())
    return min(1.0, 2 * float(tail))


def sum_distribution(ranks: npt.NDArray[np.int64]) -> Floats:
    """Return the distribution of the sum of those ranks whose sign is positive, by fair coins.

    Args:
        ranks: Whole numbers, shape (m,).

    Returns:
        Shape (sum(ranks) + 1,): the probability of each sum.
    """
    chances = np.zeros(int(ranks.sum()) + 1)
    chances[0] = 1.0
    reached = 1
    for rank in ranks:
        before = chances[:reached] / 2
        chances[:reached] = before
        chances[rank : rank + reached] += before
        reached += int(rank)
    return chances


def _normal_p(statistic: float, ranks: Floats) -> float:
    if len(ranks) == 0:
        return 1.0
    off = max(0.0, abs(statistic - ranks.sum() / 2) - 0.5)
    return min(1.0, 2 * float(norm.sf(off / np.sqrt((ranks**2).sum() / 4))))
