"""Items of cells as arrays: what stands in rows of `items.parquet`, by subset, with variants as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq

from stressbed.analyse.aggregate import ORIGINAL
from stressbed.stats.interval import Floats
from stressbed.store import reading

COLUMNS = (
    "embedder", "dataset", "subset", "split", "generator", "transformation", "seed", "unit", "item", "metric",
    "value", "original", "gold",
)  # fmt: skip
REPEATED = frozenset(COLUMNS) - {"seed", "item", "value", "original", "gold"} | {"field", "language", "flags"}
"""Columns with few different values: read as categories, which takes a tenth of the memory."""

VARIANT = ["generator", "transformation", "seed"]
Variant = tuple[str, str, int]
"""Generator, transformation, seed."""


@dataclass(frozen=True)
class Panel:
    """The items of one subset and split of an embedder on a dataset, in variants that have the same items.

    Attributes:
        subset: Subset.
        split: Split.
        unit: What an item is.
        items: Ids, shape (n,).
        gold: Scores or labels of pairs, shape (n,), NaN where there is none.
        variants: v variants.
        values: By metric, shape (n, v).
        originals: The same items in the original, by metric, shape (n, v).
    """

    subset: str
    split: str
    unit: str
    items: npt.NDArray[np.object_]
    gold: Floats
    variants: tuple[Variant, ...]
    values: dict[str, Floats]
    originals: dict[str, Floats]


def read_blocks(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the rows of `items.parquet`, one embedder on one dataset at a time, with `COLUMNS`.

    Only one block is in memory, whatever the size of the file.

    Raises:
        StoreError: The file is damaged.
    """
    yield from blocks(read_groups(path, COLUMNS))


def read_groups(path: Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the rows of a tidy table in the groups in which they were written.

    Raises:
        StoreError: The file is damaged.
    """
    repeated = [c for c in columns if c in REPEATED]
    with reading(path), pq.ParquetFile(path, read_dictionary=repeated) as file:
        for i in range(file.num_row_groups):
            yield file.read_row_group(i, columns=list(columns)).to_pandas()


def blocks(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the rows of frames by embedder and dataset; those that follow each other belong together."""
    held: list[pd.DataFrame] = []
    for frame in frames:
        for _, part in frame.groupby(["embedder", "dataset"], sort=False, observed=True):
            if held and _pair(held[0]) != _pair(part):
                yield _joined(held)
                held = []
            held.append(part)
    if held:
        yield _joined(held)


def _pair(frame: pd.DataFrame) -> tuple[str, str]:
    return str(frame["embedder"].iloc[0]), str(frame["dataset"].iloc[0])


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def panels(block: pd.DataFrame) -> list[Panel]:
    """Return the panels of a block (see `read_blocks`); the original is a column of theirs, not a variant."""
    rows = block[block["transformation"] != ORIGINAL]
    cells: dict[tuple[Any, ...], dict[str, _Segment]] = {}
    for (*place, metric), part in runs(rows, ["subset", "split", "unit", *VARIANT, "metric"]):
        cells.setdefault(tuple(place), {})[metric] = _Segment.of(part)
    found: dict[tuple[Any, ...], list[tuple[Variant, dict[str, _Segment]]]] = {}
    for (subset, split, unit, *variant), segments in cells.items():
        items = next(iter(segments.values())).items
        key = (subset, split, unit, tuple(segments), len(items), hash(tuple(items)))
        generator, transformation, seed = variant
        found.setdefault(key, []).append(((generator, transformation, int(seed)), segments))
    return [_panel(k[0], k[1], k[2], members) for k, members in found.items()]


def runs(rows: pd.DataFrame, by: list[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Yield rows by key; rows of a key follow each other in the file, which makes this fast."""
    if rows.empty:
        return
    codes = np.stack([pd.factorize(rows[c])[0] for c in by])
    starts = _starts(codes)
    if len(np.unique(codes[:, starts], axis=1).T) < len(starts):
        order = np.lexsort(codes[::-1])
        rows, codes = rows.iloc[order], codes[:, order]
        starts = _starts(codes)
    keys = zip(*(rows[c].iloc[starts].tolist() for c in by), strict=True)
    for key, start, end in zip(keys, starts, [*starts[1:], len(rows)], strict=True):
        yield key, rows.iloc[start:end]


def _starts(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.concatenate([[True], (codes[:, 1:] != codes[:, :-1]).any(axis=0)]))


@dataclass(frozen=True)
class _Segment:
    """The items of one cell, subset, split and metric."""

    items: npt.NDArray[np.object_]
    values: Floats
    originals: Floats
    gold: Floats

    @classmethod
    def of(cls, rows: pd.DataFrame) -> _Segment:
        numbers = (rows[c].to_numpy(dtype=np.float64) for c in ("value", "original", "gold"))
        return cls(rows["item"].to_numpy(dtype=object), *numbers)


def _panel(subset: str, split: str, unit: str, members: list[tuple[Variant, dict[str, _Segment]]]) -> Panel:
    metrics = list(members[0][1])
    first = members[0][1][metrics[0]]
    return Panel(
        subset=subset,
        split=split,
        unit=unit,
        items=first.items,
        gold=first.gold,
        variants=tuple(v for v, _ in members),
        values={m: np.stack([s[m].values for _, s in members], axis=1) for m in metrics},
        originals={m: np.stack([s[m].originals for _, s in members], axis=1) for m in metrics},
    )
