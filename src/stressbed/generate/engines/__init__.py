"""Engines: what runs a generator. Each lives in a module that is imported only when it is opened."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from stressbed.config.engine_options import gpus_of_copy
from stressbed.config.entries import GeneratorEntry
from stressbed.generate.request import Engine

__all__ = ["open_engine"]


def open_engine(entry: GeneratorEntry, *, cache: Path, folder: Path) -> Engine:
    """Return the engine of a generator; weights are loaded by its first `complete`, not here.

    Args:
        entry: The catalogue entry.
        cache: Root of the store, where converted models are kept.
        folder: Folder that relative model paths start from.

    Raises:
        EngineError: The engine's library is not installed or its settings do not fit.
    """
    if entry.engine == "fake":
        from stressbed.generate.engines.fake import FakeEngine

        return FakeEngine(entry)
    if entry.engine == "planted":
        from stressbed.generate.engines.planted import PlantedEngine

        return PlantedEngine(entry)
    if entry.engine == "openai":
        from stressbed.generate.engines.openai_engine import OpenAIEngine

        return OpenAIEngine(entry, cache=cache)
    size = gpus_of_copy(entry)
    if max(size, entry.gpus_per_job or 1) > 1:
        from stressbed.generate.engines.sharded import ShardedEngine

        opening = partial(_one_copy, entry, cache=cache, folder=folder)
        gpus, where = entry.gpus_per_job or size, f"generator {entry.id!r}"
        return ShardedEngine(opening, gpus=gpus, size=size, where=where)
    return _one_copy(entry, cache=cache, folder=folder)


def _one_copy(entry: GeneratorEntry, *, cache: Path, folder: Path) -> Engine:
    """Return the engine of a model that runs on this machine, in this process."""
    if entry.engine == "vllm":
        from stressbed.generate.engines.vllm_engine import VllmEngine

        return VllmEngine(entry, cache=cache, folder=folder)
    from stressbed.generate.engines.transformers_engine import TransformersEngine

    return TransformersEngine(entry, cache=cache, folder=folder)
