"""Split-half reliability: whether two halves of the datasets rank the embedders alike."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from stressbed.stats.bootstrap import spearman_rows
from stressbed.stats.interval import Floats, degenerate, finite
from stressbed.stats.ties import levels


@dataclass(frozen=True)
class SplitHalf:
    """Spearman's rho between two halves over many random halvings.

    Attributes:
        median: Median over the halvings.
        low: Smallest of them. The range says how much hangs on the choice of datasets; it is no
            confidence interval.
        high: Largest of them.
        halves: Number of halvings with a rho.
        rhos: All of them, shape (halves,).
    """

    median: float
    low: float
    high: float
    halves: int
    rhos: Floats = field(repr=False, compare=False)


def split_half(
    values: npt.ArrayLike, strata: Sequence[Hashable], *, halves: int = 1000, rng: np.random.Generator
) -> SplitHalf:
    """Return how well two random halves of the datasets agree on the ranking of the embedders.

    Each draw puts half of every stratum into the one half and the rest into the other; a fair coin says
    which one gets the extra dataset of an odd stratum. A draw with an empty half (only possible if every
    stratum holds one dataset) is drawn again. Within each half the embedders are ranked by their mean over
    its datasets, each counting the same; rho is Spearman's between the two rankings. It describes halves, so
    it understates the reliability of all datasets together, and it is not stepped up.

    With fewer than 3 embedders or 2 datasets there is nothing to split or rank, and where all embedders
    have the same mean no ranking (NaN, with a warning). Halvings without a ranking are left out.

    Args:
        values: Shape (datasets, embedders).
        strata: The stratum of each dataset, such as its task type.
        halves: Number of halvings.
        rng: Source of chance.

    Raises:
        ValueError: Not two-dimensional, not finite, no stratum for each dataset, or no halvings.
    """
    array = finite(values, dimensions=2, name="values")
    if len(strata) != len(array):
        raise ValueError(f"{len(array)} datasets but {len(strata)} strata")
    if halves < 1:
        raise ValueError(f"halves must be at least 1, got {halves}")
    nan = float("nan")
    nothing = SplitHalf(nan, nan, nan, 0, np.empty(0))
    if len(array) < 2 or array.shape[1] < 3:
        degenerate("split halves need two datasets and three embedders")
        return nothing
    first = random_halves(strata, halves=halves, rng=rng)
    means = (levels(_means(half, array)).astype(np.float64) for half in (first, ~first))
    rhos = spearman_rows(*means)
    rhos = rhos[~np.isnan(rhos)]
    if len(rhos) == 0:
        degenerate("all embedders have the same mean in a half, so there is no ranking to compare")
        return nothing
    return SplitHalf(float(np.median(rhos)), float(rhos.min()), float(rhos.max()), len(rhos), rhos)


def random_halves(
    strata: Sequence[Hashable], *, halves: int, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Return which datasets are in the first half, shape (halves, datasets); no half is empty.

    Args:
        strata: The stratum of each dataset; at least two datasets.
        halves: Number of halvings.
        rng: Source of chance.

    Raises:
        ValueError: Fewer than two datasets.
    """
    if len(strata) < 2:
        raise ValueError("one dataset cannot be halved")
    first = _halve(strata, halves, rng)
    while len(empty := np.flatnonzero(first.all(axis=1) | ~first.any(axis=1))):
        first[empty] = _halve(strata, len(empty), rng)
    return first


def _halve(strata: Sequence[Hashable], halves: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    first = np.zeros((halves, len(strata)), dtype=np.bool_)
    for stratum in dict.fromkeys(strata):
        members = np.array([i for i, s in enumerate(strata) if s == stratum])
        coins = rng.integers(2, size=halves) * (len(members) % 2)
        taken = len(members) // 2 + coins
        places = rng.permuted(np.tile(np.arange(len(members)), (halves, 1)), axis=1)
        first[:, members] = places < taken[:, None]
    return first


def _means(chosen: npt.NDArray[np.bool_], values: Floats) -> Floats:
    found: Floats = chosen.astype(np.float64) @ values / chosen.sum(axis=1, keepdims=True)
    return found
