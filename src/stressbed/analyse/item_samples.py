"""Scores of cells in bootstrap samples of their items: the same items for every cell, so that they pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from stressbed.analyse.item_statistics import GoldRanks, average_precision, draw_weights, mean, pearson
from stressbed.stats.interval import Floats

TOLERANCE = 0.01
"""Points by which a score made again from items may differ from the cell's own."""

CHUNK = 2_000_000
"""Largest number of weights held at once."""

FEWEST = 2

Statistic = Callable[[Floats, Floats, Floats], Floats]
"""(values (n, k), gold (n,), weights (n, c)) -> scores (k, c), as a share of 1."""


class NoSamplesError(Exception):
    """The items do not give the cells' scores; the message says why, as the end of a sentence."""


@dataclass(frozen=True)
class ItemSamples:
    """Scores of k cells of one dataset in bootstrap samples of its items.

    Attributes:
        scores: On all items, in points, shape (k,).
        samples: In each sample, in points, shape (k, resamples); NaN where a sample has no score.
        n: Items, over subsets.
        unit: What an item is.
    """

    scores: Floats
    samples: Floats
    n: int
    unit: str


def item_samples(
    items: pd.DataFrame,
    *,
    cells: Sequence[str],
    scores: Sequence[float],
    metric: str,
    resamples: int,
    rng: np.random.Generator,
) -> ItemSamples:
    """Return the scores of cells of one dataset in samples of its items, subset by subset.

    The score of each cell is first made again from all its items; only if it is the cell's own (within
    `TOLERANCE`) do the samples say anything about it.

    Args:
        items: Rows of `items.parquet` of one dataset with a column `cell` that tells the cells apart.
        cells: The cells, k names.
        scores: Their scores in points.
        metric: The dataset's metric.
        resamples: Number of samples.
        rng: Source of chance.

    Raises:
        NoSamplesError: The items are missing, differ between cells, or do not give the scores.
    """
    if items.empty:
        raise NoSamplesError("no items were kept")
    reason = f"the metric {metric} cannot be made again from the items"
    for (unit, _), block in items.groupby(["unit", "metric"], sort=True):
        parts = _parts(block, cells)
        if parts is None:
            reason = "the cells do not have the same items"
            continue
        statistic = _statistic(str(unit), metric)
        found = np.mean([statistic(v, g, np.ones((len(v), 1)))[:, 0] for v, g in parts], axis=0) * 100
        if not np.all(np.abs(found - np.asarray(scores)) <= TOLERANCE):
            continue
        if min(len(v) for v, _ in parts) < FEWEST:
            raise NoSamplesError("there is only one item")
        sampled = np.mean([_sampled(statistic, v, g, resamples, rng) for v, g in parts], axis=0) * 100
        return ItemSamples(found, sampled, sum(len(v) for v, _ in parts), str(unit))
    raise NoSamplesError(reason)


def _parts(block: pd.DataFrame, cells: Sequence[str]) -> list[tuple[Floats, Floats]] | None:
    """Return (values, gold) per subset and split, shapes (n, k) and (n,); None unless items are the same."""
    wide = block.pivot(index=["subset", "split", "item"], columns="cell", values="value")  # noqa: PD010
    wide = wide.reindex(columns=list(cells))
    if wide.isna().any(axis=None):
        return None
    gold = block.drop_duplicates(["subset", "split", "item"]).set_index(["subset", "split", "item"])
    known = gold["gold"] if "gold" in gold else pd.Series(np.nan, index=gold.index)
    return [
        (np.asarray(part, dtype=np.float64), np.asarray(known.reindex(part.index), dtype=np.float64))
        for _, part in wide.groupby(level=["subset", "split"], sort=True)
    ]


def _sampled(
    statistic: Statistic, values: Floats, gold: Floats, resamples: int, rng: np.random.Generator
) -> Floats:
    """Return the scores in bootstrap samples, shape (k, resamples), a part of the samples at a time."""
    size = max(1, CHUNK // len(values))
    found = [
        statistic(values, gold, draw_weights(len(values), min(size, resamples - start), rng))
        for start in range(0, resamples, size)
    ]
    return np.concatenate(found, axis=1)


def _statistic(unit: str, metric: str) -> Statistic:
    """Return what makes a score of items: of pairs a correlation or average precision, else the mean."""
    if unit == "pair":
        kinds: Mapping[str, Statistic] = {"spearman": _spearman, "pearson": pearson, "ap": _precision}
        kind = kinds.get(metric.rpartition("_")[2])
        if kind is not None:
            return kind
    return lambda values, _, weights: mean(values, weights)


def _spearman(values: Floats, gold: Floats, weights: Floats) -> Floats:
    ranked = GoldRanks.of(gold, weights)
    return np.stack([ranked.spearman(column) for column in values.T])


def _precision(values: Floats, gold: Floats, weights: Floats) -> Floats:
    return np.stack([average_precision(column, gold > 0, weights) for column in values.T])
