"""Made data in the file layouts of real dataset repositories."""

from __future__ import annotations

import gzip
import io
import json
import random
from typing import Any

import pandas as pd
import yaml

REVISIONS = {
    "mteb/stsbenchmark-sts": "b0fddb56ed78048fa8b90373c8a3cfc37b684831",
    "mteb/banking77": "0fd18e25b25c072e09e0d92ab615fda904d66300",
    "mteb/arguana": "c22ab2a51041ffd869aaddef7af8d8215647e41a",
    "mteb/AskUbuntuDupQuestions": "c5691e3c48741d5f83b5cc8e630653d7a8cfc048",
    "mteb/sts17-crosslingual-sts": "faeb762787bd10488a50c8b5be4a3b82e411949c",
    "mteb/biorxiv-clustering-s2s": "258694dd0231531bc1fd9de6ceb52a0853c6d908",
    "mteb/sprintduplicatequestions-pairclassification": "d66bd1f72af766a5cc4b0ca5e00c162f89e8cc46",
    "mteb/summeval": "cda12ad7615edc362dbf25a00fdd61d3b1eaf93c",
    "mteb/sib200": "a74d7350ea12af010cfb1c21e34f1f81fd2e615b",
    "mteb/NTREXBitextMining": "66b8b27efc99658903127730575e9fa0cb9f075c",
}
WORDS = ["card", "rain", "bank", "river", "lost", "blue", "train", "apple", "late", "warm", "open", "tea"]


def sentence(rng: random.Random, n: int = 6) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n)) + "."


def jsonl(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode()


def parquet(rows: list[dict[str, Any]]) -> bytes:
    buffer = io.BytesIO()
    pd.DataFrame(rows).to_parquet(buffer, index=False)
    return buffer.getvalue()


def card(configs: dict[str, dict[str, str]]) -> bytes:
    """README.md whose header names the files of each config and split."""
    listed = [
        {"config_name": name, "data_files": [{"split": s, "path": p} for s, p in files.items()]}
        for name, files in configs.items()
    ]
    return f"---\n{yaml.safe_dump({'configs': listed})}---\n\nMade data.\n".encode()


def stsbenchmark() -> dict[str, bytes]:
    """`{train,dev,test}.jsonl.gz`, no configs."""
    rng = random.Random(1)

    def rows(split: str) -> list[dict[str, Any]]:
        return [
        {"split": split, "genre": "main", "sid": f"{i:04}", "score": round(rng.uniform(0, 5), 1),
         "sentence1": sentence(rng), "sentence2": sentence(rng)}
        for i in range(30)
    ]  # fmt: skip

    return {f"{s}.jsonl.gz": gzip.compress(jsonl(rows(s))) for s in ("train", "dev", "test")}


def banking77() -> dict[str, bytes]:
    """`{train,test}.jsonl` with text, label, label_text."""
    rng = random.Random(2)

    def rows(n: int) -> list[dict[str, Any]]:
        return [
            {"text": f"{sentence(rng)} {i}", "label": i % 5, "label_text": f"intent_{i % 5}"}
            for i in range(n)
        ]

    return {"train.jsonl": jsonl(rows(100)), "test.jsonl": jsonl(rows(40))}


def arguana() -> dict[str, bytes]:
    """`corpus.jsonl`, `queries.jsonl`, `qrels/test.jsonl`, and a card that names them as configs."""
    rng = random.Random(3)
    corpus = [
        {"_id": f"doc-{i}", "title": "" if i % 4 else f"Claim {i}", "text": sentence(rng, 12)}
        for i in range(40)
    ]
    queries = [{"_id": f"doc-{i}", "text": corpus[i]["text"]} for i in range(10)]
    qrels = [{"query-id": f"doc-{i}", "corpus-id": f"doc-{i + 20}", "score": 1} for i in range(10)]
    configs = {
        "default": {"test": "qrels/test.jsonl"},
        "corpus": {"corpus": "corpus.jsonl"},
        "queries": {"queries": "queries.jsonl"},
    }
    return {
        "README.md": card(configs),
        "corpus.jsonl": jsonl(corpus),
        "queries.jsonl": jsonl(queries),
        "qrels/test.jsonl": jsonl(qrels),
    }


def askubuntu() -> dict[str, bytes]:
    """Parquet files for corpus, queries, qrels (`default`) and candidates (`top_ranked`)."""
    rng = random.Random(4)
    corpus = [{"_id": f"test_d{i}", "text": sentence(rng), "title": ""} for i in range(60)]
    queries = [{"_id": f"test_query{i}", "text": sentence(rng)} for i in range(8)]
    qrels, top = [], []
    for q in queries:
        chosen = rng.sample([d["_id"] for d in corpus], 12)
        qrels += [{"query-id": q["_id"], "corpus-id": d, "score": int(k < 3)} for k, d in enumerate(chosen)]
        top.append({"query-id": q["_id"], "corpus-ids": chosen})
    tables = {"corpus": corpus, "queries": queries, "default": qrels, "top_ranked": top}
    files = {n: f"{'data' if n == 'default' else n}/test-00000-of-00001.parquet" for n in tables}
    return {
        "README.md": card({n: {"test": p} for n, p in files.items()}),
        **{files[n]: parquet(rows) for n, rows in tables.items()},
    }


def sts17() -> dict[str, bytes]:
    """One file per pair of languages with a `lang` column; `default` names them all."""
    rng = random.Random(5)
    pairs = ["en-en", "en-de", "es-en", "ko-ko"]
    files = {
        f"test/{p}.jsonl.gz": gzip.compress(
            jsonl(
                [
                    {"sentence1": f"{p} {sentence(rng)}", "sentence2": sentence(rng), "lang": p,
                     "score": round(rng.uniform(0, 5), 1)}
                    for _ in range(15)
                ]
            )
        )
        for p in pairs
    }  # fmt: skip
    configs = {"default": {"test": "test/*.jsonl.gz"}, **{p: {"test": f"test/{p}.jsonl.gz"} for p in pairs}}
    return {"README.md": card(configs), **files}


def biorxiv() -> dict[str, bytes]:
    """The older nested clustering: each row is a set; one set here has a single class."""
    rng = random.Random(6)
    sets = []
    for i in range(4):
        labels = ["one"] * 6 if i == 2 else [f"c{k % 3}" for k in range(18)]
        sets.append({"sentences": [sentence(rng) for _ in labels], "labels": labels})
    return {"test.jsonl.gz": gzip.compress(jsonl(sets))}


def sprint() -> dict[str, bytes]:
    """The older pair format: one row of lists."""
    rng = random.Random(7)
    row = {
        "sent1": [sentence(rng) for _ in range(20)],
        "sent2": [sentence(rng) for _ in range(20)],
        "labels": [i % 2 for i in range(20)],
    }
    return {"test.jsonl.gz": gzip.compress(jsonl([row]))}


def summeval() -> dict[str, bytes]:
    """Rows with lists of human and machine summaries, and several ratings beside `relevance`."""
    rng = random.Random(8)
    rows = [
        {
            "id": f"s{i}",
            "text": sentence(rng, 30),
            "human_summaries": [sentence(rng) for _ in range(3)],
            "machine_summaries": [sentence(rng) for _ in range(6)],
            "relevance": [float(x) for x in rng.sample(range(6), 6)],
            "coherence": [1.0] * 6,
        }
        for i in range(5)
    ]
    return {"data/test-00000-of-00001.parquet": parquet(rows)}


def sib200() -> dict[str, bytes]:
    """One config per language; mteb joins the splits and samples from the subsets one after another."""
    rng = random.Random(9)
    files: dict[str, bytes] = {}
    configs: dict[str, dict[str, str]] = {}
    for language in ("ces_Latn", "deu_Latn"):
        configs[language] = {}
        for split in ("train", "validation", "test"):
            path = f"data/{language}/{split}-00000-of-00001.parquet"
            labels = [f"topic{k % 4}" for k in range(16)]
            files[path] = parquet(
                [{"text": f"{language} {split} {sentence(rng)}", "category": c} for c in labels]
            )
            configs[language][split] = path
    return {"README.md": card(configs), **files}


def ntrex() -> dict[str, bytes]:
    """Bitext whose languages are columns of one table."""
    rng = random.Random(10)
    languages = ("afr_Latn", "dan_Latn", "deu_Latn", "eng_Latn")
    return {
        "data/test-00000-of-00001.parquet": parquet(
            [{x: sentence(rng) for x in languages} for _ in range(12)]
        )
    }


MADE = {
    "mteb/stsbenchmark-sts": stsbenchmark,
    "mteb/banking77": banking77,
    "mteb/arguana": arguana,
    "mteb/AskUbuntuDupQuestions": askubuntu,
    "mteb/sts17-crosslingual-sts": sts17,
    "mteb/biorxiv-clustering-s2s": biorxiv,
    "mteb/sprintduplicatequestions-pairclassification": sprint,
    "mteb/summeval": summeval,
    "mteb/sib200": sib200,
    "mteb/NTREXBitextMining": ntrex,
}

ENTRIES: dict[str, dict[str, Any]] = {
    "stsb": {"task": "STSBenchmark", "task_type": "STS", "main_score": "cosine_spearman"},
    "banking": {"task": "Banking77Classification", "task_type": "Classification", "main_score": "accuracy"},
    "arguana": {"task": "ArguAna", "task_type": "Retrieval", "main_score": "ndcg_at_10"},
    "ubuntu": {"task": "AskUbuntuDupQuestions", "task_type": "Reranking", "main_score": "map_at_1000"},
    "sts17": {
        "task": "STS17",
        "task_type": "STS",
        "main_score": "cosine_spearman",
        "subsets": ["en-en", "en-de", "es-en"],
        "languages": {
            "en-en": ["eng-Latn"],
            "en-de": ["eng-Latn", "deu-Latn"],
            "es-en": ["spa-Latn", "eng-Latn"],
        },
    },
    "biorxiv": {"task": "BiorxivClusteringS2S", "task_type": "Clustering", "main_score": "v_measure"},
    "sprint": {"task": "SprintDuplicateQuestions", "task_type": "PairClassification", "main_score": "max_ap"},
    "summeval": {"task": "SummEval", "task_type": "Summarization", "main_score": "cosine_spearman"},
    "sib200": {
        "task": "SIB200ClusteringS2S",
        "task_type": "Clustering",
        "main_score": "v_measure",
        "subsets": ["ces_Latn", "deu_Latn"],
        "languages": {"ces_Latn": ["ces-Latn"], "deu_Latn": ["deu-Latn"]},
    },
    "ntrex": {
        "task": "NTREXBitextMining",
        "task_type": "BitextMining",
        "main_score": "f1",
        "subsets": ["afr_Latn-dan_Latn", "deu_Latn-afr_Latn"],
        "languages": {
            "afr_Latn-dan_Latn": ["afr-Latn", "dan-Latn"],
            "deu_Latn-afr_Latn": ["deu-Latn", "afr-Latn"],
        },
    },
}
for _name, _repo in zip(ENTRIES, MADE, strict=True):
    ENTRIES[_name] |= {"id": _name, "revision": REVISIONS[_repo]}
    ENTRIES[_name].setdefault("languages", {"default": ["eng-Latn"]})
