"""Per-item results: what a score is made of, caught while mteb computes it.

mteb averages and forgets. The methods through which the single values pass are wrapped on the
task object at hand (never on a class), so that nothing outlives the cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal["query", "pair", "experiment", "document", "summary"]


@dataclass(frozen=True)
class Items:
    """Values of items, one per item and metric.

    Attributes:
        unit: What an item is.
        ids: Names of the items, or None: they are numbered in the order of the data.
        values: By metric: one of mteb's in units of 0 to 1, or a similarity. All that a main score may need.
    """

    unit: Unit
    ids: tuple[str, ...] | None
    values: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Observed:
    """What one evaluation of a subset showed: how many items it covers, and their values."""

    n_items: int
    items: tuple[Items, ...]


@dataclass(frozen=True)
class Evaluated:
    """What mteb returned for a subset, and how many strings were encoded for it."""

    scores: Any
    n_encoded: int


Reader = Callable[[Evaluated], Observed]

SAME_RANKS = 1e-6
"""Similarities whose ranks correlate by 1 minus less than this differ by rounding only."""

_SIMILARITY = ("similarity_scores", "similarity")
_PAIR_SIMILARITIES = {
    "cosine": ("cosine_scores", "cosine_similarity"),
    "manhattan": ("manhattan_distances", "manhattan_distance"),
    "euclidean": ("euclidean_distances", "euclidean_distance"),
    "dot": ("dot_scores", "dot_product"),
}


def watch(task: Any) -> Reader:
    """Return a function that gives the items of the subset that `task` evaluated last.

    Args:
        task: A fresh mteb task; methods are wrapped on the object.

    Raises:
        TypeError: The task is of a type that has no texts to score.
    """
    from mteb import abstasks as kinds

    for kind, make in (
        (kinds.AbsTaskRetrieval, _watch_retrieval),
        (kinds.AbsTaskClassification, _watch_classification),
        (kinds.AbsTaskSTS, _watch_sts),
        (kinds.AbsTaskPairClassification, _watch_pair_classification),
        (kinds.AbsTaskBitextMining, _watch_bitext),
        (kinds.AbsTaskSummarization, _watch_summarization),
        (kinds.AbsTaskClustering, _watch_clustering),
        (kinds.AbsTaskClusteringLegacy, _watch_clustering),
    ):
        if isinstance(task, kind):
            return make(task)
    raise TypeError(f"{type(task).__name__} is of no known type")


def _catch(task: Any, method: str) -> list[tuple[Any, ...]]:
    """Return a list that holds the arguments and result of the last call of `task.method`."""
    original, calls = getattr(task, method), []  # type: ignore[var-annotated]

    def caught(*args: Any, **kwargs: Any) -> Any:
        """Call the method and keep what went in and came out."""
        result = original(*args, **kwargs)
        calls[:] = [(*args, result)]
        return result

    setattr(task, method, caught)
    return calls


def _floats(values: Sequence[Any]) -> tuple[float, ...]:
    return tuple(float(v) for v in values)


_OF_A_QUERY = {
    "ndcg_cut": "ndcg",
    "map_cut": "map",
    "recall": "recall",
    "P": "precision",
    "success": "hit_rate",
}
"""pytrec_eval's names of metrics, and mteb's."""


def _watch_retrieval(task: Any) -> Reader:
    calls = _catch(task, "task_specific_scores")

    def read(_: Evaluated) -> Observed:
        """Return the items of the last evaluation, read from the calls that were watched."""
        per_query = calls[0][0]
        values: dict[str, tuple[float, ...]] = {}
        for key in next(iter(per_query.values()), {}):
            name, _, k = key.rpartition("_")
            if name in _OF_A_QUERY and k.isdigit():
                values[f"{_OF_A_QUERY[name]}_at_{k}"] = _floats([of[key] for of in per_query.values()])
        queries, ranks = task.reciprocal_ranks[0]
        task.reciprocal_ranks.clear()
        for key, reciprocal in ranks.items():
            by_query = dict(zip(queries, reciprocal, strict=True))
            values[f"mrr_at_{key.removeprefix('MRR@')}"] = _floats([by_query[q] for q in per_query])
        if "recall_at_1" in values:
            values["accuracy"] = values["recall_at_1"]
        return Observed(len(per_query), (Items("query", tuple(str(q) for q in per_query), values),))

    return read


def _watch_classification(task: Any) -> Reader:
    calls = _catch(task, "_calculate_scores")

    def read(done: Evaluated) -> Observed:
        experiments = done.scores["scores_per_experiment"]
        names = dict.fromkeys(name for e in experiments for name, v in e.items() if _is_number(v))
        values = {n: _floats([e[n] for e in experiments if e.get(n) is not None]) for n in names}
        return Observed(len(calls[0][0]), (Items("experiment", None, values),))

    return read


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pair_items(similarities: Any) -> tuple[Items, ...]:
    kinds = (_SIMILARITY, *_PAIR_SIMILARITIES.values())
    values = {metric: _floats(similarities[key]) for key, metric in kinds if key in similarities}
    return (Items("pair", None, values),)


def behind(values: Mapping[str, Any], main_score: str) -> list[str]:
    """Return the metrics among an item's values that a main score is made of, or shown by.

    Args:
        values: By metric, as `Items` holds them.
        main_score: mteb's name of the score.
    """
    if "correct" in values:  # sentences of bitext: each of their values says something else
        return list(values)
    if main_score in values:
        return [main_score]
    if main_score.startswith("max_") and _SIMILARITY[1] in values:
        return list(_ranking_apart(values))
    prefix = main_score.split("_", 1)[0]
    named = _PAIR_SIMILARITIES.get(prefix, _SIMILARITY)[1]
    return [named] if named in values else []


def _ranking_apart(values: Mapping[str, Sequence[float]]) -> Iterator[str]:
    """Yield every similarity that ranks the pairs in a way of its own.

    The scores that mteb calls `max_...` are the best of several similarities. Vectors of length one
    have the same ranks under most of them, and those need not be shown twice.
    """
    import numpy as np
    from scipy.stats import rankdata

    ranks: list[Any] = []
    for metric in values:
        own = rankdata([-v for v in values[metric]] if metric.endswith("distance") else values[metric])
        if all(np.corrcoef(own, other)[0, 1] < 1 - SAME_RANKS for other in ranks):
            ranks.append(own)
            yield metric


def _watch_sts(task: Any) -> Reader:
    calls = _catch(task, "_calculate_scores")

    def read(_: Evaluated) -> Observed:
        return Observed(len(calls[0][1]), _pair_items(calls[0][0]))

    return read


def _watch_pair_classification(task: Any) -> Reader:
    calls = _catch(task, "_compute_metrics")

    def read(_: Evaluated) -> Observed:
        similarities, labels = calls[0][:2]
        return Observed(len(labels), _pair_items(similarities))

    return read


def _watch_bitext(task: Any) -> Reader:
    # With parallel subsets one evaluation covers all of them: the calls come in the pairs' order.
    original, seen = task._compute_metrics, []

    def caught(neighbours: Any, gold: Any) -> Any:
        """Keep a pair's neighbours and gold, then call the method."""
        seen.append((neighbours, gold))
        return original(neighbours, gold)

    task._compute_metrics = caught

    def read(_: Evaluated) -> Observed:
        """Return the items of the last evaluation, read from the calls that were watched."""
        neighbours, gold = seen.pop(0)
        pairs = list(zip(neighbours, gold, strict=False))
        chosen, wanted = [n["corpus_id"] for n, _ in pairs], [g[1] for _, g in pairs]
        correct = [c == w for c, w in zip(chosen, wanted, strict=True)]
        values = {
            "correct": _floats(correct),
            "f1": f1_of_each(chosen, wanted),
            "similarity": _floats([n["score"] for n in neighbours]),
        }
        return Observed(len(neighbours), (Items("pair", None, values),))

    return read


def f1_of_each(chosen: Sequence[Any], wanted: Sequence[Any]) -> tuple[float, ...]:
    """Return for each sentence the F1 of the translation it should find; their mean is mteb's F1.

    A translation that other sentences find too has a lower precision.
    """
    found, right = Counter(chosen), Counter(w for c, w in zip(chosen, wanted, strict=True) if c == w)
    support = Counter(wanted)
    return tuple(2 * right[w] / (found[w] + support[w]) for w in wanted)


class _Gold(float):
    """A gold score that knows its document: mteb leaves documents out without saying which."""

    document: int


def _tagged(gold_scores: Sequence[Sequence[float]]) -> list[list[float]]:
    rows: list[list[float]] = []
    for number, row in enumerate(gold_scores):
        rows.append([])
        for value in row:
            gold = _Gold(value)
            gold.document = number
            rows[-1].append(gold)
    return rows


def _watch_summarization(task: Any) -> Reader:
    seen: dict[str, Any] = {}

    class Recording(task.evaluator):  # type: ignore[misc]
        def __init__(self, *, gold_scores: Any, **kwargs: Any) -> None:
            super().__init__(gold_scores=_tagged(gold_scores), **kwargs)

        def _calculate_metrics(self, distances: Any) -> Any:
            overall = super()._calculate_metrics
            singles = [
                {k: [v[i]] for k, v in distances.items()} for i in range(len(distances["human_scores"]))
            ]
            seen["each"] = [overall(single) for single in singles]
            seen["documents"] = [str(row[0].document) for row in distances["human_scores"]]
            return overall(distances)

    task.evaluator = Recording

    def read(_: Evaluated) -> Observed:
        documents, each = tuple(seen["documents"]), seen["each"]
        values = {name: _floats([e[name] for e in each]) for name in (each[0] if each else ())}
        return Observed(len(documents), (Items("summary", documents, values),))

    return read


def _watch_clustering(_task: Any) -> Reader:
    def read(done: Evaluated) -> Observed:
        """Return the items of the last evaluation, read from the calls that were watched."""
        values: dict[str, tuple[float, ...]] = {}
        for name, mean in done.scores.items():
            if not _is_number(mean) or name == "main_score" or name.endswith("_std"):
                continue
            single = done.scores.get("v_measures" if name == "v_measure" else f"{name}_scores", [mean])
            if isinstance(single, dict):  # by level of the labels
                single = [v for level in single.values() for v in level]
            values[name] = _floats(single)
        return Observed(done.n_encoded, (Items("experiment", None, values),))

    return read
