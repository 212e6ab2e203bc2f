"""The embed stage's work: vectors for all cells of one embedder on one dataset."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed import devices
from stressbed import embed as stage
from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders import open_embedder, refuse_unsupported
from stressbed.embed.encode import Encoded, Item, encode_missing
from stressbed.embed.protocol import ROLES, Embedder
from stressbed.embed.strings import Rewrites, fit_texts, read_rewrites, strings_of_variant
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.errors import EmbedError
from stressbed.fingerprint import digest
from stressbed.paths import Variant
from stressbed.store import write_text

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger("stressbed")

Key = tuple[str, str]
"""(role, string)."""


@dataclass(frozen=True)
class EmbedStats:
    """What a job did.

    Attributes:
        strings_naive: Strings of all variants, as they would be encoded variant by variant.
        unique: Different (instruction, role, string) among them.
        reused: Of these, found in the store.
        encoded: Of these, encoded now.
        seconds: Of the whole job.
        encode_seconds: Of these, within the embedder.
        dimension: Size of the vectors, 0 if there are none.
        peak_batch: Largest batch that went through, 0 if nothing was encoded.
    """

    strings_naive: int
    unique: int
    reused: int
    encoded: int
    seconds: float
    encode_seconds: float
    dimension: int
    peak_batch: int


def embed(
    *,
    dataset: str,
    manifest: dict[str, Any],
    texts: pd.DataFrame,
    inputs: pd.DataFrame,
    transforms: Mapping[Variant, Path],
    entry: EmbedderEntry,
    embedder_identity: str,
    catalogue_folder: Path,
    store_root: Path,
    outputs: Mapping[Variant, Path],
    dataset_folder: Path,
) -> EmbedStats:
    """Encode each (instruction, role, string) of all variants once, write their manifests, return the counts.

    What the store holds is not encoded again, and no model is loaded if it holds everything. The
    manifests are written at the end, all together.

    Args:
        dataset: Catalogue id of the dataset.
        manifest: Its manifest.
        texts: Its `texts.parquet`.
        inputs: Its `inputs.parquet`.
        transforms: Transforms file of each variant in `outputs` except the original.
        entry: The embedder.
        embedder_identity: Hash of what decides its vectors.
        catalogue_folder: Folder that relative model paths start from.
        store_root: Folder of the store.
        outputs: Where each variant's manifest goes.
        dataset_folder: The frozen dataset.

    Raises:
        EmbedError: The model cannot be loaded, cannot do this task type, or gives unusable vectors.
        StoreError: What is stored is damaged.
        StoppedError: The process was asked to end; what was encoded is stored.
    """
    started = time.perf_counter()
    where = f"{entry.id}/{dataset}"
    refuse_unsupported(entry, dataset, str(manifest["task_type"]))
    embedder = open_embedder(entry, catalogue_folder=catalogue_folder, fit_texts=fit_texts(texts, inputs))
    contexts = {role: embedder.context(role, manifest) for role in ROLES}
    rewrites = {v: _rewrites_of(v, transforms) for v in outputs}
    keys: dict[Key, str] = {}
    keys_of = {
        v: _keys_of(strings_of_variant(r, texts, inputs, dataset_folder), contexts, keys)
        for v, r in rewrites.items()
    }
    store = VectorStore(store_root, embedder_identity, embedder.fitted_on)
    probing = entry.batch_size == "auto"
    done = _encode(_missing(keys, contexts, store), embedder, manifest, store, where, probing=probing)
    dimension = store.dimension or 0
    shared = _shared(
        embedder=entry.id,
        identity=embedder_identity,
        similarity=embedder.similarity,
        fitted_on=embedder.fitted_on,
        dataset=dataset,
        manifest=manifest,
        contexts=contexts,
        dimension=dimension,
    )
    for variant, path in outputs.items():
        _write_manifest(path, shared, variant, rewrites[variant].content_hash, sorted(keys_of[variant]))
    stats = EmbedStats(
        strings_naive=sum(map(len, keys_of.values())),
        unique=len(keys),
        reused=len(keys) - done.encoded,
        encoded=done.encoded,
        seconds=time.perf_counter() - started,
        encode_seconds=done.seconds,
        dimension=dimension,
        peak_batch=done.peak_batch,
    )
    log.info(
        "%s: %d strings, %d different, %d from the store, %d encoded in %.1f s",
        where, stats.strings_naive, stats.unique, stats.reused, stats.encoded, stats.seconds,
    )  # fmt: skip
    return stats


def _rewrites_of(variant: Variant, transforms: Mapping[Variant, Path]) -> Rewrites:
    if variant.is_original:
        return Rewrites({})
    if variant not in transforms:
        raise EmbedError(
            f"no transforms file was given for the variant {variant}",
            allowed=", ".join(map(str, sorted(transforms))) or "none were given",
        )
    return read_rewrites(transforms[variant])


def _keys_of(strings: Iterable[Key], contexts: Mapping[str, str], known: dict[Key, str]) -> list[str]:
    """Return the keys of a variant's strings, in order; those that are new are added to `known`.

    Variants of a large corpus share most of their strings: each is held once, and of a variant its keys only.
    """
    found = []
    for role, string in strings:
        key = known.get((role, string))
        if key is None:
            key = known[role, string] = vector_key(contexts[role], role, string)
        found.append(key)
    return found


def _missing(keys: Mapping[Key, str], contexts: Mapping[str, str], store: VectorStore) -> list[Item]:
    """Return the strings whose vectors are not stored."""
    here = store.has(list(keys.values()))
    return [
        Item.of(contexts[role], role, string, key)
        for ((role, string), key), stored in zip(keys.items(), here, strict=True)
        if not stored
    ]


def _encode(
    missing: Sequence[Item],
    embedder: Embedder,
    manifest: dict[str, Any],
    store: VectorStore,
    where: str,
    *,
    probing: bool,
) -> Encoded:
    if not missing:
        return Encoded(0, 0.0, 0)
    try:
        probing = probing and bool(devices.visible())  # on a CPU large batches gain nothing
        return encode_missing(missing, embedder, manifest=manifest, store=store, where=where, probing=probing)
    finally:
        embedder.close()


def _shared(
    *,
    embedder: str,
    identity: str,
    similarity: str,
    fitted_on: str,
    dataset: str,
    manifest: Mapping[str, Any],
    contexts: Mapping[str, str],
    dimension: int,
) -> dict[str, Any]:
    """Return what the embedding manifests of all variants say alike."""
    return {
        "embedder": embedder,
        "embedder_identity": identity,
        "fitted_on": fitted_on,
        "dataset": dataset,
        "dataset_hash": manifest["content_hash"],
        "similarity": similarity,
        "contexts": contexts,
        "dimension": dimension,
        "stage_version": stage.VERSION,
    }


def _write_manifest(
    path: Path, shared: Mapping[str, Any], variant: Variant, texts_hash: str, keys: Sequence[str]
) -> None:
    """Write a variant's embedding manifest.

    It holds no times: the same vectors give the same file, so that nothing after it is redone.
    """
    record = {
        **shared,
        "variant": str(variant),
        "n_strings": len(keys),
        "keys_hash": digest(list(keys)),
        "texts_hash": texts_hash,
    }
    record["fingerprint"] = digest(record)
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
