"""Score the job's cells from stored vectors."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from stressbed.config.entries import EmbedderEntry
from stressbed.jobs import job
from stressbed.paths import Cell, variant_of_path
from stressbed.score.run import CellJob, score_cells

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

spec = json.loads(snakemake.params.spec)
axis = {t: e["axis"] for t, e in spec["transformations"].items()}
transforms = {variant_of_path(p): Path(p) for p in snakemake.input.transforms}
folders = {Path(p).parent.name: Path(p).parent for p in snakemake.input.manifests}
jobs: dict[tuple[str, str], list[CellJob]] = {}
for embedding, out in zip(snakemake.input.embeddings, snakemake.output[:-1], strict=True):
    cell = Cell.of_path(out)
    transform = transforms.get((cell.dataset, cell.variant))
    jobs.setdefault((cell.embedder, cell.dataset), []).append(
        CellJob(cell, Path(embedding), transform, Path(out))
    )

name = " ".join(snakemake.wildcards)
with job(
    "score",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=name,
    decides=snakemake.params.decides,
) as this:
    for (embedder, dataset), cells in jobs.items():
        folder = folders[dataset]
        stats = score_cells(
            dataset_folder=folder,
            manifest=json.loads((folder / "manifest.json").read_text(encoding="utf-8")),
            texts=pd.read_parquet(folder / "texts.parquet"),
            entry=EmbedderEntry.model_validate(spec["embedders"][embedder]),
            embedder_identity=spec["identities"][f"embedder:{embedder}"],
            axis=axis,
            cells=cells,
            store_root=Path(snakemake.params.store),
        )
        this.count(asdict(stats))
