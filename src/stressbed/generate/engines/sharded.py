"""One engine for each GPU of a job: a batch is shared among worker processes and comes back in order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from stressbed import devices
from stressbed.generate.request import ChatRequest, Completion, Engine
from stressbed.workers import Workers, share, together

log = logging.getLogger("stressbed")


class ShardedEngine:
    """Copies of an engine in processes of their own, each on its devices.

    The i-th request of a batch goes to worker i mod n, so each batch is shared in the same way whenever it is
    asked. A batch stays the unit of storage: if a worker dies, the batch fails as a whole. One copy on one
    device, or on none, stays in this process.

    Args:
        opening: Opens one copy; picklable.
        gpus: GPUs of the job.
        size: GPUs that a copy is spread over.
        where: Whose engine it is, for messages.
        visible: Returns the devices of the job; asked at the first `complete`.

    Raises:
        EngineError: Settings of the engine do not fit.
    """

    def __init__(
        self,
        opening: Callable[[], Engine],
        *,
        gpus: int,
        size: int,
        where: str,
        visible: Callable[[], Sequence[str]] = devices.visible,
    ) -> None:
        self._opening, self._visible = opening, visible
        self._gpus, self._size, self._where = gpus, size, where
        self._here = opening()  # no weights are loaded by that; counting tokens needs none
        self._workers: Workers | None = None
        self._groups: list[tuple[str, ...]] | None = None

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, counted in this process."""
        return self._here.count_tokens(texts)

    def complete(self, requests: Sequence[ChatRequest], keys: Sequence[str]) -> list[Completion]:
        """Return one completion per request, in order.

        Raises:
            EngineError: A worker died, or its engine failed.
        """
        if self._groups is None:
            self._groups = devices.groups(
                self._visible(), gpus=self._gpus, size=self._size, where=self._where
            )
        if len(self._groups) == 1 and len(self._groups[0]) < 2:
            return self._here.complete(requests, keys)
        if self._workers is None:
            log.info("%s: %d copies, on devices %s", self._where, len(self._groups), self._groups)
            self._workers = Workers(self._opening, self._groups, where=self._where)
        n = len(self._workers)
        parts: list[tuple[Any, ...] | None] = [
            part if part[0] else None for part in zip(share(requests, n), share(keys, n), strict=True)
        ]
        return together([answers or [] for answers in self._workers.call("complete", parts)])

    def close(self) -> None:
        """End the workers and give back what this process holds."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None
        self._here.close()
