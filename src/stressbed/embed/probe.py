"""The largest batch that a GPU takes, found by trying it on the longest strings."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from stressbed import devices, memory

log = logging.getLogger("stressbed")

MOST = 8
"""The largest size that is tried, in sizes to begin with."""

SECONDS = 5.0
"""A try that takes longer is the last one: the next would take twice as long."""


def largest(
    encode: Callable[[int], object],
    *,
    start: int,
    available: int,
    where: str,
    clock: Callable[[], float] = time.perf_counter,
) -> int:
    """Return the largest of the sizes start, 2 start, 4 start, 8 start that goes through.

    `start` itself is returned untried if nothing larger can be tried; whoever uses it must halve it when
    memory runs out. What is encoded here is thrown away, so that the batches do not depend on it otherwise.

    Args:
        encode: Encodes so many of the longest strings.
        start: Size to begin with.
        available: How many strings there are.
        where: Embedder and dataset, for messages.
        clock: Seconds, for the time limit of a try.
    """
    size = start
    while 2 * size <= min(available, MOST * start):
        began = clock()
        try:
            encode(2 * size)
        except (MemoryError, RuntimeError) as e:
            if not memory.ran_out(e):
                raise
            devices.empty_cache()
            log.info("%s: %d strings are too much for the memory", where, 2 * size)
            break
        size *= 2
        if clock() - began > SECONDS:
            break
    log.info("%s: %d strings at once", where, size)
    return size
