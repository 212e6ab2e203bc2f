"""List the texts of one dataset that will be embedded."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.dataset.record import record
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job(
    "texts",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=snakemake.wildcards.dataset,
    decides=snakemake.params.decides,
) as this:
    record(Path(snakemake.input.manifest).parent)
