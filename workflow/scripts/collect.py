"""Collect the run's cells into tidy tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from stressbed.check import load_run
from stressbed.collect.cells import collect
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("collect", log_file=snakemake.log[0]) as this:
    plan = load_run(yaml.safe_load(snakemake.params.config))
    collect(plan=plan, scores_out=Path(snakemake.output.scores), items_out=Path(snakemake.output.item_values))
