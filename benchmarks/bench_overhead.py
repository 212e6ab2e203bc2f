"""What a run costs beside its work: starting jobs, imports, hashing, files, Snakemake.

    python -m benchmarks overhead [--cells 300 1000]

A run of small datasets with embedders and a generator without a model, up to its `scores.parquet`, one job
at a time, first with one job per embedder and dataset (the default), then with one per embedder. The work
inside is what the jobs measured themselves: seconds within the embedder and the engine, of every scored
cell, and all of `dataset`, `texts` and `transform`. The rest is overhead. It is given as wall-clock
seconds, and once more without the time that other processes of the machine took: processor seconds of
everything that the run started, less its work.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

import yaml
from benchmarks.bench_scale import VARIANTS, Cost, make_project, measured
from benchmarks.table import publish

LIMITS = {"embedder, dataset": 0.8, "embedder": 0.1}


def work_inside(results: Path) -> tuple[float, int]:
    """Return the seconds of work that the jobs measured, and how many jobs there were."""
    seconds, jobs = 0.0, 0
    for path in (results / "jobs").rglob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        stage, counters = record["stage"], record["counters"]
        jobs += 1
        if stage in {"dataset", "texts", "transform"}:
            seconds += record["seconds"]
        elif stage in {"generate", "embed"}:
            seconds += counters["seconds" if stage == "generate" else "encode_seconds"]
    for path in (results / "scores").rglob("*.json"):
        seconds += json.loads(path.read_text(encoding="utf-8"))["seconds"]
    return seconds, jobs


def run(n_cells: int, axes: list[str]) -> tuple[int, int, float, Cost]:
    """Return cells, jobs, seconds of work and what the run cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        n = make_project(folder, n_cells)
        config = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
        config["job_axes"] = axes
        (folder / "run.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
        command = ["-m", "snakemake", "results/runs/scale/scores.parquet", "-q", "--cores", "1"]
        cost = measured([sys.executable, *command, "--configfile", "run.yaml"], folder)
        seconds, jobs = work_inside(folder / "results")
        found = len(list((folder / "results" / "scores").rglob("*.json")))
        if found != n:
            raise SystemExit(f"{found} of {n} cells were made")
    return n, jobs, seconds, cost


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, nargs=2, default=[300, 1000], help="of the two runs")
    options = parser.parse_args()
    rows, missed = [], []
    for n_cells, (axes, limit) in zip(options.cells, LIMITS.items(), strict=True):
        n, jobs, work, cost = run(n_cells, axes.split(", "))
        rest, busy = cost.seconds - work, max(cost.cpu_seconds - work, 0.0)
        rows.append(
            [f"({axes})", f"{n:,}", str(jobs), f"{cost.seconds:.0f}", f"{work:.0f}", f"{rest / n:.3f}",
             f"{busy / n:.3f}", f"{rest / jobs:.1f}", f"{limit:g} s per cell"]
        )  # fmt: skip
        print(*rows[-1], flush=True)
        if min(rest, busy) / n > limit:
            missed.append(f"({axes}): {busy / n:.2f} s per cell")
    columns = ["job_axes", "cells", "jobs", "wall s", "work s", "overhead per cell, wall s",
               "per cell, processor s", "per job, wall s", "target"]  # fmt: skip
    publish("overhead", columns, rows, f"{VARIANTS} cells per embedder and dataset; one job at a time.")
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
