"""How far raters agree, corrected for chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from stressbed.stats.interval import Floats, check_level, degenerate, enough

Weights = Literal["identity", "linear", "quadratic", "ordinal"]


@dataclass(frozen=True)
class Agreement:
    """Gwet's coefficient.

    Attributes:
        coefficient: Agreement corrected for chance; 1 is perfect, 0 is chance.
        observed: Weighted share of agreeing pairs of ratings.
        chance: The share that chance alone would give.
        low: Lower end of the interval.
        high: Upper end.
        n_items: Items with at least one rating.
        n_raters: Columns with at least one rating.
    """

    coefficient: float
    observed: float
    chance: float
    low: float
    high: float
    n_items: int
    n_raters: int


def gwet_ac2(
    ratings: npt.ArrayLike, *, categories: Sequence[float], weights: Weights = "ordinal", level: float = 0.95
) -> Agreement:
    """Return Gwet's AC2 (AC1 with identity weights) for any number of raters with missing ratings.

    Formulas: Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, chapters 4 to 6. Items with
    one rating count for the chance agreement but not for the observed one. The interval is for the given
    raters: only items are a sample. With no item rated twice there is no coefficient (NaN, with a warning),
    with fewer items than `FEWEST` no interval.

    Args:
        ratings: Shape (items, raters); NaN where a rater has not rated an item.
        categories: The scale, in order; categories that no one used count too.
        weights: How much a disagreement counts.
        level: Coverage of the interval.

    Raises:
        ValueError: A rating that is no category, or fewer than two categories.
    """
    check_level(level)
    array = np.asarray(ratings, dtype=np.float64)
    scale = np.asarray(categories, dtype=np.float64)
    if array.ndim != 2 or len(scale) < 2 or (np.diff(scale) <= 0).any():
        raise ValueError(
            "ratings must be a table of items by raters, categories at least two in rising order"
        )
    given = ~np.isnan(array)
    if not np.isin(array[given], scale).all():
        raise ValueError(f"a rating is none of the categories {list(categories)}")
    table = (array[:, :, None] == scale).sum(axis=1).astype(np.float64)
    table = table[table.sum(axis=1) > 0]
    n_raters = int(given.any(axis=0).sum())
    if not (table.sum(axis=1) >= 2).any():
        degenerate("no item was rated twice, so there is no agreement")
        nan = float("nan")
        return Agreement(nan, nan, nan, nan, nan, len(table), n_raters)
    w = weight_matrix(scale, weights)
    observed, chance, coefficient, variance = _ac2(table, w)
    half = float(student.ppf((1 + level) / 2, max(len(table) - 1, 1)) * np.sqrt(variance))
    if not enough(len(table)):
        half = float("nan")
    high = float(np.minimum(1.0, coefficient + half))  # Python's `min` of 1 and NaN would be 1
    return Agreement(coefficient, observed, chance, coefficient - half, high, len(table), n_raters)


def weight_matrix(scale: Floats, weights: Weights) -> Floats:
    """Return what a pair of ratings counts, shape (q, q): 1 on the diagonal, down to 0."""
    q = len(scale)
    apart: Floats = np.abs(scale[:, None] - scale[None])
    if weights == "identity":
        return np.eye(q)
    if weights == "linear":
        found: Floats = 1 - apart / apart.max()
    elif weights == "quadratic":
        found = 1 - (apart / apart.max()) ** 2
    else:
        steps = np.abs(np.arange(q)[:, None] - np.arange(q)[None]) + 1
        found = 1 - (steps * (steps - 1)) / (q * (q - 1))
    return found


def _ac2(table: Floats, w: Floats) -> tuple[float, float, float, float]:
    """Return observed, chance and corrected agreement and the variance of the last.

    Args:
        table: Shape (n, q): how many raters put an item into a category; every row has at least one.
        w: Weights, shape (q, q).
    """
    n, q = table.shape
    r = table.sum(axis=1)
    twice = r >= 2
    pairs = (table * (table @ w.T - 1)).sum(axis=1)
    item_agreement = np.where(twice, pairs / np.where(twice, r * (r - 1), 1), 0.0)
    n_twice = int(twice.sum())
    observed = float(item_agreement.sum() / n_twice)
    shares = (table / r[:, None]).mean(axis=0)
    total = float(w.sum())
    chance = float(total * (shares * (1 - shares)).sum() / (q * (q - 1)))
    coefficient = (observed - chance) / (1 - chance)
    item_coefficient = (n / n_twice) * (item_agreement - twice * chance) / (1 - chance)
    item_chance = total / (q * (q - 1)) * (table / r[:, None] * (1 - shares)).sum(axis=1)
    spread = item_coefficient - 2 * (1 - coefficient) * (item_chance - chance) / (1 - chance)
    variance = float(((spread - coefficient) ** 2).sum() / (n * (n - 1))) if n > 1 else float("nan")
    return observed, chance, float(coefficient), variance
