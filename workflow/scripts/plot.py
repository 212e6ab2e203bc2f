"""Draw the figures from the result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.plot.run import plot

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("plot", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    plot(
        tables=Path(snakemake.input[0]).parent,
        names=Names.of(plan),
        folder=Path(snakemake.output[0]).parent,
    )
