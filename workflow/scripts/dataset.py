"""Freeze one dataset to plain files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed import paths
from stressbed.config.entries import DatasetEntry
from stressbed.dataset.freeze import freeze
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
    manifest = freeze(entry, Path(spec["datasets_folders"][name]), out, store=out.parents[1] / paths.STORE)
    this.count({"rows": sum(t.get("rows", 0) for t in manifest["tables"])})
