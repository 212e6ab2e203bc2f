"""mteb's slow paths taken out, with equal numbers.

Since datasets 4 a column of a table is lazy: whoever iterates over it, or hands it to numpy,
reads it row by row. mteb hands columns to scikit-learn, which goes through them many times, and makes
strings of documents one by one. Here columns are read once, as a whole.

What can be set on the task object is set there. The rest are functions of mteb's modules; they are
swapped while the context lasts, so it is not for threads that evaluate side by side.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np


def whole(column: Any) -> list[Any]:
    """Return a column's values as a list; a lazy column is read in one go."""
    return list(column[:])


class InMemory:
    """A table whose columns are lists, read at first use; everything else is the table's own."""

    def __init__(self, table: Any) -> None:
        self._table, self._columns = table, dict[str, list[Any]]()

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self._table[key]
        if key not in self._columns:
            self._columns[key] = whole(self._table[key])
        return self._columns[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def select(self, rows: Any) -> InMemory:
        """Return the rows as another table of this kind."""
        return InMemory(self._table.select(rows))


@contextlib.contextmanager
def fast(task: Any) -> Iterator[None]:
    """Make the evaluation of a task fast while the context lasts; its numbers stay the same.

    The metrics nAUC of retrieval, which nothing here reads, are left out.

    Args:
        task: An mteb task with its data loaded.
    """
    from mteb import abstasks

    with contextlib.ExitStack() as stack:
        _from_columns(stack)
        if isinstance(task, abstasks.AbsTaskMultilabelClassification):
            _multilabel(task, stack)
        elif isinstance(task, abstasks.AbsTaskClassification):
            _classification(task, stack)
        elif isinstance(task, abstasks.AbsTaskRetrieval):
            _retrieval(task, stack)
        elif isinstance(task, abstasks.AbsTaskSTS):
            _sts(task, stack)
        elif isinstance(task, abstasks.AbsTaskSummarization):
            _summarization(stack)
        yield


def _put(stack: contextlib.ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until the stack unwinds."""
    if isinstance(owner, ModuleType):
        stack.callback(setattr, owner, name, getattr(owner, name))
    else:
        stack.callback(delattr, owner, name)
    setattr(owner, name, value)


def _from_columns(stack: contextlib.ExitStack) -> None:
    """Read lists of texts in one go, for all task types."""
    from mteb import _create_dataloaders as loaders
    from mteb._evaluators.text import bitext_mining_evaluator as bitext

    original = loaders._create_dataloader_from_texts

    def from_texts(text: Any, *args: Any, **kwargs: Any) -> Any:
        """Load texts as mteb does, from a column read in one go."""
        return original(whole(text), *args, **kwargs)

    for module in (loaders, bitext):
        _put(stack, module, "_create_dataloader_from_texts", from_texts)


def _classification(task: Any, stack: contextlib.ExitStack) -> None:
    """Read labels in one go, those of the training table once for all experiments."""
    undersample, scores, evaluator = task._undersample_data, task._calculate_scores, task.evaluator
    last: list[Any] = [None, None]

    def undersample_data(dataset: Any, *args: Any, **kwargs: Any) -> Any:
        """Draw an experiment's training rows as mteb does."""
        # The training table is the same in all experiments, so its labels are read once.
        if last[0] is not dataset:
            last[:] = [dataset, InMemory(dataset)]
        chosen, *rest = undersample(last[1], *args, **kwargs)
        return chosen._table, *rest

    def calculate_scores(y_test: Any, y_pred: Any) -> Any:
        """Score predictions as mteb does, against labels read in one go."""
        return scores(*with_positive(np.asarray(whole(y_test)), np.asarray(y_pred)))

    def make_evaluator(train: Any, test: Any, **kwargs: Any) -> Any:
        """Return mteb's evaluator with a training table in memory."""
        return evaluator(InMemory(train), test, **kwargs)

    _put(stack, task, "_undersample_data", undersample_data)
    _put(stack, task, "_calculate_scores", calculate_scores)
    _put(stack, task, "evaluator", make_evaluator)


def with_positive(y_test: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return true and predicted classes such that, of two true ones, one is called 1.

    mteb adds the average precision where a test has two classes, and scikit-learn takes 1 for the positive
    one: with any other names it fails, and all metrics with it. A test of two classes need not call one 1,
    when training has more. The other metrics do not depend on what classes are called.

    Args:
        y_test: True classes, shape (n,).
        y_pred: Predicted classes, shape (n,).
    """
    there = np.unique(y_test)
    if len(there) != 2 or 1 in there.tolist():
        return y_test, y_pred
    others = [c for c in np.unique(y_pred) if c not in there]
    number = {c: i for i, c in enumerate([*there, *others])}
    return tuple(np.array([number[c] for c in y]) for y in (y_test, y_pred))  # type: ignore[return-value]


def _sts(task: Any, stack: contextlib.ExitStack) -> None:
    """Read sentences and scores in one go."""
    evaluate = task._evaluate_subset

    def evaluate_subset(model: Any, table: Any, **kwargs: Any) -> Any:
        """Evaluate as mteb does, on a table in memory."""
        return evaluate(model, InMemory(table), **kwargs)

    _put(stack, task, "_evaluate_subset", evaluate_subset)


def _summarization(stack: contextlib.ExitStack) -> None:
    """Compute each correlation of a document once."""
    from mteb._evaluators.text import summarization_evaluator as module

    # Asked for each document's own value and for the mean, and cosine and dot product are often equal.
    for name in ("spearmanr", "pearsonr"):
        _put(stack, module, name, remembered(getattr(module, name)))


def remembered(correlation: Callable[..., Any]) -> Callable[..., Any]:
    """Return a correlation of two lists that is computed once for equal lists."""
    known: dict[tuple[tuple[float, ...], tuple[float, ...]], Any] = {}

    def correlated(x: Any, y: Any) -> Any:
        """Return the correlation, from memory if it is known."""
        key = tuple(x), tuple(y)
        if key not in known:
            known[key] = correlation(x, y)
        return known[key]

    return correlated


def _multilabel(task: Any, stack: contextlib.ExitStack) -> None:
    """Read labels in one go, and rank each pattern of labels once."""
    from mteb.abstasks import multilabel_classification as module

    undersample = task._undersample_data_indices

    def undersample_data_indices(y: Any, *args: Any, **kwargs: Any) -> Any:
        """Draw training rows as mteb does, by labels read in one go."""
        return undersample(whole(y), *args, **kwargs)

    _put(stack, task, "_undersample_data_indices", undersample_data_indices)
    name = "label_ranking_average_precision_score"
    _put(stack, module, name, by_pattern(getattr(module, name)))


def by_pattern(lrap: Callable[..., float]) -> Callable[..., float]:
    """Return label ranking average precision that ranks each pair of true and predicted row once.

    scikit-learn ranks row by row and adds up in the order of the rows. Predictions of a nearest
    neighbour classifier are zeros and ones, so few different pairs occur.
    """

    def score(y_true: Any, y_score: Any) -> float:
        """Return the mean over rows; by scikit-learn alone where patterns save nothing."""
        rows = np.hstack([y_true, y_score])
        patterns, pattern_of = np.unique(rows, axis=0, return_inverse=True)
        width = y_true.shape[1]
        if 2 * len(patterns) > len(rows):
            return lrap(y_true, y_score)
        values = np.array([lrap(p[None, :width].astype(int), p[None, width:]) for p in patterns])
        # Added up one after the other, as scikit-learn does: numpy's sum would round otherwise.
        return float(np.add.accumulate(values[pattern_of.reshape(-1)])[-1]) / len(rows)

    return score


def _retrieval(task: Any, stack: contextlib.ExitStack) -> None:
    """Read documents by column, and leave out what is computed but not read."""
    from mteb import _create_dataloaders as loaders
    from mteb._evaluators import retrieval_metrics

    _put(stack, loaders, "_prepare_dataset", _columnwise(loaders._prepare_dataset))
    _put(stack, retrieval_metrics, "evaluate_abstention", lambda *_: {})
    _keep_reciprocal_ranks(task, stack)
    for splits in task.dataset.values():
        for data in splits.values():
            if isinstance(data["corpus"], InMemory):
                continue
            stack.callback(data.__setitem__, "corpus", data["corpus"])
            data["corpus"] = InMemory(data["corpus"])


def _keep_reciprocal_ranks(task: Any, stack: contextlib.ExitStack) -> None:
    """Keep each query's reciprocal ranks, which mteb averages at once, in the task's `reciprocal_ranks`."""
    from mteb._evaluators import retrieval_metrics

    mrr, kept = retrieval_metrics.mrr, list[tuple[list[str], Any]]()

    def reciprocal_ranks(qrels: Any, results: Any, k_values: Any) -> Any:
        """Return what mteb does, and keep it with the queries' ids."""
        found = mrr(qrels, results, k_values)
        kept.append((list(results), found))
        return found

    _put(stack, retrieval_metrics, "mrr", reciprocal_ranks)
    _put(stack, task, "reciprocal_ranks", kept)


def _columnwise(prepare: Callable[..., Any]) -> Callable[..., Any]:
    """Return mteb's preparation of a table with documents done by column instead of row by row."""

    def prepared(dataset: Any, task_metadata: Any, prompt_type: Any = None, **kwargs: Any) -> Any:
        """Return the strings of documents by column; everything else is left to mteb."""
        from datasets import Dataset

        role = None if prompt_type is None else prompt_type.value
        if role != "document" or task_metadata.get_modalities(prompt_type) != ["text"]:
            return prepare(dataset, task_metadata, prompt_type=prompt_type, **kwargs)
        texts = whole(dataset["text"])
        titles = whole(dataset["title"]) if "title" in dataset.column_names else [""] * len(texts)
        strings = [
            (f"{title} {text}" if title else text).strip() for title, text in zip(titles, texts, strict=True)
        ]
        return Dataset.from_dict({"id": whole(dataset["id"]), "text": strings})

    return prepared
