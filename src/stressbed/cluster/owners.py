"""Which process a run's jobs belong to, and whether it still lives.

A record lies in `.snakemake/stressbed/runs/` as long as the process does; it is touched now and then,
since another login node cannot see whether a process of this one lives.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from stressbed.store import write_text

BEAT = 20.0
"""Seconds between two touches of a record."""

SILENCE = 90.0
"""A record of another machine that was not touched for so many seconds belongs to a dead process."""


@dataclass(frozen=True)
class Owner:
    """The process of a run.

    Attributes:
        name: The name of all its jobs in the queue.
        host: Its machine.
        pid: Its number there.
        born: When it began (seconds since 1970): numbers are used again.
        plan: The folder of what it was started with.
    """

    name: str
    host: str
    pid: int
    born: float
    plan: str

    @classmethod
    def this_process(cls, name: str, plan: Path) -> Owner:
        """Return the owner of the jobs that this process submits."""
        me = psutil.Process()
        return cls(name, socket.gethostname(), me.pid, me.create_time(), str(plan))


def claim(folder: Path, owner: Owner) -> Path:
    """Write this process's record, keep it alive until the process ends, and return its path."""
    path = folder / f"{owner.name}.json"
    write_text(path, json.dumps(asdict(owner)) + "\n")
    threading.Thread(target=_beat, args=(path,), daemon=True).start()
    atexit.register(path.unlink, missing_ok=True)
    return path


def living(folder: Path, *, silence: float = SILENCE) -> list[Owner]:
    """Return the owners whose process lives; records of dead ones are removed.

    Args:
        folder: Where the records lie.
        silence: Seconds that another machine's process must be silent to count as dead. A shorter
            silence is waited out.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        owner = _read(path)
        if owner is None or not _lives(owner, path, silence):
            path.unlink(missing_ok=True)
        else:
            found.append(owner)
    return found


def _read(path: Path) -> Owner | None:
    try:
        return Owner(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # cut off by the death of its process


def _lives(owner: Owner, path: Path, silence: float) -> bool:
    if owner.host == socket.gethostname():
        try:
            return abs(psutil.Process(owner.pid).create_time() - owner.born) < 2
        except psutil.Error:
            return False
    return _beats(path, silence)


def _beats(path: Path, silence: float) -> bool:
    """Return whether a record is touched within the silence, by the file system's own clock."""
    clock = path.with_name(f".{os.getpid()}.clock")
    try:
        clock.touch()
        first = path.stat().st_mtime
        end = time.monotonic() + silence - (clock.stat().st_mtime - first)
        while time.monotonic() < end:
            time.sleep(min(1.0, silence / 10))
            if path.stat().st_mtime != first:
                return True
        return path.stat().st_mtime != first
    except FileNotFoundError:
        return False  # its process has just ended
    finally:
        clock.unlink(missing_ok=True)


def _beat(path: Path) -> None:
    while path.exists():
        os.utime(path)
        time.sleep(BEAT)
