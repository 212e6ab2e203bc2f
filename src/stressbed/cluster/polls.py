"""No job is lost between Snakemake and the queue.

The executor forgets its jobs when a question to the queue fails too often in a row, as while the
controller restarts, and waits for ever for one that the queue no longer knows. Both would hang a run.
It also asks ever more rarely, so that a job that ended may be noticed three minutes later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

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
        known: The ids of all jobs that the queue knows; it may raise where the queue does not answer.
            Without it a vanished job is waited for.
        interval: Seconds from one question to the next; by default as the executor likes.
    """
    ask, success, error = executor.check_active_jobs, executor.report_job_success, executor.report_job_error
    done: set[int] = set()
    absent: Counter[str] = Counter()

    def report_job_success(info: Any, *args: Any, **options: Any) -> None:
        done.add(id(info))
        success(info, *args, **options)

    def report_job_error(info: Any, *args: Any, **options: Any) -> None:
        done.add(id(info))
        error(info, *args, **options)

    async def check_active_jobs(active: list[Any]) -> AsyncIterator[Any]:
        done.clear()
        async for _ in ask(active):
            pass
        if interval is not None:
            executor.next_seconds_between_status_checks = interval
        left = [info for info in active if id(info) not in done]
        gone = _gone(left, known, absent)
        for info in left:
            if info.external_jobid in gone:
                report_job_error(info, msg=f"SLURM no longer knows job {info.external_jobid}.")
            else:
                yield info

    executor.check_active_jobs = check_active_jobs
    executor.report_job_success = report_job_success
    executor.report_job_error = report_job_error


def _gone(left: list[Any], known: Callable[[], set[str]] | None, absent: Counter[str]) -> set[str]:
    """Return the ids that were unknown in enough answers in a row; counts in `absent`."""
    if known is None or not left:
        return set()
    try:
        there = known()
    except Exception:
        return set()  # no answer says nothing
    for info in left:
        number = str(info.external_jobid)
        absent[number] = 0 if number in there or "_" in number else absent[number] + 1
    return {str(i.external_jobid) for i in left if absent[str(i.external_jobid)] >= ABSENCES}
