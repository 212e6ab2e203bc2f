"""The whole chain behind a cell on data made here: frozen, listed, rewritten, embedded, scored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from eq_tasks import bases, changed, data_of

from stressbed.config.entries import EmbedderEntry
from stressbed.dataset.record import record
from stressbed.embed.run import embed
from stressbed.fingerprint import digest
from stressbed.paths import Cell, Variant
from stressbed.score.run import CellJob, ScoreStats, score_cells
from stressbed.transform.flags import FLAGS

ORIGINAL = Variant("none", "original", 0)
LANGUAGES = {
    "default": ["eng-Latn"], "en": ["eng-Latn"], "de": ["deu-Latn"], "en-de": ["eng-Latn", "deu-Latn"],
}  # fmt: skip
LABELS = {"MultilabelClassification": {"label": "labels"}}
TYPES = {"STR": "STR", "STSMany": "STS", "RetrievalMRR": "Retrieval", "ClusteringLegacy": "Clustering"}
LEGACY = "TwentyNewsgroupsClustering"
"""A task of mteb on the older clustering class; its own class is used, with our data."""


def frozen(
    kind: str, folder: Path, data: Any = None, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Write a frozen dataset by hand, as the contract between the stages says, and return its manifest."""
    data = data or data_of(kind)
    tables, contents = [], []
    for subset, splits in data.items():
        for split, content in splits.items():
            parts = _retrieval(content) if "corpus" in content else {"rows": _renamed(kind, content)}
            for name, columns in parts.items():
                path = Path("data", subset, split, f"{name}.parquet")
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.table(columns), folder / path)
                rows = len(next(iter(columns.values())))
                place = {"subset": subset, "split": split, "table": name}
                tables.append({**place, "path": str(path), "rows": rows})
                contents.append([place, columns])
    low, high = {"STR": (0, 1), "Summarization": (1, 5)}.get(kind, (0, 5))
    manifest = {
        "dataset": f"made-{kind.lower()}", "source": "local", "task": f"Made{kind}",
        "task_type": TYPES.get(kind, kind), "revision": "1", "subsets": list(data), "splits": ["test"],
        "languages": {s: LANGUAGES[s] for s in data}, "main_score": bases()[kind][2],
        "min_score": low, "max_score": high, "tables": tables, "content_hash": digest(contents),
        "stage_version": "1", "versions": {},
        "field_languages": {"en-de": {"sentence1": "eng-Latn", "sentence2": "deu-Latn"}},
    }  # fmt: skip
    if kind == "ClusteringLegacy":
        manifest |= {"source": "mteb", "task": LEGACY, "revision": None}
    manifest |= more or {}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    record(folder)
    return manifest


def _renamed(kind: str, columns: Mapping[str, Any]) -> dict[str, Any]:
    names = LABELS.get(kind, {})
    return {names.get(name, name): values for name, values in columns.items()}


def _retrieval(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    qrels = [(q, d, s) for q, docs in content["relevant_docs"].items() for d, s in docs.items()]
    parts = {
        "corpus": content["corpus"].to_dict(),
        "queries": content["queries"].to_dict(),
        "qrels": dict(
            zip(("query-id", "corpus-id", "score"), map(list, zip(*qrels, strict=True)), strict=True)
        ),
    }
    if content["top_ranked"]:
        ranked = content["top_ranked"]
        parts["top_ranked"] = {"query-id": list(ranked), "corpus-ids": list(ranked.values())}
    return parts


@dataclass
class Chain:
    """A dataset in a folder, one embedder, and what is done to them."""

    root: Path
    kind: str
    entry: EmbedderEntry
    data: Any = None
    more: Mapping[str, Any] | None = None
    """Further keys of the manifest, such as another main score."""

    def __post_init__(self) -> None:
        self.folder = self.root / "datasets" / f"made-{self.kind.lower()}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.manifest = frozen(self.kind, self.folder, self.data, self.more)
        self.texts = pd.read_parquet(self.folder / "texts.parquet")
        self.inputs = pd.read_parquet(self.folder / "inputs.parquet")
        self.variants: dict[Variant, Path] = {}
        self.identity = digest(self.entry.model_dump(mode="json"))

    @property
    def store(self) -> Path:
        return self.root / ".store"

    def add(
        self,
        seed: int = 1,
        *,
        new: Mapping[int, str] | None = None,
        dropped: Iterable[int] = (),
        outcomes: Mapping[int, str] | None = None,
        flagged: Iterable[int] | None = None,
        absent: Mapping[str, str] | None = None,
    ) -> Variant:
        """Write a transforms file; by default every text is changed, and those are flagged that say so."""
        absent, gone = dict(absent or {}), set(dropped)
        rows = self.texts[~self.texts["subset"].isin(list(absent))]
        ids = rows["text_id"].tolist()
        texts = {i: changed(t) for i, t in zip(ids, rows["text"], strict=True)} | dict(new or {})
        outcome = {i: "dropped" if i in gone else (outcomes or {}).get(i, "ok") for i in ids}
        with_flags = {i for i in ids if outcome[i] == "flagged"} if flagged is None else set(flagged)
        hashed = digest([[i, texts[i], i in gone] for i in ids])
        table = pa.table(
            {
                "text_id": pa.array(ids, pa.int64()),
                "text": [texts[i] for i in ids],
                "outcome": [outcome[i] for i in ids],
                "attempts": [2 if outcome[i] == "retried" else 1 for i in ids],
                **{f: [f == "truncated" and i in with_flags for i in ids] for f in FLAGS},
            }
        ).replace_schema_metadata(
            {
                "stressbed.content_hash": hashed,
                "stressbed.absent": json.dumps(absent),
                "stressbed.fingerprint": "f",
            }
        )
        variant = Variant("gen", "shuffled", seed)
        path = self.root / "transforms" / self.manifest["dataset"] / f"{variant}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, path)
        self.variants[variant] = path
        return variant

    def _path(self, kind: str, variant: Variant) -> Path:
        return self.root / kind / self.entry.id / self.manifest["dataset"] / f"{variant}.json"

    def embed(self) -> None:
        embed(
            dataset=self.manifest["dataset"], manifest=self.manifest, texts=self.texts, inputs=self.inputs,
            transforms=self.variants, entry=self.entry, embedder_identity=self.identity,
            catalogue_folder=self.root, store_root=self.store, dataset_folder=self.folder,
            outputs={v: self._path("embeddings", v) for v in [ORIGINAL, *self.variants]},
        )  # fmt: skip

    def jobs(self) -> list[CellJob]:
        return [
            CellJob(
                Cell(self.entry.id, self.manifest["dataset"], v), self._path("embeddings", v), path,
                self._path("scores", v),
            )
            for v, path in [(ORIGINAL, None), *self.variants.items()]
        ]  # fmt: skip

    def score(self, jobs: list[CellJob] | None = None) -> ScoreStats:
        return score_cells(
            dataset_folder=self.folder, manifest=self.manifest, texts=self.texts, entry=self.entry,
            embedder_identity=self.identity,
            cells=self.jobs() if jobs is None else jobs, store_root=self.store,
        )  # fmt: skip

    def cell(self, variant: Variant = ORIGINAL) -> dict[str, Any]:
        return json.loads(self._path("scores", variant).read_text(encoding="utf-8"))


def independent(entry: EmbedderEntry, manifest: Mapping[str, Any], root: Path) -> Any:
    """An encoder for mteb that asks the embedder directly, batch by batch through mteb's loader."""
    import numpy as np
    from mteb.models.model_meta import ModelMeta, ScoringFunction
    from mteb.similarity_functions import select_pairwise_similarity, select_similarity

    from stressbed.embed.embedders import open_embedder

    embedder = open_embedder(entry, catalogue_folder=root, fit_texts=list)
    function = ScoringFunction.DOT_PRODUCT if entry.similarity == "dot" else ScoringFunction.COSINE

    class Direct:
        mteb_model_meta = ModelMeta.create_empty(
            overwrites={"name": "made/direct", "revision": "1", "similarity_fn_name": function}
        )

        def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
            role = "none" if prompt_type is None else prompt_type.value
            batches = [embedder.encode(list(b["text"]), role=role, manifest=manifest) for b in inputs]
            return np.concatenate(batches).astype(np.float32)

        def similarity(self, a, b):
            return select_similarity(a, b, function)

        def similarity_pairwise(self, a, b):
            return select_pairwise_similarity(a, b, function)

    return Direct()
