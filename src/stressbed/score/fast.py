"""mteb's slow paths taken out, with equal numbers.

Since datasets 4 a column of a table is lazy: whoever iterates over it, or hands it to numpy,
reads it row by row. mteb hands columns to scikit-learn, which goes through them many times. Here they
are read once, as a whole. Everything is set on the task object at hand and taken back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np


def whole(column: Any) -> list[Any]:
    """Return a column's values as a list; a lazy column is read in one go."""
    return list(column[:])


class _Labelled:
    """A table whose label column is in memory; everything else is the table's own."""

    def __init__(self, table: Any, column: str) -> None:
        self._table, self._column, self._labels = table, column, whole(table[column])

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, key: Any) -> Any:
        return self._labels if key == self._column else self._table[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)


@contextlib.contextmanager
def fast(task: Any) -> Iterator[None]:
    """Make the evaluation of a task fast while the context lasts; its numbers stay the same.

    Args:
        task: An mteb task; types without a slow path are left as they are.
    """
    from mteb.abstasks import AbsTaskClassification, AbsTaskMultilabelClassification

    patches: Mapping[str, Any] = {}
    if isinstance(task, AbsTaskMultilabelClassification):
        patches = _multilabel(task)
    elif isinstance(task, AbsTaskClassification):
        patches = _classification(task)
    for name, value in patches.items():
        setattr(task, name, value)
    try:
        yield
    finally:
        for name in patches:
            delattr(task, name)


def _classification(task: Any) -> dict[str, Any]:
    undersample, scores, evaluator = task._undersample_data, task._calculate_scores, task.evaluator
    last: list[Any] = [None, None]

    def undersample_data(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        # The training table is the same in all experiments, so its labels are read once.
        if last[0] is not dataset:
            last[:] = [dataset, _Labelled(dataset, task.label_column_name)]
        return undersample(last[1], *args, **kwargs)

    def calculate_scores(y_test: Any, y_pred: Any) -> Any:
        return scores(np.asarray(whole(y_test)), y_pred)

    def make_evaluator(train: Any, test: Any, **kwargs: Any) -> Any:
        return evaluator(_Labelled(train, task.label_column_name), test, **kwargs)

    return {
        "_undersample_data": undersample_data,
        "_calculate_scores": calculate_scores,
        "evaluator": make_evaluator,
    }


def _multilabel(task: Any) -> dict[str, Any]:
    undersample = task._undersample_data_indices

    def undersample_data_indices(y: Any, *args: Any, **kwargs: Any) -> Any:
        return undersample(whole(y), *args, **kwargs)

    return {"_undersample_data_indices": undersample_data_indices}
