"""What a run costs beside its work: starting jobs, imports, hashing, files, Snakemake.

    python -m benchmarks overhead [--cells 300 1000]

A run of small datasets with embedders and a generator without a model, up to its `scores.parquet`, one job
at a time, first with one job per embedder and dataset (the default), then with one per embedder. Its
processor seconds, Snakemake and all jobs together, are compared with the work inside: freezing, listing,
checking rewrites, embedding and scoring once more, in one process that has its libraries loaded. The rest is
overhead: starting processes, imports, hashing, planning, and here also the generator without a model and
collecting, which are little for such data. With one job per embedder, one job generates and one checks.
Processor seconds, because the clock of a shared machine counts its neighbours too; one job at a time on an
idle machine takes about as long.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import yaml
from benchmarks.bench_scale import VARIANTS, Cost, make_project, measured
from benchmarks.table import publish

from stressbed import paths
from stressbed.check import load_run
from stressbed.config.load import Plan
from stressbed.dataset.freeze import freeze
from stressbed.dataset.record import record
from stressbed.embed.run import embed
from stressbed.paths import Cell
from stressbed.score.run import CellJob, score_cells
from stressbed.store import read_json, read_parquet
from stressbed.transform.markers import Markers
from stressbed.transform.run import transform
from stressbed.workflow import Grid

LIMITS = {"embedder, dataset": 0.8, "embedder": 0.1}


def inside(folder: Path) -> float:
    """Return the processor seconds that a finished run's work takes without starts and imports.

    The stages' functions run again in this process for every dataset and every pair of embedder and dataset,
    with a new store.
    """
    plan = load_run(yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8")), base=folder)
    os.chdir(folder)
    again = folder / "again"
    datasets = _seconds([partial(_one_dataset, plan, d, again) for d in plan.datasets])
    return datasets + _seconds([partial(_one_pair, plan, e, d, again) for e, d in plan.pairs])


def _seconds(parts: list[Callable[[], None]]) -> float:
    """Return their processor seconds; the first, which imports, counts as much as the mean of the others."""
    found = []
    for part in parts:
        start = time.process_time()
        part()
        found.append(time.process_time() - start)
    return sum(found[1:]) * len(found) / max(len(found) - 1, 1)


def _one_dataset(plan: Plan, dataset: str, again: Path) -> None:
    grid, catalogue, new = Grid.of(plan), plan.catalogue, again / "datasets" / dataset
    manifest = freeze(catalogue.datasets[dataset], catalogue.origin["datasets", dataset].parent, new)
    record(new)
    texts = read_parquet(new / "texts.parquet").to_pandas()
    markers = Markers.of(list(catalogue.markers.values()))
    for variant in plan.rewrites:
        transform(
            completions=Path(grid.path(paths.COMPLETIONS).format(dataset=dataset, variant=variant)),
            texts=texts, manifest=manifest, variant=variant, markers=markers, out=new / f"{variant}.parquet",
            entry=catalogue.transformations[variant.transformation],
            generator=catalogue.generators[variant.generator],
        )  # fmt: skip


def _one_pair(plan: Plan, embedder: str, dataset: str, again: Path) -> None:
    grid, entry = Grid.of(plan), plan.catalogue.embedders[embedder]
    frozen = Path(grid.path(paths.MANIFEST).format(dataset=dataset)).parent
    manifest, texts = read_json(frozen / "manifest.json"), read_parquet(frozen / "texts.parquet").to_pandas()
    identity, new = plan.embedder_identity(embedder), again / embedder / dataset
    transforms = {
        v: Path(grid.path(paths.TRANSFORM).format(dataset=dataset, variant=v)) for v in plan.rewrites
    }
    outputs = {v: new / f"{v}.json" for v in plan.variants}
    embed(
        dataset=dataset, manifest=manifest, texts=texts, transforms=transforms, entry=entry,
        inputs=read_parquet(frozen / "inputs.parquet").to_pandas(), embedder_identity=identity,
        catalogue_folder=Path(), store_root=again / "store", outputs=outputs, dataset_folder=frozen,
    )  # fmt: skip
    jobs = [
        CellJob(Cell(embedder, dataset, v), out, transforms.get(v), new / f"score/{v}.json")
        for v, out in outputs.items()
    ]
    score_cells(
        dataset_folder=frozen, manifest=manifest, texts=texts, entry=entry, embedder_identity=identity,
        cells=jobs,
        store_root=again / "store",
    )  # fmt: skip


def run(n_cells: int, axes: list[str]) -> tuple[int, int, float, Cost]:
    """Return cells, jobs, processor seconds of the work, and what the run cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        n = make_project(folder, n_cells)
        config = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
        config["job_axes"] = axes
        config["generate_job_axes"] = ["dataset", "generator"] if "dataset" in axes else ["generator"]
        (folder / "run.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        command = ["-m", "snakemake", "results/runs/scale/scores.parquet", "-q", "--cores", "1"]
        cost = measured([sys.executable, *command, "--configfile", "run.yaml"], folder)
        found = len(list((folder / "results" / "scores").rglob("*.json")))
        if found != n:
            raise SystemExit(f"{found} of {n} cells were made")
        again = measured([sys.executable, "-m", "benchmarks.bench_overhead", "--inside", str(folder)], folder)
        jobs = len(list((folder / "results" / "jobs").rglob("*.json")))
        return n, jobs, float(again.output.split()[-1]), cost


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, nargs=2, default=[300, 1000], help="of the two runs")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        logging.getLogger("stressbed").setLevel(logging.ERROR)
        print(inside(options.inside))
        return
    rows, missed = [], []
    for n_cells, (axes, limit) in zip(options.cells, LIMITS.items(), strict=True):
        n, jobs, work, cost = run(n_cells, axes.split(", "))
        rest = cost.cpu_seconds - work
        rows.append(
            [f"({axes})", f"{n:,}", str(jobs), f"{cost.seconds:.0f}", f"{cost.cpu_seconds:.0f}",
             f"{work:.0f}", f"{rest / n:.3f}", f"{rest / jobs:.1f}", f"{limit:g} s per cell"]
        )  # fmt: skip
        print(*rows[-1], flush=True)
        if rest / n > limit:
            missed.append(f"({axes}): {rest / n:.2f} s per cell")
    columns = ["job_axes", "cells", "jobs", "wall s", "processor s", "of it work",
               "overhead per cell, s", "per job, s", "target"]  # fmt: skip
    publish("overhead", columns, rows, f"{VARIANTS} cells per embedder and dataset; one job at a time.")
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
