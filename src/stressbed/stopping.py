"""Ending on SIGTERM, which SLURM sends some time before it kills: what is in flight is finished and stored.

A job ends at once (`at_once`), except where work is done batch by batch: there (`between_batches`) the
signal is noted, the batch in flight is finished and stored, and then the job ends. Either way it ends
with `StoppedError`, so that it counts as failed and is run again.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType

from stressbed.errors import StoppedError

STATUS = 128 + signal.SIGTERM
"""Exit status of a job that was asked to end: what a shell gives for a process that SIGTERM ended."""


NAP = 0.5
"""Seconds between two looks at whether the job was asked to end, while it waits."""


class _EndError(BaseException):
    """Raised by a signal: no library that catches every `Exception` may keep it."""


_open: list[Stop] = []
"""Sections that are open in this process, the innermost last."""


@dataclass
class Stop:
    """Whether the process was asked to end."""

    asked: bool = False

    def check(self, done: str, *, where: str = "") -> None:
        """End the job if it was asked to.

        Args:
            done: What is finished and stored, such as `3 of 10 batches`.
            where: Whose work it is.

        Raises:
            StoppedError: The process was asked to end.
        """
        if self.asked:
            raise stopped(done, where=where)


def stopped(done: str = "", *, where: str = "") -> StoppedError:
    """Return the error of a job that was asked to end after `done` was finished."""
    after = f" after {done}" if done else ""
    return StoppedError(
        f"stopped on request (SIGTERM){after}", where=where, do="run again: what is finished is kept"
    )


def asked() -> bool:
    """Return whether the process was asked to end while its batches are finished; for any thread."""
    return any(stop.asked for stop in _open)


def wait(seconds: float, done: str, *, where: str = "") -> None:
    """Wait, but no longer than the job may go on: servers ask for minutes, SLURM grants seconds.

    For any thread.

    Args:
        seconds: How long.
        done: What was done before, for the message.
        where: Whose work it is.

    Raises:
        StoppedError: The process was asked to end, before or meanwhile.
    """
    until = time.monotonic() + seconds  # of a clock that nobody sets
    while True:
        if asked():
            raise stopped(done, where=where)
        left = until - time.monotonic()
        if left <= 0:
            return
        time.sleep(min(left, NAP))


@contextlib.contextmanager
def between_batches() -> Iterator[Stop]:
    """Yield an object that notes SIGTERM instead of dying of it; look at it between batches.

    Outside the main thread, where Python allows no handlers, the signal keeps its usual effect.

    Raises:
        StoppedError: The signal came too late to be seen between batches: all of them are stored.
    """
    stop = Stop()

    def note(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        """Note the signal."""
        stop.asked = True  # nothing else: a handler may run in the middle of a write to the log

    _open.append(stop)
    try:
        with _handling(note):
            yield stop
    finally:
        _open.remove(stop)
    stop.check("all batches")


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Context that SIGTERM ends where the program stands: files are written atomically.

    Raises:
        StoppedError: The process was asked to end.
    """

    def end(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        """Leave the context from wherever the program stands."""
        raise _EndError

    try:
        with _handling(end):
            yield
    except _EndError:
        raise stopped() from None


@contextlib.contextmanager
def _handling(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
