"""SLURM's queue, through its own commands."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stressbed.errors import StressbedError

SECONDS = 30
"""A command that has not answered by then counts as failed."""


class QueueError(StressbedError):
    """SLURM does not answer, or not as it should."""


@dataclass(frozen=True)
class QueuedJob:
    """A job of this user in the queue: waiting, running or just ending.

    Attributes:
        id: SLURM's number.
        name: The job's name; the executor gives all jobs of a run the same.
        folder: The folder that it was submitted from.
    """

    id: str
    name: str
    folder: Path


def jobs() -> list[QueuedJob]:
    """Return this user's jobs that have not ended.

    Raises:
        QueueError: The controller does not answer.
    """
    out = _ask("squeue", "--noheader", f"--user={os.getuid()}", "--format=%i|%j|%Z")
    found = [line.split("|", 2) for line in out.splitlines() if line.count("|") >= 2]
    return [QueuedJob(number.strip(), name.strip(), Path(folder.strip())) for number, name, folder in found]


def known(name: str) -> set[str]:
    """Return the ids of all jobs of a name that SLURM knows, those that ended not long ago included.

    Raises:
        QueueError: The controller does not answer.
    """
    return set(_ask("squeue", "--noheader", "--states=all", f"--name={name}", "--format=%i").split())


def cancel(ids: Sequence[str], *, patience: float = 300) -> None:
    """Cancel jobs and wait until none of their processes is left.

    Args:
        ids: SLURM's numbers.
        patience: Seconds to wait.

    Raises:
        QueueError: They do not end in time, or the controller does not answer.
    """
    _ask("scancel", *ids)
    end = time.monotonic() + patience
    while left := sorted({j.id for j in jobs()} & set(ids)):
        if time.monotonic() > end:
            raise QueueError(
                f"jobs of an earlier run do not end: {', '.join(left)}",
                where="squeue",
                do="wait until they are gone, or ask the cluster's administrators; then start again",
            )
        time.sleep(1)


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as e:
        said = str(getattr(e, "stderr", "") or e).strip()
        raise QueueError(
            f"SLURM does not answer: {said:.300}",
            where=" ".join(command[:3]),
            do="start again when `squeue` works",
        ) from e
    return done.stdout
