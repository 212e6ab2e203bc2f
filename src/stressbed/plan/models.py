"""How large a run's models are, and how long and on what they work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stressbed.config import Plan
from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.errors import StressbedError
from stressbed.plan.assumptions import Assumptions, Device
from stressbed.plan.records import Records
from stressbed.resources import bytes_per_parameter, told_parameters
from stressbed.sources import resolve
from stressbed.store import read_json

SMALL = 3.0e8
"""A run all of whose models are smaller, and none of vLLM, is judged as one on a CPU."""

WITHOUT_MODEL = frozenset({"tf", "tfidf-svd", "bm25", "random", "planted", "wordllama", "fake"})
"""Backends and engines that only count or look up."""

DIMENSIONS = {"random": 64, "planted": 128, "tfidf-svd": 256, "wordllama": 256, "tf": 16, "bm25": 32}
"""Numbers per vector; of sparse ones those that are not zero, about."""

UNKNOWN_DIMENSION = 1024
SECONDS_PER_STRING = 0.0005
"""Of an embedder without a model."""


@dataclass(frozen=True)
class Model:
    """A model of the run.

    Attributes:
        id: Catalogue id.
        role: `generator` or `embedder`.
        parameters: Its size; None if it has no weights here.
        told: Whether the size is the catalogue's or mteb's, and not read from the name.
        four_bit: Whether its weights have 4 bits.
        full: Whether they have 32.
        place: `gpu`, `cpu` or `endpoint`.
        dimension: Size of an embedder's vectors.
        dimension_told: Whether that is known.
        most_tokens: Longest input of an embedder.
    """

    id: str
    role: str
    parameters: float | None
    told: bool
    four_bit: bool
    full: bool
    place: str
    dimension: int = 0
    dimension_told: bool = True
    most_tokens: int | None = None


@dataclass(frozen=True)
class Time:
    """Seconds of work, and whether they follow from measured speeds."""

    seconds: float
    place: str
    measured: bool

    def __add__(self, other: Time) -> Time:
        """Return both together."""
        return Time(self.seconds + other.seconds, self.place, self.measured and other.measured)


def models_of(plan: Plan, device: str | None) -> dict[str, Model]:
    """Return the run's models by `generator:ID` and `embedder:ID`.

    Args:
        plan: The run.
        device: Device that the user names; `cpu` puts everything there.
    """
    found: dict[str, Model] = {}
    for g in plan.generators:
        found[f"generator:{g}"] = _generator(plan.catalogue.generators[g])
    for e in plan.config.embedders:
        found[f"embedder:{e}"] = _embedder(
            plan.catalogue.embedders[e],
            results=plan.results,
            origin=plan.catalogue.origin["embedders", e].parent,
        )
    heavy = any(m.place == "gpu" and (m.parameters or 0) >= SMALL for m in found.values())
    if device == "cpu" or (device is None and not heavy):
        found = {k: replace(m, place="cpu") if m.place == "gpu" else m for k, m in found.items()}
    return found


def _generator(entry: GeneratorEntry) -> Model:
    size, told = _size(entry, None)
    four = bytes_per_parameter(entry) < 1
    place = {"openai": "endpoint", "fake": "cpu", "planted": "cpu"}.get(entry.engine, "gpu")
    if place != "gpu":
        size = None
    return Model(entry.id, "generator", size, told, four, entry.dtype == "float32", place)


def _embedder(entry: EmbedderEntry, *, results: Path, origin: Path) -> Model:
    place = "endpoint" if entry.backend == "openai" else "cpu" if entry.backend in WITHOUT_MODEL else "gpu"
    meta = _registered(entry)
    size, told = _size(entry, getattr(meta, "n_parameters", None))
    dimension = (
        _recorded_dimension(results, entry.id)
        or entry.dimensions
        or getattr(meta, "embed_dim", None)
        or _pooled_dimension(entry, origin)
    )
    if entry.backend in {"tf", "bm25"}:
        dimension = DIMENSIONS[entry.backend]  # only numbers that are not zero are kept
    return Model(
        id=entry.id,
        role="embedder",
        parameters=None if place != "gpu" else size,
        told=told,
        four_bit=bytes_per_parameter(entry) < 1,
        full=entry.dtype == "float32",
        place=place,
        dimension=_whole(dimension) or DIMENSIONS.get(entry.backend, UNKNOWN_DIMENSION),
        dimension_told=bool(dimension) or entry.backend in DIMENSIONS,
        most_tokens=entry.max_length or _whole(getattr(meta, "max_tokens", None)),
    )


def _whole(value: Any) -> int | None:
    """Return a size as a number: some of mteb's are lists of sizes, of which the first is the usual one."""
    if isinstance(value, list | tuple):
        value = max(value, default=None)
    return int(value) if isinstance(value, int | float) and 0 < value < 1e9 else None


def _size(entry: GeneratorEntry | EmbedderEntry, registered: int | None) -> tuple[float | None, bool]:
    """Return a model's parameters, and whether the catalogue or mteb tells them and not its name alone."""
    told = entry.parameters or registered
    size = told or told_parameters(entry)
    return (None if size is None else float(size)), bool(told)


def _registered(entry: EmbedderEntry) -> Any:
    """Return what mteb's registry says of an embedder; None if it is not mteb's."""
    if entry.backend != "mteb":
        return None
    from stressbed.dataset.quiet import quiet

    quiet()
    from stressbed.embed.embedders.registered import RegisteredEmbedder

    try:
        return RegisteredEmbedder(entry).meta
    except StressbedError:  # for the job to say
        return None


def _recorded_dimension(results: Path, embedder: str) -> int | None:
    """Return the dimension that an embedding manifest of an earlier run names."""
    for path in (results / "embeddings" / embedder).glob("*/*/*/*.json"):
        try:
            return int(read_json(path)["dimension"]) or None
        except (StressbedError, KeyError, FileNotFoundError, ValueError):
            return None
    return None


def _pooled_dimension(entry: EmbedderEntry, origin: Path) -> int | None:
    """Return the dimension that the files of a sentence-transformers model on this machine name."""
    if entry.backend != "sentence-transformers":
        return None
    try:
        folder = resolve(entry.model, origin)
        found = [read_json(p) for p in folder.glob("*_Pooling/config.json")]
    except StressbedError:
        return None
    return int(found[0].get("word_embedding_dimension", 0)) or None if found else None


def writing(
    model: Model, *, text_tokens: float, all_tokens: float, tokens_out: float, jobs: int, concurrency: int,
    device: Device, records: Records, assumed: Assumptions,
) -> Time:  # fmt: skip
    """Return how long a generator takes.

    Args:
        model: The generator.
        text_tokens: Prompt tokens without instructions.
        all_tokens: All prompt tokens.
        tokens_out: Tokens of the answers.
        jobs: How often it is loaded.
        concurrency: Requests in flight at an endpoint.
        device: Where a model with weights runs.
        records: What was measured; a measured speed wins.
        assumed: What is assumed otherwise.
    """
    if not tokens_out:
        return Time(0.0, model.place, measured=True)
    measured = records.writing.get(model.id)
    if measured is not None:
        return Time(measured * tokens_out, model.place, measured=True)
    if model.place == "endpoint":
        rate = assumed.endpoint_tokens_per_second * concurrency
        return Time(tokens_out / rate, "endpoint", measured=False)
    if model.parameters is None:
        return Time(assumed.cpu.start * jobs + tokens_out * 1e-5, "cpu", measured=False)
    speed, flops = assumed.speed(model.parameters, device), device.teraflops * 1e12
    read = text_tokens if assumed.cached_prompts else all_tokens
    share = speed.write * (assumed.four_bit if model.four_bit else 1.0)
    seconds = 2 * model.parameters / flops * (read / speed.read + tokens_out / share)
    loading = assumed.loading.generator_seconds if model.place == "gpu" else assumed.cpu.start
    return Time(seconds + jobs * (loading + _load(model, assumed)), model.place, measured=False)


def encoding(
    model: Model, *, strings: float, tokens: float, jobs: int, device: Device, records: Records,
    assumed: Assumptions,
) -> Time:  # fmt: skip
    """Return how long an embedder takes.

    Args:
        model: The embedder.
        strings: Strings to encode.
        tokens: Their tokens, without instructions.
        jobs: How often it is loaded.
        device: Where a model with weights runs.
        records: What was measured; a measured speed wins.
        assumed: What is assumed otherwise.
    """
    if not strings:
        return Time(0.0, model.place, measured=True)
    measured = records.encoding.get(model.id)
    if measured is not None:
        return Time(measured * strings + jobs * assumed.cpu.start, model.place, measured=True)
    if model.parameters is None:
        return Time(jobs * assumed.cpu.start + strings * SECONDS_PER_STRING, model.place, measured=False)
    instruction = assumed.embedding_instruction_tokens if model.parameters >= 5e8 else 2
    flops = device.teraflops * 1e12 * assumed.speed(model.parameters, device).read
    seconds = 2 * model.parameters * (tokens + instruction * strings) / flops
    loading = assumed.loading.embedder_seconds if model.place == "gpu" else assumed.cpu.start
    return Time(seconds + jobs * (loading + _load(model, assumed)), model.place, measured=False)


def _load(model: Model, assumed: Assumptions) -> float:
    return weights(model, assumed) / 1e9 * assumed.loading.seconds_per_gb


def weights(model: Model, assumed: Assumptions) -> float:
    """Return the bytes of a model's files; 0 where it has none here."""
    if model.parameters is None:
        return 0.0
    return assumed.weight_bytes(model.parameters, four_bit=model.four_bit, full=model.full)
