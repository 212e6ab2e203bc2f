"""Bring everything that the run needs from the network."""

from typing import TYPE_CHECKING, Any

from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.prefetch import prefetch

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("prefetch", log_file=snakemake.log[0]) as this:
    prefetch(Plan.parse(snakemake.params.plan))
