"""Scores of several cells in bootstrap samples of their items: the same items for all, so that they pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from stressbed.analyse.items.intervals import item_coverage_note
from stressbed.analyse.items.panels import Panel, resampled
from stressbed.analyse.items.scores import Statistic, statistic_of
from stressbed.analyse.items.weighted import draw_items
from stressbed.analyse.words import plural
from stressbed.stats.interval import Floats, too_few

TOLERANCE = 0.01
"""Points by which a score made again from items may differ from the cell's own."""

HELD = 1_000_000
"""Weights held at once."""


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
        resampled: What was drawn: that, or texts that items share.
        n_resampled: How many of these there are, over subsets.
        note: How well an interval over so few covers; empty where about as well as it says.
    """

    scores: Floats
    samples: Floats
    n: int
    unit: str
    resampled: str
    n_resampled: int
    note: str


def item_samples(
    items: pd.DataFrame,
    *,
    cells: Sequence[str],
    scores: Sequence[float],
    metric: str,
    task_type: str,
    resamples: int,
    rng: np.random.Generator,
) -> ItemSamples:
    """Return the scores of cells of one dataset in samples of its items, drawn within each subset.

    Where items share texts, the texts are drawn (`stressbed.stats.units`).

    The score of each cell is first made again from all its items; only if it is the cell's own (within
    `TOLERANCE`) do the samples say anything about it.

    Args:
        items: Rows of `items.parquet` of one dataset with a column `cell` that tells the cells apart.
        cells: The cells, k names.
        scores: Their scores in points.
        metric: The dataset's metric.
        task_type: Its task type.
        resamples: Number of samples.
        rng: Source of chance.

    Raises:
        NoSamplesError: The items are missing, differ between cells, or do not give the scores.
    """
    if items.empty:
        raise NoSamplesError("no items were kept")
    parts = [(p, _statistic(p, metric, task_type)) for p in _panels(items, cells)]
    found = 100 * np.mean(
        [s.of(p.values, p.gold, np.ones((len(p.items), 1)))[:, 0] for p, s in parts], axis=0
    )
    if not np.all(np.abs(found - np.asarray(scores, dtype=np.float64)) <= TOLERANCE):
        raise NoSamplesError("its scores cannot be made again from its items")
    units = [p.units for p, _ in parts]
    unit = parts[0][0].unit
    what = resampled(units, unit)
    if why := too_few(min(u.n for u in units), what, plural(what)):
        raise NoSamplesError(why)
    sampled = 100 * np.mean([_sampled(p, s, resamples, rng) for p, s in parts], axis=0)
    n = sum(len(p.items) for p, _ in parts)
    note = item_coverage_note(parts[0][1].kind, min(u.n for u in units))
    return ItemSamples(found, sampled, n, unit, what, sum(u.n for u in units), note)


def _panels(items: pd.DataFrame, cells: Sequence[str]) -> Iterator[Panel]:
    """Yield the items of each subset and split, with the cells as columns."""
    for (subset, split, unit), part in items.groupby(["subset", "split", "unit"], sort=True, observed=True):
        values: dict[str, Floats] = {}
        for name, rows in part.groupby("metric", sort=False, observed=True):
            wide = rows.pivot(index="item", columns="cell", values="value")  # noqa: PD010
            wide = wide.reindex(columns=list(cells)).sort_index()
            if wide.isna().any(axis=None):
                raise NoSamplesError("the cells do not have the same items")
            values[str(name)] = wide.to_numpy(dtype=np.float64)
        once = part.drop_duplicates("item").set_index("item").sort_index()
        gold = once["gold"].to_numpy(dtype=np.float64)
        names = once.index.to_numpy(dtype=object)
        shares = once["shares"].to_numpy(dtype=object) if "shares" in once else np.full(len(once), None)
        yield Panel(str(subset), str(split), str(unit), names, gold, shares, (), values, {})


def _statistic(panel: Panel, metric: str, task_type: str) -> Statistic:
    found = statistic_of(panel, metric=metric, task_type=task_type)
    if found is None:
        raise NoSamplesError(f"{metric} is not made of values per item")
    if found.kind != "mean" and np.isnan(panel.gold).any():
        raise NoSamplesError("what people said of the pairs is not known")
    return found


def _sampled(panel: Panel, statistic: Statistic, resamples: int, rng: np.random.Generator) -> Floats:
    """Return the scores in bootstrap samples, shape (k, resamples), a part of the samples at a time."""
    n = len(panel.items)
    size = max(16, HELD // n)
    found = [
        statistic.of(panel.values, panel.gold, draw_items(panel.units, min(size, resamples - start), rng))
        for start in range(0, resamples, size)
    ]
    return np.concatenate(found, axis=1)
