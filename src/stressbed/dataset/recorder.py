"""An encoder that writes down what it is given, and a task whose scoring costs next to nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from stressbed.dataset.quiet import quiet

DIMENSION = 4
"""Size of the made-up vectors."""

UNSCORED = {"accuracy": 0.0}
"""Stands for an experiment's result where only the encoding before it matters."""


class Recorder:
    """An encoder in mteb's sense that remembers each unique (role, string), in order of first use."""

    def __init__(self) -> None:
        quiet()
        from mteb.models.model_meta import ModelMeta, ScoringFunction

        self.seen: dict[tuple[str, str], None] = {}
        self._rng = np.random.default_rng(0)
        overwrites = {
            "name": "stressbed/recorder",
            "revision": "1",
            "similarity_fn_name": ScoringFunction.COSINE,
        }
        self.mteb_model_meta = ModelMeta.create_empty(overwrites=overwrites)

    def encode(self, inputs: Any, *, prompt_type: Any = None, **_: Any) -> np.ndarray[Any, Any]:
        """Return made-up vectors, shape (n, 4); `inputs` is mteb's data loader."""
        role = "none" if prompt_type is None else str(prompt_type.value)
        strings = inputs.dataset["text"][:]
        for string in strings:
            self.seen.setdefault((role, string))
        return self._rng.standard_normal((len(strings), DIMENSION)).astype(np.float32)

    def similarity(self, a: Any, b: Any) -> Any:
        """Return cosine similarities, shape (len(a), len(b))."""
        from mteb.similarity_functions import cos_sim

        return cos_sim(a, b)

    def similarity_pairwise(self, a: Any, b: Any) -> Any:
        """Return the cosine similarity of each pair of rows, shape (len(a),)."""
        from mteb.similarity_functions import pairwise_cos_sim

        return pairwise_cos_sim(a, b)


def cheapen(task: Any) -> None:
    """Make all that follows encoding cheap on this task object; which texts are encoded stays the same.

    Classifiers are not fitted, a search keeps one document. Clusterings are left alone: they
    draw from the generator that also samples the next subset's documents.
    """
    from mteb.abstasks import AbsTaskClassification, AbsTaskRetrieval
    from sklearn.dummy import DummyClassifier

    if isinstance(task, AbsTaskClassification):
        task.evaluator_model = DummyClassifier()
        vars(task)["_run_experiment"] = lambda *_args, **_kw: (dict(UNSCORED), [])
        vars(task)["_calculate_scores"] = lambda *_args, **_kw: dict(UNSCORED)
        _list_labels(task)
    if isinstance(task, AbsTaskRetrieval):
        task.k_values, task._top_k = (1,), 1
        vars(task)["task_specific_scores"] = lambda *_args, **_kw: {}
    vars(task)["_add_main_score"] = lambda _scores: None


class _Listed:
    """A table whose columns are read once: mteb asks for a label at a time, of each row, again and again."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._columns: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self._columns:
            self._columns[column] = list(self.table[column][:])
        return self._columns[column]

    def select(self, rows: list[int]) -> Any:
        """Return the chosen rows as a table of the usual kind."""
        return self.table.select(rows)


def _list_labels(task: Any) -> None:
    """Let mteb's sampling of training rows read labels from a list; it draws the same rows."""
    known: list[_Listed] = []
    sample, sample_many = task._undersample_data, getattr(task, "_undersample_data_indices", None)

    def undersample(table: Any, *rest: Any) -> Any:
        """Draw from the listed form of the table; mteb draws from one table many times in a row."""
        if not known or known[0].table is not table:
            known[:] = [_Listed(table)]
        return sample(known[0], *rest)

    vars(task)["_undersample_data"] = undersample
    if sample_many is not None:
        vars(task)["_undersample_data_indices"] = lambda labels, *rest: sample_many(list(labels[:]), *rest)
