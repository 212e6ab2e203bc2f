"""Sum up what the run took."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.report.summary import summary
from stressbed.workflow.made import executions_of

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("summary", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    summary(
        plan=plan,
        scores=Path(snakemake.input.scores),
        jobs=[Path(p) for p in snakemake.input.jobs],
        out=Path(snakemake.output[0]),
        executions=executions_of(plan.results, plan.config.run),
        selection=next(map(Path, snakemake.input.selection), None),
    )
