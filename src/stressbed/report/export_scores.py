"""Export of cells in mteb's result format: a folder that `mteb.ResultCache` reads."""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.collect.cells import read_cell
from stressbed.collect.schema import OK
from stressbed.config.entries import DatasetEntry, EmbedderEntry
from stressbed.config.load import Plan
from stressbed.paths import Cell

if TYPE_CHECKING:
    from mteb.models.model_meta import ModelMeta
    from mteb.results import TaskResult

logger = logging.getLogger("stressbed")

HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")


@dataclass(frozen=True)
class ScoreExport:
    """How many cells were written, and how many had no score."""

    written: int
    skipped: int


def export_scores(*, plan: Plan, out: Path) -> ScoreExport:
    """Write every scored cell of a run as an mteb result and return how many there were.

    The folder is one of mteb's result caches: `mteb.ResultCache(out).load_results(...)`. An original
    is a plain result; a rewritten variant is an experiment of the same model with
    `experiment_kwargs = {generator, transformation, seed}`. A dataset that is not the whole mteb task (a
    row limit, two datasets of the run from one task, a translation) adds its id, so that nothing passes for
    the whole task.

    Args:
        plan: The run.
        out: Folder of the export; files of the same cells are replaced.
    """
    from mteb import ResultCache

    from stressbed.dataset.quiet import quiet

    quiet()
    cache = ResultCache(out)
    metas = {e: _model(plan, e) for e in plan.config.embedders}
    partial = _partial_datasets(plan)
    written = skipped = 0
    for embedder, dataset in plan.pairs:
        for variant in plan.variants:
            cell = Cell(embedder, dataset, variant)
            record = read_cell(plan.results, cell)
            if record is None or record["status"] != OK:
                skipped += 1
                continue
            kwargs = _experiment(cell, dataset in partial)
            meta = metas[embedder].model_copy(update={"experiment_kwargs": kwargs or None})
            _save(cache.get_task_result_path(record["task"], meta), meta, _result(plan, record))
            written += 1
    logger.info("exported %d cells as mteb results to %s; %d without a score", written, out, skipped)
    return ScoreExport(written, skipped)


def _save(path: Path, meta: ModelMeta, result: TaskResult) -> None:
    """Write a result and its model's description as mteb's cache lays them out."""
    path.parent.mkdir(parents=True, exist_ok=True)
    result.to_disk(path)
    text = json.dumps(meta.to_dict(), default=str, indent=4)
    (path.parent / "model_meta.json").write_text(text, encoding="utf-8")


def _experiment(cell: Cell, partial: bool) -> dict[str, str | int]:
    v = cell.variant
    own: dict[str, str | int] = {"dataset": cell.dataset} if partial else {}
    if v.is_original:
        return own
    return own | {"generator": v.generator, "transformation": v.transformation, "seed": v.seed}


def _partial_datasets(plan: Plan) -> set[str]:
    """Return the datasets whose scores are not those of their whole task."""
    entries = {d: plan.catalogue.datasets[d] for d in plan.config.datasets}
    tasks = Counter(e.task for e in entries.values() if e.task)
    cut = {d for d, e in entries.items() if e.task and (_is_cut(e) or tasks[e.task] > 1)}
    return cut | {d for d, e in entries.items() if e.translate_dataset is not None}


def _is_cut(entry: DatasetEntry) -> bool:
    return entry.row_limit is not None or entry.corpus_sample is not None


def _result(plan: Plan, record: Mapping[str, Any]) -> TaskResult:
    from mteb.results import TaskResult

    scores: dict[str, list[Mapping[str, Any]]] = {}
    for part in record["subsets"]:
        if part["status"] != OK or part["score"] is None:
            continue
        value = part["score"] / 100
        scores.setdefault(part["split"], []).append(
            {
                **(part.get("metrics") or {}),
                "main_score": value,
                record["metric"]: value,
                "hf_subset": part["subset"],
                "languages": list(part["languages"] or []),
                "fingerprint": record["fingerprint"],
            }
        )
    return TaskResult(
        task_name=record["task"],
        # Local files have no revision: the hash of the frozen dataset stands for one.
        dataset_revision=plan.catalogue.datasets[record["dataset"]].revision or record["dataset_hash"],
        mteb_version=(record.get("versions") or {}).get("mteb") or _mteb_version(),
        evaluation_time=None,
        scores=scores,
    )


def _mteb_version() -> str:
    from importlib.metadata import version

    return version("mteb")


def _model(plan: Plan, embedder: str) -> ModelMeta:
    """Return what mteb needs to know of an embedder.

    Its name is the hub id if no other embedder of the run has the same, else `stressbed/{id}`: two
    entries that differ in their instruction, say, must not share a folder.
    """
    from mteb.models.model_meta import ModelMeta

    entry = plan.catalogue.embedders[embedder]
    others = Counter(_source(plan.catalogue.embedders[e]) for e in plan.config.embedders)
    folder = plan.catalogue.origin.get(("embedders", embedder), plan.base).parent
    is_hub = bool(HUB_ID.match(entry.model)) and not (folder / entry.model).exists()
    is_hub = is_hub and others[_source(entry)] == 1
    name = entry.model if is_hub else f"stressbed/{embedder}"
    revision = entry.revision or plan.embedder_identity(embedder)
    return ModelMeta.create_empty({"name": name, "revision": revision, "n_parameters": entry.parameters})


def _source(entry: EmbedderEntry) -> tuple[str, str | None]:
    return entry.model, entry.revision
