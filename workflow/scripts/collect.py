"""Collect the run's cells into tidy tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.collect.cells import collect
from stressbed.config import Plan
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("collect", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    collect(plan=plan, scores_out=Path(snakemake.output.scores), items_out=Path(snakemake.output.item_values))
