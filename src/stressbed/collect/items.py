"""Per-item results of cells as rows, each beside the same item's value in the original."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from stressbed.collect.gold import Golds
from stressbed.collect.schema import ITEMS
from stressbed.collect.shares import Shares
from stressbed.paths import Cell

Values = dict[tuple[str, ...], dict[str, float | None]]
"""(subset, split, unit, metric) -> item -> value."""


def item_values(record: Mapping[str, Any]) -> Values:
    """Return a cell's item values by (subset, split, unit, metric), then by item."""
    return {_key(b): dict(zip(_names(b), _floats(b["values"]), strict=True)) for b in _blocks(record)}


def item_rows(
    run: str,
    cell: Cell,
    record: Mapping[str, Any],
    originals: Values,
    *,
    golds: Golds | None = None,
    shares: Shares | None = None,
) -> pa.Table:
    """Return a cell's items with the schema `ITEMS`.

    Items are paired with the original's by id. Where items have no ids they are numbered, and numbers
    are only comparable if no row was dropped: else `original` and `delta` are null.
    """
    is_original = cell.variant.is_original
    tables = []
    for block in _blocks(record):
        names, values = _names(block), _floats(block["values"])
        original = values if is_original else _paired(record, block, names, originals.get(_key(block), {}))
        columns = {
            "run": run,
            "embedder": cell.embedder,
            "dataset": cell.dataset,
            "subset": block["subset"],
            "split": block["split"],
            "generator": cell.variant.generator,
            "transformation": cell.variant.transformation,
            "seed": cell.variant.seed,
            "unit": block["unit"],
            "metric": block["metric"],
        }
        known = (golds or {}).get((block["subset"], block["split"]), {}) if block["unit"] == "pair" else {}
        held = (shares or {}).get((block["subset"], block["split"]), {})
        told = {
            "gold": pa.array([known.get(n) for n in names], pa.float64()),
            "shares": pa.array([held.get(n) for n in names], pa.string())
            if block["unit"] != "experiment"
            else pa.nulls(len(names), pa.string()),
        }
        tables.append(_table(columns, names, values, original, told, is_original=is_original))
    return pa.concat_tables(tables) if tables else ITEMS.empty_table()


def _table(
    constants: Mapping[str, object],
    names: list[str],
    values: list[float | None],
    original: list[float | None],
    told: Mapping[str, pa.Array],
    *,
    is_original: bool,
) -> pa.Table:
    n = len(names)
    value = pa.array(values, pa.float64())
    reference = pa.array(original, pa.float64())
    varying = {
        "item": pa.array(names, pa.string()),
        "value": value,
        "original": reference,
        "delta": pa.nulls(n, pa.float64()) if is_original else pc.subtract(value, reference),
        **told,
    }
    arrays = [
        varying[f.name] if f.name in varying else pa.repeat(pa.scalar(constants[f.name], f.type), n)
        for f in ITEMS
    ]
    return pa.table(arrays, schema=ITEMS)


def _paired(
    record: Mapping[str, Any],
    block: Mapping[str, Any],
    names: list[str],
    originals: Mapping[str, float | None],
) -> list[float | None]:
    numbered = block.get("ids") is None
    if numbered and (record.get("dropped") or len(names) != len(originals)):
        return [None] * len(names)
    return [originals.get(n) for n in names]


def _blocks(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(record.get("items") or [])


def _key(block: Mapping[str, Any]) -> tuple[str, ...]:
    return (block["subset"], block["split"], block["unit"], block["metric"])


def _names(block: Mapping[str, Any]) -> list[str]:
    ids = block.get("ids")
    return [str(i) for i in (ids if ids is not None else range(len(block["values"])))]


def _floats(values: list[float | None]) -> list[float | None]:
    return [None if v is None or not math.isfinite(v) else float(v) for v in values]
