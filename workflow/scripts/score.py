"""Score the job's cells from stored vectors."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config.entries import EmbedderEntry
from stressbed.jobs import job
from stressbed.paths import Cell, variant_of_path
from stressbed.score.run import CellJob, score_cells
from stressbed.store import read_json, read_parquet

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

spec = json.loads(snakemake.params.spec)
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
            manifest=read_json(folder / "manifest.json"),
            texts=read_parquet(folder / "texts.parquet").to_pandas(),
            entry=EmbedderEntry.model_validate(spec["embedders"][embedder]),
            embedder_identity=spec["identities"][f"embedder:{embedder}"],
            cells=cells,
            store_root=Path(snakemake.params.store),
        )
        this.count(asdict(stats))
