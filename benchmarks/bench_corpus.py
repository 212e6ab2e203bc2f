"""Retrieval with 200,000 documents: seconds and peak memory of each stage.

    python -m benchmarks corpus [--documents 200000]

Documents of about 100 words and 300 queries are made. 24 variants change the queries alone, as a
transformation with `fields: queries` does. Each stage runs in a process of its own: freezing, listing the
texts, embedding all 25 variants (backend `random`, 384 dimensions), scoring the original and one variant. A
tenth of the documents says how the cost grows. `corpus_sample` is the same dataset with 10,000 of the
documents that no query judges.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.bench_scale import measured
from benchmarks.table import publish

from stressbed.config.entries import DatasetEntry, EmbedderEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.quiet import quiet
from stressbed.dataset.record import record
from stressbed.embed.run import embed
from stressbed.paths import Cell, Variant
from stressbed.score.run import CellJob, score_cells
from stressbed.store import read_json, read_parquet

QUERIES, WORDS, DIMENSIONS, SAMPLE, LIMIT_MB = 300, 100, 384, 10_000, 4096
ORIGINAL = Variant("none", "original", 0)
VARIANTS = [Variant("made", f"way-{way}", seed) for way in range(8) for seed in range(3)]
ENTRY = EmbedderEntry(id="random", backend="random", model="random", dimensions=DIMENSIONS)
STEPS = ("freeze", "texts", "embed", "score")


def make_files(root: Path, n: int) -> None:
    rng = random.Random(1)
    words = [f"{a}{b}" for a in ("sea", "sun", "oven", "moon", "soil", "loan") for b in range(200)]
    root.mkdir(parents=True)
    with (root / "corpus.jsonl").open("w", encoding="utf-8") as f:
        for i in range(n):
            line = {"id": f"d{i}", "title": f"title {i}", "text": " ".join(rng.choices(words, k=WORDS))}
            f.write(json.dumps(line) + "\n")
    with (root / "queries.jsonl").open("w", encoding="utf-8") as f:
        for i in range(QUERIES):
            f.write(json.dumps({"id": f"q{i}", "text": " ".join(rng.choices(words, k=8))}) + "\n")
    with (root / "qrels.jsonl").open("w", encoding="utf-8") as f:
        for i in range(QUERIES):
            for d in sorted(rng.sample(range(n), 3)):
                f.write(json.dumps({"query_id": f"q{i}", "corpus_id": f"d{d}", "score": 1}) + "\n")


def step(root: Path, name: str, sample: int | None) -> None:
    quiet()
    logging.getLogger("stressbed").setLevel(logging.ERROR)
    folder = root / "frozen"
    if name == "freeze":
        files = {n: f"{n}.jsonl" for n in ("corpus", "queries", "qrels")}
        entry = DatasetEntry(
            id="large", files=files, task_type="Retrieval", main_score="ndcg_at_10", corpus_sample=sample,
            languages={"default": ["eng-Latn"]},
        )  # fmt: skip
        freeze(entry, root, folder)
    elif name == "texts":
        record(folder)
        _write_variants(root)
    else:
        {"embed": _embed, "score": _score}[name](root, folder)


def _write_variants(root: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = read_parquet(root / "frozen" / "texts.parquet", ["text_id", "field", "text"]).to_pandas()
    queries = texts[texts["field"] == "queries.text"]
    (root / "transforms").mkdir(exist_ok=True)
    for variant in VARIANTS:
        new = [f"{variant.transformation} {variant.seed} {t}" for t in queries["text"]]
        table = pa.table(
            {"text_id": queries["text_id"].to_numpy(), "text": new, "outcome": ["ok"] * len(new)}
        )
        table = table.replace_schema_metadata({"stressbed.content_hash": str(variant)})
        pq.write_table(table, transform_of(root, variant))


def transform_of(root: Path, variant: Variant) -> Path:
    return root / "transforms" / f"{variant}.parquet".replace("/", "-")


def embedding_of(root: Path, variant: Variant) -> Path:
    return root / "embeddings" / f"{variant}.json".replace("/", "-")


def _embed(root: Path, folder: Path) -> None:
    embed(
        dataset="large", manifest=read_json(folder / "manifest.json"),
        texts=read_parquet(folder / "texts.parquet").to_pandas(),
        inputs=read_parquet(folder / "inputs.parquet").to_pandas(),
        transforms={v: transform_of(root, v) for v in VARIANTS}, entry=ENTRY, embedder_identity="bench",
        catalogue_folder=root, store_root=root / "store", dataset_folder=folder,
        outputs={v: embedding_of(root, v) for v in (ORIGINAL, *VARIANTS)},
    )  # fmt: skip


def _score(root: Path, folder: Path) -> None:
    jobs = [
        CellJob(Cell("random", "large", v), embedding_of(root, v), t, root / f"cell-{v.seed}.json")
        for v, t in ((ORIGINAL, None), (VARIANTS[1], transform_of(root, VARIANTS[1])))
    ]
    score_cells(
        dataset_folder=folder, manifest=read_json(folder / "manifest.json"),
        texts=read_parquet(folder / "texts.parquet").to_pandas(), entry=ENTRY, embedder_identity="bench",
        cells=jobs, store_root=root / "store",
    )  # fmt: skip


def run(n: int, sample: int | None) -> dict[str, tuple[float, float]]:
    """Return processor seconds and peak MB of each stage."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "made"
        make_files(root, n)
        for what in STEPS:
            command = [
                sys.executable,
                "-m",
                "benchmarks.bench_corpus",
                "--step",
                str(root),
                what,
                str(sample),
            ]
            cost = measured(command, root)
            found[what] = cost.cpu_seconds, cost.peak_mb
            print(n, sample, what, f"{cost.cpu_seconds:.1f} s, {cost.peak_mb:.0f} MB", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        root, name, sample = options.step
        step(Path(root), name, None if sample == "None" else int(sample))
        return
    n = options.documents
    cases = {f"{n // 10:,}": run(n // 10, None), f"{n:,}": run(n, None)}
    cases[f"{n:,}, corpus_sample {SAMPLE:,}"] = run(n, SAMPLE)
    rows = [
        [
            case,
            *(f"{s:.0f} s, {mb:.0f} MB" for s, mb in found.values()),
            f"{max(m for _, m in found.values()):.0f}",
        ]
        for case, found in cases.items()
    ]
    publish(
        "corpus", ["documents", *STEPS, "peak MB"], rows,
        f"Processor seconds and peak memory of each stage's process. Aimed at: under {LIMIT_MB} MB.",
    )  # fmt: skip
    if max(m for found in cases.values() for _, m in found.values()) > LIMIT_MB:
        sys.exit(f"more than {LIMIT_MB} MB")


if __name__ == "__main__":
    main()
