"""Turn the tidy tables into the result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.run import analyse
from stressbed.config import Plan
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("analyse", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    analyse(
        plan=plan,
        scores=Path(snakemake.input.scores),
        transforms=[Path(p) for p in snakemake.input.transforms],
        folder=Path(snakemake.output[0]).parent,
    )
