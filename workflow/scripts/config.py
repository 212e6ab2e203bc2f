"""Keep the run's resolved config beside its results."""

from snakemake.script import snakemake

from stressbed.jobs import job
from stressbed.store import write_text

with job("config", log_file=snakemake.log[0], stats=None, name="") as this:
    write_text(snakemake.output[0], snakemake.params.resolved)
