"""Keep the run's resolved config beside its results."""

from typing import TYPE_CHECKING, Any

from stressbed.jobs import job
from stressbed.store import write_text

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("config", log_file=snakemake.log[0]) as this:
    write_text(snakemake.output[0], snakemake.params.resolved)
