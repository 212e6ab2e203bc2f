"""Read people's ratings and analyse them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.human.study import analyse_ratings
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("human ratings", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    study = plan.config.human
    if study is None:
        raise LookupError("the run has no study with people")
    analyse_ratings(
        items=Path(snakemake.input.drawn),
        ratings=[Path(p) for p in snakemake.input.ratings],
        drift=Path(snakemake.input.drift),
        study=study,
        names=Names.of(plan),
        folder=Path(snakemake.output.summary).parent,
    )
