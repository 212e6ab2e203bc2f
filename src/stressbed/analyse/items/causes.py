"""What makes items fall: their change against what became of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import ORIGINAL
from stressbed.analyse.items.features import (
    LANGUAGE,
    MEASURED,
    Features,
    TextFeatures,
    drift_features,
    text_features,
)
from stressbed.analyse.items.intervals import HELD, CellFacts, Facts, cell_facts
from stressbed.analyse.items.panels import Panel, Variant, panels, units_of
from stressbed.analyse.items.scores import per_item, shares
from stressbed.analyse.items.weighted import draw_items
from stressbed.analyse.names import Names
from stressbed.analyse.seeds import Seeds
from stressbed.analyse.table import Table, finish
from stressbed.analyse.words import counted
from stressbed.fingerprint import text_digest
from stressbed.stats.interval import Floats, enough, too_few
from stressbed.stats.units import Units

LEVEL = 0.95
FEWEST = 3
"""Items that a correlation or a difference needs."""

FEW = 20
"""Items below which an interval needs a note."""

COLUMNS = ("generator", "embedder", "cause", "rho", "difference", "low", "high", "n", "note")
NOTES = (
    "An item's delta (transformed minus original) is that of its query's metric, its document's correlation, "
    "or a pair's agreement with what people said (see worst_items). Everything is compared within a dataset, "
    "subset and variant; experiments have no texts and are left out.",
    "rho: Spearman's correlation of delta with the cause, ranks within dataset and variant; negative: the "
    "larger, the more is lost. difference: mean delta of texts in this language, or with this flag, minus "
    "that of the others, in points of 100; negative: they lose more.",
    "low, high: percentile interval, aimed at 95 %, of a bootstrap over items, all variants of an item "
    "together; ranks and group means are those of all items. n: items times variants, seeds that are the "
    "same by construction once. Causes hang together (a longer text has moved further), and nothing here "
    "says which of them is at work.",
    "length_ratio: characters after per character before. edit_distance: Levenshtein distance over the "
    "length of the longer text. drift: 1 minus the cosine of the item's text before and after.",
)


@dataclass
class _Cause:
    """Sums of one cause over everything of an embedder."""

    n: int = 0
    affected: float = 0
    items: int = 0
    units: int = 0
    total: Floats = field(default_factory=lambda: np.zeros(3))
    samples: Floats = field(default_factory=lambda: np.zeros((3, 0)))

    def count(self, x: Floats, delta: Floats) -> None:
        """Count the items of a variant, and how many of them have the language or flag."""
        there = np.isfinite(x) & np.isfinite(delta)
        self.n += int(there.sum())
        self.affected += float(x[there].sum())


def item_causes(
    blocks: Iterable[pd.DataFrame],
    scores: pd.DataFrame,
    texts: Iterable[pd.DataFrame],
    drifts: Iterable[pd.DataFrame],
    names: Names,
    *,
    resamples: int,
    seed: int,
) -> Table:
    """Return per embedder how an item's change goes with what became of its texts.

    Args:
        blocks: Rows of `items.parquet`, one embedder on one dataset at a time (`read_blocks`).
        scores: `scores.parquet`.
        texts: Rows of `item_texts.parquet` without the texts themselves, in parts of whole variants.
        drifts: Rows of `item_drift.parquet`, one embedder on one dataset at a time, in the same order.
        names: Order of rows.
        resamples: Bootstrap samples.
        seed: Seed of the draw.
    """
    facts, features, seeds = cell_facts(scores), text_features(texts), Seeds.of(scores, names)
    sums: dict[tuple[str, str, str], _Cause] = {}
    moved = _Aligned(drifts)
    for block in blocks:
        embedder, dataset = str(block["embedder"].iloc[0]), str(block["dataset"].iloc[0])
        drift = drift_features(moved.of(embedder, dataset))
        _add_block(
            _without_repeats(block, seeds), facts, features, drift, sums, resamples=resamples, seed=seed
        )
    frame = pd.DataFrame(_rows(sums, names), columns=list(COLUMNS))
    notes = list(NOTES)
    if not features:
        notes.append("This run has no items whose texts are known, so there is nothing to compare.")
    elif not any(cause == "drift" and s.n for (_, _, cause), s in sums.items()):
        notes.append("drift is lacking: the vectors of the texts are not in the store.")
    table = Table("item_causes", "What goes with the loss of items", frame, notes, decimals=2)
    return finish(table, names, dashes=False)


def _without_repeats(block: pd.DataFrame, seeds: Seeds) -> pd.DataFrame:
    """Return a block, of one dataset, with one of the seeds of a transformation that are the same."""
    dataset, keys = (
        str(block["dataset"].iloc[0]),
        block[["generator", "transformation", "seed"]].astype(object),
    )
    of: dict[tuple[str, str], set[int]] = {}
    for generator, transformation, seed in keys.drop_duplicates().itertuples(index=False):
        of.setdefault((generator, transformation), set()).add(int(seed))
    repeats = [
        (g, t, seed)
        for (g, t), held in of.items()
        if t != ORIGINAL
        for seed, first in seeds.first(g, dataset, t, held).items()
        if seed != first
    ]
    if not repeats:
        return block
    kept: pd.DataFrame = block.loc[~pd.MultiIndex.from_frame(keys).isin(repeats)]
    return kept


class _Aligned:
    """Blocks of drift, met in the order of the items' blocks; a pair without drift has none."""

    def __init__(self, blocks: Iterable[pd.DataFrame]) -> None:
        self.blocks = iter(blocks)
        self.held: dict[tuple[str, str], pd.DataFrame] = {}

    def of(self, embedder: str, dataset: str) -> pd.DataFrame | None:
        """Return the rows of an embedder on a dataset, None if there are none."""
        for block in self.blocks if (embedder, dataset) not in self.held else ():
            key = str(block["embedder"].iloc[0]), str(block["dataset"].iloc[0])
            self.held[key] = block
            if key == (embedder, dataset):
                break
        return self.held.pop((embedder, dataset), None)


def _add_block(
    block: pd.DataFrame,
    facts: Facts,
    features: TextFeatures,
    drift: Mapping[tuple[Variant, str, str], Features],
    sums: dict[tuple[str, str, str], _Cause],
    *,
    resamples: int,
    seed: int,
) -> None:
    """Add the items of one embedder on one dataset to the sums of their causes."""
    embedder, dataset = str(block["embedder"].iloc[0]), str(block["dataset"].iloc[0])
    for place, members in _by_place(block, facts.get((embedder, dataset), {})).items():
        items = pd.Index(pd.unique(np.concatenate([p.items for p, _ in members])))
        units = _units(items, [p for p, _ in members])
        added: dict[tuple[str, str], Floats] = {}
        for panel, deltas in members:
            at = items.get_indexer(pd.Index(panel.items))
            known = [
                [f for f in (features.get((dataset, v, *place)), drift.get((v, *place))) if f is not None]
                for v in panel.variants
            ]
            for (generator, cause), (x, chosen) in _causes(panel, known).items():
                products, used = _products(x, deltas[:, chosen], ranked=cause in MEASURED)
                if not used.any():
                    continue
                added.setdefault((generator, cause), np.zeros((len(items), 3)))[at] += products
                total = sums.setdefault((generator, embedder, cause), _Cause())
                total.count(x[:, used], deltas[:, chosen][:, used])
        rng = np.random.default_rng(int(text_digest("causes", str(seed), dataset, *place)[:16], 16))
        _add_samples(added, sums, embedder, units, resamples=resamples, rng=rng)


def _units(items: pd.Index, members: Sequence[Panel]) -> Units:
    """Return the units of all items of a subset, whichever panels they are in."""
    shares = {i: held for p in members for i, held in zip(p.items, p.shares, strict=True)}
    return units_of(shares[i] for i in items)


def _by_place(
    block: pd.DataFrame, facts: Mapping[Variant, CellFacts]
) -> dict[tuple[str, str], list[tuple[Panel, Floats]]]:
    """Return by subset and split the panels that are made of texts, and what each item gained (n, v)."""
    found: dict[tuple[str, str], list[tuple[Panel, Floats]]] = {}
    for panel in panels(block):
        task_type = next((facts[v].task_type for v in panel.variants if v in facts), "")
        worth = per_item(panel, task_type=task_type)
        if worth is not None:
            found.setdefault((panel.subset, panel.split), []).append((panel, worth[0] - worth[1]))
    return found


def _causes(panel: Panel, known: list[list[Features]]) -> dict[tuple[str, str], tuple[Floats, list[int]]]:
    """Return by generator and cause its values (n, k), and which k variants of the panel have them."""
    columns: dict[tuple[str, str], tuple[list[Floats], list[int]]] = {}
    for i, (variant, of_variant) in enumerate(zip(panel.variants, known, strict=True)):
        for feature in of_variant:
            for cause, values in feature.of(panel.items).items():
                held = columns.setdefault((variant[0], cause), ([], []))
                held[0].append(values)
                held[1].append(i)
    return {key: (np.stack(values, axis=1), chosen) for key, (values, chosen) in columns.items()}


def _products(x: Floats, deltas: Floats, *, ranked: bool) -> tuple[Floats, Any]:
    """Return what each item adds to the sums of xy, xx and yy over variants, both centred in each of them.

    A variant in which one side does not vary says nothing.

    Args:
        x: Values of a cause, shape (n, k).
        deltas: Changes, shape (n, k).
        ranked: Whether ranks count, else the values and points of 100.

    Returns:
        Shape (n, 3), and which variants took part, shape (k,).
    """
    there = np.isfinite(x) & np.isfinite(deltas)
    if not there.all():
        return _each(x, deltas, there, ranked=ranked)
    a, b = (shares(x), shares(deltas)) if ranked else (x, 100 * deltas)
    used = (np.ptp(a, axis=0) > 0) & (np.ptp(b, axis=0) > 0) & (len(x) >= FEWEST)
    a, b = (v[:, used] - v[:, used].mean(axis=0) for v in (a, b))
    return np.stack([(a * b).sum(axis=1), (a * a).sum(axis=1), (b * b).sum(axis=1)], axis=1), used


def _each(x: Floats, deltas: Floats, there: Any, *, ranked: bool) -> tuple[Floats, Any]:
    """Return `_products` of variants in which not every item has a value, one after the other."""
    found, used = np.zeros((len(x), 3)), np.zeros(x.shape[1], dtype=bool)
    for k in range(x.shape[1]):
        rows = there[:, k]
        if rows.any():
            part, taken = _products(x[rows][:, [k]], deltas[rows][:, [k]], ranked=ranked)
            found[rows] += part
            used[k] = taken[0]
    return found, used


def _add_samples(
    added: Mapping[tuple[str, str], Floats],
    sums: Mapping[tuple[str, str, str], _Cause],
    embedder: str,
    units: Units,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> None:
    """Add a dataset's products, and their sums in each sample of its items, to those of its causes."""
    if not added:
        return
    keys = list(added)
    products = np.concatenate([added[k] for k in keys], axis=1)
    n = len(products)
    size = max(16, HELD // n)
    sampled = np.concatenate(
        [
            products.T @ draw_items(units, min(size, resamples - start), rng)
            for start in range(0, resamples, size)
        ],
        axis=1,
    )
    for k, (generator, cause) in enumerate(keys):
        found = sums[generator, embedder, cause]
        part = slice(3 * k, 3 * k + 3)
        used = (products[:, part] != 0).any(axis=1)
        found.items += int(used.sum())
        found.units += len(np.unique(units.first[used]))
        found.total = found.total + products[:, part].sum(axis=0)
        before = found.samples if found.samples.shape[1] else np.zeros((3, resamples))
        found.samples = before + sampled[part]


def _rows(sums: Mapping[tuple[str, str, str], _Cause], names: Names) -> Iterator[dict[str, Any]]:
    """Yield the table's rows, measured causes first, then languages and flags by name."""
    for generator in names.generators:
        for embedder in names.embedders:
            causes = [c for g, e, c in sums if (g, e) == (generator, embedder)]
            for cause in sorted(causes, key=lambda c: (c not in MEASURED, not c.startswith(LANGUAGE), c)):
                found = sums[generator, embedder, cause]
                at = {"generator": generator, "embedder": embedder, "cause": cause}
                yield at | _row(found, ranked=cause in MEASURED)


def _row(found: _Cause, *, ranked: bool) -> dict[str, Any]:
    with np.errstate(invalid="ignore", divide="ignore"):
        estimate, samples = (
            s[0] / (np.sqrt(s[1] * s[2]) if ranked else s[1]) for s in (found.total, found.samples)
        )
    defined = samples[np.isfinite(samples)]
    low = high = float("nan")
    if enough(found.units) and len(defined) > len(samples) / 2:
        low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    notes = [] if ranked else [f"{found.affected:.0f} of {counted(found.n, 'text')}"]
    if why := too_few(found.units, "item"):
        notes.append(why)
    elif found.units < FEW:
        notes.append(f"only {counted(found.units, 'independent item')}: the interval is too narrow")
    return {
        "rho": float(estimate) if ranked else np.nan, "difference": np.nan if ranked else float(estimate),
        "low": float(low), "high": float(high), "n": found.n, "note": "; ".join(notes),
    }  # fmt: skip
