"""What each job asks a cluster for: GPUs, memory, time, as functions of model, dataset and attempt.

The estimates are meant to be too high for most jobs and are no promise: a job that exceeds them is
killed by the cluster and asked for again with more (`attempt`). Nothing in a result hangs on them.
They import no model library, since they are asked for whenever the DAG is built.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from stressbed.config import Plan
from stressbed.config.engine_options import gpus_of_copy
from stressbed.config.entries import DatasetEntry, EmbedderEntry, GeneratorEntry, ModelSource

ON_GPU = frozenset({"transformers", "vllm", "sentence-transformers", "mteb"})
"""Engines and backends that compute with a network on this machine; the others gain nothing from a GPU."""

BASE_MB: Mapping[str, int] = {
    "dataset": 2000, "texts": 2000, "generate": 3000, "judge": 3000, "transform": 2000, "embed": 2500,
    "score": 1500, "collect": 2000, "analyse": 3000, "plot": 2000, "report": 2000,
}  # fmt: skip
"""Memory (MB) of a stage without model and data: interpreters and libraries, Snakemake's own two included."""

PROCESS_MB = 3000
"""Memory (MB) of each further copy of a model on a GPU of its own: interpreter, torch, CUDA."""

BASE_MINUTES: Mapping[str, int] = {
    "dataset": 30, "texts": 30, "generate": 30, "judge": 30, "transform": 20, "embed": 20,
    "score": 20, "collect": 30, "analyse": 60, "plot": 30, "report": 30,
}  # fmt: skip
"""Minutes of a stage without work: a model's load, slow file systems, a shared node."""

UNKNOWN_TEXTS = 5000
"""Texts of a dataset whose entry says neither `n_texts` nor `row_limit`."""

UNKNOWN_PARAMETERS = 1_000_000_000
"""Size of a model whose entry has no `parameters` and whose name has no size in it."""

LONGEST = 24 * 60
"""No job asks for more minutes than this: what is left is done by its next attempt, from where it was."""

_SIZE = re.compile(r"(?<![a-z0-9.])(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)
_BITS = re.compile(r"(?:int|q|w|fp)(\d)(?![0-9])|(awq|gptq)", re.IGNORECASE)


@dataclass(frozen=True)
class Needs:
    """What the jobs of a run ask for.

    Attributes:
        plan: The run.
    """

    plan: Plan

    def of(self, stage: str) -> dict[str, Callable[..., int]]:
        """Return a rule's resources: functions of wildcards and attempt, by Snakemake's names."""
        needed: dict[str, Callable[..., int]] = {
            "mem_mb": lambda wildcards, attempt: self.mem_mb(stage, wildcards, attempt),
            "runtime": lambda wildcards, attempt: self.runtime(stage, wildcards, attempt),
        }
        if stage in {"generate", "judge", "embed"}:
            needed["gpu"] = lambda wildcards: self.gpu(stage, wildcards)
        return needed

    def gpu(self, stage: str, wildcards: Mapping[str, str]) -> int:
        """Return the number of GPUs of a job: 0 where its models would not use one."""
        return max((gpus_of(m) for m in self._models(stage, wildcards)), default=0)

    def mem_mb(self, stage: str, wildcards: Mapping[str, str], attempt: int = 1) -> int:
        """Return a job's memory in MB: doubled by each further attempt."""
        models = self._models(stage, wildcards)
        weights = max((weights_mb(m) for m in models), default=0)
        processes = max((copies_of(m) for m in models), default=1)
        base = BASE_MB[stage] + (processes - 1) * PROCESS_MB
        return (base + weights + self._data_mb(stage, wildcards)) << (attempt - 1)

    def runtime(self, stage: str, wildcards: Mapping[str, str], attempt: int = 1) -> int:
        """Return a job's time limit in minutes: doubled by each further attempt."""
        minutes = math.ceil(self._seconds(stage, wildcards) / 60)
        return min(LONGEST, (BASE_MINUTES[stage] + 2 * minutes) << (attempt - 1))

    def _data_mb(self, stage: str, wildcards: Mapping[str, str]) -> int:
        """Return the memory of a job's texts, vectors and similarities."""
        sizes = [texts_of(d) for d in self._datasets(stage, wildcards)]
        if stage in {"embed", "score"}:  # one dataset after the other: vectors of 4,096 numbers, some copies
            return max(sizes, default=0) // 20
        if stage in {"generate", "judge", "transform", "dataset", "texts"}:
            return max(sizes, default=0) // 50
        cells = len(self.plan.pairs) * len(self.plan.config.seeds or [0]) * self._transformations
        return cells // 2  # items of all cells, as tables

    def _seconds(self, stage: str, wildcards: Mapping[str, str]) -> float:
        """Return how long a job's work may take; several models or datasets one after another."""
        texts = sum(texts_of(d) for d in self._datasets(stage, wildcards))
        seeds = len(self.plan.config.seeds) or 1
        rewrites = texts * self._transformations * seeds
        billions = sum(parameters_of(m) / 1e9 for m in self._models(stage, wildcards))
        if stage in {"generate", "judge"}:  # a network of 1 billion: 20 answers a second in batches
            return rewrites * billions / 20
        if stage == "embed":  # a network of 1 billion: 100 texts a second
            return (texts + rewrites) * billions / 100
        if stage in {"transform", "score"}:
            return (texts + rewrites) / 500
        return texts / 1000

    @property
    def _transformations(self) -> int:
        return len(self.plan.transformations) or 1

    def _models(self, stage: str, wildcards: Mapping[str, str]) -> list[GeneratorEntry | EmbedderEntry]:
        """Return the models that a job loads: the one its wildcards name, or all that it may."""
        catalogue, given = self.plan.catalogue, dict(wildcards.items())
        if stage == "generate":
            names = [given["generator"]] if "generator" in given else self.plan.generators
            return [catalogue.generators[n] for n in names]
        if stage == "judge":
            return [catalogue.generators[given["judge"]]]
        if stage == "embed":
            names = [given["embedder"]] if "embedder" in given else self.plan.config.embedders
            return [catalogue.embedders[n] for n in names]
        return []

    def _datasets(self, stage: str, wildcards: Mapping[str, str]) -> list[DatasetEntry]:
        given, chosen = dict(wildcards.items()), self.plan.selection
        names: Iterable[str] = self.plan.datasets
        if "dataset" in given:
            names = [given["dataset"]]
        elif stage == "judge" and chosen is not None:
            names = [chosen.dataset]
        return [self.plan.catalogue.datasets[n] for n in names]


def gpus_of(model: GeneratorEntry | EmbedderEntry) -> int:
    """Return how many GPUs a model is run on: 0 for a remote endpoint or a model without a network."""
    kind = model.engine if isinstance(model, GeneratorEntry) else model.backend
    if kind not in ON_GPU:
        return 0
    copy = gpus_of_copy(model) if isinstance(model, GeneratorEntry) else 1
    return model.gpus_per_job or copy


def copies_of(model: GeneratorEntry | EmbedderEntry) -> int:
    """Return how many copies of a model a job runs side by side, each on GPUs of its own."""
    return max(1, gpus_of(model) // (gpus_of_copy(model) if isinstance(model, GeneratorEntry) else 1))


def weights_mb(model: GeneratorEntry | EmbedderEntry) -> int:
    """Return the memory (MB) that loading a model's weights takes, a buffer of a quarter included."""
    if gpus_of(model) == 0:
        return 0
    return math.ceil(parameters_of(model) * bytes_per_parameter(model) * 1.25 / 1e6)


def parameters_of(model: ModelSource) -> int:
    """Return a model's number of parameters: as its entry says, else as its name does, else a billion.

    A model that computes elsewhere, or without a network, has none.
    """
    if isinstance(model, GeneratorEntry | EmbedderEntry) and gpus_of(model) == 0:
        return 0
    return told_parameters(model) or UNKNOWN_PARAMETERS


def told_parameters(model: ModelSource) -> int | None:
    """Return a model's parameters as its entry says, else as its name does; None if neither does."""
    if model.parameters is not None:
        return model.parameters
    found = [float(n) * (1e9 if unit in "bB" else 1e6) for n, unit in _SIZE.findall(model.model)]
    return int(max(found)) if found else None


def bytes_per_parameter(model: GeneratorEntry | EmbedderEntry) -> float:
    """Return the bytes of one weight: fewer for a quantised model that is not unpacked."""
    told = model.quantization if isinstance(model, GeneratorEntry) else None
    bits = _BITS.search(model.model) or (_BITS.search(told) if told else None)
    if bits is not None and model.gguf_file is None:
        return int(bits[1] or 4) / 8
    return 4.0 if model.dtype == "float32" else 2.0


def texts_of(dataset: DatasetEntry) -> int:
    """Return about how many texts a dataset has."""
    sizes = [n for n in (dataset.n_texts, dataset.row_limit) if n is not None]
    return min(sizes) if sizes else UNKNOWN_TEXTS
