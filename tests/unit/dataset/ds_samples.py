"""Small local datasets of all ten task types, and the same data as mteb tasks built by hand."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import numpy as np

from stressbed.config.entries import DatasetEntry
from stressbed.dataset.quiet import quiet

WORDS = ["sea", "wave", "sail", "oven", "flour", "onion", "orbit", "comet", "moon", "soil", "tulip", "hedge"]
LANGUAGES = {"default": ["eng-Latn"]}
SCORES = {
    "Classification": "accuracy",
    "MultilabelClassification": "accuracy",
    "Clustering": "v_measure",
    "PairClassification": "max_ap",
    "STS": "cosine_spearman",
    "STR": "cosine_spearman",
    "Summarization": "cosine_spearman",
    "BitextMining": "f1",
    "Retrieval": "ndcg_at_10",
    "Reranking": "map_at_1000",
}
TYPES = list(SCORES)


def sentence(rng: random.Random, n: int = 5) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n))


def tables_of(task_type: str) -> dict[str, list[dict[str, Any]]]:
    rng = random.Random(task_type)
    pair = lambda: {"sentence1": sentence(rng), "sentence2": sentence(rng)}  # noqa: E731
    if task_type == "Classification":
        rows = lambda n: [{"text": sentence(rng) + f" {i}", "label": "abc"[i % 3]} for i in range(n)]  # noqa: E731
        return {"train": rows(60), "test": rows(24)}
    if task_type == "MultilabelClassification":
        rows = lambda n: [  # noqa: E731
            {"text": sentence(rng) + f" {i}", "labels": rng.sample("xyz", 1 + i % 2)} for i in range(n)
        ]
        return {"train": rows(60), "test": rows(20)}
    if task_type == "Clustering":
        return {"test": [{"text": sentence(rng), "label": WORDS[i % 4]} for i in range(40)]}
    if task_type == "PairClassification":
        return {"test": [{**pair(), "label": i % 2} for i in range(20)]}
    if task_type in {"STS", "STR"}:
        return {"test": [{**pair(), "score": round(rng.uniform(0, 5), 2)} for _ in range(20)]}
    if task_type == "BitextMining":
        return {"test": [pair() for _ in range(15)]}
    if task_type == "Summarization":
        return {
            "test": [
                {
                    "text": sentence(rng),
                    "human_summaries": [sentence(rng) for _ in range(3)],
                    "machine_summaries": [sentence(rng) for _ in range(5)],
                    "relevance": [float(r) for r in rng.sample(range(1, 10), 5)],
                }
                for _ in range(6)
            ]
        }
    return _retrieval(rng, ranked=task_type == "Reranking")


def _retrieval(rng: random.Random, *, ranked: bool) -> dict[str, list[dict[str, Any]]]:
    documents = [
        {
            "id": f"d{i}",
            "title": "" if i % 3 == 0 else f" {sentence(rng, 2)}",
            "text": f"{sentence(rng)} {i} ",
        }
        for i in range(30)
    ]
    queries = [
        {"id": f"q{i}", "text": f"{sentence(rng)} {i}", "instruction": f"prefer {rng.choice(WORDS)}"}
        for i in range(8)
    ]
    qrels, top = [], []
    for q in queries:
        chosen = rng.sample([d["id"] for d in documents], 12)
        qrels += [{"query_id": q["id"], "corpus_id": d, "score": 1} for d in chosen[:3]]
        top += [{"query_id": q["id"], "corpus_id": d} for d in chosen]
    tables = {"corpus": documents, "queries": queries, "qrels": qrels}
    return {**tables, "top_ranked": top} if ranked else tables


def entry_of(
    task_type: str, tables: dict[str, list[dict[str, Any]]], folder: Path, **more: Any
) -> DatasetEntry:
    """Write the tables as JSON lines and return the catalogue entry that names them."""
    for name, rows in tables.items():
        text = "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    values = {
        "id": f"sample-{task_type.lower()}",
        "files": {n: f"{n}.jsonl" for n in tables},
        "task_type": task_type,
        "languages": LANGUAGES,
        "main_score": SCORES[task_type],
    }
    return DatasetEntry(**{**values, **more})


def by_hand(task_type: str, tables: dict[str, list[dict[str, Any]]]) -> Any:
    """Return the mteb task over the same data, built straight on mteb's classes."""
    quiet()
    from datasets import Dataset, DatasetDict
    from mteb import abstasks as a
    from mteb.abstasks.task_metadata import TaskMetadata

    kind = "STS" if task_type == "STR" else task_type
    names = {
        "Classification": {"label_column_name": "label"},
        "MultilabelClassification": {"label_column_name": "labels"},
        "Clustering": {
            "input_column_name": "text",
            "label_column_name": "label",
            "max_fraction_of_documents_to_embed": None,
        },
        "PairClassification": {"label_column_name": "label"},
        "STS": {"min_score": 0, "max_score": 5},
        "Summarization": {"min_score": 1, "max_score": 5},
    }.get(kind, {})
    base = a.AbsTaskRetrieval if kind in {"Retrieval", "Reranking"} else getattr(a, f"AbsTask{kind}")
    metadata = TaskMetadata(
        name=f"Hand{task_type}",
        description="-",
        type=kind,
        category="t2t",
        modalities=["text"],
        main_score=SCORES[task_type],
        dataset={"path": "-", "revision": "-"},
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
    )
    task = type(f"Hand{task_type}", (base,), {"metadata": metadata, **names})(seed=42)
    if "corpus" in tables:
        qrels: dict[str, dict[str, int]] = {}
        for r in tables["qrels"]:
            qrels.setdefault(r["query_id"], {})[r["corpus_id"]] = r["score"]
        top: dict[str, list[str]] = {}
        for r in tables.get("top_ranked", []):
            top.setdefault(r["query_id"], []).append(r["corpus_id"])
        data = {
            "corpus": Dataset.from_list(tables["corpus"]),
            "queries": Dataset.from_list(tables["queries"]),
            "relevant_docs": qrels,
            "top_ranked": top or None,
        }
        task.dataset = {"default": {"test": data}}
    else:
        task.dataset = DatasetDict(
            {n: Dataset.from_list(_numbered(kind, rows)) for n, rows in tables.items()}
        )
    task.data_loaded = True
    return task


def _numbered(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if kind not in {"Classification", "Clustering"}:
        return rows
    names = sorted({r["label"] for r in rows})
    return [{**r, "label": names.index(r["label"])} for r in rows]


class HashEncoder:
    """Vectors that depend on role and string alone; remembers what it was given."""

    def __init__(self) -> None:
        from mteb.models.model_meta import ModelMeta, ScoringFunction

        self.seen: set[tuple[str, str]] = set()
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={"name": "t/hash", "revision": "1", "similarity_fn_name": ScoringFunction.COSINE}
        )

    def encode(self, inputs: Any, *, prompt_type: Any = None, **_: Any) -> np.ndarray:
        role = prompt_type.value if prompt_type is not None else "none"
        strings = [s for batch in inputs for s in batch["text"]]
        self.seen |= {(role, s) for s in strings}
        return np.stack([self.vector(s) for s in strings])

    @staticmethod
    def vector(string: str) -> np.ndarray:
        total = np.zeros(16, dtype=np.float32)
        for word in string.split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "little")
            total += np.random.default_rng(seed).standard_normal(16).astype(np.float32)
        return total

    def similarity(self, a: Any, b: Any) -> Any:
        from mteb.similarity_functions import cos_sim

        return cos_sim(a, b)

    def similarity_pairwise(self, a: Any, b: Any) -> Any:
        from mteb.similarity_functions import pairwise_cos_sim

        return pairwise_cos_sim(a, b)


def evaluate(task: Any, encoder: HashEncoder) -> dict[str, Any]:
    return {s: task.evaluate(encoder, s, encode_kwargs={"batch_size": 16}) for s in task.eval_splits}


def numbers(value: Any, path: str = "") -> dict[str, Any]:
    """Return the leaves of nested results by their paths."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return {path: value}
    return {p: v for key, item in items for p, v in numbers(item, f"{path}/{key}").items()}


def assert_same(got: Any, expected: Any) -> None:
    """Every metric of every experiment agrees up to the rounding of one addition."""
    a, b = numbers(got), numbers(expected)
    assert a.keys() == b.keys()
    for path, value in a.items():
        if isinstance(value, float):
            np.testing.assert_allclose(value, b[path], rtol=1e-13, equal_nan=True, err_msg=path)
        else:
            assert value == b[path], path
