"""Let one judge rate the rewrites of one generator."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config import Plan
from stressbed.generate.engines import open_engine
from stressbed.jobs import job
from stressbed.select.judge import judge

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

store = Path(snakemake.params.store)
judge_id, generator = snakemake.wildcards.judge, snakemake.wildcards.generator
with job(
    "judge",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=f"{judge_id} {generator}",
    decides=snakemake.params.decides,
) as this:
    plan = Plan.parse(snakemake.params.plan)
    catalogue = plan.catalogue
    selection = catalogue.selections[str(plan.config.selection)]
    entry = catalogue.generators[judge_id]
    folder = catalogue.origin["generators", judge_id].parent
    stats = judge(
        judge_id=judge_id,
        judge_entry=entry,
        judge_identity=plan.generator_identity(judge_id),
        rated=generator,
        transforms=[Path(p) for p in snakemake.input.transforms],
        transformations=catalogue.transformations,
        prompt=catalogue.judge_prompts[selection.judge_prompt],
        rating=selection.rating,
        store_root=store,
        out=Path(snakemake.output.ratings),
        open_engine=partial(open_engine, entry, cache=store, folder=folder),
    )
    this.count(asdict(stats))
