"""Stopping between batches: a polite signal never costs more than the batch in flight."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType


@dataclass
class Stop:
    """Whether the process was asked to end."""

    asked: bool = False


@contextlib.contextmanager
def on_sigterm() -> Iterator[Stop]:
    """Yield an object that notes SIGTERM instead of dying of it; the old handler comes back at the end.

    Outside the main thread, where Python allows no handlers, the signal keeps its usual effect.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def note(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001
        stop.asked = True

    before = signal.signal(signal.SIGTERM, note)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGTERM, before)
