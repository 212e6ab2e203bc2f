"""Freeze one dataset to plain files."""

import json
from pathlib import Path

from snakemake.script import snakemake

from stressbed.config.entries import DatasetEntry
from stressbed.dataset.freeze import freeze
from stressbed.jobs import job

name = snakemake.wildcards.dataset
with job("dataset", log_file=snakemake.log[0], stats=snakemake.output.stats, name=name) as this:
    spec = json.loads(snakemake.params.spec)
    entry = DatasetEntry.model_validate(spec["datasets"][name])
    out = Path(snakemake.output.manifest).parent
    manifest = freeze(entry, Path(spec["datasets_folders"][name]), out)
    this.count({"rows": sum(t.get("rows", 0) for t in manifest["tables"])})
