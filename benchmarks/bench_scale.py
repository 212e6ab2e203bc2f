"""Grids of 12,800 and 100,000 cells: what planning, looking again and collecting cost.

    python -m benchmarks scale [--cells 3200 12800]

A run is made up: local datasets, embedders without a model, eight transformations with three seeds, one job
per embedder and dataset. Measured, each in a process of its own, with seconds and peak memory: `dry run`
(`snakemake -n` in an empty folder), `no-op` (`snakemake -n` when every file of the run is there, with
Snakemake's records and the store's entries) and `collect` (the rule's own function on all cells). Growth is
seconds per cell at one size over seconds per cell at the smallest: 1 is linear. Processor seconds are judged,
since neighbours on the machine disturb them least; planning runs in one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from benchmarks.table import publish

from stressbed import paths
from stressbed.check import load_run
from stressbed.paths import Cell
from stressbed.score.cell import fingerprint
from stressbed.score.run import KIND
from stressbed.score.variant import read_facts
from stressbed.store import Store, seal
from stressbed.transform.flags import FLAGS
from stressbed.workflow import Grid

ROOT = Path(__file__).resolve().parent.parent
TRANSFORMATIONS = [
    "paraphrasing", "backtranslation", "style_change", "expansion", "summarisation", "summarised_expansion",
    "translation", "cross_translation",
]  # fmt: skip
SEEDS = [1337, 1338, 1339]
VARIANTS = 1 + len(TRANSFORMATIONS) * len(SEEDS)
ITEMS = 8
"""Items of a made-up cell."""
LIMITS = {("dry run", 12_800): 30.0, ("dry run", 100_000): 300.0}
"""Seconds that are aimed at."""


@dataclass(frozen=True)
class Cost:
    """What a process took."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    output: str


def measured(command: Sequence[str], cwd: Path) -> Cost:
    """Run a command, and return its seconds and the most memory that one of its processes held."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=cwd, stdout=out, stderr=subprocess.STDOUT, env=environment())
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{text[-3000:]}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"}


def snakemake(*args: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", *args, "--cores", "2", "--configfile", "run.yaml"]


def make_project(folder: Path, n_cells: int) -> int:
    """Write a workflow whose run has so many cells, a multiple of 25; return how many it has.

    Of the divisors of the number of pairs it takes the one nearest to two datasets for one embedder.
    """
    pairs = max(1, n_cells // VARIANTS)
    divisors = [d for d in range(1, pairs + 1) if pairs % d == 0]
    datasets = min(divisors, key=lambda d: abs(d - (2 * pairs) ** 0.5))
    embedders = pairs // datasets
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("workflow", "profiles", "config"):
        shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
    shutil.copy2(ROOT / "Snakefile", folder / "Snakefile")
    rows = "\n".join(f"a sentence {i},another sentence {i},{i % 6}" for i in range(ITEMS))
    (folder / "pairs.csv").write_text(f"sentence1,sentence2,score\n{rows}\n", encoding="utf-8")
    names = [f"pairs-{i:03}" for i in range(datasets)]
    models = [f"random-{i:03}" for i in range(embedders)]
    catalogue = {
        "datasets": [
            {
                "id": n, "task_type": "STS", "files": {"test": "pairs.csv"}, "main_score": "cosine_spearman",
                "languages": {"default": ["eng-Latn"]}, "min_score": 0, "max_score": 5,
                "description": f"dataset {n}",
            }
            for n in names
        ],
        "embedders": [{"id": m, "backend": "random", "model": m, "dimensions": 16} for m in models],
        "generators": [{"id": "made", "engine": "fake", "model": "made"}],
    }  # fmt: skip
    (folder / "made.yaml").write_text(yaml.safe_dump(catalogue), encoding="utf-8")
    run = {
        "run": "scale", "datasets": names, "embedders": models, "generator": "made", "seeds": SEEDS,
        "transformations": TRANSFORMATIONS, "catalogue": ["made.yaml"],
    }  # fmt: skip
    (folder / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")
    return datasets * embedders * VARIANTS


def fill(folder: Path) -> None:
    """Write every file of the run as the stages would, with the store's entries, without running them."""
    former = Path.cwd()
    os.chdir(folder)
    try:
        plan = load_run(yaml.safe_load(Path("run.yaml").read_text(encoding="utf-8")))
        grid = Grid.of(plan)
        for path in grid.targets():
            _write(path, "{}")
        _datasets(grid)
        _rewrites(grid)
        _cells(grid)
        _jobs(grid)
    finally:
        os.chdir(former)


def _write(path: str | Path, text: str) -> None:
    path = Path(path)
    try:
        path.write_text(text, encoding="utf-8")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def manifest_of(dataset: str) -> dict[str, object]:
    return {
        "dataset": dataset, "content_hash": dataset, "main_score": "cosine_spearman", "subsets": ["default"],
        "splits": ["test"], "stage_version": "1", "task_type": "STS", "tables": [],
        "min_score": 0, "max_score": 5,
    }  # fmt: skip


def _datasets(grid: Grid) -> None:
    table = pa.table({"sentence1": ["a"] * ITEMS, "sentence2": ["b"] * ITEMS, "score": [1.0] * ITEMS})
    for name in grid.plan.config.datasets:
        _write(grid.path(paths.MANIFEST).format(dataset=name), json.dumps(manifest_of(name)))
        data = Path(grid.path(paths.DATA_FOLDER).format(dataset=name))
        data.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, data / "rows.parquet")


def _rewrites(grid: Grid) -> None:
    for name in grid.plan.config.datasets:
        for variant in grid.plan.rewrites:
            content = f"{name}-{variant}".replace("/", "-")
            flags = {name: [False] * ITEMS for name in FLAGS}
            table = pa.table({"outcome": ["ok"] * ITEMS, "attempts": [1] * ITEMS, **flags})
            table = table.replace_schema_metadata({"stressbed.content_hash": content})
            pq.write_table(table, grid.path(paths.TRANSFORM).format(dataset=name, variant=variant))


def _cells(grid: Grid) -> None:
    plan, store = grid.plan, Store(grid.path(paths.STORE))
    identities = {e: plan.embedder_identity(e) for e in plan.config.embedders}
    for name in plan.config.datasets:
        manifest = manifest_of(name)
        for variant in plan.variants:
            transform = None
            if not variant.is_original:
                transform = Path(grid.path(paths.TRANSFORM).format(dataset=name, variant=variant))
            facts = read_facts(transform)
            for embedder in plan.config.embedders:
                at = {"embedder": embedder, "dataset": name, "variant": variant}
                embedding = {
                    "embedder_identity": identities[embedder], "texts_hash": facts.texts_hash,
                    "contexts": {}, "similarity": "cosine",
                }  # fmt: skip
                _write(grid.path(paths.EMBEDDING).format(**at), json.dumps(embedding))
                key = fingerprint(
                    manifest, facts, identities[embedder], {"contexts": {}, "similarity": "cosine"}
                )
                _write(store.path(KIND, key), seal(b"{}").decode())
                record = cell_record(Cell(embedder, name, variant))
                _write(grid.path(paths.SCORE).format(**at), json.dumps(record, indent=1))


def cell_record(cell: Cell) -> dict[str, object]:
    place = {"subset": "default", "split": "test"}
    v = cell.variant
    return {
        "embedder": cell.embedder, "dataset": cell.dataset, "generator": v.generator,
        "transformation": v.transformation, "seed": v.seed, "task": cell.dataset, "task_type": "STS",
        "status": "ok", "error": "", "metric": "cosine_spearman", "higher_is_better": True, "score": 50.0,
        "subsets": [
            {**place, "languages": ["eng-Latn"], "score": 50.0, "n_items": ITEMS, "status": "ok",
             "reason": "", "original_matched": None, "metrics": {}},
        ],
        "n_items": ITEMS, "n_texts": None if v.is_original else 2 * ITEMS, "fallbacks": 0, "flagged": 0,
        "retried": 0, "dropped": 0, "original_matched": None, "fingerprint": "made",
        "items": [
            {**place, "unit": "pair", "metric": "cosine_similarity", "ids": None,
             "values": [i / ITEMS for i in range(ITEMS)]},
        ],
    }  # fmt: skip


def _jobs(grid: Grid) -> None:
    """Write the jobs' statistics, and how files before the cells were made: a dry run compares with that."""
    for name in grid.plan.config.datasets:
        at = {"dataset": name, "generator": "made"}
        for stage in ("dataset", "texts", "generate", "transform"):
            inputs = grid.current.contents_of(grid.inputs(stage, at))
            outputs, decides = grid.outputs(stage, at), grid.decides(stage, at)
            grid.current.made.add(grid.current.record(stage, outputs, decides, inputs, {}))
    for path in grid.all_jobs():
        _write(path, "{}")


COLLECT = """
import sys, yaml
from pathlib import Path
from stressbed.collect.cells import collect
from stressbed.check import load_run
plan = load_run(yaml.safe_load(Path("run.yaml").read_text()))
collect(plan=plan, scores_out=Path("scores.parquet"), items_out=Path("items.parquet"))
"""


def measure(folder: Path, n_cells: int, *, looks_again: bool) -> tuple[int, dict[str, Cost]]:
    """Return the cells of a run of about this size, and what was measured on it."""
    n = make_project(folder, n_cells)
    costs = {"dry run": measured(snakemake("-n", "-q"), folder)}
    fill(folder)
    if looks_again:
        measured(snakemake("--touch", "-q", "all"), folder)  # writes Snakemake's records
        costs["no-op"] = measured(snakemake("-n", "-q"), folder)
        if "Nothing to be done" not in costs["no-op"].output:
            raise SystemExit(f"there is something to be done:\n{costs['no-op'].output[-2000:]}")
    costs["collect"] = measured([sys.executable, "-c", COLLECT], folder)
    return n, costs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, nargs="+", default=[3_200, 12_800, 100_000])
    parser.add_argument(
        "--no-op-up-to",
        type=int,
        default=12_800,
        help="larger grids are not looked at again: records take long",
    )
    options = parser.parse_args()
    rows, first, missed = [], dict[str, float](), []
    for n_cells in options.cells:
        with tempfile.TemporaryDirectory() as name:
            again = n_cells <= options.no_op_up_to
            n, costs = measure(Path(name) / "project", n_cells, looks_again=again)
        for what, cost in costs.items():
            each = cost.cpu_seconds / n
            first.setdefault(what, each)
            limit = LIMITS.get((what, n_cells))
            if limit is not None and cost.cpu_seconds > limit:
                missed.append(f"{what} of {n} cells: {cost.cpu_seconds:.0f} s")
            rows.append(
                [what, f"{n:,}", f"{cost.cpu_seconds:.1f}", f"{cost.seconds:.1f}", f"{cost.peak_mb:.0f}",
                 f"{each / first[what]:.2f}", "" if limit is None else f"{limit:.0f} s"]
            )  # fmt: skip
            print(*rows[-1], flush=True)
    columns = ["what", "cells", "processor s", "wall s", "peak MB", "growth", "target"]
    note = "Growth: processor seconds per cell over those of the smallest grid; 1 is linear, less is better."
    publish("scale", columns, sorted(rows, key=lambda r: str(r[0])), note)
    if missed:
        sys.exit("; ".join(missed))


if __name__ == "__main__":
    main()
