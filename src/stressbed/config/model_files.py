"""What the files of a model on this machine hold: part of the model's identity, in place of its name.

A model from a hub has a revision. A folder has none: it can be trained further in place, replaced or moved.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.contents import content_of, contents_below
from stressbed.errors import ConfigError, StressbedError
from stressbed.sources import PACKAGE, gguf_parts, resolve

FROM_FILES = frozenset({"sentence-transformers", "wordllama", "transformers", "vllm"})
"""Backends and engines that read a model from files."""

WORDLLAMA = ("weights/*.safetensors", "tokenizers/*.json")
"""What is read of WordLlama's package."""

NOT_READ = ("*.md", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.tflite", "*.mlmodel", "*.png", "*.jpg", "*.pyc")
"""Files in a model's folder that no loader reads."""


def model_files(entry: EmbedderEntry | GeneratorEntry, folder: Path) -> dict[str, str] | None:
    """Return the hash of each file that a model is read from; None for a hub id, an endpoint, or none there.

    Args:
        entry: An embedder or a generator.
        folder: Folder that relative paths start from.
    """
    place = _place(entry, folder)
    if place is None:
        return None
    if entry.gguf_file or place.suffix == ".gguf":
        return _gguf(place / entry.gguf_file if entry.gguf_file else place)
    if place.is_file():
        return {place.name: content_of(place) or ""}
    if not place.is_dir():
        return None
    if isinstance(entry, EmbedderEntry) and entry.backend == "wordllama":
        return contents_below(place, lambda name: any(fnmatch(name, p) for p in WORDLLAMA))
    return contents_below(place, lambda name: not any(fnmatch(name.lower(), p) for p in NOT_READ))


def check_unchanged(
    entry: EmbedderEntry | GeneratorEntry, folder: Path, files: dict[str, str] | None
) -> None:
    """Refuse to work with a model whose files are no longer those that the run was started with.

    Raises:
        StressbedError: Results would be kept under the name of the former files.
    """
    now = model_files(entry, folder)
    if now == files:
        return
    differ = sorted(n for n in {*(now or {}), *(files or {})} if (now or {}).get(n) != (files or {}).get(n))
    raise StressbedError(
        "the model's files have changed since the run was started",
        where=f"{entry.id!r}, {entry.model}: {', '.join(differ[:5])}",
        do="start the run again: it takes the files as they are now",
    )


def _place(entry: EmbedderEntry | GeneratorEntry, folder: Path) -> Path | None:
    """Return where a model lies on this machine; None if its files are not the entry's."""
    how = entry.backend if isinstance(entry, EmbedderEntry) else entry.engine
    if how not in FROM_FILES:
        return None
    name = entry.model
    if how == "wordllama" and not name.startswith(PACKAGE) and "/" not in name:
        name = f"{PACKAGE}wordllama"
    try:
        place = resolve(name, folder).expanduser()
    except ConfigError:
        return None  # not installed: the check of the entry says so
    return place if place.exists() else None


def _gguf(path: Path) -> dict[str, str] | None:
    found = {part.name: content_of(part) or "" for part in gguf_parts(path)}
    return found or None
