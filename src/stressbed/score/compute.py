"""One cell from stored vectors."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.score.cell import CellJob
from stressbed.score.variant import VariantFacts, VariantTexts, read_texts

if TYPE_CHECKING:
    import pandas as pd

    from stressbed.config.entries import EmbedderEntry
    from stressbed.embed.vectors import VectorStore
    from stressbed.score.evaluate import SubsetScore
    from stressbed.score.items import Items


@dataclass(frozen=True)
class Setting:
    """What the cells of one embedder on one dataset share.

    Attributes:
        dataset_folder: The frozen dataset.
        manifest: Its manifest.
        texts: Its texts.
        entry: The embedder.
        embedder_identity: Hash of what decides the embedder's vectors.
        store_root: The store.
    """

    dataset_folder: Path
    manifest: Mapping[str, Any]
    texts: pd.DataFrame
    entry: EmbedderEntry
    embedder_identity: str
    store_root: Path
    _stores: dict[str, VectorStore] = field(default_factory=dict, compare=False)

    def vectors(self, embedding: Mapping[str, Any]) -> VectorStore:
        """Return the store of a manifest's vectors; its index is read once per job."""
        from stressbed.embed.vectors import VectorStore

        fitted_on = embedding.get("fitted_on") or ""
        if fitted_on not in self._stores:
            self._stores[fitted_on] = VectorStore.open_for(embedding, self.store_root)
        return self._stores[fitted_on]


def compute_cell(
    setting: Setting, job: CellJob, facts: VariantFacts, embedding: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all metrics of a cell and all values per item, whatever the main score is.

    Where rows were dropped or subsets are absent, the original is scored on the rows and subsets
    that are left, so that the difference stays paired.

    Args:
        setting: What the job's cells share.
        job: The cell.
        facts: Of its variant.
        embedding: Manifest of its vectors.

    Raises:
        ScoreError: A vector is missing.
    """
    from stressbed.dataset.rewrite import NothingLeft, rewrite
    from stressbed.dataset.thaw import thaw
    from stressbed.score.evaluate import evaluate_task, unscored
    from stressbed.score.lookup import LookupEncoder

    manifest = setting.manifest
    new = read_texts(job.transform)
    subsets = [s for s in manifest["subsets"] if s not in facts.absent]
    encoder = LookupEncoder(
        setting.vectors(embedding),
        contexts=contexts_of(embedding, setting.entry, manifest),
        similarity=embedding["similarity"],
        name=job.cell.embedder,
        where=f"{job.cell.embedder}/{job.cell.dataset}/{job.cell.variant}",
    )

    def scores(replacements: Mapping[int, str]) -> list[SubsetScore]:
        """Return the metrics on what is left of the data, with these texts in place of the original ones."""
        task = thaw(setting.dataset_folder)
        try:
            if replacements or new.dropped:
                rewrite(task, setting.texts, replacements, new.dropped)
        except NothingLeft as e:
            return [unscored(s, split, e.what) for split in manifest["splits"] for s in subsets]
        return evaluate_task(task, encoder, subsets=subsets, splits=manifest["splits"])

    found = scores(new.replacements) if subsets else []
    vectors, zero = encoder.looked_up()
    matched = scores({}) if subsets and (new.dropped or facts.absent) else None
    left = rows_left(manifest, setting.texts, new)
    return {
        "subsets": [_metrics(s) for s in found],
        "matched": None if matched is None else [_metrics(s) for s in matched],
        "vectors": vectors,
        "zero_vectors": zero,
        "items": [_items(s, items, left) for s in found for items in s.items],
    }


def _metrics(found: SubsetScore) -> dict[str, Any]:
    """Return a subset's metrics as JSON can hold them."""
    return {
        "subset": found.subset,
        "split": found.split,
        "n_items": found.n_items,
        "error": found.error,
        "metrics": found.metrics,
        "undefined": list(found.undefined),
    }


def _items(
    found: SubsetScore, items: Items, row_ids: Mapping[tuple[str, str], Sequence[str]]
) -> dict[str, Any]:
    """Return the items of a subset; numbers become the original's row numbers where rows were dropped."""
    left = row_ids.get((found.subset, found.split))
    ids: list[str] | None = None if items.ids is None else list(items.ids)
    if left is not None and items.unit == "pair":
        ids = list(left)
    elif left is not None and items.unit == "summary" and ids is not None:
        ids = [left[int(i)] for i in ids]
    return {
        "subset": found.subset,
        "split": found.split,
        "unit": items.unit,
        "ids": ids,
        "values": {m: [v if math.isfinite(v) else None for v in of] for m, of in items.values.items()},
    }


def contexts_of(
    embedding: Mapping[str, Any], entry: EmbedderEntry, manifest: Mapping[str, Any]
) -> dict[str, str]:
    """Return what stands for the instruction in the keys of each role's vectors.

    The vectors' manifest says it where the embedder has more to say than the catalogue's entry.
    """
    from stressbed.embed.instructions import instruction_for
    from stressbed.embed.protocol import ROLES

    stored: Mapping[str, str] | None = embedding.get("contexts")
    if stored is not None:
        return dict(stored)
    return {role: instruction_for(entry, manifest, role) for role in ROLES}


def rows_left(
    manifest: Mapping[str, Any], texts: pd.DataFrame, new: VariantTexts
) -> dict[tuple[str, str], list[str]]:
    """Return the row numbers that are left, by (subset, split), of tables that lost rows.

    Rows of corpora and queries have ids of their own; those are in mteb's results already.
    """
    if not new.dropped:
        return {}
    gone = texts[texts["text_id"].isin(new.dropped)]
    left: dict[tuple[str, str], list[str]] = {}
    for table in manifest["tables"]:
        place = (table["subset"], table["split"])
        lost = set(gone[(gone["subset"] == place[0]) & (gone["split"] == place[1])]["row"])
        if lost and table["table"] == "rows":
            left[place] = [str(i) for i in range(table["rows"]) if str(i) not in lost]
    return left
