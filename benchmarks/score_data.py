"""Data of every task type for the benchmark of scoring: sizes of real test sets, texts of a few words."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

TOPICS = ["sea wave harbour tide", "oven flour onion soup", "orbit comet moon probe", "soil tulip hedge seed",
          "ledger loan bank coin", "violin chord flute drum"]  # fmt: skip
LABELS = len(TOPICS)


def text(rng: random.Random, topic: int, n: int) -> str:
    own, every = TOPICS[topic].split(), " ".join(TOPICS).split()
    words = [rng.choice(own) if rng.random() < 0.5 else rng.choice(every) for _ in range(12)]
    return f"{' '.join(words)} {n}"


def labelled(n: int, seed: int) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    return {
        "text": [text(rng, i % LABELS, n * seed + i) for i in range(n)],
        "label": [i % LABELS for i in range(n)],
    }


def many_labelled(n: int, seed: int) -> dict[str, list[Any]]:
    table = labelled(n, seed)
    table["label"] = [[v] if i % 3 else sorted({v, (v + 1) % LABELS}) for i, v in enumerate(table["label"])]
    return table


def pairs(n: int, seed: int) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    topics = [(rng.randrange(LABELS), rng.randrange(LABELS)) for _ in range(n)]
    topics = [(a, a if i % 2 else b) for i, (a, b) in enumerate(topics)]
    return {
        "sentence1": [text(rng, a, 2 * i) for i, (a, _) in enumerate(topics)],
        "sentence2": [text(rng, b, 2 * i + 1) for i, (_, b) in enumerate(topics)],
        "score": [round(rng.uniform(2, 5) if a == b else rng.uniform(0, 3), 2) for a, b in topics],
        "label": [int(a == b) for a, b in topics],
    }


def sets(n: int, members: int) -> dict[str, list[Any]]:
    tables = [labelled(members, seed) for seed in range(1, n + 1)]
    return {"sentences": [t["text"] for t in tables], "labels": [t["label"] for t in tables]}


def summaries(n: int, machine: int) -> dict[str, list[Any]]:
    rng = random.Random(6)
    table: dict[str, list[Any]] = {
        "text": [],
        "human_summaries": [],
        "machine_summaries": [],
        "relevance": [],
    }
    for i in range(n):
        topic = i % LABELS
        table["text"].append(text(rng, topic, i))
        table["human_summaries"].append([text(rng, topic, i) for _ in range(11)])
        table["machine_summaries"].append([text(rng, topic, i) for _ in range(machine)])
        table["relevance"].append([round(rng.uniform(1, 5), 2) for _ in range(machine)])
    return table


def search(n_documents: int, n_queries: int, candidates: int | None) -> dict[str, Any]:
    from datasets import Dataset

    rng = random.Random(7)
    corpus = {"id": [f"d{i}" for i in range(n_documents)],
              "title": [f"on {i}" if i % 3 else "" for i in range(n_documents)],
              "text": [text(rng, i % LABELS, i) for i in range(n_documents)]}  # fmt: skip
    queries = {"id": [f"q{i}" for i in range(n_queries)],
               "text": [text(rng, i % LABELS, -i) for i in range(n_queries)]}  # fmt: skip
    qrels, ranked = {}, {}
    for i in range(n_queries):
        own = rng.sample(range(i % LABELS, n_documents, LABELS), 3)
        qrels[f"q{i}"] = {f"d{d}": 1 for d in own}
        if candidates is not None:
            others = rng.sample(range(n_documents), candidates)
            ranked[f"q{i}"] = list(dict.fromkeys(f"d{d}" for d in [*own, *others]))
    return {
        "corpus": Dataset.from_dict(corpus), "queries": Dataset.from_dict(queries), "relevant_docs": qrels,
        "top_ranked": ranked or None,
    }  # fmt: skip


DATA: dict[str, Callable[[], dict[str, Any]]] = {
    "Classification": lambda: {"train": labelled(2000, 1), "test": labelled(2000, 2)},
    "MultilabelClassification": lambda: {"train": many_labelled(1000, 1), "test": many_labelled(1000, 2)},
    "Clustering": lambda: {"test": labelled(2000, 5)},
    "ClusteringLegacy": lambda: {"test": sets(10, 500)},
    "PairClassification": lambda: {"test": pairs(3000, 8)},
    "STS": lambda: {"test": pairs(3000, 9)},
    "Summarization": lambda: {"test": summaries(100, 16)},
    "BitextMining": lambda: {"test": pairs(1000, 10)},
    "Retrieval": lambda: {"test": search(5000, 300, None)},
    "Reranking": lambda: {"test": search(3000, 300, 50)},
}
"""Task type -> split -> table, for `tests/equality/eq_chain.Chain`."""
