"""The GPUs of a job: which are visible, and how copies of a model are laid on them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from stressbed.errors import EngineError

log = logging.getLogger("stressbed")

OVERRIDE = "STRESSBED_DEVICES"
"""Environment variable with the devices to use instead of those that are visible: `0,1` or `cpu,cpu`."""

CPU = "cpu"
"""A device of the override: a worker process that sees no GPU."""


def visible(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the devices that this job may use, in order; none without CUDA.

    Names are those of `CUDA_VISIBLE_DEVICES` (numbers or UUIDs), which a cluster sets for each job, else
    the numbers of all devices. Asking starts no CUDA context in this process.

    Args:
        environ: Environment variables.
    """
    for name in (OVERRIDE, "CUDA_VISIBLE_DEVICES"):
        if name in environ:
            named = [device.strip() for device in environ[name].split(",")]
            # As CUDA does: what stands after the first name that is none does not count.
            end = next((i for i, device in enumerate(named) if device in {"", "-1"}), len(named))
            return named[:end]
    try:
        import torch
    except ImportError:
        return []
    return [str(i) for i in range(torch.cuda.device_count())]


def groups(devices: Sequence[str], *, gpus: int, size: int, where: str) -> list[tuple[str, ...]]:
    """Return the devices of each copy of a model: the first `gpus` devices, `size` at a time.

    With fewer devices than asked for there are fewer copies, and a warning; without any there is one
    copy without a device.

    Args:
        devices: Devices of the job, in order.
        gpus: How many are asked for.
        size: How many a copy is spread over.
        where: Whose model it is.

    Raises:
        EngineError: Not even one copy has enough devices.
    """
    if not devices:
        return [()]
    usable = list(devices[:gpus])
    if len(usable) < size:
        raise EngineError(
            f"one copy of the model is spread over {size} GPUs, but the job sees {len(usable)}",
            where=f"{where}, CUDA_VISIBLE_DEVICES",
            allowed=f"at least {size} devices; visible: {', '.join(devices)}",
            do="ask for more GPUs (`--resources gpu=N`, the profile), or lower `tensor_parallel_size`",
        )
    if len(usable) < gpus:
        log.warning("%s: %d GPUs are asked for, but the job sees %d", where, gpus, len(usable))
    return [tuple(usable[i : i + size]) for i in range(0, len(usable) - size + 1, size)]


def environment(group: Sequence[str]) -> dict[str, str]:
    """Return the environment variables by which a process sees the devices of a group and no others."""
    if not group:
        return {}
    return {"CUDA_VISIBLE_DEVICES": ",".join(d for d in group if d != CPU)}


def empty_cache() -> None:
    """Give cached device memory back, where torch is loaded and holds some."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
