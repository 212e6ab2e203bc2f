"""The texts behind items: `item_texts.parquet` with what became of each, item by item.

An item whose text can be read is a pair, a query or a summarised document. Experiments of
classification and clustering rest on many texts and have none of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from stressbed import paths
from stressbed.collect.groups import write_groups
from stressbed.collect.schema import ITEM_TEXTS
from stressbed.config.load import Plan
from stressbed.dataset.layout import PARALLEL
from stressbed.languages import one_tag
from stressbed.paths import Variant
from stressbed.store import read_json, read_parquet
from stressbed.transform.flags import FLAGS

PAIRED = frozenset({"STS", "STR", "PairClassification", "BitextMining"})
UNTOUCHED = "untouched"
"""Outcome of a text that the transformation leaves as it is."""

_CHANGES = ["text_id", "target_language", "text", "outcome", *FLAGS]


@dataclass(frozen=True)
class Frozen:
    """A frozen dataset as far as its texts go.

    Attributes:
        dataset: Catalogue id.
        manifest: Its manifest.
        texts: Its `texts.parquet`.
        items: Its texts that belong to items: text_id, subset, split, item, field, position, original.
    """

    dataset: str
    manifest: Mapping[str, Any]
    texts: pd.DataFrame
    items: pd.DataFrame

    @classmethod
    def read(cls, results: Path, dataset: str) -> Frozen | None:
        """Return a dataset of the results; None if it is not there yet.

        Raises:
            StoreError: A file is damaged.
        """
        try:
            manifest = read_json(results / paths.MANIFEST.format(dataset=dataset))
            texts = read_parquet(results / paths.TEXTS.format(dataset=dataset)).to_pandas()
        except FileNotFoundError:
            return None
        return cls(dataset, manifest, texts, texts_of_items(manifest, texts))


def texts_of_items(manifest: Mapping[str, Any], texts: pd.DataFrame) -> pd.DataFrame:
    """Return the texts that items are made of, with the subset and id of the item.

    Columns: text_id, subset, split, item, field, position, original.

    Args:
        manifest: The frozen dataset's manifest.
        texts: Its `texts.parquet`.
    """
    kind = manifest["task_type"]
    tested = texts[texts["split"].isin(manifest["splits"])]
    if kind in {"Retrieval", "Reranking"}:
        tested = tested[tested["field"].str.startswith("queries.")]
    elif kind not in PAIRED | {"Summarization"}:
        tested = tested.iloc[:0]
    parts = [tested[tested["subset"] != PARALLEL]]
    if (tested["subset"] == PARALLEL).any():
        # Columns of one table are languages, and a subset is a pair of them.
        for subset in manifest["subsets"]:
            chosen = tested[(tested["subset"] == PARALLEL) & tested["field"].isin(subset.split("-"))]
            parts.append(chosen.assign(subset=subset))
    found = pd.concat(parts, ignore_index=True).rename(columns={"row": "item", "text": "original"})
    return found[["text_id", "subset", "split", "item", "field", "position", "original"]]


def collect_texts(*, plan: Plan, out: Path) -> int:
    """Write `item_texts.parquet` of a run and return its rows.

    Variants without a file (of a run that goes on) are left out.

    Args:
        plan: The run.
        out: Where the table goes; each dataset and variant has rows of its own in the file.

    Raises:
        StoreError: A file of the results is damaged.
    """
    tables = (text_rows(*changed) for changed in changed_texts(plan, plan.config.datasets))
    return write_groups(out, ITEM_TEXTS, tables, whole=True)  # a variant is read as a whole


def changed_texts(plan: Plan, datasets: Sequence[str]) -> Iterator[tuple[Frozen, Variant, pd.DataFrame]]:
    """Yield every rewritten variant of datasets with items that have texts, and its transforms table."""
    for dataset in datasets:
        frozen = Frozen.read(plan.results, dataset)
        if frozen is None or frozen.items.empty:
            continue
        for variant in plan.rewrites:
            path = plan.results / paths.TRANSFORM.format(dataset=dataset, variant=str(variant))
            if path.is_file():
                yield frozen, variant, read_parquet(path, columns=_CHANGES).to_pandas()


def text_rows(frozen: Frozen, variant: Variant, changes: pd.DataFrame) -> pa.Table:
    """Return the texts of a variant's items with the schema `ITEM_TEXTS`.

    Args:
        frozen: The dataset.
        variant: The variant.
        changes: Its transforms table.
    """
    rows = frozen.items.merge(changes, how="left", on="text_id")
    touched = rows["outcome"].notna().to_numpy()
    original, new = rows["original"].tolist(), rows["text"].where(touched, None).tolist()
    flags = rows[list(FLAGS)].to_numpy(dtype=object) == True  # noqa: E712  # absent is not false here
    languages = rows["target_language"].map(one_tag, na_action="ignore")
    columns = {
        "dataset": frozen.dataset, "generator": variant.generator, "transformation": variant.transformation,
        "seed": variant.seed, "rewritten": new, "language": languages.where(touched, None),
        "outcome": rows["outcome"].where(touched, UNTOUCHED), "flags": _joined(flags),
        "length_ratio": length_ratios(original, new), "edit_distance": edit_distances(original, new),
    }  # fmt: skip
    frame = rows[["subset", "split", "item", "field", "position", "original"]].assign(**columns)
    return pa.Table.from_pandas(frame[ITEM_TEXTS.names], schema=ITEM_TEXTS, preserve_index=False)


def _joined(flags: Any) -> list[str]:
    found = [""] * len(flags)
    for i in np.flatnonzero(flags.any(axis=1)):
        found[i] = ",".join(name for name, there in zip(FLAGS, flags[i], strict=True) if there)
    return found


def length_ratios(original: Sequence[str], new: Sequence[str | None]) -> Any:
    """Return characters of the new text per character of the original, shape (n,); NaN where untouched."""
    before = np.array([len(t) for t in original], dtype=np.float64)
    after = np.array([np.nan if t is None else len(t) for t in new], dtype=np.float64)
    return after / np.maximum(before, 1)


def edit_distances(original: Sequence[str], new: Sequence[str | None]) -> Any:
    """Return Levenshtein's distance over the length of the longer text, shape (n,), 0 to 1.

    NaN where a text is untouched.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    found = np.full(len(original), np.nan)
    touched = [i for i, t in enumerate(new) if t is not None]
    if touched:
        pairs = [original[i] for i in touched], [str(new[i]) for i in touched]
        found[touched] = cpdist(*pairs, scorer=Levenshtein.normalized_distance, dtype=np.float64)
    return found
