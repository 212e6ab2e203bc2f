"""A question that the queue does not answer loses no job, and a vanished job is not waited for."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import pytest

from stressbed.cluster.polls import keep_every_job
from stressbed.cluster.queue import QueueError


@dataclass
class Info:
    external_jobid: str


@dataclass
class Fake:
    """An executor like SLURM's: it yields what runs, reports what ended, forgets all when not answered."""

    states: dict[str, str] | None = field(default_factory=dict)
    succeeded: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    next_seconds_between_status_checks: float = 180

    def report_job_success(self, info):
        self.succeeded.append(info.external_jobid)

    def report_job_error(self, info, msg=None, aux_logs=None):
        self.failed.append(info.external_jobid)

    async def check_active_jobs(self, active):
        if self.states is None:
            return
        for info in active:
            state = self.states.get(info.external_jobid, "RUNNING")
            if state == "COMPLETED":
                self.report_job_success(info)
            elif state == "FAILED":
                self.report_job_error(info, msg="failed")
            else:
                yield info


def poll(executor, active):
    async def all_of():
        return [info.external_jobid async for info in executor.check_active_jobs(active)]

    return asyncio.run(all_of())


JOBS = [Info("1"), Info("2"), Info("3")]


def test_the_executor_alone_forgets_its_jobs_when_not_answered():
    assert poll(Fake(states=None), JOBS) == []


def test_no_job_is_forgotten_when_the_queue_does_not_answer():
    executor = Fake(states=None)
    keep_every_job(executor)
    assert poll(executor, JOBS) == ["1", "2", "3"]


def test_jobs_that_ended_are_reported_once_and_leave():
    executor = Fake({"1": "COMPLETED", "2": "FAILED"})
    keep_every_job(executor)
    assert poll(executor, JOBS) == ["3"]
    assert (executor.succeeded, executor.failed) == (["1"], ["2"])


def test_a_job_that_the_queue_no_longer_knows_fails_after_two_answers():
    executor = Fake()
    keep_every_job(executor, lambda: {"1", "2"})
    assert poll(executor, JOBS) == ["1", "2", "3"]
    assert poll(executor, JOBS) == ["1", "2"]
    assert executor.failed == ["3"]


def test_absences_must_be_in_a_row():
    answers = iter([{"1"}, {"1", "2"}, {"1"}, {"1"}])
    executor, jobs = Fake(), JOBS[:2]
    keep_every_job(executor, lambda: next(answers))
    assert [poll(executor, jobs) for _ in range(4)] == [["1", "2"], ["1", "2"], ["1", "2"], ["1"]]


def test_no_answer_says_nothing_about_a_job_and_is_said_once_per_silence(caplog):
    def known():
        answer = next(answers)
        if answer is None:
            raise QueueError("SLURM does not answer: no controller")
        return answer

    answers = iter([None, None, {"1", "2", "3"}, None])
    executor = Fake()
    keep_every_job(executor, known)
    assert [poll(executor, JOBS) for _ in range(4)] == [["1", "2", "3"]] * 4
    assert executor.failed == []
    assert [r.getMessage().split(".")[0] for r in caplog.records] == [
        "SLURM does not answer: no controller"
    ] * 2


def test_an_error_that_is_not_the_queues_is_not_swallowed():
    def broken():
        raise KeyError("a fault of the program")

    executor = Fake()
    keep_every_job(executor, broken)
    with pytest.raises(KeyError):
        poll(executor, JOBS)


@pytest.mark.parametrize("number", ["12_3"])
def test_a_task_of_an_array_is_left_to_the_executor(number):
    executor = Fake()
    keep_every_job(executor, set)
    assert [poll(executor, [Info(number)]) for _ in range(3)] == [[number]] * 3


@pytest.mark.parametrize(("interval", "expected"), [(None, 180), (40, 40)])
def test_questions_are_asked_at_a_steady_pace_where_one_is_given(interval, expected):
    executor = Fake()
    keep_every_job(executor, interval=interval)
    poll(executor, JOBS)
    assert executor.next_seconds_between_status_checks == expected
