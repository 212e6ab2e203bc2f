"""Whether a model fits a GPU, said before minutes are spent on loading it.

The estimate is a lower bound (weights, and what one longest request keeps; no activations, no fragments), so
that no model is refused that would have fitted. Libraries may still run out of memory later, and say so.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stressbed.config.entries import EmbedderEntry, GeneratorEntry
from stressbed.errors import StressbedError

log = logging.getLogger("stressbed")

GIB = 2**30
BYTES: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True)
class Need:
    """What a model needs of each GPU at least, in bytes.

    Attributes:
        weights: Its weights.
        cache: Keys and values of one request of the longest length; 0 where none are kept.
        certain: Whether the weights follow from the files or the entry, and not from a name.
    """

    weights: float
    cache: float = 0.0
    certain: bool = True

    @property
    def total(self) -> float:
        """Both together."""
        return self.weights + self.cache


@dataclass(frozen=True)
class Memory:
    """A GPU's memory in bytes: what is free, and all of it."""

    free: float
    total: float


def file_bytes(folder: Path, dtype: str) -> float | None:
    """Return the memory of the weights in a model's folder, in bytes; None if there are no weight files.

    Files of 16 or 32 bits count as what `dtype` makes of them; quantised ones as they lie there.

    Args:
        folder: The model's folder.
        dtype: Number type in memory, or `auto` for that of the files.
    """
    size = float(sum(p.stat().st_size for p in _weight_files(folder)))
    if not size:
        return None
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return size
    stored = config.get("dtype") or config.get("torch_dtype") or config.get("text_config", {}).get("dtype")
    if config.get("quantization_config") or stored not in BYTES or dtype not in BYTES:
        return size
    return size * BYTES[dtype] / BYTES[stored]


def _weight_files(folder: Path) -> list[Path]:
    """Return the files that transformers would load: repositories may hold the same weights twice."""
    for index in ("model.safetensors.index.json", "pytorch_model.bin.index.json"):
        if (folder / index).is_file():
            named = json.loads((folder / index).read_text(encoding="utf-8"))["weight_map"].values()
            return [p for p in map(folder.joinpath, sorted(set(named))) if p.is_file()]
    for single in ("model.safetensors", "pytorch_model.bin"):
        if (folder / single).is_file():
            return [folder / single]
    return sorted(folder.glob("*.safetensors"))


def token_bytes(config: Any, dtype: str) -> int:
    """Return the memory of one token's keys and values in all layers that keep a whole prompt's, in bytes.

    Args:
        config: Configuration of a text decoder in transformers.
        dtype: Number type of the cache; `auto` counts as 16 bits.
    """
    if getattr(config, "kv_lora_rank", None):  # compressed; far less than the formula below says
        return 0
    kinds = getattr(config, "layer_types", None)
    layers = kinds.count("full_attention") if kinds else config.num_hidden_layers
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(2 * layers * heads * size * BYTES.get(dtype, 2))


def need_of(
    entry: GeneratorEntry | EmbedderEntry,
    folder: Path | None,
    *,
    config: Any = None,
    tokens: int = 0,
    gpus: int = 1,
) -> Need | None:
    """Return what a model needs of each GPU; None if nothing tells its size.

    Args:
        entry: The catalogue entry.
        folder: Folder of its files, if it is known.
        config: Its configuration, for keys and values.
        tokens: Longest prompt plus output.
        gpus: GPUs that share the model.
    """
    from stressbed.resources import bytes_per_parameter, told_parameters

    size, certain = (None if folder is None else file_bytes(folder, entry.dtype)), True
    quantised_on_loading = isinstance(entry, GeneratorEntry) and bool(entry.quantization)
    if size is None or quantised_on_loading:
        parameters = told_parameters(entry)
        if parameters is not None:
            estimate = parameters * bytes_per_parameter(entry)
            size = estimate if size is None else min(size, estimate)
            certain = entry.parameters is not None
    if size is None:
        return None
    dtype = entry.dtype
    if isinstance(entry, GeneratorEntry):
        dtype_of_cache = str(entry.engine_options.get("kv_cache_dtype", "auto"))
    else:
        dtype_of_cache = "auto"
    cache = 0.0 if config is None else float(token_bytes(config, dtype) * tokens)
    return Need(size / gpus, cache / gpus / (2 if dtype_of_cache.startswith("fp8") else 1), certain)


def check(
    need: Need | None,
    memory: Memory | None,
    *,
    where: str,
    do: str,
    share: float = 1.0,
    error: type[StressbedError],
) -> None:
    """Refuse a model that cannot fit the GPU.

    Args:
        need: What it needs of each GPU; None if unknown, then nothing is refused.
        memory: The GPU's memory; None without a GPU.
        where: The model.
        do: What the user can change.
        share: Share of all memory that the engine may use (`gpu_memory_utilization`).
        error: Error to raise.

    Raises:
        StressbedError: It does not fit. If its size is only read from its name, a warning says so instead.
    """
    if need is None or memory is None:
        return
    available = min(memory.free, share * memory.total)
    if need.total <= available:
        return
    parts = f"weights {need.weights / GIB:.1f} GiB"
    if need.cache:
        parts += f", keys and values of one longest request {need.cache / GIB:.1f} GiB"
    what = (
        f"the model needs at least {need.total / GIB:.1f} GiB of each GPU ({parts}), but "
        f"{available / GIB:.1f} GiB are available"
    )
    allowed = f"{memory.free / GIB:.1f} GiB are free of {memory.total / GIB:.1f} GiB"
    if share < 1:
        allowed += f", of which {share:.0%} may be used"
    if need.certain:
        raise error(what, where=where, allowed=allowed, do=do)
    log.warning("%s: %s (%s; its size is read from its name)", where, what, allowed)


def device_memory(device: Any = None) -> Memory | None:
    """Return the memory of a CUDA device, the present one by default; None if there is none.

    This starts CUDA in the process: ask where the model will be loaded.
    """
    import torch

    if not torch.cuda.is_available() or str(device).startswith("cpu"):
        return None
    free, total = torch.cuda.mem_get_info(device)
    return Memory(float(free), float(total))


def check_kernel(
    attention: str | None, dtype: str, where: str, *, error: type[StressbedError], cuda: bool | None = None
) -> None:
    """Refuse an attention kernel or number type that this machine does not have.

    Args:
        attention: Kernel; None for the library's choice.
        dtype: Number type.
        where: The model.
        error: Error to raise.
        cuda: Whether there is a GPU; found out by default.

    Raises:
        StressbedError: What is missing, and what would do.
    """
    if attention == "flash_attention_2":
        has = _cuda() if cuda is None else cuda
        lacks = [] if has else ["a CUDA device"]
        if importlib.util.find_spec("flash_attn") is None:
            lacks.append("the package flash-attn")
        if lacks:
            raise error(
                f"flash_attention_2 needs {' and '.join(lacks)}, which this machine does not have",
                where=f"{where}, key 'attention'",
                allowed="eager, sdpa",
                do="remove the key, or take `sdpa`: kernels differ by rounding only",
            )
    torch: Any = sys.modules.get("torch")
    if dtype == "bfloat16" and torch is not None and torch.cuda.is_available() and not _bfloat16(torch):
        log.warning(
            "%s: this GPU computes bfloat16 in software only, which is slow; float16 is another identity",
            where,
        )


def _bfloat16(torch: Any) -> bool:
    return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def _cuda() -> bool:
    import torch

    return bool(torch.cuda.is_available())


ENGINE_ADVICE = (
    "take a quantised variant of the model, spread it over several GPUs (`tensor_parallel_size`), or lower "
    "`context`; `nvidia-smi` shows who else uses the GPU"
)
EMBEDDER_ADVICE = (
    "set a `dtype` of 16 bits (which changes the vectors), take a GPU with more memory, or end what else "
    "uses it (`nvidia-smi`)"
)
