"""Marks of values that rest on zero vectors: what a score says there, it says of no direction at all."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import ZERO_NOTE, Table
from stressbed.collect.schema import ALL

Make = Callable[[pd.DataFrame, Names], Table]
Flags = npt.NDArray[np.bool_]

CELL = ["embedder", "dataset", "generator", "transformation", "seed"]


def zeros_marked(*, differences: bool) -> Callable[[Make], Make]:
    """Return a decorator that adds to a table of scores where it rests on cells with zero vectors.

    Args:
        differences: Whether the values are differences to the original, which then counts as well.
    """

    def decorate(make: Make) -> Make:
        """Return the function with these marks added to its table."""

        @functools.wraps(make)
        def with_zeros(scores: pd.DataFrame, names: Names) -> Table:
            """Return the table with its marks and those of zero vectors."""
            table, flags = make(scores, names), on_zeros(scores, differences=differences)
            if not flags.any():
                return table
            # Marks spread from cells to values in one way, whatever they are marks of.
            zeros = make(scores.assign(marked=flags), names).marks
            notes = [*table.notes, *([ZERO_NOTE] if zeros is not None and zeros.any(axis=None) else [])]
            return replace(table, zeros=zeros, notes=notes)

        return with_zeros

    return decorate


def on_zeros(scores: pd.DataFrame, *, differences: bool) -> Flags:
    """Return for each row whether its cell, or the original that it is compared with, has zero vectors."""
    if "zero_vectors" not in scores.columns:
        return np.zeros(len(scores), dtype=np.bool_)
    has = scores[(scores["subset"] == ALL) & (scores["zero_vectors"].fillna(0) > 0)]
    own = _among(scores, has, CELL)
    if not differences:
        return own
    return own | _among(scores, has[has["transformation"] == "original"], ["embedder", "dataset"])


def _among(rows: pd.DataFrame, wanted: pd.DataFrame, keys: list[str]) -> Flags:
    return pd.MultiIndex.from_frame(rows[keys]).isin(pd.MultiIndex.from_frame(wanted[keys]))
