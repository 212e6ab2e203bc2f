"""Check and flag a generator's answers: one table of rewritten texts per variant."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config.entries import GeneratorEntry, MarkersEntry, PromptEntry, TransformationEntry
from stressbed.jobs import job
from stressbed.paths import variant_of_path
from stressbed.store import read_json, read_parquet
from stressbed.transform.markers import Markers
from stressbed.transform.run import transform

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

spec = json.loads(snakemake.params.spec)
manifests = {Path(p).parent.name: p for p in snakemake.input.manifests}
markers = Markers.of([MarkersEntry.model_validate(e) for e in spec["markers"].values()])
prompts = {n: PromptEntry.model_validate(p) for n, p in spec["prompts"].items()}
texts = dict(zip(manifests, snakemake.input.texts, strict=True))

name = " ".join(snakemake.wildcards)
with job(
    "transform",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=name,
    decides=snakemake.params.decides,
) as this:
    frames = {d: read_parquet(p).to_pandas() for d, p in texts.items()}
    for completions, out in zip(snakemake.input.completions, snakemake.output[:-1], strict=True):
        dataset, variant = variant_of_path(out)
        transform(
            completions=Path(completions),
            texts=frames[dataset],
            manifest=read_json(manifests[dataset]),
            variant=variant,
            entry=TransformationEntry.model_validate(spec["transformations"][variant.transformation]),
            generator=GeneratorEntry.model_validate(spec["generators"][variant.generator]),
            markers=markers,
            out=Path(out),
            prompts=prompts,
        )
        this.count({"variants": 1})
