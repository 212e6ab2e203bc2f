"""Turn the rewrites of all candidates into error rates and a shortlist."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.analyse.names import Names
from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.paths import variant_of_path
from stressbed.select.screening import screen

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("select shortlist", log_file=snakemake.log[0]) as this:
    plan = Plan.parse(snakemake.params.plan)
    entry = plan.catalogue.selections[str(plan.config.selection)]
    transforms: dict[str, list[Path]] = {candidate: [] for candidate in entry.candidates}
    for path in snakemake.input:
        transforms[variant_of_path(path)[1].generator].append(Path(path))
    screen(
        transforms=transforms,
        shortlist=entry.shortlist,
        names=Names.of_selection(plan),
        folder=Path(snakemake.output[1]).parent,
        out=Path(snakemake.output[0]),
    )
