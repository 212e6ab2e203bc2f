"""The score stage's work: cells of one embedder on one dataset, each from the store or computed."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.errors import ScoreError, StoreError
from stressbed.score.cell import CellJob, body, fingerprint, read_embedding, written
from stressbed.score.compute import Setting, compute_cell
from stressbed.score.kept import pack, unpack
from stressbed.score.provenance import versions
from stressbed.score.variant import VariantFacts, read_facts
from stressbed.stopping import between_batches
from stressbed.store import Store, write_bytes

if TYPE_CHECKING:
    import pandas as pd

    from stressbed.config.entries import EmbedderEntry

__all__ = ["CellJob", "ScoreStats", "score_cells", "stale_cells"]

KIND = "cells"
"""The cells' folder in the store."""


LEXICAL = frozenset({"tf", "tfidf-svd", "bm25"})
"""Backends for which a text without a word that they know is a zero vector, by their nature."""

PROVENANCE = (
    "fingerprint", "dataset_hash", "texts_hash", "embedder_identity", "versions", "seconds", "created",
)  # fmt: skip
"""What an entry of the store and a cell's file say alike."""

log = logging.getLogger("stressbed")


@dataclass(frozen=True)
class ScoreStats:
    """What a job did: cells in all, those taken from the store, those computed, and what came of all."""

    cells: int
    reused: int
    computed: int
    ok: int
    failed: int
    absent: int
    score_seconds: float


def score_cells(
    *,
    dataset_folder: Path,
    manifest: Mapping[str, Any],
    texts: pd.DataFrame,
    entry: EmbedderEntry,
    embedder_identity: str,
    cells: Sequence[CellJob],
    store_root: Path,
) -> ScoreStats:
    """Score cells of one embedder on one dataset and return how many were computed.

    Each cell that the store does not hold is computed from stored vectors and stored at once; the
    cells' files are written at the end, all together. A job that dies keeps what it stored.

    Args:
        dataset_folder: The frozen dataset.
        manifest: Its manifest.
        texts: Its texts.
        entry: The embedder.
        embedder_identity: Hash of what decides the embedder's vectors.
        cells: What to score.
        store_root: The store.

    Raises:
        ScoreError: Vectors are missing or were made for other texts.
        StoreError: An entry of the store is damaged.
        StoppedError: The job was asked to end; what is computed is stored.
    """
    setting = Setting(dataset_folder, manifest, texts, entry, embedder_identity, store_root)
    store = Store(store_root)
    started = time.perf_counter()
    records: list[tuple[CellJob, dict[str, Any]]] = []
    reused = 0
    with between_batches() as stop:
        for number, job in enumerate(cells, 1):
            record, computed = _from_store(setting, job, store, number, len(cells))
            reused += not computed
            records.append((job, _with_coordinates(job, record)))
            stop.check(f"{number} of {len(cells)} cells", where=f"{job.cell.embedder}/{job.cell.dataset}")
    for job, record in records:
        write_bytes(job.out, written(record).encode())
    status = Counter(record["status"] for _, record in records)
    return ScoreStats(
        cells=len(cells),
        reused=reused,
        computed=len(cells) - reused,
        ok=status["ok"],
        failed=status["failed"],
        absent=status["absent"],
        score_seconds=time.perf_counter() - started,
    )


def _from_store(
    setting: Setting, job: CellJob, store: Store, number: int, total: int
) -> tuple[dict[str, Any], bool]:
    """Return a cell's record from the store, and whether it had to be computed and put there first."""
    facts = read_facts(job.transform)
    embedding = read_embedding(job.embedding, setting.embedder_identity, facts)
    key = fingerprint(setting.manifest, facts, setting.embedder_identity, embedding)
    stored = store.get(KIND, key)
    computed = stored is None
    if stored is None:
        evaluation = _computed(setting, job, facts, embedding) | {"fingerprint": key}
        store.put(KIND, key, pack(evaluation))
    else:
        evaluation = unpack(stored)
    record = body(
        evaluation,
        manifest=setting.manifest,
        facts=facts,
        embedder=job.cell.embedder,
        lexical=setting.entry.backend in LEXICAL,
    ) | {name: evaluation[name] for name in PROVENANCE}
    if computed:
        _report(number, total, job, record)
    return record, computed


def stale_cells(
    *, manifest: Mapping[str, Any] | None, embedder_identity: str, cells: Sequence[CellJob], store_root: Path
) -> list[str]:
    """Return the variants among `cells` that a job would compute; cheap, for messages of a dry run.

    A cell is stale if its texts or its vectors' manifest are not there or do not fit, or if the store
    does not hold it.

    Args:
        manifest: Of the frozen dataset, or None if it is not frozen yet.
        embedder_identity: Hash of what decides the embedder's vectors.
        cells: Cells of one embedder on one dataset.
        store_root: The store.
    """
    store = Store(store_root)
    return [
        str(job.cell.variant)
        for job in cells
        if manifest is None or not _is_stored(manifest, embedder_identity, job, store)
    ]


def _is_stored(manifest: Mapping[str, Any], embedder_identity: str, job: CellJob, store: Store) -> bool:
    try:
        facts = read_facts(job.transform)
        embedding = read_embedding(job.embedding, embedder_identity, facts)
    except (FileNotFoundError, ScoreError, StoreError):
        return False
    return store.has(KIND, fingerprint(manifest, facts, embedder_identity, embedding))


def _computed(
    setting: Setting, job: CellJob, facts: VariantFacts, embedding: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a cell's metrics and items with their provenance, without a fingerprint."""
    started = time.perf_counter()
    return compute_cell(setting, job, facts, embedding) | {
        "dataset_hash": setting.manifest["content_hash"],
        "texts_hash": facts.texts_hash,
        "embedder_identity": setting.embedder_identity,
        "versions": versions(),
        "seconds": round(time.perf_counter() - started, 3),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _with_coordinates(job: CellJob, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with its coordinates in front.

    They are not stored: cells that share all that decides them share an entry.
    """
    variant = job.cell.variant
    return {
        "embedder": job.cell.embedder,
        "dataset": job.cell.dataset,
        "generator": variant.generator,
        "transformation": variant.transformation,
        "seed": variant.seed,
        **record,
    }


def _report(number: int, total: int, job: CellJob, record: Mapping[str, Any]) -> None:
    shown = (
        f"{record['score']:.2f}" if record["score"] is not None else f"{record['status']}: {record['error']}"
    )
    log.info(
        "cell %d of %d, %s/%s/%s: %s (%.2f s)", number, total, job.cell.embedder, job.cell.dataset,
        job.cell.variant, shown, record["seconds"],
    )  # fmt: skip
