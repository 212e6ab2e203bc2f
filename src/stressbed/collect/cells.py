"""Every cell of a run as rows of two tidy tables; missing and failed cells are rows as well."""

from __future__ import annotations

import json
import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from stressbed import paths
from stressbed.collect.gold import Golds, read_golds
from stressbed.collect.groups import write_groups
from stressbed.collect.items import item_rows, item_values
from stressbed.collect.rewrites import distinct_rewrites
from stressbed.collect.schema import ABSENT, ALL, FAILED, ITEMS, MISSING, OK, SCORES
from stressbed.collect.shares import Shares, read_shares
from stressbed.config.entries import DatasetEntry
from stressbed.config.load import Plan
from stressbed.errors import DataError
from stressbed.languages import one_tag
from stressbed.paths import Cell, Variant
from stressbed.rewrites import DRAWN
from stressbed.store import metadata_of, reading, write_parquet

logger = logging.getLogger("stressbed")

Row = dict[str, Any]
Record = Mapping[str, Any]


@dataclass(frozen=True)
class CollectStats:
    """What was collected: cells by status, rows of both tables."""

    cells: int
    ok: int
    failed: int
    absent: int
    missing: int
    rows: int
    items: int


@dataclass(frozen=True)
class _Dataset:
    """What all cells of a dataset share.

    Attributes:
        name: Catalogue id.
        golds: What people said of its pairs.
        shares: What its items share with each other.
        rewrites: What is known of the rewrites of each variant.
    """

    name: str
    golds: Golds
    shares: Shares
    rewrites: Mapping[Variant, Row]


def collect(*, plan: Plan, scores_out: Path, items_out: Path) -> CollectStats:
    """Write the tidy tables of all cells that a run expects, and return how many there are.

    A cell without a file is a row with status `missing`; a cell that could not be scored is a row with
    status `failed` or `absent` and the reason.

    Args:
        plan: The run.
        scores_out: `scores.parquet`, one row per cell (subset `(all)`) and one per subset and split.
        items_out: `items.parquet`, one row per item of every scored cell.

    Raises:
        DataError: A cell's file is damaged or belongs to another cell.
    """
    rows: list[Row] = []
    n_items = write_groups(items_out, ITEMS, _item_tables(plan, rows))
    scores = pa.Table.from_pylist(rows, schema=SCORES)
    write_parquet(scores_out, scores, compression="zstd")
    stats = _count(rows, n_items)
    logger.info("collected %s", stats)
    return stats


def _item_tables(plan: Plan, rows: list[Row]) -> Iterator[pa.Table]:
    """Yield the items of each embedder on each dataset, and add the rows of their scores to `rows`."""
    known: dict[str, _Dataset] = {}
    for embedder, dataset in plan.pairs:
        if dataset not in known:
            folder = _dataset_folder(plan, dataset)
            known[dataset] = _Dataset(
                dataset, read_golds(folder), read_shares(folder), _rewrites(plan, dataset)
            )
        yield _collect_pair(plan, embedder, known[dataset], rows)


def _rewrites(plan: Plan, dataset: str) -> dict[Variant, Row]:
    """Return by variant how many of its rewrites are distinct, and a hash of the languages asked for.

    Variants without a file are left out.
    """
    by_kind: dict[tuple[str, str], dict[Variant, Path]] = {}
    for v in plan.rewrites:
        path = plan.results / paths.TRANSFORM.format(dataset=dataset, variant=str(v))
        if path.is_file():
            by_kind.setdefault((v.generator, v.transformation), {})[v] = path
    return {
        variant: {**counts, "drawn": _metadata(files[variant]).get(DRAWN)}
        for files in by_kind.values()
        for variant, counts in zip(files, distinct_rewrites(list(files.values())), strict=True)
    }


def _metadata(path: Path) -> dict[str, str]:
    with reading(path):
        return metadata_of(pq.read_schema(path))


def _count(rows: list[Row], n_items: int) -> CollectStats:
    status = Counter(r["status"] for r in rows if r["subset"] == ALL)
    return CollectStats(
        cells=status.total(),
        ok=status[OK],
        failed=status[FAILED],
        absent=status[ABSENT],
        missing=status[MISSING],
        rows=len(rows),
        items=n_items,
    )


def cell_path(cell: Cell) -> str:
    """Return the path of a cell's score, relative to the results folder."""
    v = cell.variant
    return paths.SCORE.format(embedder=cell.embedder, dataset=cell.dataset, variant=str(v))


def read_cell(results: Path, cell: Cell) -> dict[str, Any] | None:
    """Return a cell's record, or None if it has no file.

    Raises:
        DataError: The file is not JSON, or it holds another cell.
    """
    path = results / cell_path(cell)
    remedy = "delete this file and run again; a valid cell in the store is copied back"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise DataError(f"a cell is not readable as JSON: {e}", where=str(path), do=remedy) from e
    v = cell.variant
    expected = (cell.embedder, cell.dataset, v.generator, v.transformation, v.seed)
    found = tuple(record.get(k) for k in ("embedder", "dataset", "generator", "transformation", "seed"))
    if found != expected:
        raise DataError(
            f"a cell's file holds another cell: {found}", where=str(path), allowed=str(expected), do=remedy
        )
    return dict(record)


def _dataset_folder(plan: Plan, dataset: str) -> Path:
    return (plan.results / paths.MANIFEST.format(dataset=dataset)).parent


def _collect_pair(plan: Plan, embedder: str, dataset: _Dataset, rows: list[Row]) -> pa.Table:
    """Append the score rows of one embedder on one dataset and return its items."""
    original: dict[str, Any] | None = None
    tables: list[pa.Table] = []
    values: dict[tuple[str, ...], dict[str, float | None]] = {}
    for variant in plan.variants:
        cell = Cell(embedder, dataset.name, variant)
        record = read_cell(plan.results, cell)
        if variant.is_original:
            original = record
            values = item_values(record or {})
        for row in _score_rows(plan, cell, record, original):
            rows.append(row | dataset.rewrites.get(variant, {}) if row["subset"] == ALL else row)
        if record is not None:
            tables.append(
                item_rows(plan.config.run, cell, record, values, golds=dataset.golds, shares=dataset.shares)
            )
    return pa.concat_tables(tables) if tables else ITEMS.empty_table()


def _score_rows(plan: Plan, cell: Cell, record: Record | None, original: Record | None) -> Iterator[Row]:
    """Yield the row of a cell's total, then one per subset and split."""
    entry = plan.catalogue.datasets[cell.dataset]
    base = _base_row(plan, cell, entry, record)
    total = _total_row(base, entry, record or {}, original, plan.config.fallback_mark)
    yield total
    parts = {(p["subset"], p["split"]): p for p in (record or {}).get("subsets", [])}
    originals = {(p["subset"], p["split"]): p for p in (original or {}).get("subsets", [])}
    expected = [(s, p) for s in entry.subsets for p in entry.splits]
    for key in [*expected, *(k for k in parts if k not in expected)]:
        yield _part_row(base, key, part=parts.get(key), original=originals.get(key), entry=entry, total=total)


def _base_row(plan: Plan, cell: Cell, entry: DatasetEntry, record: Record | None) -> Row:
    v = cell.variant
    axis = "original" if v.is_original else plan.catalogue.transformations[v.transformation].axis
    record = record or {}
    return {
        "run": plan.config.run,
        "embedder": cell.embedder,
        "dataset": cell.dataset,
        "task": record.get("task") or entry.task or entry.id,
        "task_type": entry.task_type,
        "generator": v.generator,
        "transformation": v.transformation,
        "axis": axis,
        "seed": v.seed,
        "metric": record.get("metric") or entry.main_score,
        "higher_is_better": bool(record.get("higher_is_better", True)),
        "marked": False,
        "fingerprint": record.get("fingerprint", ""),
        "cell_path": cell_path(cell),
    }


def _total_row(base: Row, entry: DatasetEntry, record: Record, original: Record | None, mark: float) -> Row:
    status, score, error = _outcome(record)
    is_original = base["transformation"] == "original"
    reference = score if is_original else _reference(record, original)
    n_texts, fallbacks = record.get("n_texts"), record.get("fallbacks")
    share = fallbacks / n_texts if fallbacks is not None and n_texts else None
    unusable = (fallbacks or 0) + (record.get("dropped") or 0)
    languages = {x for p in record.get("subsets", []) for x in p.get("languages") or []}
    return base | {
        "subset": ALL,
        "split": ALL,
        "language": joined(languages or (x for s in entry.subsets for x in entry.languages.get(s, []))),
        "score": score,
        "original": reference,
        "delta": None if is_original else _difference(score, reference),
        "n_items": record.get("n_items"),
        "n_texts": n_texts,
        "status": status,
        "error": error,
        "fallbacks": fallbacks,
        "fallback_share": share,
        "flagged": record.get("flagged"),
        "retried": record.get("retried"),
        "dropped": record.get("dropped"),
        "zero_vectors": record.get("zero_vectors"),
        "marked": n_texts is not None and unusable > mark * n_texts,
        "matched": _number(record.get("original_matched")) is not None,
    }


def _part_row(
    base: Row,
    key: tuple[str, str],
    *,
    part: Record | None,
    original: Record | None,
    entry: DatasetEntry,
    total: Row,
) -> Row:
    if part is None:
        part = {"status": total["status"] if total["status"] != OK else MISSING, "reason": total["error"]}
        if part["status"] == MISSING and not part["reason"]:
            part = part | {"reason": "the cell's file does not hold this subset"}
    status, score, error = _outcome(part)
    is_original = base["transformation"] == "original"
    reference = score if is_original else _reference(part, original)
    return base | {
        "subset": key[0],
        "split": key[1],
        "language": joined(part.get("languages") or entry.languages.get(key[0], [])),
        "score": score,
        "original": reference,
        "delta": None if is_original else _difference(score, reference),
        "n_items": part.get("n_items"),
        "status": status,
        "error": error,
        "marked": total["marked"],
        "matched": _number(part.get("original_matched")) is not None,
    }


def joined(languages: Iterable[str]) -> str:
    """Return languages sorted, each once whatever the spelling of its tag, joined by `+`."""
    return "+".join(sorted(set(map(one_tag, languages))))


def _outcome(record: Record) -> tuple[str, float | None, str]:
    """Return status, score and error of a cell's or a subset's record (empty: no file)."""
    if not record:
        return MISSING, None, "the cell has no file"
    status = str(record.get("status", OK))
    error = str(record.get("error") or record.get("reason") or "")
    score = _number(record.get("score"))
    if status == OK and score is None:
        return FAILED, None, error or "the score is not a number"
    return status, score if status == OK else None, "" if status == OK else error


def _reference(record: Record, original: Record | None) -> float | None:
    matched = _number(record.get("original_matched"))
    return matched if matched is not None else _outcome(original or {})[1]


def _difference(score: float | None, reference: float | None) -> float | None:
    return None if score is None or reference is None else score - reference


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None
