"""Passes that are cut in two when memory runs out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from stressbed import devices, memory
from stressbed.errors import EngineError

log = logging.getLogger("stressbed")


def in_halves(run: Callable[[list[int]], None], passes: Iterable[list[int]], *, where: str) -> None:
    """Run each pass; one for which memory runs out is run in two halves, and so on.

    Args:
        run: Runs the requests with these numbers; after an error it is called for them again.
        passes: Numbers of the requests of each pass.
        where: Whose requests these are, for messages.

    Raises:
        EngineError: Memory runs out for a single request.
    """
    waiting = list(passes)[::-1]
    while waiting:
        part = waiting.pop()
        try:
            run(part)
            continue
        except (MemoryError, RuntimeError) as e:
            if not memory.ran_out(e):
                raise
            if len(part) == 1:
                raise EngineError(
                    "memory runs out for a single request",
                    where=where,
                    do="lower `context` or the entry's `limits`, or take a `dtype` of 16 bits",
                ) from e
        # Out of the handler, so that the error's frames and the tensors in them are gone.
        devices.empty_cache()
        half = len(part) // 2
        log.warning("%s: memory ran out with %d requests at once; going on with %d", where, len(part), half)
        waiting += [part[half:], part[:half]]
