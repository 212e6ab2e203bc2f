"""Per-item results: what a score is made of, caught while mteb computes it.

mteb averages and forgets. The methods through which the single values pass are wrapped on the
task object at hand (never on a class), so that nothing outlives the cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal["query", "pair", "experiment", "document", "summary"]


@dataclass(frozen=True)
class Items:
    """One value per item.

    Attributes:
        unit: What an item is.
        metric: What its value is: a metric of mteb in units of 0 to 1, or a similarity.
        ids: Names of the items, or None: they are numbered in the order of the data.
        values: The values.
    """

    unit: Unit
    metric: str
    ids: tuple[str, ...] | None
    values: tuple[float, ...]


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


def _query_key(main_score: str) -> tuple[str, str]:
    """Return pytrec_eval's name of a metric (empty for MRR) and mteb's name of it."""
    found = re.fullmatch(r"(ndcg|map|recall|precision|hit_rate|mrr)_at_(\d+)", main_score)
    if found is None:
        return ("recall_1", "accuracy") if main_score == "accuracy" else ("ndcg_cut_10", "ndcg_at_10")
    name, k = found.groups()
    prefix = {
        "ndcg": "ndcg_cut_", "map": "map_cut_", "recall": "recall_",
        "precision": "P_", "hit_rate": "success_", "mrr": "",
    }[name]  # fmt: skip
    return (f"{prefix}{k}" if prefix else ""), main_score


def _watch_retrieval(task: Any) -> Reader:
    calls = _catch(task, "task_specific_scores")
    key, metric = _query_key(task.metadata.main_score)

    def read(_: Evaluated) -> Observed:
        """Return the items of the last evaluation, read from the calls that were watched."""
        per_query, qrels, results = calls[0][:3]
        if key:
            values = {qid: per_query[qid][key] for qid in per_query}
        else:
            from mteb._evaluators.retrieval_metrics import mrr

            k = int(metric.rsplit("_", 1)[1])
            values = dict(zip(results, mrr(qrels, results, [k])[f"MRR@{k}"], strict=True))
        items = Items("query", metric, tuple(str(q) for q in values), _floats(list(values.values())))
        return Observed(len(values), (items,))

    return read


def _watch_classification(task: Any) -> Reader:
    calls = _catch(task, "_calculate_scores")
    metric = task.metadata.main_score

    def read(done: Evaluated) -> Observed:
        values = [e[metric] for e in done.scores["scores_per_experiment"] if e.get(metric) is not None]
        return Observed(len(calls[0][0]), (Items("experiment", metric, None, _floats(values)),))

    return read


def _pair_items(task: Any, similarities: Any) -> tuple[Items, ...]:
    prefix = task.metadata.main_score.split("_", 1)[0]
    key, metric = _PAIR_SIMILARITIES.get(prefix, _SIMILARITY)
    return (Items("pair", metric, None, _floats(similarities[key])),)


def _all_pair_items(similarities: Any) -> tuple[Items, ...]:
    """Return the values of every similarity that ranks the pairs in a way of its own.

    The scores that mteb calls `max_...` are the best of several similarities. Vectors of length one
    have the same ranks under most of them, and those need not be kept twice.
    """
    import numpy as np
    from scipy.stats import rankdata

    found: list[Items] = []
    ranks: list[Any] = []
    for key, metric in (_SIMILARITY, *_PAIR_SIMILARITIES.values()):
        values = _floats(similarities[key])
        own = rankdata([-v for v in values] if key.endswith("distances") else values)
        if all(np.corrcoef(own, other)[0, 1] < 1 - SAME_RANKS for other in ranks):
            found.append(Items("pair", metric, None, values))
            ranks.append(own)
    return tuple(found)


def _watch_sts(task: Any) -> Reader:
    calls = _catch(task, "_calculate_scores")

    def read(_: Evaluated) -> Observed:
        return Observed(len(calls[0][1]), _pair_items(task, calls[0][0]))

    return read


def _watch_pair_classification(task: Any) -> Reader:
    calls = _catch(task, "_compute_metrics")
    largest = task.metadata.main_score.startswith("max_")

    def read(_: Evaluated) -> Observed:
        similarities, labels = calls[0][:2]
        items = _all_pair_items(similarities) if largest else _pair_items(task, similarities)
        return Observed(len(labels), items)

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
        items = (
            Items("pair", "correct", None, _floats(correct)),
            Items("pair", "f1", None, f1_of_each(chosen, wanted)),
            Items("pair", "similarity", None, _floats([n["score"] for n in neighbours])),
        )
        return Observed(len(neighbours), items)

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
    metric = task.metadata.main_score
    seen: dict[str, Any] = {}

    class Recording(task.evaluator):  # type: ignore[misc]
        def __init__(self, *, gold_scores: Any, **kwargs: Any) -> None:
            super().__init__(gold_scores=_tagged(gold_scores), **kwargs)

        def _calculate_metrics(self, distances: Any) -> Any:
            overall = super()._calculate_metrics
            singles = [
                {k: [v[i]] for k, v in distances.items()} for i in range(len(distances["human_scores"]))
            ]
            seen["values"] = [overall(single)[metric] for single in singles]
            seen["documents"] = [str(row[0].document) for row in distances["human_scores"]]
            return overall(distances)

    task.evaluator = Recording

    def read(_: Evaluated) -> Observed:
        documents = tuple(seen["documents"])
        return Observed(len(documents), (Items("summary", metric, documents, _floats(seen["values"])),))

    return read


def _watch_clustering(task: Any) -> Reader:
    def read(done: Evaluated) -> Observed:
        """Return the items of the last evaluation, read from the calls that were watched."""
        metric = task.metadata.main_score
        key = "v_measures" if metric == "v_measure" else f"{metric}_scores"
        values = done.scores.get(key, [done.scores["main_score"]])
        if isinstance(values, dict):  # by level of the labels
            values = [v for level in values.values() for v in level]
        return Observed(done.n_encoded, (Items("experiment", metric, None, _floats(values)),))

    return read
