"""How far each item's texts moved under each embedder: `item_drift.parquet`, from stored vectors alone."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from stressbed import paths
from stressbed.collect.groups import write_groups
from stressbed.collect.schema import ITEM_DRIFT
from stressbed.collect.texts import Frozen, changed_texts
from stressbed.config.load import Plan
from stressbed.dataset.record import Template, templates_of
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.paths import Cell, Variant
from stressbed.rewrites import DROPPED
from stressbed.store import read_json, read_parquet

logger = logging.getLogger("stressbed")

BATCH = 8192
"""Pairs of vectors in memory at once."""


@dataclass(frozen=True)
class DriftStats:
    """Rows of the table, and how many of them have no drift because a vector is not stored."""

    rows: int
    missing: int


@dataclass(frozen=True)
class Moved:
    """The strings of a variant's items that were rewritten, as mteb hands them to an embedder.

    Attributes:
        items: Columns subset, split, item of each string; an item may have several.
        strings: Role, original and new string.
    """

    items: pd.DataFrame
    strings: list[tuple[str, str, str]]


def collect_drift(*, plan: Plan, store_root: Path, out: Path) -> DriftStats:
    """Write `item_drift.parquet` of a run: 1 minus the cosine of an item's text before and after.

    The strings are those that were embedded for scoring (a query with its instruction, say), so no
    model is needed. Of several strings of an item the mean counts. Where a vector is not stored
    any more the drift is null.

    Args:
        plan: The run.
        store_root: Folder of the store.
        out: Where the table goes; rows follow the order of `items.parquet`.

    Raises:
        StoreError: A file of the results or the store is damaged.
    """
    counts: Counter[str] = Counter()
    rows = write_groups(out, ITEM_DRIFT, _tables(plan, store_root, counts))
    missing = counts["missing"]
    if missing:
        logger.warning("%d of %d items have no drift: their vectors are not in the store", missing, rows)
    return DriftStats(rows, missing)


def _tables(plan: Plan, store_root: Path, counts: Counter[str]) -> Iterator[pa.Table]:
    """Yield the drifts of each embedder and variant; counts those that are `missing`."""
    for embedder in plan.config.embedders:
        stores = _Stores(store_root)
        of_dataset = lru_cache(maxsize=1)(lambda name: read_strings(plan.results, name))
        for frozen, variant, changes in changed_texts(plan, [d for e, d in plan.pairs if e == embedder]):
            moved = moved_strings(frozen.items, of_dataset(frozen.dataset), changes)
            if len(moved.items):
                table = _rows(plan, stores, Cell(embedder, frozen.dataset, variant), moved)
                counts["missing"] += table["drift"].null_count
                yield table


@dataclass(frozen=True)
class Strings:
    """How texts become the strings that are embedded.

    Attributes:
        templates: The first string that a text is a part of, by text id.
        texts: Original text by text id.
    """

    templates: Mapping[int, Template]
    texts: Mapping[int, str]


def read_strings(results: Path, dataset: str) -> Strings:
    """Return the strings of a frozen dataset in which texts of items occur."""
    frozen = Frozen.read(results, dataset)
    wanted = set() if frozen is None else set(frozen.items["text_id"].tolist())
    templates: dict[int, Template] = {}
    for template in templates_of(read_parquet(results / paths.INPUTS.format(dataset=dataset))):
        for text_id in wanted.intersection(template.text_ids):
            templates.setdefault(text_id, template)
    parts = {i for t in templates.values() for i in t.text_ids}
    rows = frozen.texts[frozen.texts["text_id"].isin(parts)] if frozen else None
    columns = [[], []] if rows is None else [rows["text_id"].tolist(), rows["text"].tolist()]
    return Strings(templates, dict(zip(*columns, strict=True)))


def moved_strings(items: pd.DataFrame, strings: Strings, changes: pd.DataFrame) -> Moved:
    """Return the strings of a variant's items in which a text was rewritten.

    Args:
        items: Texts of items (`texts_of_items`).
        strings: The dataset's strings.
        changes: The variant's transforms table; dropped texts have no items.
    """
    kept = changes[(changes["outcome"] != DROPPED) & changes["text_id"].isin(strings.templates.keys())]
    new = dict(zip(kept["text_id"].tolist(), kept["text"].tolist(), strict=True))
    rows = items[items["text_id"].isin(new.keys())]
    chosen = [strings.templates[i] for i in rows["text_id"].tolist()]
    place = ["subset", "split", "item"]
    # A query and its instruction are one string.
    once = ~rows[place].assign(first=[t.text_ids[0] for t in chosen]).duplicated()
    after = {**strings.texts, **new}
    found = [
        (t.role, t.fill(strings.texts), t.fill(after))
        for t, keep in zip(chosen, once.tolist(), strict=True)
        if keep
    ]
    return Moved(rows.loc[once, place], found)


class _Stores:
    """The vector stores of one embedder, each opened once."""

    def __init__(self, root: Path) -> None:
        self.root, self.opened = root, dict[str, VectorStore]()

    def of(self, manifest: Mapping[str, Any]) -> VectorStore:
        """Return the store that the vectors of an embedding manifest lie in, opened once."""
        name = f"{manifest['embedder_identity']}-{manifest.get('fitted_on') or ''}"
        if name not in self.opened:
            self.opened[name] = VectorStore.open_for(manifest, self.root)
        return self.opened[name]


def _rows(plan: Plan, stores: _Stores, cell: Cell, moved: Moved) -> pa.Table:
    values = _drifts(plan, stores, cell, moved.strings)
    place = ["subset", "split", "item"]
    found = moved.items.assign(drift=values).groupby(place, sort=False)["drift"]
    # A mean over strings of which one has no vector would be another thing than its neighbours.
    frame = found.mean().where(found.count() == found.size()).reset_index()
    variant: Variant = cell.variant
    frame = frame.assign(
        embedder=cell.embedder, dataset=cell.dataset, generator=variant.generator,
        transformation=variant.transformation, seed=variant.seed,
    )  # fmt: skip
    return pa.Table.from_pandas(frame[ITEM_DRIFT.names], schema=ITEM_DRIFT, preserve_index=False)


def _drifts(
    plan: Plan, stores: _Stores, cell: Cell, strings: list[tuple[str, str, str]]
) -> npt.NDArray[np.float64]:
    """Return the drift of each string, NaN where there are no vectors."""
    at = {"embedder": cell.embedder, "dataset": cell.dataset, "variant": str(cell.variant)}
    found = np.full(len(strings), np.nan)
    try:
        manifest = read_json(plan.results / paths.EMBEDDING.format(**at))
    except FileNotFoundError:
        return found
    store, contexts = stores.of(manifest), manifest["contexts"]
    keys = [[vector_key(contexts[s[0]], s[0], s[k]) for s in strings] for k in (1, 2)]
    before, after = (store.index(k) for k in keys)
    there = np.flatnonzero((before >= 0) & (after >= 0))
    for start in range(0, len(there), BATCH):
        part = there[start : start + BATCH]
        found[part] = 1 - cosines(store.rows(before[part]), store.rows(after[part]))
    return found


def cosines(a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the cosine of each pair of rows, shape (n,); NaN where one of them is zero."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    scale = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: npt.NDArray[np.float64] = np.clip((x * y).sum(axis=1) / scale, -1, 1)
    return found
