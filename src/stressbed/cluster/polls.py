"""No job is lost between Snakemake and the queue.

The executor forgets its jobs when a question to the queue fails too often in a row, as while the
controller restarts, and waits for ever for one that the queue no longer knows. Both would hang a run.
It also asks ever more rarely, so that a job that ended may be noticed three minutes later.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from stressbed.cluster.queue import QueueError

log = logging.getLogger("snakemake.logging")

ABSENCES = 2
"""A job that is unknown in so many answers in a row has failed."""


class Executor(Protocol):
    """What is used of Snakemake's interface of executor plugins."""

    next_seconds_between_status_checks: float
    check_active_jobs: Callable[[list[Any]], AsyncIterator[Any]]
    report_job_success: Callable[..., None]
    report_job_error: Callable[..., None]


def keep_every_job(
    executor: Executor, known: Callable[[], set[str]] | None = None, interval: float | None = None
) -> None:
    """Let a job leave the executor's list only when it was reported as finished or failed.

    Args:
        executor: Snakemake's, of this run.
        known: The ids of all jobs that the queue knows; raises `QueueError` where the queue does not
            answer. Without it a vanished job is waited for.
        interval: Seconds from one question to the next; by default as the executor likes.
    """
    watch = _Watch(executor, known, interval)
    executor.check_active_jobs = watch.check_active_jobs
    executor.report_job_success = watch.report_job_success
    executor.report_job_error = watch.report_job_error


class _Watch:
    """An executor's own methods, with an eye on which jobs they were called for."""

    def __init__(
        self, executor: Executor, known: Callable[[], set[str]] | None, interval: float | None
    ) -> None:
        self._executor, self._known, self._interval = executor, known, interval
        self._ask = executor.check_active_jobs
        self._success, self._error = executor.report_job_success, executor.report_job_error
        self._done: set[int] = set()
        self._absent: Counter[str] = Counter()
        self._answered = True

    def report_job_success(self, info: Any, *args: Any, **options: Any) -> None:
        """Report a job as finished; it may leave the list."""
        self._done.add(id(info))
        self._success(info, *args, **options)

    def report_job_error(self, info: Any, *args: Any, **options: Any) -> None:
        """Report a job as failed; it may leave the list."""
        self._done.add(id(info))
        self._error(info, *args, **options)

    async def check_active_jobs(self, active: list[Any]) -> AsyncIterator[Any]:
        """Let the executor ask about its jobs, then yield all that it did not report and that still exist."""
        self._done.clear()
        async for _ in self._ask(active):
            pass
        if self._interval is not None:
            self._executor.next_seconds_between_status_checks = self._interval
        left = [info for info in active if id(info) not in self._done]
        gone = self._gone(left)
        for info in left:
            if info.external_jobid in gone:
                self.report_job_error(info, msg=f"SLURM no longer knows job {info.external_jobid}.")
            else:
                yield info

    def _gone(self, left: list[Any]) -> set[str]:
        """Return the ids that were unknown in enough answers in a row; counts those that are unknown now."""
        there = self._answer() if left else None
        if there is None:
            return set()
        for info in left:
            number = str(info.external_jobid)
            absent = number not in there and "_" not in number
            self._absent[number] = self._absent[number] + 1 if absent else 0
        return {str(i.external_jobid) for i in left if self._absent[str(i.external_jobid)] >= ABSENCES}

    def _answer(self) -> set[str] | None:
        """Return the ids that the queue knows; None without an answer, which says nothing about a job."""
        if self._known is None:
            return None
        try:
            there = self._known()
        except QueueError as e:
            if self._answered:  # said once per silence, not at every question
                log.warning("%s. Its jobs are kept, and it is asked again.", e.what)
            self._answered = False
            return None
        self._answered = True
        return there
