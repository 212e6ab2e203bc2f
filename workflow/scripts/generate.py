"""Ask a generator for everything that the rewritten variants of the job's datasets need."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.config.entries import GeneratorEntry, PromptEntry, TransformationEntry
from stressbed.config.model_files import check_unchanged
from stressbed.generate.engines import open_engine
from stressbed.generate.engines.shared import SharedEngine
from stressbed.generate.run import generate
from stressbed.jobs import job
from stressbed.paths import Variant, variant_of_path
from stressbed.store import read_json, read_parquet

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

store = Path(snakemake.params.store)
spec = json.loads(snakemake.params.spec)
prompts = {n: PromptEntry.model_validate(p) for n, p in spec["prompts"].items()}
transformations = [TransformationEntry.model_validate(t) for t in spec["transformations"].values()]
outputs: dict[tuple[str, str], dict[Variant, Path]] = {}
for path in snakemake.output[:-1]:
    dataset, variant = variant_of_path(path)
    outputs.setdefault((dataset, variant.generator), {})[variant] = Path(path)
inputs = {
    Path(m).parent.name: (m, t) for m, t in zip(snakemake.input.manifests, snakemake.input.texts, strict=True)
}

name = " ".join(snakemake.wildcards)
with job(
    "generate",
    log_file=snakemake.log[0],
    stats=snakemake.output.stats,
    name=name,
    decides=snakemake.params.decides,
) as this:
    engines: dict[str, SharedEngine] = {}
    for (dataset, generator), files in outputs.items():
        entry = GeneratorEntry.model_validate(spec["generators"][generator])
        folder = Path(spec["generators_folders"][generator])
        check_unchanged(entry, folder, spec["generators_files"][generator])
        manifest, texts = inputs[dataset]
        opening = partial(open_engine, entry, cache=store, folder=folder)
        engines.setdefault(generator, SharedEngine(opening))
        stats = generate(
            dataset=dataset,
            manifest=read_json(manifest),
            texts=read_parquet(texts).to_pandas(),
            generator=entry,
            generator_identity=spec["identities"][f"generator:{generator}"],
            transformations=transformations,
            prompts=prompts,
            seeds=spec["seeds"],
            store_root=store,
            outputs=files,
            open_engine=engines[generator].get,
        )
        this.count(asdict(stats))
    for engine in engines.values():
        engine.close_for_good()
