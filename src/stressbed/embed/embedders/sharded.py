"""One copy of an embedder for each GPU of a job: strings are shared among worker processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import numpy as np

from stressbed import devices
from stressbed.embed.protocol import Embedder, Manifest
from stressbed.embed.vectors import Floats
from stressbed.errors import EmbedError
from stressbed.workers import Workers, share


class ShardedEmbedder:
    """Copies of an embedder in processes of their own, each on its device.

    The i-th string of a call goes to worker i mod n; the vectors come back in order. A call takes n times
    as many strings as one copy does. One device, or none, stays in this process.

    Args:
        opening: Opens one copy; picklable.
        gpus: GPUs of the job.
        where: Whose embedder it is, for messages.
        visible: Returns the devices of the job; asked when something has to be encoded.
    """

    def __init__(
        self,
        opening: Callable[[], Embedder],
        *,
        gpus: int,
        where: str,
        visible: Callable[[], Sequence[str]] = devices.visible,
    ) -> None:
        self._opening, self._visible, self._gpus, self._where = opening, visible, gpus, where
        self._here = opening()
        self._workers: Workers | None = None

    @property
    def fitted_on(self) -> str:
        """What one copy says."""
        return self._here.fitted_on

    @property
    def similarity(self) -> str:
        """What one copy says."""
        return self._here.similarity

    @property
    def strings_per_call(self) -> int:
        """Those of one copy, times the copies."""
        return self._here.strings_per_call * len(self._groups)

    def context(self, role: str, manifest: Manifest) -> str:
        """Return what one copy says."""
        return self._here.context(role, manifest)

    def encode(self, strings: Sequence[str], *, role: str, manifest: Manifest) -> Floats:
        """Return one vector per string, shape (n, d), float32.

        Raises:
            EmbedError: A worker died, or its embedder failed.
            MemoryError: Too many strings at once; fewer may work.
        """
        if len(self._groups) == 1:
            return self._here.encode(strings, role=role, manifest=manifest)
        if self._workers is None:
            make = partial(_Copy, self._opening)
            self._workers = Workers(make, self._groups, where=self._where, error=EmbedError)
        parts = [(part, role, manifest) if part else None for part in share(strings, len(self._workers))]
        found = self._workers.call("encode", parts)
        first = next(f for f in found if f is not None)
        vectors = np.empty((len(strings), first.shape[1]), dtype=first.dtype)
        for k, part in enumerate(found):
            if part is not None:
                vectors[k :: len(found)] = part
        return vectors

    def close(self) -> None:
        """End the workers and give back what this process holds."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None
        self._here.close()

    @cached_property
    def _groups(self) -> list[tuple[str, ...]]:
        return devices.groups(self._visible(), gpus=self._gpus, size=1, where=self._where)


class _Copy:
    """An embedder in a worker, with positional arguments."""

    def __init__(self, opening: Callable[[], Embedder]) -> None:
        self._embedder = opening()

    def encode(self, strings: Sequence[str], role: str, manifest: Manifest) -> Floats:
        """Return one vector per string, shape (n, d), float32."""
        return self._embedder.encode(strings, role=role, manifest=manifest)

    def close(self) -> None:
        """Give back the model's memory."""
        self._embedder.close()
