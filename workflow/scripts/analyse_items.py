"""Turn the tidy tables of items into result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from stressbed.analyse.items.run import analyse_items
from stressbed.check import load_run
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("analyse items", log_file=snakemake.log[0]) as this:
    analyse_items(
        plan=load_run(yaml.safe_load(snakemake.params.config)),
        scores=Path(snakemake.input.scores),
        items=Path(snakemake.input.item_values),
        texts=Path(snakemake.input.texts),
        drift=Path(snakemake.input.drift),
        folder=Path(snakemake.output[0]).parent,
    )
