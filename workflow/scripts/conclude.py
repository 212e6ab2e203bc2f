"""Say in words what the tables come to."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.conclusions.run import conclude
from stressbed.config import Plan
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("conclude", log_file=snakemake.log[0]) as this:
    conclude(
        plan=Plan.parse(snakemake.params.plan),
        scores=Path(snakemake.input.scores),
        items=Path(snakemake.input.item_values),
        tables=Path(snakemake.input.tables[0]).parent,
        out=Path(snakemake.output.findings),
    )
