"""Measure how far the rated rewrites are from their originals, under one embedder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config import Plan
from stressbed.human.study import measure_drift
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("human drift", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    name = snakemake.params.embedder
    counted = measure_drift(
        items=Path(snakemake.input.drawn),
        manifests=[Path(p) for p in snakemake.input.manifests],
        embedder=plan.catalogue.embedders[name],
        identity=plan.embedder_identity(name),
        folder=plan.catalogue.origin["embedders", name].parent,
        store_root=Path(snakemake.params.store),
        out=Path(snakemake.output[0]),
    )
    this.count(counted)
