"""Made results folders: plans, cell files, transforms and job statistics in the stages' own formats."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from eight_transformations import EIGHT

from stressbed import paths
from stressbed.config.catalogue import Catalogue
from stressbed.config.entries import (
    DatasetEntry,
    EmbedderEntry,
    GeneratorEntry,
    PromptEntry,
    Step,
    TransformationEntry,
)
from stressbed.config.load import Plan
from stressbed.config.model import RunConfig

FLAGS = [
    "identical", "empty", "ellipsis", "json_fragment", "reasoning_leak", "prefix_leak",
    "wrong_language", "runaway", "truncated", "summary_too_long",
]  # fmt: skip


SIGNS = ["echo", "answered", "repeated"]


def make_plan(
    results,
    *,
    embedders=("alpha", "beta"),
    datasets=None,
    transformations=tuple(EIGHT),
    seeds=(1, 2),
    generators=("llm",),
    **config,
):
    """Return a plan over made catalogue entries; `datasets` maps id -> dict of DatasetEntry fields."""
    datasets = datasets or {"pairs": {}, "topics": {"task_type": "Classification", "main_score": "accuracy"}}
    base = {"task_type": "STS", "main_score": "cosine_spearman", "languages": {"default": ["eng-Latn"]}}
    catalogue = Catalogue(
        datasets={d: DatasetEntry(id=d, **(base | more)) for d, more in datasets.items()},
        embedders={
            e: EmbedderEntry(id=e, label=e.title(), backend="random", model=f"made/{e}", revision="r1")
            for e in embedders
        },
        generators={g: GeneratorEntry(id=g, engine="fake", model=g) for g in generators},
        transformations={
            t: TransformationEntry(
                id=t,
                label=EIGHT[t][0],
                axis=EIGHT[t][1],
                order=list(EIGHT).index(t),
                steps=[Step(prompt="p", language="source")],
            )
            for t in transformations
        },
        prompts={"p": PromptEntry(id="p", template="Say it in {target_language}.", source="made")},
        origin={("datasets", d): Path("made.yaml") for d in datasets},
    )
    run = RunConfig(
        run="made",
        results=str(results),
        datasets=list(datasets),
        embedders=list(embedders),
        generator=list(generators),
        transformations=list(transformations),
        seeds=list(seeds),
        **config,
    )
    return Plan(run, catalogue, Path(results))


def cell_record(plan, cell, score, **more):
    """Return the record of a cell; one subset per entry unless `subsets` is given."""
    entry = plan.catalogue.datasets[cell.dataset]
    v = cell.variant
    subsets = more.pop("subsets", None) or [
        part(s, score, p, entry.languages[s]) for s in entry.subsets for p in entry.splits
    ]
    return {
        "embedder": cell.embedder, "dataset": cell.dataset, "generator": v.generator,
        "transformation": v.transformation, "seed": v.seed, "task": entry.task or cell.dataset,
        "task_type": entry.task_type, "status": "ok", "error": None,
        "metric": entry.main_score, "higher_is_better": True, "score": score, "subsets": subsets,
        "n_items": 10, "n_texts": 0 if v.is_original else 20, "fallbacks": 0, "flagged": 0,
        "retried": 0, "dropped": 0, "original_matched": None, "items": [],
        "fingerprint": f"f-{cell.embedder}-{cell.dataset}-{v}", "dataset_hash": "abc",
        "versions": {}, "seconds": 0.5, "created": "2026-01-01T00:00:00+00:00", **more,
    }  # fmt: skip


def part(subset, score, split="test", languages=("eng-Latn",), **more):
    """Return the record of one subset and split."""
    return {
        "subset": subset, "split": split, "languages": list(languages), "score": score,
        "n_items": 10, "status": "ok", "reason": "", "original_matched": None, **more,
    }  # fmt: skip


def cells_of(plan):
    """Return the plan's cells, each embedder x dataset x variant."""
    return [
        paths.Cell(e, d, v)
        for e in plan.config.embedders
        for d in plan.config.datasets
        for v in plan.variants
    ]


def path_of(plan, cell):
    """Return where a cell's file lies."""
    return plan.results / paths.SCORE.format(
        embedder=cell.embedder, dataset=cell.dataset, variant=str(cell.variant)
    )


def write_cell(plan, cell, record):
    """Write a cell's file."""
    path = path_of(plan, cell)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))


def write_cells(plan, score):
    """Write every cell of a plan; `score(cell)` gives a number, record fields, or None (no file)."""
    for cell in cells_of(plan):
        value = score(cell)
        if value is None:
            continue
        more = dict(value) if isinstance(value, dict) else {"score": value}
        write_cell(plan, cell, cell_record(plan, cell, more.pop("score", None), **more))


def write_transforms(plan, dataset, variant, rows):
    """Write one transforms table; each row a dict of the columns that matter, the rest defaulted."""
    default = {
        "subset": "default", "split": "test", "field": "text", "row": "0", "position": 0,
        "side": "query", "source_language": "eng-Latn", "target_language": "eng-Latn",
        "original": "an original", "text": "a rewrite", **dict.fromkeys([*FLAGS, *SIGNS], False),
        "outcome": "ok", "reason": "", "attempts": 1, "cleaned": "", "tokens_in": 10, "tokens_out": 5,
    }  # fmt: skip
    full = [{"text_id": i} | default | row for i, row in enumerate(rows)]
    path = plan.results / paths.TRANSFORM.format(dataset=dataset, variant=str(variant))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(full), path)
    return path


def write_jobs(results, jobs):
    """Write job statistics: a list of (stage, name, dict of fields)."""
    for stage, name, more in jobs:
        path = Path(results) / "jobs" / stage / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"stage": stage, "job": name, "seconds": 1.0, **more}))
