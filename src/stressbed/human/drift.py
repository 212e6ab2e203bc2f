"""How far a rewrite is from its original under an embedder: 1 minus the cosine of their vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stressbed.config.entries import FITTED, EmbedderEntry
from stressbed.embed.embedders import open_embedder
from stressbed.embed.encode import Item, encode_missing
from stressbed.embed.protocol import Embedder
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
            manifest = manifests[str(dataset)]
            before, after = (_strings(part, column, opened, manifest) for column in ("original", "rewrite"))
            missing = _missing({i.key: i for i in (*before, *after)}, store)
            if missing:
                where = f"{embedder.id}/{dataset}, drift"
                encode_missing(missing, opened, manifest=manifest, store=store, where=where)
                encoded += len(missing)
            vectors = (store.get_many([i.key for i in strings]) for strings in (before, after))
            found.loc[part.index] = 1 - cosine(*vectors)
    finally:
        opened.close()
    return pd.DataFrame({"item_id": items["item_id"], "drift": found}), encoded


def _strings(part: pd.DataFrame, column: str, embedder: Embedder, manifest: Mapping[str, Any]) -> list[Item]:
    """Return the texts of a column as they are encoded, row by row."""
    roles = [role_of(field) for field in part["field"]]
    contexts = {role: embedder.context(role, manifest) for role in set(roles)}
    return [
        Item.of(contexts[role], role, text, vector_key(contexts[role], role, text))
        for role, text in zip(roles, part[column], strict=True)
    ]


def role_of(field: str) -> str:
    """Return the role in which mteb has a field embedded."""
    if field.startswith("queries."):
        return "query"
    return "document" if field.startswith("corpus.") else "none"


def cosine(a: Any, b: Any) -> Any:
    """Return the cosine of each pair of rows, shape (n,); NaN where one of them is zero.

    Args:
        a: Shape (n, d).
        b: Shape (n, d).
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    scale = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip((x * y).sum(axis=1) / scale, -1, 1)


def _missing(wanted: Mapping[str, Item], store: VectorStore) -> Sequence[Item]:
    """Return the strings, by key, whose vectors are not stored."""
    here = store.has(list(wanted))
    return [item for item, stored in zip(wanted.values(), here, strict=True) if not stored]
