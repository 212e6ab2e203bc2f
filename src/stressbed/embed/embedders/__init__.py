"""Embedders by backend. Only the module of the wanted backend is imported."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.protocol import Embedder, FitTexts
from stressbed.errors import EmbedError

RETRIEVAL_TYPES = frozenset({"Retrieval", "Reranking"})
"""Task types with queries and documents, the only ones in which BM25 is defined."""


def refuse_unsupported(entry: EmbedderEntry, dataset: str, task_type: str) -> None:
    """Refuse a dataset of a type that the embedder cannot do.

    Raises:
        EmbedError: The embedder is not defined for the type.
    """
    if entry.backend == "bm25" and task_type not in RETRIEVAL_TYPES:
        raise EmbedError(
            f"BM25 scores documents for a query: it is not defined for {task_type}",
            where=f"embedder {entry.id!r}, dataset {dataset!r}",
            allowed=", ".join(sorted(RETRIEVAL_TYPES)),
            do="take this pair out of the run",
        )


def check_entry(entry: EmbedderEntry) -> None:
    """Refuse an entry whose settings do not fit its backend.

    Raises:
        EmbedError: What does not fit, and what would.
    """
    where = f"embedder {entry.id!r}"
    if entry.backend == "bm25" and entry.similarity == "cosine":
        raise EmbedError(
            "the score of BM25 is a dot product of term weights",
            where=f"{where}, key 'similarity'",
            allowed="dot",
            do="set `similarity: dot`, or leave the key out",
        )
    if entry.backend == "openai" and not entry.base_url:
        raise EmbedError(
            "an embedder behind an endpoint needs its address",
            where=f"{where}, key 'base_url'",
            allowed="a URL that `/embeddings` is appended to, e.g. http://127.0.0.1:8000/v1",
        )


def open_embedder(entry: EmbedderEntry, *, catalogue_folder: Path, fit_texts: FitTexts) -> Embedder:
    """Return the embedder of a catalogue entry; no model is loaded yet.

    Args:
        entry: The catalogue entry.
        catalogue_folder: Folder that relative model paths start from.
        fit_texts: Gives the texts that a fitted embedder learns from.

    Raises:
        EmbedError: The entry's settings do not fit its backend.
    """
    check_entry(entry)
    if (entry.gpus_per_job or 1) > 1 and entry.backend in {"sentence-transformers", "mteb"}:
        from stressbed.embed.embedders.sharded import ShardedEmbedder

        opening = partial(_one_copy, entry, catalogue_folder)
        return ShardedEmbedder(opening, gpus=entry.gpus_per_job or 1, where=f"embedder {entry.id!r}")
    match entry.backend:
        case "sentence-transformers" | "mteb":
            return _one_copy(entry, catalogue_folder)
        case "wordllama":
            from stressbed.embed.embedders.static import WordLlamaEmbedder

            return WordLlamaEmbedder(entry, catalogue_folder)
        case "openai":
            from stressbed.embed.embedders.endpoint import EndpointEmbedder

            return EndpointEmbedder(entry)
        case "random" | "planted":
            return _without_model(entry)
        case _:
            from stressbed.embed.embedders.sparse import open_sparse

            return open_sparse(entry, fit_texts)


def _one_copy(entry: EmbedderEntry, catalogue_folder: Path) -> Embedder:
    """Return the embedder of a network that runs on this machine, in this process."""
    if entry.backend == "mteb":
        from stressbed.embed.embedders.registered import RegisteredEmbedder

        return RegisteredEmbedder(entry)
    from stressbed.embed.embedders.transformer import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(entry, catalogue_folder)


def _without_model(entry: EmbedderEntry) -> Embedder:
    """Return an embedder that only draws numbers."""
    if entry.backend == "random":
        from stressbed.embed.embedders.baseline import RandomEmbedder

        return RandomEmbedder(entry)
    from stressbed.embed.embedders.planted import PlantedEmbedder

    return PlantedEmbedder(entry)
