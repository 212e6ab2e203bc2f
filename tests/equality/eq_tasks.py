"""Tasks of every type, built straight on mteb's base classes from a few sentences of ours."""

from __future__ import annotations

import random
from typing import Any

TOPICS = {
    "sea": [
        "waves",
        "harbour",
        "sailor",
        "anchor",
        "tide",
        "gull",
        "storm",
        "island",
        "rope",
        "captain",
        "reef",
        "net",
    ],
    "kitchen": [
        "oven",
        "flour",
        "pepper",
        "kettle",
        "onion",
        "knife",
        "butter",
        "soup",
        "spoon",
        "recipe",
        "garlic",
        "plate",
    ],
    "space": [
        "orbit",
        "comet",
        "rocket",
        "lunar",
        "crater",
        "telescope",
        "gravity",
        "probe",
        "galaxy",
        "dust",
        "solar",
        "ring",
    ],
    "garden": [
        "soil",
        "tulip",
        "spade",
        "hedge",
        "compost",
        "rain",
        "seed",
        "shovel",
        "bee",
        "rose",
        "worm",
        "lawn",
    ],
}
FRAMES = [
    "The {} was close to the {} when the {} appeared.",
    "Nobody expected a {} beside the {} and the {}.",
    "She wrote about the {}, the {} and an old {}.",
    "After the {}, they found a {} under the {}.",
]
NAMES = list(TOPICS)


def sentence(rng: random.Random, topic: str, mixed: float = 0.2) -> str:
    words = [rng.choice(TOPICS[rng.choice(NAMES) if rng.random() < mixed else topic]) for _ in range(3)]
    return rng.choice(FRAMES).format(*words)


def changed(text: str) -> str:
    """A stand-in for a rewrite: other words, other order."""
    words = text.rstrip(".").split()
    return " ".join(["Reportedly,", *words[len(words) // 2 :], *words[: len(words) // 2]]) + "."


def labelled(n: int, seed: int) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    topics = [NAMES[i % len(NAMES)] for i in range(n)]
    return {"text": [sentence(rng, t, 0.5) for t in topics], "label": [NAMES.index(t) for t in topics]}


def pairs(n: int, seed: int) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    out: dict[str, list[Any]] = {"sentence1": [], "sentence2": [], "score": [], "label": []}
    for i in range(n):
        a, b = rng.choice(NAMES), rng.choice(NAMES)
        if i % 2:
            b = a
        out["sentence1"].append(sentence(rng, a))
        out["sentence2"].append(sentence(rng, b))
        out["score"].append(round(rng.uniform(2.5, 5) if a == b else rng.uniform(0, 3), 2))
        out["label"].append(int(a == b))
    return out


def retrieval(seed: int, *, title: bool, instruction: bool, ranked: bool) -> dict[str, Any]:
    from datasets import Dataset

    rng = random.Random(seed)
    docs = [NAMES[i % len(NAMES)] for i in range(40)]
    corpus = {"id": [f"d{i}" for i in range(40)], "text": [sentence(rng, t, 0.4) for t in docs]}
    if title:
        corpus["title"] = ["" if i % 7 == 0 else f"On the {t} {i}" for i, t in enumerate(docs)]
    queries = {"id": [f"q{i}" for i in range(12)], "text": []}
    if instruction:
        queries["instruction"] = []
    qrels: dict[str, dict[str, int]] = {}
    top: dict[str, list[str]] = {}
    for i in range(12):
        topic = NAMES[i % len(NAMES)]
        queries["text"].append(sentence(rng, topic, 0.4))
        if instruction:
            queries["instruction"].append(f"Prefer what is about the {topic}.")
        mine = [f"d{j}" for j, t in enumerate(docs) if t == topic]
        others = [f"d{j}" for j, t in enumerate(docs) if t != topic]
        qrels[f"q{i}"] = {d: 1 + (k == 0) for k, d in enumerate(rng.sample(mine, 4))}
        top[f"q{i}"] = [*qrels[f"q{i}"], *rng.sample(others, 12)]
    return {
        "corpus": Dataset.from_dict(corpus),
        "queries": Dataset.from_dict(queries),
        "relevant_docs": qrels,
        "top_ranked": top if ranked else None,
    }


def summaries(n: int, seed: int) -> dict[str, list[Any]]:
    rng = random.Random(seed)
    out: dict[str, list[Any]] = {"text": [], "human_summaries": [], "machine_summaries": [], "relevance": []}
    for i in range(n):
        topic = NAMES[i % len(NAMES)]
        out["text"].append(" ".join(sentence(rng, topic) for _ in range(3)))
        out["human_summaries"].append([sentence(rng, topic) for _ in range(3)])
        out["machine_summaries"].append([sentence(rng, topic, 0.3 * k) for k in range(4)])
        # The third document has equal ratings: mteb leaves it out.
        out["relevance"].append([3.0] * 4 if i == 2 else [round(rng.uniform(1, 5), 2) for _ in range(4)])
    return out


def bases() -> dict[str, tuple[type, str, str, dict[str, Any]]]:
    """Kind -> (mteb base class, mteb task type, main score, class attributes)."""
    from mteb import abstasks as a

    pairs_of = {"label_column_name": "label"}
    texts = {
        "input_column_name": "text",
        "label_column_name": "label",
        "max_fraction_of_documents_to_embed": None,
    }
    rated = {"min_score": 1, "max_score": 5}
    related = {"min_score": 0, "max_score": 1}
    return {
        "Classification": (a.AbsTaskClassification, "Classification", "accuracy", {}),
        "MultilabelClassification": (
            a.AbsTaskMultilabelClassification, "MultilabelClassification", "accuracy", {},
        ),
        "Clustering": (a.AbsTaskClustering, "Clustering", "v_measure", texts),
        "ClusteringLegacy": (a.AbsTaskClusteringLegacy, "Clustering", "v_measure", {}),
        "PairClassification": (a.AbsTaskPairClassification, "PairClassification", "max_ap", pairs_of),
        "STS": (a.AbsTaskSTS, "STS", "cosine_spearman", {}),
        "STR": (a.AbsTaskSTS, "STS", "spearman", related),
        "STSMany": (a.AbsTaskSTS, "STS", "cosine_spearman", {}),
        "Summarization": (a.AbsTaskSummarization, "Summarization", "cosine_spearman", rated),
        "BitextMining": (a.AbsTaskBitextMining, "BitextMining", "f1", {}),
        "Retrieval": (a.AbsTaskRetrieval, "Retrieval", "ndcg_at_10", {}),
        "RetrievalMRR": (a.AbsTaskRetrieval, "Retrieval", "mrr_at_10", {}),
        "InstructionRetrieval": (a.AbsTaskRetrieval, "InstructionRetrieval", "ndcg_at_10", {}),
        "Reranking": (a.AbsTaskRetrieval, "Reranking", "map_at_1000", {}),
    }  # fmt: skip


KINDS = [
    "Classification", "MultilabelClassification", "Clustering", "ClusteringLegacy", "PairClassification",
    "STS", "STR", "STSMany", "Summarization", "BitextMining", "Retrieval", "RetrievalMRR",
    "InstructionRetrieval", "Reranking",
]  # fmt: skip


def data_of(kind: str) -> dict[str, dict[str, Any]]:
    """Subset -> split -> table (columns, or a retrieval split)."""
    if kind == "Classification":
        return {"default": {"train": labelled(80, 1), "test": labelled(60, 2)}}
    if kind == "MultilabelClassification":
        tables = {"train": labelled(80, 3), "test": labelled(60, 4)}
        for t in tables.values():
            t["label"] = [[v] if i % 3 else sorted({v, (v + 1) % 4}) for i, v in enumerate(t["label"])]
        return {"default": tables}
    if kind == "Clustering":
        return {"default": {"test": labelled(120, 5)}}
    if kind == "ClusteringLegacy":
        sets = [labelled(40 + 8 * i, 10 + i) for i in range(3)]
        table = {"sentences": [s["text"] for s in sets], "labels": [s["label"] for s in sets]}
        return {"default": {"test": table}}
    if kind == "STSMany":
        return {
            "en": {"test": pairs(40, 20)},
            "de": {"test": pairs(30, 21)},
            "en-de": {"test": pairs(36, 22)},
        }
    if kind == "Summarization":
        return {"default": {"test": summaries(8, 6)}}
    if "Retrieval" in kind or kind == "Reranking":
        made = retrieval(
            7, title=kind != "Reranking", instruction="Instruction" in kind, ranked=kind == "Reranking"
        )
        return {"default": {"test": made}}
    return {"default": {"test": pairs(50, 8)}}


def rewrite_data(data: Any) -> Any:
    """Change every text wherever it is."""
    from datasets import Dataset

    skip = {"id", "label", "labels", "score", "relevance", "relevant_docs", "top_ranked"}
    if isinstance(data, Dataset):
        return Dataset.from_dict(rewrite_data(data.to_dict()))
    if isinstance(data, dict):
        return {k: v if k in skip else rewrite_data(v) for k, v in data.items()}
    if isinstance(data, list):
        return [rewrite_data(v) for v in data]
    return changed(data) if data else data


def make_task(kind: str, *, transformed: bool = False, data: Any = None) -> Any:
    """A fresh task with its data in memory, seed 42."""
    from datasets import Dataset, DatasetDict
    from mteb.abstasks.task_metadata import TaskMetadata

    base, task_type, main_score, attributes = bases()[kind]
    data = data or data_of(kind)
    if transformed:
        data = rewrite_data(data)
    languages = {"en": ["eng-Latn"], "de": ["deu-Latn"], "en-de": ["eng-Latn", "deu-Latn"]}
    metadata = TaskMetadata(
        name=f"Made{kind}", description="made here", type=task_type, main_score=main_score,
        dataset={"path": f"made/{kind}", "revision": "1"}, eval_splits=["test"],
        eval_langs={s: languages[s] for s in data} if "default" not in data else ["eng-Latn"],
    )  # fmt: skip
    # Not a subclass known by name to mteb's registry: each call makes its own class.
    task = type(f"Made{kind}", (base,), {"metadata": metadata, **attributes})(seed=42)
    if base is bases()["Retrieval"][0]:
        task.dataset = data
    else:
        made = {s: DatasetDict({k: Dataset.from_dict(t) for k, t in d.items()}) for s, d in data.items()}
        task.dataset = made.get("default", made)
    task.data_loaded = True
    return task
