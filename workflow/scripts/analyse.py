"""Turn the tidy tables into the result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from stressbed.analyse.run import analyse
from stressbed.check import load_run
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("analyse", log_file=snakemake.log[0]) as this:
    plan = load_run(yaml.safe_load(snakemake.params.config))
    analyse(
        plan=plan,
        scores=Path(snakemake.input.scores),
        transforms=[Path(p) for p in snakemake.input.transforms],
        folder=Path(snakemake.output[0]).parent,
    )
