"""Collect the texts behind items, and how far they moved under each embedder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.collect.drifts import collect_drift
from stressbed.collect.texts import collect_texts
from stressbed.config import Plan
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("collect texts", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    collect_texts(plan=plan, out=Path(snakemake.output.texts))
    collect_drift(plan=plan, store_root=Path(snakemake.params.store), out=Path(snakemake.output.drift))
