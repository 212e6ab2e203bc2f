"""Jobs of runs that were killed: they would write the files that a restarted run writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from stressbed.cluster import queue
from stressbed.cluster.owners import Owner
from stressbed.cluster.queue import QueuedJob

PREFIX = "stressbed_"
"""How the names of all jobs of stressbed begin under the shipped profile."""


def orphans(queued: Sequence[QueuedJob], folder: Path, owners: Collection[Owner]) -> list[QueuedJob]:
    """Return the jobs that were submitted from a folder by a run that no longer lives.

    Args:
        queued: The user's jobs.
        folder: The workflow's working directory.
        owners: The runs that live.
    """
    names = {owner.name for owner in owners}
    here = folder.resolve()
    return [
        job
        for job in queued
        if job.name.startswith(PREFIX) and job.name not in names and job.folder.resolve() == here
    ]


def end_orphans(folder: Path, owners: Collection[Owner], say: Callable[[str], object]) -> list[str]:
    """Cancel the jobs of dead runs, wait until they are gone, and return their ids.

    What they had finished is in the store, so that at most a batch of each is lost.

    Raises:
        QueueError: SLURM does not answer, or a job does not end.
    """
    found = [job.id for job in orphans(queue.jobs(), folder, owners)]
    if found:
        say(f"Jobs that a killed run left behind are cancelled, what they stored is kept: {', '.join(found)}")
        queue.cancel(found)
    return found
