"""What became of each item's texts, as columns beside its values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from stressbed.analyse.items.panels import VARIANT, Variant, runs
from stressbed.stats.interval import Floats

MEASURED = ("length_ratio", "edit_distance", "drift")
"""Features that are numbers; others are shares of an item's texts: languages and flags."""

LANGUAGE, FLAG, ANY = "language:", "flag:", "flag:any"


@dataclass(frozen=True)
class Features:
    """What became of the texts of items in one variant, subset and split.

    Attributes:
        items: Ids.
        columns: By cause, shape (n,).
    """

    items: pd.Index
    columns: Mapping[str, Floats]

    def of(self, items: npt.NDArray[np.object_]) -> dict[str, Floats]:
        """Return the columns for these items, NaN for those without a rewritten text."""
        if len(items) == len(self.items) and (self.items.to_numpy() == items).all():
            return dict(self.columns)
        at = self.items.get_indexer(pd.Index(items))
        there = at >= 0
        found = {}
        for name, values in self.columns.items():
            found[name] = np.where(there, values[np.where(there, at, 0)], np.nan)
        return found


TextFeatures = dict[tuple[str, Variant, str, str], Features]
"""(dataset, variant, subset, split) -> features."""


def text_features(texts: Iterable[pd.DataFrame]) -> TextFeatures:
    """Return the features of all items from rows of `item_texts.parquet`."""
    found: TextFeatures = {}
    for rows in texts:
        touched = rows[rows["length_ratio"].notna()]
        ordered, parts = runs(touched, ["dataset", *VARIANT, "subset", "split"])
        for (dataset, *variant, subset, split), at in parts:
            found[dataset, _variant(*variant), subset, split] = _features(ordered.iloc[at])
    return found


def _features(rows: pd.DataFrame) -> Features:
    """Return an item's mean over its rewritten texts: numbers, and shares of languages and flags."""
    codes, items = pd.factorize(rows["item"])
    n = np.bincount(codes)

    def mean(values: Any) -> Floats:
        found: Floats = np.bincount(codes, weights=np.asarray(values, dtype=np.float64)) / n
        return found

    columns = {c: mean(rows[c]) for c in ("length_ratio", "edit_distance")}
    languages = rows["language"].astype(object).to_numpy()
    columns |= {f"{LANGUAGE}{x}": mean(languages == x) for x in pd.unique(languages) if isinstance(x, str)}
    flags = rows["flags"].astype(object).to_numpy()
    if (flags != "").any():
        columns[ANY] = mean(flags != "")
        held = {text: set(text.split(",")) for text in set(flags)}
        each = sorted({f for names in held.values() for f in names if f})
        columns |= {f"{FLAG}{f}": mean([f in held[text] for text in flags]) for f in each}
    return Features(pd.Index(np.asarray(items, dtype=object)), columns)


def drift_features(block: pd.DataFrame | None) -> dict[tuple[Variant, str, str], Features]:
    """Return the drift of the items of one embedder on one dataset."""
    found: dict[tuple[Variant, str, str], Features] = {}
    if block is None:
        return found
    rows, parts = runs(block, [*VARIANT, "subset", "split"])
    items, drift = rows["item"].to_numpy(dtype=object), rows["drift"].to_numpy(dtype=np.float64)
    for (*variant, subset, split), at in parts:
        found[_variant(*variant), subset, split] = Features(pd.Index(items[at]), {"drift": drift[at]})
    return found


def _variant(generator: str, transformation: str, seed: int) -> Variant:
    return generator, transformation, int(seed)
