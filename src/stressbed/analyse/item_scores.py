"""How a cell's score is made of its items: which statistic, of which values, for one sample or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from stressbed.analyse.item_panels import Panel
from stressbed.analyse.item_statistics import GoldRanks, average_precision, mean, pearson
from stressbed.stats.interval import Floats

Kind = Literal["mean", "spearman", "pearson", "average precision"]

DISTANCES = frozenset({"manhattan_distance", "euclidean_distance"})


@dataclass(frozen=True)
class Statistic:
    """A score as a function of items.

    Attributes:
        kind: What is computed.
        metrics: Which of a panel's values it is computed of; the largest of several counts.
        falling: Metrics of which low values stand for similar pairs.
    """

    kind: Kind
    metrics: tuple[str, ...]
    falling: frozenset[str] = frozenset()

    def of(self, columns: dict[str, Floats], gold: Floats, weights: Floats) -> Floats:
        """Return the statistic of columns of values (n, k) by metric in each sample, shape (k, c)."""
        found = [self._of(self.signed(columns, m), gold, weights) for m in self.metrics]
        return found[0] if len(found) == 1 else np.maximum.reduce(found)

    def signed(self, columns: dict[str, Floats], metric: str) -> Floats:
        """Return values of which high ones stand for similar pairs."""
        return -columns[metric] if metric in self.falling else columns[metric]

    def _of(self, values: Floats, gold: Floats, weights: Floats) -> Floats:
        if self.kind == "mean":
            return mean(values, weights)
        if self.kind == "pearson":
            return pearson(values, gold, weights)
        if self.kind == "spearman":
            side = GoldRanks.of(gold, weights)
            return np.stack([side.spearman(column) for column in values.T])
        return np.stack([average_precision(column, gold == 1, weights) for column in values.T])


def statistic_of(panel: Panel, *, metric: str, task_type: str) -> Statistic | None:
    """Return how the score of a cell is made of a panel's items; None if it is not made of them.

    Args:
        panel: The items.
        metric: mteb's main score.
        task_type: mteb's task type.
    """
    have = tuple(panel.values)
    if panel.unit != "pair":
        return Statistic("mean", have[:1])
    if task_type == "BitextMining":
        name = {"accuracy": "correct", "recall": "correct"}.get(metric, metric)
        return Statistic("mean", (name,)) if name in have else None
    # mteb gives distances of STS pairs their sign, those of pairs with labels not.
    falling = DISTANCES if task_type == "PairClassification" else frozenset()
    if task_type == "PairClassification":
        if not metric.endswith("_ap"):
            return None
        return Statistic("average precision", have if metric.startswith("max_") else have[:1], falling)
    if metric.endswith("spearman"):
        return Statistic("spearman", have[:1], falling)
    return Statistic("pearson", have[:1], falling) if metric.endswith("pearson") else None
