"""Draw rewrites for human raters and write their sheets."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from stressbed.check import load_run
from stressbed.human.export import export
from stressbed.jobs import job

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("human sheets", log_file=snakemake.log[0]) as this:
    plan = load_run(yaml.safe_load(snakemake.params.config))
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
