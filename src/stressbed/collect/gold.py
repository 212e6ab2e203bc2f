"""What people said of the pairs of a frozen dataset: similarity scores and labels, read without mteb."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pyarrow.types as kinds

from stressbed.store import read_json, reading

Golds = dict[tuple[str, str], dict[str, float]]
"""(subset, split) -> row number -> score or label."""

SCORED = frozenset({"STS", "STR"})
LABELLED = frozenset({"PairClassification"})
LABEL_NAMES = ("labels", "label")
"""mteb's name of a column of labels, and that of local files."""


def read_golds(folder: Path) -> Golds:
    """Return the score or label of every pair of a frozen dataset; empty for other task types.

    A dataset that is not frozen (in a run that goes on) has none either.

    Args:
        folder: The dataset's folder, with `manifest.json` and `data`.

    Raises:
        StoreError: The manifest or a table is damaged.
    """
    try:
        manifest = read_json(folder / "manifest.json")
    except FileNotFoundError:
        return {}
    if manifest.get("task_type") not in SCORED | LABELLED:
        return {}
    found: Golds = {}
    for table in manifest["tables"]:
        if table["table"] == "rows" and str(table["path"]).endswith(".parquet"):
            values = _column(folder / table["path"], manifest)
            found[table["subset"], table["split"]] = {str(i): v for i, v in enumerate(values)}
    return found


def _column(path: Path, manifest: Mapping[str, Any]) -> list[float]:
    with reading(path):
        schema = pq.read_schema(path)
        name = _name(schema.names, manifest)
        numeric = kinds.is_integer(schema.field(name).type) or kinds.is_floating(schema.field(name).type)
        column = pq.read_table(path, columns=[name])[name] if numeric else None
    if column is None:
        return []  # labels that are no numbers: nothing is ranked by them
    return [float("nan") if v is None else float(v) for v in column.to_pylist()]


def _name(columns: list[str], manifest: Mapping[str, Any]) -> str:
    """Return the column that holds what people said."""
    if manifest["task_type"] in SCORED:
        return "score"
    named = [n for n in LABEL_NAMES if n in columns]
    if len(named) == 1:
        return named[0]
    # A task of mteb may call its column as it likes; only then is mteb, which takes seconds, imported.
    from stressbed.dataset.layout import label_of
    from stressbed.dataset.thaw import fresh_task

    return str(label_of(fresh_task(dict(manifest))))
