"""Bring everything that the run needs from the network."""

from typing import TYPE_CHECKING, Any

import yaml

from stressbed.check import load_run
from stressbed.jobs import job
from stressbed.prefetch import prefetch

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("prefetch", log_file=snakemake.log[0]) as this:
    prefetch(load_run(yaml.safe_load(snakemake.params.config)))
