"""Items of cells as arrays: what stands in rows of `items.parquet`, by subset, with variants as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow.parquet as pq

from stressbed.analyse.aggregate import ORIGINAL
from stressbed.analyse.words import plural
from stressbed.stats.interval import Floats
from stressbed.stats.units import Units
from stressbed.store import reading

COLUMNS = (
    "embedder", "dataset", "subset", "split", "generator", "transformation", "seed", "unit", "item", "metric",
    "value", "original", "gold",
    "shares",
)  # fmt: skip
REPEATED = frozenset(COLUMNS) - {"seed", "value", "original", "gold", "shares"} | {
    "field",
    "language",
    "flags",
}
"""Columns with few different values: read as categories, which takes a tenth of the memory."""

_PLACE = ["subset", "split", "unit"]
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
        shares: Units that an item shares with others, joined by a blank, shape (n,); else None.
        variants: v variants.
        values: By metric, shape (n, v).
        originals: The same items in the original, by metric, shape (n, v).
    """

    subset: str
    split: str
    unit: str
    items: npt.NDArray[np.object_]
    gold: Floats
    shares: npt.NDArray[np.object_]
    variants: tuple[Variant, ...]
    values: dict[str, Floats]
    originals: dict[str, Floats]

    @cached_property
    def units(self) -> Units:
        """What is resampled: the items, or texts that they share."""
        return units_of(self.shares)


def read_blocks(path: Path) -> Iterator[pd.DataFrame]:
    """Yield the rows of `items.parquet`, one embedder on one dataset at a time, with `COLUMNS`.

    Only one block is in memory, whatever the size of the file.

    Raises:
        StoreError: The file is damaged.
    """
    yield from blocks(read_groups(path, COLUMNS))


BATCH = 100_000
"""Rows that are read at once, if the groups they are written in are smaller than that."""


def read_groups(path: Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the rows of a tidy table, several of the groups in which they were written at once.

    Raises:
        StoreError: The file is damaged.
    """
    repeated = [c for c in columns if c in REPEATED]
    with reading(path), pq.ParquetFile(path, read_dictionary=repeated) as file:
        # A column that an earlier version did not write has no values.
        held = [c for c in columns if c in file.schema_arrow.names]
        groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
        sizes = np.array([g.num_rows for g in groups], dtype=np.int64)
        batches = (np.cumsum(sizes) - sizes) // BATCH
        for number in np.unique(batches):
            chosen = np.flatnonzero(batches == number).tolist()
            frame = file.read_row_groups(chosen, columns=held).to_pandas()
            yield frame.assign(**dict.fromkeys(set(columns) - set(held)))


def blocks(frames: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Yield the rows of frames by embedder and dataset; those that follow each other belong together."""
    held: list[pd.DataFrame] = []
    for frame in frames:
        for part in _pairs(frame):
            if held and _pair(held[0]) != _pair(part):
                yield _joined(held)
                held = []
            held.append(part)
    if held:
        yield _joined(held)


def _pairs(frame: pd.DataFrame) -> Iterator[pd.DataFrame]:
    rows, parts = runs(frame, ["embedder", "dataset"])
    yield from (rows.iloc[at] for _, at in parts)


def _pair(frame: pd.DataFrame) -> tuple[str, str]:
    return str(frame["embedder"].iloc[0]), str(frame["dataset"].iloc[0])


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def panels(block: pd.DataFrame) -> list[Panel]:
    """Return the panels of a block (see `read_blocks`); the original is a column of theirs, not a variant."""
    rows, parts = runs(block[block["transformation"] != ORIGINAL], [*_PLACE, *VARIANT, "metric"])
    codes, ids = pd.factorize(rows["item"])
    numbers = {c: rows[c].to_numpy(dtype=np.float64) for c in ("value", "original", "gold")}
    shares = rows["shares"].to_numpy(dtype=object) if "shares" in rows else np.full(len(rows), None)
    cells: dict[tuple[Any, ...], dict[str, slice]] = {}
    for (*place, metric), at in parts:
        cells.setdefault(tuple(place), {})[metric] = at
    found: dict[tuple[Any, ...], list[tuple[Variant, dict[str, slice]]]] = {}
    for (subset, split, unit, generator, transformation, seed), by_metric in cells.items():
        items = codes[next(iter(by_metric.values()))].tobytes()
        key = (subset, split, unit, items, tuple(by_metric))
        found.setdefault(key, []).append(((generator, transformation, int(seed)), by_metric))
    named = np.asarray(ids, dtype=object)
    return [
        Panel(
            subset=key[0],
            split=key[1],
            unit=key[2],
            items=named[np.frombuffer(key[3], dtype=codes.dtype)],
            gold=numbers["gold"][next(iter(members[0][1].values()))],
            shares=shares[next(iter(members[0][1].values()))],
            variants=tuple(v for v, _ in members),
            values=_columns(numbers["value"], members),
            originals=_columns(numbers["original"], members),
        )
        for key, members in found.items()
    ]


def units_of(shares: Iterable[object]) -> Units:
    """Return the units of items from what `items.parquet` says that they share with others."""
    return Units.of([s.split() if isinstance(s, str) else () for s in shares])


def resampled(units: Sequence[Units], unit: str) -> str:
    """Return what is resampled, for a table: the items themselves, or texts that they share."""
    return f"shared text of {plural(unit)}" if any(u.shared for u in units) else unit


def _columns(numbers: Floats, members: list[tuple[Variant, dict[str, slice]]]) -> dict[str, Floats]:
    """Return by metric the numbers of variants as columns."""
    return {m: np.stack([numbers[at[m]] for _, at in members], axis=1) for m in members[0][1]}


def runs(rows: pd.DataFrame, by: list[str]) -> tuple[pd.DataFrame, list[tuple[tuple[Any, ...], slice]]]:
    """Return rows, and where those of each key are; in files they follow each other, so that this is fast."""
    if rows.empty:
        return rows, []
    codes = np.stack([pd.factorize(rows[c])[0] for c in by])
    starts = _starts(codes)
    if len(np.unique(codes[:, starts], axis=1).T) < len(starts):
        order = np.lexsort(codes[::-1])
        rows, codes = rows.iloc[order], codes[:, order]
        starts = _starts(codes)
    keys = zip(*(rows[c].iloc[starts].tolist() for c in by), strict=True)
    places = (slice(a, b) for a, b in zip(starts, [*starts[1:], len(rows)], strict=True))
    return rows, list(zip(keys, places, strict=True))


def _starts(codes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.flatnonzero(np.concatenate([[True], (codes[:, 1:] != codes[:, :-1]).any(axis=0)]))
