"""Tables as they are read again from their CSV files."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from stressbed.analyse.write import LABELLED

TEXT = LABELLED | {
    "cause", "error", "family", "field", "flags", "item", "level", "method", "metric", "note",
    "original_text", "question", "reason", "rewritten_text", "subset", "task_type", "unit", "verdict",
    "within",
}  # fmt: skip
"""Columns that hold ids and texts, even where every value looks like a number, or like nothing."""


def text_columns(table: str) -> frozenset[str]:
    """Return the columns of a table that hold ids and texts, and those that it would have."""
    # In tables of texts `language` is the language of a text, elsewhere the axis.
    return TEXT | ({"language"} if table == "worst_items" else set())


def read_table(path: Path) -> pd.DataFrame:
    """Return a table from its CSV; only an empty field has no value.

    An id may be `007`, `1.10`, `true`, `NA` or `null`: it stays what it is.

    Raises:
        ValueError: The file is no CSV in UTF-8.
    """
    return pd.read_csv(
        path, dtype=dict.fromkeys(text_columns(path.stem), str), keep_default_na=False, na_values=[""],
        encoding="utf-8",
    )  # fmt: skip
