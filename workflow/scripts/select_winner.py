"""Compare the generators on the shortlist by the judges' ratings and take the best."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.select.crossover import choose

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("select winner", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    entry = plan.catalogue.selections[str(plan.config.selection)]
    winner = Path(snakemake.output[0])
    choose(
        ratings=[Path(p) for p in snakemake.input.ratings],
        shortlist=Path(snakemake.input.shortlist),
        selection=entry,
        names=Names.of_selection(plan),
        folder=winner.parent / "tables",
        figures=winner.parent / "figures",
        out=winner,
        scale=plan.catalogue.judge_prompts[entry.judge_prompt].scale,
    )
