"""Scores of weighted items: means, correlations and average precision of many bootstrap samples at once.

A bootstrap sample is how often each item was drawn. So a sample needs no drawing and no sorting of its
own: the items are sorted once, and the ranks of a sample are cumulative sums of its weights.

Arrays of weights have shape (n, c): n items, c samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from stressbed.stats.interval import Floats
from stressbed.stats.units import Units

Ints = npt.NDArray[np.int64]


def draw_items(units: Units, samples: int, rng: np.random.Generator) -> Floats:
    """Return how often each item counts in each sample, shape (n, samples); its units are what is drawn."""
    return units.weights(draw_weights(units.n, samples, rng))


def draw_weights(n: int, samples: int, rng: np.random.Generator) -> Floats:
    """Return how often each of n items is in each sample of n items, shape (n, samples)."""
    drawn = rng.integers(n, size=(n, samples)) * samples + np.arange(samples)
    return np.bincount(drawn.ravel(), minlength=n * samples).reshape(n, samples).astype(np.float64)


def mean(values: Floats, weights: Floats) -> Floats:
    """Return the mean of each column of values (n, k) in each sample, shape (k, c); NaN without an item."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = values.T @ weights / weights.sum(axis=0)
    return found


def pearson(values: Floats, gold: Floats, weights: Floats) -> Floats:
    """Return Pearson's correlation of each column of values (n, k) with gold (n,), shape (k, c).

    NaN in samples in which one side is constant.
    """
    # Centred by the plain mean first: differences of large numbers would lose digits.
    x, g = values - values.mean(axis=0), gold - gold.mean()
    total = np.maximum(weights.sum(axis=0), 1)  # a sample may hold no item: it has no variance either
    mean_x, mean_g = x.T @ weights / total, g @ weights / total
    covariance = (x * g[:, None]).T @ weights / total - mean_x * mean_g
    variance_x = (x * x).T @ weights / total - mean_x**2
    variance_g = (g * g) @ weights / total - mean_g**2
    product = np.maximum(variance_x, 0) * np.maximum(variance_g, 0)
    tiny = 1e-24 * max(float(x.var(axis=0).max()) * float(g.var()), 1e-300)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(product > tiny, covariance / np.sqrt(product), np.nan)


BLOCK = 16
"""Rows that are added up one after the other in `running_sums`."""


def running_sums(rows: Floats) -> Floats:
    """Return the cumulative sums down the rows of (n, c).

    Twice as fast as numpy's: rows are added up within blocks, all blocks side by side, then the blocks.
    """
    n, c = rows.shape
    if n < 4 * BLOCK:
        return np.cumsum(rows, axis=0)
    held = np.zeros((-(-n // BLOCK), BLOCK, c))
    held.reshape(-1, c)[:n] = rows
    for i in range(1, BLOCK):
        held[:, i] += held[:, i - 1]
    held[1:] += np.cumsum(held[:-1, -1], axis=0)[:, None]
    found: Floats = held.reshape(-1, c)[:n]
    return found


@dataclass(frozen=True)
class Order:
    """Values in rising order and where runs of equal values begin."""

    places: Ints
    starts: Ints

    @classmethod
    def of(cls, values: Floats) -> Order:
        """Return the order of values, shape (n,)."""
        places = np.argsort(values, kind="stable")
        ordered = values[places]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        return cls(places, starts)

    @property
    def has_ties(self) -> bool:
        """Whether a value occurs twice."""
        return len(self.starts) < len(self.places)

    def grouped(self, weights: Floats) -> Floats:
        """Return the rows of (n, c) in this order, those of equal values added up."""
        ordered = weights[self.places]
        return np.add.reduceat(ordered, self.starts, axis=0) if self.has_ties else ordered

    def spread(self, rows: Floats) -> Floats:
        """Return rows of groups as rows of items, in the items' own order."""
        sizes = np.diff(np.append(self.starts, len(self.places)))
        found = np.empty((len(self.places), rows.shape[1]))
        found[self.places] = np.repeat(rows, sizes, axis=0)
        return found


def centred_ranks(grouped: Floats) -> Floats:
    """Return the mean rank of each group in each sample, minus the mean of all ranks.

    Args:
        grouped: Weights of groups of equal values in rising order, shape (groups, c).
    """
    # n items below and w equal ones have the mean rank n + (w + 1) / 2; all ranks together (N + 1) / 2.
    ranks = running_sums(grouped)
    total = ranks[-1] / 2
    ranks -= grouped / 2
    ranks -= total
    return ranks


@dataclass(frozen=True)
class GoldRanks:
    """What the samples have in common whatever the values: the gold side of a rank correlation.

    Attributes:
        weights: Weights, shape (n, c).
        product: Weights times centred ranks of gold, shape (n, c).
        squares: Weighted sum of squares of these ranks, shape (c,).
        untied: Sum of squares of the ranks of a side without ties but those of items drawn twice, (c,).
        within: What those drawn twice take from the sum of products of such a side, (c,).
    """

    weights: Floats
    product: Floats
    squares: Floats
    untied: Floats
    within: Floats

    @classmethod
    def of(cls, gold: Floats, weights: Floats) -> GoldRanks:
        """Return the gold side for weights of shape (n, c)."""
        order = Order.of(gold)
        ranks = order.spread(centred_ranks(order.grouped(weights)))
        product = weights * ranks
        total = weights.sum(axis=0)
        untied = (total**3 - total) / 12 - (weights**3 - weights).sum(axis=0) / 12
        within = np.einsum("ic,ic->c", product, weights) / 2
        return cls(weights, product, np.einsum("ic,ic->c", product, ranks), untied, within)

    def spearman(self, values: Floats) -> Floats:
        """Return Spearman's correlation of values (n,) with gold in each sample, shape (c,).

        Equal values have their mean rank. NaN in samples in which one side is constant.
        """
        order = Order.of(values)
        grouped, product = order.grouped(self.weights), order.grouped(self.product)
        if order.has_ties:
            ranks = centred_ranks(grouped)
            squares = np.einsum("gc,gc,gc->c", grouped, ranks, ranks)
            together = np.einsum("gc,gc->c", product, ranks)
        else:
            # The products add up to zero, so that ranks need not be centred to multiply them.
            squares = self.untied
            together = np.einsum("gc,gc->c", product, running_sums(grouped)) - self.within
        scale = squares * self.squares
        with np.errstate(invalid="ignore", divide="ignore"):
            found: Floats = np.where(scale > 0, together / np.sqrt(np.maximum(scale, 0)), np.nan)
        return found


def average_precision(values: Floats, positive: npt.NDArray[np.bool_], weights: Floats) -> Floats:
    """Return the average precision of values (n,) as scikit-learn defines it, shape (c,).

    The sum over thresholds of the gain in recall times the precision there; equal values share one.
    NaN in samples without a positive item.

    Args:
        values: Similarities; the higher, the more positive.
        positive: Which items are positive, shape (n,).
        weights: Weights, shape (n, c).
    """
    order = Order.of(-values)
    ordered = weights[order.places]
    seen = running_sums(ordered)
    hits = positive[order.places]
    if order.has_ties:
        ends = np.append(order.starts[1:], len(values)) - 1
        gained = np.add.reduceat(ordered * hits[:, None], order.starts, axis=0)
        seen = seen[ends]
    else:
        gained, seen = ordered[hits], seen[hits]
    found = np.cumsum(gained, axis=0)
    total = found[-1] if len(found) else np.zeros(weights.shape[1])
    # Where nothing was seen, nothing was gained either.
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = found / np.maximum(seen, 1)
        return np.where(total > 0, np.einsum("gc,gc->c", gained, precision) / total, np.nan)
