"""Scores of a task object, subset by subset, as mteb computes them."""

from __future__ import annotations

import contextlib
import logging
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stressbed.score.fast import fast
from stressbed.score.items import Evaluated, Items, Reader, watch

log = logging.getLogger("stressbed")

DATA_ERRORS = (ValueError, ZeroDivisionError)
"""What mteb, scikit-learn and SciPy raise when data do not allow a metric: one class, one pair."""


@dataclass(frozen=True)
class SubsetScore:
    """All metrics of one subset in one split.

    Attributes:
        n_items: Test texts, pairs, queries, documents or clustered texts that they cover.
        error: Why there are none, or "".
        metrics: mteb's metrics in mteb's own units, where they are finite numbers.
        undefined: Names of those that are not.
        items: Values per item.
    """

    subset: str
    split: str
    n_items: int
    error: str
    metrics: dict[str, float]
    undefined: tuple[str, ...]
    items: tuple[Items, ...]


def unscored(subset: str, split: str, error: str) -> SubsetScore:
    """Return the metrics of a subset that could not be scored: none."""
    return SubsetScore(subset, split, 0, error, {}, (), ())


def evaluate_task(
    task: Any, encoder: Any, *, subsets: Sequence[str], splits: Sequence[str]
) -> list[SubsetScore]:
    """Return the metrics of a task, one set per (split, subset) in mteb's order.

    Args:
        task: A fresh mteb task with its data loaded; it must not be evaluated again, because its
            random generator moves on.
        encoder: What mteb takes as a model.
        subsets: Subsets to evaluate.
        splits: Splits to evaluate.

    Raises:
        ScoreError: A vector is missing.
    """
    found: list[SubsetScore] = []
    with limited_threads(), fast(task):
        reader = watch(task)
        for split in splits:
            if getattr(task, "parallel_subsets", False):
                found += _together(task, encoder, split, list(subsets), reader)
                continue
            for subset in (s for s in task.hf_subsets if s in subsets):
                found += _together(task, encoder, split, [subset], reader)
    return found


def _together(
    task: Any, encoder: Any, split: str, subsets: list[str], reader: Reader
) -> Iterator[SubsetScore]:
    """Yield the scores of subsets that mteb evaluates in one call."""
    before = _n_encoded(encoder)
    try:
        scores = task.evaluate(encoder, split, subsets_to_run=subsets, encode_kwargs={})
    except DATA_ERRORS as e:
        log.warning("%s, %s, %s: no score: %s", task.metadata.name, ", ".join(subsets), split, e)
        for subset in subsets:
            yield unscored(subset, split, f"{type(e).__name__}: {e}")
        return
    n_encoded = _n_encoded(encoder) - before
    # All of a parallel task's pairs are computed, wanted or not; the reader goes through them in order.
    for subset, of_subset in scores.items():
        observed = reader(Evaluated(of_subset, n_encoded))
        if subset not in subsets:
            continue
        metrics = _numbers(of_subset)
        finite = {name: value for name, value in metrics.items() if math.isfinite(value)}
        undefined = tuple(name for name in metrics if name not in finite)
        yield SubsetScore(subset, split, observed.n_items, "", finite, undefined, observed.items)


def _n_encoded(encoder: Any) -> int:
    return sum(getattr(encoder, "encoded", {}).values())


def _numbers(scores: Any) -> dict[str, float]:
    """Return the scalar metrics by their own names, without the normalised areas that nobody reads."""
    return {
        k: float(v)
        for k, v in scores.items()
        if k != "main_score" and not k.startswith("nauc") and _is_number(v)
    }


def _is_number(value: Any) -> bool:
    import numpy as np

    return isinstance(value, int | float | np.floating | np.integer) and not isinstance(value, bool)


@contextlib.contextmanager
def limited_threads() -> Iterator[None]:
    """Hold numerical libraries to `OMP_NUM_THREADS`, also those loaded before it was set.

    Snakemake sets that variable to a rule's threads. Without it nothing is limited.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "")
    if not threads.isdigit() or int(threads) < 1:
        yield
        return
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    before = torch.get_num_threads()
    torch.set_num_threads(int(threads))
    try:
        with threadpool_limits(limits=int(threads)):
            yield
    finally:
        torch.set_num_threads(before)
