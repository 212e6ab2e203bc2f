"""Turn the tidy tables of items into result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.items.run import analyse_items
from stressbed.config import Plan
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("analyse items", log_file=snakemake.log[0]) as this:
    analyse_items(
        plan=Plan.parse(snakemake.params.plan),
        scores=Path(snakemake.input.scores),
        items=Path(snakemake.input.item_values),
        texts=Path(snakemake.input.texts),
        drift=Path(snakemake.input.drift),
        folder=Path(snakemake.output[0]).parent,
    )
