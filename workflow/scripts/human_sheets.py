"""Draw rewrites for human raters and write their sheets."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config import Plan
from stressbed.human.export import export
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("human sheets", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    study = plan.config.human
    if study is None:
        raise LookupError("the run has no study with people")
    folders = {Path(p).parent.name: Path(p).parent for p in snakemake.input.manifests}
    export(
        transforms=[Path(p) for p in snakemake.input.transforms],
        study=study,
        transformations=plan.catalogue.transformations,
        dataset_folders=folders,
        folder=Path(snakemake.output[0]).parent,
        further=[Path(p) for p in snakemake.input.further],
    )
