"""Write the interactive page from the result tables."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.report.page.build import write_page

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("page", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    write_page(
        tables=Path(snakemake.input[0]).parent,
        names=Names.of(plan),
        out=Path(snakemake.output[0]),
        run=plan.config.run,
        description=plan.config.description,
        notice=plan.config.notice,
    )
