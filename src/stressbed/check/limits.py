"""Checks of lengths against what a model's files, or mteb, say of it: before anything works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stressbed import model_limits
from stressbed.config.entries import EmbedderEntry, GeneratorEntry, ModelSource
from stressbed.errors import ConfigError, StressbedError
from stressbed.models import cached_folder
from stressbed.sources import PACKAGE, gguf_parts, resolve

Problem = Iterator[StressbedError]

WORDLLAMA = ("weights/l2_supercat_256.safetensors", "embedding.weight")


def check_embedder_limits(entry: EmbedderEntry, folder: Path, where: str) -> Problem:
    """Yield why a longest input or a size of vectors is beyond an embedder's model.

    Args:
        entry: The embedder.
        folder: Folder that relative paths start from.
        where: The entry, for messages.
    """
    if entry.max_length is None and entry.dimensions is None:
        return
    if entry.backend == "mteb":
        yield from _as_mteb_says(entry, where)
    place = place_of(entry, folder)
    if place is None:
        return
    if entry.backend in {"sentence-transformers", "mteb"}:
        longest = model_limits.positions(place)
        yield from _beyond(entry.max_length, longest, "max_length", "positions (config.json)", where)
    if entry.backend == "sentence-transformers":
        size = model_limits.dimensions(place, pooling=entry.pooling)
        yield from _beyond(entry.dimensions, size, "dimensions", "dimensions", where)
    if entry.backend == "wordllama" and (place / WORDLLAMA[0]).is_file():
        size = model_limits.columns(place / WORDLLAMA[0], WORDLLAMA[1])
        yield from _beyond(entry.dimensions, size, "dimensions", "dimensions", where)


def check_generator_limits(entry: GeneratorEntry, folder: Path, where: str) -> Problem:
    """Yield why a context or an output limit is beyond a generator's model.

    The default of `context` is no wish: a model with a shorter one takes its own.

    Args:
        entry: The generator.
        folder: Folder that relative paths start from.
        where: The entry, for messages.
    """
    if entry.engine not in {"transformers", "vllm"}:
        return
    place = place_of(entry, folder)
    if place is None:
        return
    if entry.gguf_file:
        parts = gguf_parts(place / entry.gguf_file)
        longest, told_by = model_limits.gguf_context(parts[0]) if parts else None, entry.gguf_file
    else:
        longest, told_by = model_limits.positions(place), "config.json"
    if "context" in entry.model_fields_set:
        yield from _beyond(entry.context, longest, "context", f"positions ({told_by})", where)
    if longest is not None and entry.limits.maximum >= longest:
        yield ConfigError(
            f"limits: an answer of {entry.limits.maximum} tokens leaves no room for a prompt in the model's "
            f"{longest} positions",
            where=where,
            do="lower `limits.maximum`",
        )


def place_of(source: ModelSource, folder: Path) -> Path | None:
    """Return the folder of a model's files if they are on this machine; nothing is fetched."""
    try:
        name = "package:wordllama" if source.model in {"wordllama", "l2_supercat"} else source.model
        place = resolve(name, folder)
    except ConfigError:
        return None
    if place.is_dir():
        return place
    return None if source.model.startswith(PACKAGE) else cached_folder(source)


def _beyond(wanted: int | None, has: int | None, key: str, unit: str, where: str) -> Problem:
    if wanted is not None and has is not None and wanted > has:
        yield ConfigError(
            f"{key} {wanted} is more than the model's {has} {unit}",
            where=f"{where}, key {key!r}",
            allowed=f"1 to {has}",
            do="lower it, or take the key out of the entry",
        )


def _as_mteb_says(entry: EmbedderEntry, where: str) -> Problem:
    from mteb.models.model_implementations import MODEL_REGISTRY

    meta = MODEL_REGISTRY.get(entry.model)
    if meta is None:
        return
    if meta.max_tokens is not None:
        yield from _beyond(entry.max_length, int(meta.max_tokens), "max_length", "tokens", where)
    sizes = meta.embed_dim if isinstance(meta.embed_dim, list) else [meta.embed_dim]
    if entry.dimensions is not None and None not in sizes and entry.dimensions not in sizes:
        yield ConfigError(
            f"dimensions {entry.dimensions} is no size of the model's vectors",
            where=f"{where}, key 'dimensions'",
            allowed=", ".join(map(str, sizes)),
        )
