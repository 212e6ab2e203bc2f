"""Encode each unique (instruction, role, text) of the job's cells once."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config.entries import EmbedderEntry
from stressbed.config.model_files import check_unchanged
from stressbed.embed.run import embed
from stressbed.jobs import job
from stressbed.paths import Cell, Variant, variant_of_path
from stressbed.store import read_json, read_parquet

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

spec = json.loads(snakemake.params.spec)
outputs: dict[tuple[str, str], dict[Variant, Path]] = {}
for path in snakemake.output[:-1]:
    cell = Cell.of_path(path)
    outputs.setdefault((cell.embedder, cell.dataset), {})[cell.variant] = Path(path)
transforms: dict[str, dict[Variant, Path]] = {}
for path in snakemake.input.transforms:
    dataset, variant = variant_of_path(path)
    transforms.setdefault(dataset, {})[variant] = Path(path)
folders = {Path(p).parent.name: Path(p).parent for p in snakemake.input.manifests}

name = " ".join(snakemake.wildcards)
with job(
    "embed",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=name,
    decides=snakemake.params.decides,
) as this:
    for (embedder, dataset), files in outputs.items():
        folder = folders[dataset]
        entry = EmbedderEntry.model_validate(spec["embedders"][embedder])
        origin = Path(spec["embedders_folders"][embedder])
        check_unchanged(entry, origin, spec["embedders_files"][embedder])
        stats = embed(
            dataset=dataset,
            manifest=read_json(folder / "manifest.json"),
            texts=read_parquet(folder / "texts.parquet").to_pandas(),
            inputs=read_parquet(folder / "inputs.parquet").to_pandas(),
            transforms={v: p for v, p in transforms.get(dataset, {}).items() if v in files},
            entry=entry,
            embedder_identity=spec["identities"][f"embedder:{embedder}"],
            catalogue_folder=origin,
            store_root=Path(snakemake.params.store),
            outputs=files,
            dataset_folder=folder,
        )
        this.count(asdict(stats))
