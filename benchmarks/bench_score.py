"""Scoring speed against mteb's own evaluate: same stored vectors, same threads, equal numbers.

    OMP_NUM_THREADS=1 python benchmarks/bench_score.py [--rows 2000] [--repeats 3]

A classification of 2,000 training and 2,000 test rows is frozen and embedded once. Then it is scored by
mteb's `task.evaluate` and by the score stage, both with vectors from the same store, alternating.
Thawing, looking up and writing the cell count for the stage; for mteb only `evaluate` counts.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from stressbed.config.entries import DatasetEntry, EmbedderEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.quiet import quiet
from stressbed.dataset.record import record
from stressbed.dataset.thaw import thaw
from stressbed.embed.run import embed
from stressbed.embed.vectors import VectorStore
from stressbed.fingerprint import digest
from stressbed.paths import Cell, Variant
from stressbed.score.evaluate import limited_threads
from stressbed.score.lookup import LookupEncoder
from stressbed.score.run import CellJob, score_cells

WORDS = [
    "sea",
    "wave",
    "oven",
    "flour",
    "orbit",
    "comet",
    "soil",
    "tulip",
    "ledger",
    "loan",
    "violin",
    "chord",
]
N_LABELS = 6
ORIGINAL = Variant("none", "original", 0)
TARGET = 8.0


def make_data(folder: Path, rows: int) -> DatasetEntry:
    for name in ("train", "test"):
        rng = random.Random(name)
        lines = []
        for i in range(rows):
            label = i % N_LABELS
            words = [
                WORDS[2 * label + rng.randrange(2)] if rng.random() < 0.6 else rng.choice(WORDS)
                for _ in range(12)
            ]
            lines.append(json.dumps({"text": f"{' '.join(words)} {name} {i}", "label": label}))
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return DatasetEntry(
        id="bench", files={"train": "train.jsonl", "test": "test.jsonl"}, task_type="Classification",
        languages={"default": ["eng-Latn"]}, main_score="accuracy",
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2000, help="training rows, and as many test rows")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    quiet()
    logging.getLogger("stressbed").setLevel(logging.WARNING)
    with tempfile.TemporaryDirectory() as name:
        ours, theirs = compare(Path(name), options.rows, options.repeats)
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(f"classification, {options.rows} + {options.rows} rows, {os.environ['OMP_NUM_THREADS']} thread(s)")
    for label, times in (("mteb evaluate", theirs), ("score stage", ours)):
        every = ", ".join(f"{t:.2f}" for t in times)
        print(f"  {label:<15} {statistics.median(times):7.2f} s   (all: {every})")
    print(f"  {'ratio':<15} {ratio:7.1f} x   (target {TARGET:.0f} x), numbers equal")
    return 0 if ratio >= TARGET or options.rows < 2000 else 1


def compare(root: Path, rows: int, repeats: int) -> tuple[list[float], list[float]]:
    folder = root / "datasets" / "bench"
    manifest = freeze(make_data(root, rows), root, folder)
    record(folder)
    texts, inputs = (pd.read_parquet(folder / f"{n}.parquet") for n in ("texts", "inputs"))
    entry = EmbedderEntry(id="random", backend="random", model="random", dimensions=384)
    identity, out = digest("bench"), root / "embedding.json"
    embed(
        dataset="bench", manifest=manifest, texts=texts, inputs=inputs, transforms={}, entry=entry,
        embedder_identity=identity, catalogue_folder=root, store_root=root / "store", outputs={ORIGINAL: out},
        dataset_folder=folder,
    )  # fmt: skip
    embedding = json.loads(out.read_text(encoding="utf-8"))
    job = CellJob(Cell("random", "bench", ORIGINAL), out, None, root / "cell.json")

    def ours() -> tuple[float, float]:
        shutil.rmtree(root / "store" / "cells", ignore_errors=True)
        started = time.perf_counter()
        score_cells(
            dataset_folder=folder, manifest=manifest, texts=texts, entry=entry, embedder_identity=identity,
            axis={}, cells=[job], store_root=root / "store",
        )  # fmt: skip
        seconds = time.perf_counter() - started
        return seconds, json.loads(job.out.read_text(encoding="utf-8"))["score"]

    def theirs() -> tuple[float, float]:
        task = thaw(folder)
        encoder = LookupEncoder(
            VectorStore.open_for(embedding, root / "store"), contexts=embedding["contexts"]
        )
        started = time.perf_counter()
        with limited_threads():
            scores = task.evaluate(encoder, "test", encode_kwargs={})
        return time.perf_counter() - started, float(scores["default"]["main_score"]) * 100

    ours()  # imports and first calls of libraries
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        (a, score), (b, expected) = ours(), theirs()
        if score != expected:
            raise SystemExit(f"the numbers differ: {score!r}, mteb {expected!r}")
        times[0].append(a)
        times[1].append(b)
    return times


if __name__ == "__main__" and (code := main()):
    sys.exit(code)
