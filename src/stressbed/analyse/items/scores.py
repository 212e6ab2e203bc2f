"""How a cell's score is made of its items: which statistic, of which values, for one sample or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import rankdata

from stressbed.analyse.items.panels import Panel
from stressbed.analyse.items.weighted import GoldRanks, average_precision, mean, pearson
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


def per_item(panel: Panel, *, task_type: str) -> tuple[Floats, Floats] | None:
    """Return what each item is worth in every variant and in the original, each of shape (n, v); 0 to 1.

    A query's or summarised document's metric is its own. A pair has none, since a correlation belongs
    to all pairs together. Its worth is how well its place among the pairs agrees with what people
    said: 1 minus the distance between the rank of its similarity and that of its gold score (both as
    shares of the pairs), or its label of 0 or 1. An item of mined bitext is worth its F1.

    None for experiments, which are no texts, and for pairs of which nothing is known.
    """
    metric = next((m for m in ("f1", "correct") if m in panel.values), next(iter(panel.values)))
    values, originals = panel.values[metric], panel.originals[metric]
    if panel.unit == "experiment":
        return None
    if panel.unit != "pair" or metric in {"f1", "correct"}:
        return values, originals
    if np.isnan(panel.gold).any():
        return None
    labelled = task_type == "PairClassification"
    sign = -1 if labelled and metric in DISTANCES else 1
    place = panel.gold[:, None] if labelled else shares(panel.gold[:, None])
    after, before = (1 - np.abs(shares(sign * x) - place) for x in (values, originals))
    return after, before


def shares(values: Floats) -> Floats:
    """Return the rank of each value within its column as a share of the rows, between 0 and 1.

    Equal values have their mean rank. NaN throughout a column that holds a NaN.
    """
    found: Floats = (rankdata(values, axis=0) - 0.5) / len(values)
    return np.where(np.isnan(values).any(axis=0), np.nan, found)
