"""Work in a child of this process, which may die, be killed, or give its rights away."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

NOBODY = 65534


@contextlib.contextmanager
def child(work: Callable[[], int], said: Path) -> Iterator[int]:
    """Give the process id of a child that does some work and exits with what that returns.

    Args:
        work: What it does.
        said: Its standard error goes there.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            target = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(target, 2)
            sys.stderr = os.fdopen(2, "w", buffering=1)
            code = work()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    try:
        yield pid
    finally:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def status(pid: int) -> int:
    """Wait for a child and return its exit status, negative for the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def when(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until a condition holds."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise AssertionError("it did not happen")
        time.sleep(0.002)


def become_nobody() -> None:
    """Give up the rights of root, if this is root: its files are then read-only."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
