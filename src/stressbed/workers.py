"""Worker processes: one object in each, on devices of its own, called side by side.

Not `multiprocessing`: its start method `spawn` runs the main module again in each child, and a job's main
module is a script that does the whole job. Workers are `python -m stressbed.worker` instead, so what they
hold may start processes of its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from stressbed import devices
from stressbed.errors import EngineError, StressbedError

log = logging.getLogger("stressbed")

T = TypeVar("T")

PATIENCE = 30.0
"""Seconds that a worker has to end by itself when it is told to."""


def share(items: Sequence[T], n: int) -> list[list[T]]:
    """Return the items in `n` parts: the i-th goes to part i mod n, so sorted lengths are shared evenly."""
    return [list(items[k::n]) for k in range(n)]


def together(parts: Sequence[Sequence[T]]) -> list[T]:
    """Return the items of `share`'s parts in their first order.

    Raises:
        ValueError: The parts are not of the sizes that `share` gives.
    """
    total, n = sum(map(len, parts)), len(parts)
    if [len(p) for p in parts] != [len(range(k, total, n)) for k in range(n)]:
        raise ValueError(f"parts of sizes {[len(p) for p in parts]} do not belong together")
    return [parts[i % n][i // n] for i in range(total)]


@dataclass(frozen=True)
class _Worker:
    """A process and the connection to it.

    Attributes:
        label: `worker 2 of 4 (device 1)`, for messages.
        process: The process.
        connection: Our end.
    """

    label: str
    process: subprocess.Popen[bytes]
    connection: Connection


class Workers:
    """Objects that live in processes of their own, one for each group of devices.

    Args:
        make: Makes the object, in the worker; it and all arguments must be picklable.
        groups: Devices of each worker (`devices.groups`).
        where: Whose workers these are, for messages.
        error: Error to raise for a worker that dies or fails.

    Raises:
        StressbedError: An object could not be made, or a worker died meanwhile.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        groups: Sequence[tuple[str, ...]],
        *,
        where: str,
        error: type[StressbedError] = EngineError,
    ) -> None:
        self.where, self.error = where, error
        self._workers: list[_Worker] = []
        try:
            for i, group in enumerate(groups, 1):
                self._workers.append(_start(f"worker {i} of {len(groups)}", group, len(groups)))
            self._all([(sys.path, pickle.dumps(make))] * len(groups))
        except BaseException:  # a KeyboardInterrupt too: no process may stay behind
            self.close()
            raise

    def __len__(self) -> int:
        """Return the number of workers."""
        return len(self._workers)

    def call(self, method: str, parts: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """Return what a method returns in each worker, in order of the workers; None where nothing is asked.

        Args:
            method: Name of the object's method.
            parts: Arguments for each worker; None leaves one out.

        Raises:
            StressbedError: A worker died (the message says which), or its object raised this error.
            MemoryError: Memory ran out in a worker; the workers can be called again.
        """
        if not self._workers:
            raise self.error("the workers have ended", where=self.where)
        return self._all([None if arguments is None else (method, arguments) for arguments in parts])

    def close(self) -> None:
        """End the workers: they are told to, and killed if they do not listen."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.connection.close()
        for worker in workers:
            try:
                worker.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                log.warning("%s: %s does not end; killed", self.where, worker.label)
                _kill(worker)

    def _all(self, messages: Sequence[Any]) -> list[Any]:
        """Send each worker its message and return the replies, all of them waited for before one's error."""
        asked = {}
        for worker, message in zip(self._workers, messages, strict=True):
            if message is not None:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it is found dead below
                    worker.connection.send(message)
                asked[worker.connection] = worker
        replies: dict[str, tuple[str, Any]] = {}
        while asked:
            for ready in wait(list(asked)):
                worker = asked[ready]  # type: ignore[index]
                try:
                    kind, *content = worker.connection.recv()
                except (EOFError, ConnectionResetError):
                    raise self._died(worker) from None
                if kind == "log":
                    log.log(content[0], "%s: %s", worker.label, content[1])
                else:
                    replies[worker.label] = (kind, content[0])
                    del asked[ready]  # type: ignore[arg-type]
        for label, (kind, content) in replies.items():
            if kind == "error":
                log.warning("%s: %s", label, str(content).splitlines()[0])
                raise content
            if kind == "failed":
                log.error("%s failed\n%s", label, content)
                last = content.strip().splitlines()[-1]
                raise self.error(f"{label} failed: {last}", where=self.where, do="read the log above")
        return [replies[w.label][1] if w.label in replies else None for w in self._workers]

    def _died(self, worker: _Worker) -> StressbedError:
        """Return the error of a worker that is gone; the others are killed, since their part is of no use."""
        try:
            status = worker.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = 0
        workers, self._workers = self._workers, []
        for one in workers:
            one.connection.close()
            _kill(one)
        how = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
        return self.error(
            f"{worker.label} died ({how}) while the others were at work",
            where=self.where,
            do="read the log above this message (SIGKILL mostly means that memory ran out), "
            "then run again: finished batches are kept",
        )


def _start(label: str, group: Sequence[str], n: int) -> _Worker:
    ours, theirs = socket.socketpair()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    environ = {"OMP_NUM_THREADS": str(max(1, cores // n)), **os.environ, **devices.environment(group)}
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "stressbed.worker", str(theirs.fileno()), str(os.getpid())],
            pass_fds=[theirs.fileno()], env=environ, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    finally:
        theirs.close()
    name = f"{label} (device {','.join(group)})" if group else label
    return _Worker(name, process, Connection(ours.detach()))


def _kill(worker: _Worker) -> None:
    worker.process.kill()
    worker.process.wait()
