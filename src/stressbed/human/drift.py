"""How far a rewrite is from its original under an embedder: 1 minus the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stressbed.config.check_human import FITTED
from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders import open_embedder
from stressbed.embed.encode import Item, encode_missing
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.errors import EmbedError


def drift(
    items: pd.DataFrame,
    *,
    manifests: Mapping[str, Mapping[str, Any]],
    embedder: EmbedderEntry,
    identity: str,
    folder: Path,
    store_root: Path,
) -> tuple[pd.DataFrame, int]:
    """Return the drift of each item, and how many texts had to be encoded for it.

    Texts are encoded as the dataset's texts are, with its instruction and role, but alone: a title
    without its body. What the vector store holds is not encoded again.

    Args:
        items: Columns item_id, dataset, field, original, rewrite.
        manifests: Manifest of each dataset.
        embedder: The embedder.
        identity: Hash of what decides its vectors.
        folder: Folder that relative model paths start from.
        store_root: Folder of the store.

    Returns:
        Columns item_id, drift (0: same direction, 1: orthogonal).

    Raises:
        EmbedError: The embedder is fitted on each dataset, cannot be loaded, or gives unusable vectors.
    """
    if embedder.backend in FITTED:
        raise EmbedError(
            f"the drift cannot be measured with {embedder.id!r}: it is fitted on each dataset's texts",
            where="run config, key 'human.drift_embedder'",
            do="name an embedder with a backend such as sentence-transformers",
        )
    opened = open_embedder(embedder, catalogue_folder=folder, fit_texts=lambda: [])
    store = VectorStore(store_root, identity, opened.fitted_on)
    found = pd.Series(np.nan, index=items.index)
    encoded = 0
    try:
        for dataset, part in items.groupby("dataset", sort=False):
            manifest = dict(manifests[str(dataset)])
            roles = [role_of(f) for f in part["field"]]
            contexts = {role: opened.context(role, manifest) for role in set(roles)}
            keys = [
                [vector_key(contexts[r], r, t) for r, t in zip(roles, part[c], strict=True)]
                for c in ("original", "rewrite")
            ]
            wanted = {
                k: Item.of(contexts[r], r, t, k)
                for column, listed in zip(("original", "rewrite"), keys, strict=True)
                for k, r, t in zip(listed, roles, part[column], strict=True)
            }
            missing = _missing(wanted, store)
            if missing:
                where = f"{embedder.id}/{dataset}, drift"
                encode_missing(missing, opened, manifest=manifest, store=store, where=where)
                encoded += len(missing)
            before, after = (store.get_many(k) for k in keys)
            found.loc[part.index] = 1 - cosine(before, after)
    finally:
        opened.close()
    return pd.DataFrame({"item_id": items["item_id"], "drift": found}), encoded


def role_of(field: str) -> str:
    """Return the role in which mteb has a field embedded."""
    if field.startswith("queries."):
        return "query"
    return "document" if field.startswith("corpus.") else "none"


def cosine(a: Any, b: Any) -> Any:
    """Return the cosine of each pair of rows; NaN where one of them is zero."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    scale = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip((x * y).sum(axis=1) / scale, -1, 1)


def _missing(wanted: Mapping[str, Item], store: VectorStore) -> Sequence[Item]:
    here = store.has(list(wanted))
    return [item for item, stored in zip(wanted.values(), here, strict=True) if not stored]
