"""A small dataset as the stages before `embed` leave it, with rewritten variants."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.run import EmbedStats, embed
from stressbed.fingerprint import digest
from stressbed.paths import Variant

MANIFEST: dict[str, Any] = {
    "dataset": "small", "source": "local", "task": None, "task_type": "Retrieval",
    "subsets": ["default"], "splits": ["test"], "languages": {"default": ["eng-Latn"]},
    "main_score": "ndcg_at_10", "content_hash": "c0",
}  # fmt: skip
ORIGINAL = Variant("none", "original", 0)


def make_entry(backend: str = "random", **settings: Any) -> EmbedderEntry:
    return EmbedderEntry(**{"id": backend, "backend": backend, "model": backend, **settings})


@dataclass
class Bench:
    """Four documents of two texts each and two queries; variants replace texts."""

    root: Path
    texts: pd.DataFrame
    inputs: pd.DataFrame
    manifest: dict[str, Any] = field(default_factory=lambda: dict(MANIFEST))

    def transforms(self, name: str, new: Mapping[int, str], absent: Mapping[str, str] | None = None) -> Path:
        path = self.root / "transforms" / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        table = pa.table({"text_id": list(new), "text": list(new.values()), "outcome": ["ok"] * len(new)})
        facts = {"stressbed.content_hash": digest([[k, v] for k, v in new.items()])}
        if absent:
            facts["stressbed.absent"] = json.dumps(absent)
        pq.write_table(table.replace_schema_metadata(facts), path)
        return path

    def run(
        self, entry: EmbedderEntry, variants: Mapping[str, Mapping[int, str]] = {}, **more: Any
    ) -> EmbedStats:
        chosen = {Variant("g", name, 1): self.transforms(name, new) for name, new in variants.items()}
        arguments = {
            "dataset": "small", "manifest": self.manifest, "texts": self.texts, "inputs": self.inputs,
            "transforms": chosen, "entry": entry, "embedder_identity": f"id-{entry.id}",
            "catalogue_folder": self.root, "store_root": self.root / "store",
            "dataset_folder": self.root / "nowhere",
            "outputs": {v: self.output(v) for v in (ORIGINAL, *chosen)},
        }  # fmt: skip
        return embed(**{**arguments, **more})

    def output(self, variant: Variant) -> Path:
        return self.root / "embeddings" / f"{variant}.json"

    def record(self, name: str = "original") -> dict[str, Any]:
        variant = ORIGINAL if name == "original" else Variant("g", name, 1)
        return dict(json.loads(self.output(variant).read_text()))


TEXTS = ["A cat", "A cat sleeps.", "Dogs", "Dogs bark loudly.", "Rain", "It rains.", "Sun", "The sun shines.",
         "Which animal sleeps?", "What falls from clouds?"]  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    texts = pd.DataFrame({"text_id": range(10), "text": TEXTS, "split": "test", "subset": "default"})
    rows = [("document", ["", " ", ""], [2 * i, 2 * i + 1], True) for i in range(4)]
    rows += [("query", ["", ""], [i], False) for i in (8, 9)]
    inputs = pd.DataFrame(rows, columns=["role", "literals", "text_ids", "strip"])
    return Bench(tmp_path, texts, inputs)


@pytest.fixture
def entry_of() -> Callable[..., EmbedderEntry]:
    return make_entry
