"""The process behind `stressbed.workers`: `python -m stressbed.worker FD PARENT`.

It makes one object, calls its methods as it is told over the connection, and ends with its parent.
"""

from __future__ import annotations

import atexit
import gc
import logging
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from stressbed import devices, memory
from stressbed.errors import StressbedError

LOOK = 1.0
"""Seconds between two looks at whether the parent is still there."""


class _Relay(logging.Handler):
    """Hands log records to the parent, whose log is the job's."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record's level and text; those of other threads would come between two messages."""
        if threading.get_ident() == self._thread:
            self._connection.send(("log", record.levelno, record.getMessage()))


def main(fd: int, parent: int) -> None:
    """Serve calls until the connection ends."""
    # The parent decides when to end: a batch in flight is finished first. Not SIG_IGN, which processes
    # that the object starts would inherit.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _note)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    connection = Connection(fd)
    log = logging.getLogger("stressbed")
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(_Relay(connection))
    made: Any = None
    try:
        # The path first: what makes the object may lie where only the parent looks for modules.
        sys.path[:], pickled = connection.recv()
        made = _answer(connection, partial(_make, pickled), keep=True)
        while made is not None:
            method, arguments = connection.recv()
            _answer(connection, partial(getattr(made, method), *arguments))
    except (EOFError, ConnectionResetError, BrokenPipeError):
        pass  # the parent has closed its end, or is gone
    close = getattr(made, "close", None)
    if close is not None:
        close()
    # What was registered to happen at the end happens; taking torch apart object by object, which takes
    # seconds and serves nothing, does not.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _make(pickled: bytes) -> Any:
    return pickle.loads(pickled)()  # noqa: S301  # from the parent


def _answer(connection: Connection, function: Callable[[], Any], *, keep: bool = False) -> Any:
    """Send what a function returns, or its error; with `keep` return it instead, None on an error."""
    try:
        value = function()
    except StressbedError as e:
        connection.send(("error", e))
    except Exception as e:  # whatever a model's library raises: the parent raises it, this process lives on
        if memory.ran_out(e):
            # The error's frames hold tensors: without them the next, smaller call has their memory.
            connection.send(("error", MemoryError(f"{type(e).__name__}: {e}")))
        else:
            connection.send(("failed", traceback.format_exc()))
    else:
        connection.send(("ok", None if keep else value))
        return value
    gc.collect()
    devices.empty_cache()
    return None


def _note(signum: int, frame: FrameType | None) -> None:
    """Do nothing."""


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a batch nobody waits for would keep the device."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
