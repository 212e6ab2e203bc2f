"""Freeze one dataset to plain files: from a hub, from local files, or from another one's translated texts."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed import paths
from stressbed.config.entries import DatasetEntry, GeneratorEntry
from stressbed.dataset.freeze import freeze
from stressbed.dataset.translate import freeze_translation
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

name = snakemake.wildcards.dataset
with job(
    "dataset",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=name,
    decides=snakemake.params.decides,
) as this:
    spec = json.loads(snakemake.params.spec)
    entry = DatasetEntry.model_validate(spec["datasets"][name])
    out = Path(snakemake.output.manifest).parent
    if entry.translate_dataset is None:
        folder = Path(spec["datasets_folders"][name])
        manifest = freeze(entry, folder, out, store=out.parents[1] / paths.STORE)
    else:
        manifest = freeze_translation(
            entry,
            source=Path(snakemake.input.manifest[0]).parent,
            texts=Path(snakemake.input.texts[0]),
            rewrites=Path(snakemake.input.rewrites[0]),
            generator=GeneratorEntry.model_validate(spec["generators"][entry.translate_dataset.generator]),
            out=out,
        )
    this.count({"rows": sum(t.get("rows", 0) for t in manifest["tables"])})
