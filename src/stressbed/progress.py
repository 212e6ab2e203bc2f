"""How far long work is, in the log: as single answers come, but only every few seconds."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

log = logging.getLogger("stressbed")

EVERY = 5.0
"""Seconds between two lines at least."""

SHARE = 0.02
"""Share of the time that has passed which lies between two lines at least: a day's log stays short."""


class Progress:
    """Counts what is done and says so in the log; for any number of threads.

    Args:
        what: Whose work it is, the beginning of each line.
        total: How much there is.
        unit: What is counted, in the plural.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, what: str, total: int, unit: str, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.what, self.total, self.unit = what, total, unit
        self.done = 0
        self._clock, self._lock = clock, threading.Lock()
        self._began = self._said = clock()

    def add(self, n: int = 1) -> None:
        """Count more that is done."""
        with self._lock:
            self._to(self.done + n)

    def reach(self, done: int) -> None:
        """Count up to a number, for work whose single steps are not told."""
        with self._lock:
            if done > self.done:
                self._to(done)

    def _to(self, done: int) -> None:
        self.done = done
        now = self._clock()
        passed = now - self._began
        if done < self.total and now - self._said >= max(EVERY, SHARE * passed):
            self._said = now
            rate = done / passed
            left = (self.total - done) / rate
            log.info(
                "%s: %d of %d %s, %s a second, %s left",
                self.what, done, self.total, self.unit, f"{rate:.3g}", _duration(left),
            )  # fmt: skip


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {seconds:.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
