"""Which jobs in the queue a killed run has left behind, and that they end before new ones start."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from stressbed.cluster import queue
from stressbed.cluster.orphans import end_orphans, orphans
from stressbed.cluster.owners import Owner
from stressbed.cluster.queue import QueuedJob, QueueError

LIVING = Owner("stressbed_living", "here", 1, 0.0, "plan")


def job(number: str, name: str, folder: Path) -> QueuedJob:
    return QueuedJob(number, name, folder)


class Queue:
    """Answers like SLURM's commands; a cancelled job is seen `linger` more times."""

    def __init__(self, lines: list[str], linger: int = 0) -> None:
        self.lines, self.linger, self.cancelled = lines, linger, list[str]()

    def __call__(self, command, **options):
        if command[0] == "scancel":
            self.cancelled += command[1:]
        elif self.cancelled:
            self.linger -= 1
        gone = self.cancelled if self.linger < 0 else []
        left = [line for line in self.lines if line.split("|")[0] not in gone]
        return subprocess.CompletedProcess(command, 0, "\n".join(left) + "\n", "")


def test_only_jobs_of_dead_runs_in_this_folder_are_orphans(tmp_path):
    other = tmp_path / "other"
    queued = [
        job("1", "stressbed_dead", tmp_path),
        job("2", LIVING.name, tmp_path),
        job("3", "stressbed_dead", other),
        job("4", "my-own-job", tmp_path),
        job("5", "stressbed_another", tmp_path / "x" / ".."),
    ]
    assert [j.id for j in orphans(queued, tmp_path, [LIVING])] == ["1", "5"]


def test_a_new_run_waits_until_cancelled_jobs_are_gone(tmp_path, monkeypatch):
    fake = Queue([f"7|stressbed_dead|{tmp_path}", f"8|{LIVING.name}|{tmp_path}"], linger=2)
    monkeypatch.setattr(queue.subprocess, "run", fake)
    monkeypatch.setattr(queue.time, "sleep", lambda s: None)
    said: list[str] = []
    assert end_orphans(tmp_path, [LIVING], said.append) == ["7"]
    assert fake.cancelled == ["7"]
    assert fake.linger < 0
    assert "7" in said[0]


def test_a_job_that_does_not_end_stops_the_new_run(tmp_path, monkeypatch):
    monkeypatch.setattr(queue.subprocess, "run", Queue([f"7|stressbed_dead|{tmp_path}"], linger=10**9))
    with pytest.raises(QueueError, match="do not end: 7"):
        queue.cancel(["7"], patience=0)


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("squeue"),
        subprocess.TimeoutExpired("squeue", 30),
        subprocess.CalledProcessError(1, "squeue", "", "Unable to contact slurm controller"),
    ],
)
def test_a_queue_that_cannot_be_asked_stops_the_new_run(tmp_path, monkeypatch, error):
    def fail(*command, **options):
        raise error

    monkeypatch.setattr(queue.subprocess, "run", fail)
    with pytest.raises(QueueError, match="does not answer"):
        end_orphans(tmp_path, [], print)


def test_nothing_is_cancelled_in_an_empty_queue(tmp_path, monkeypatch):
    fake = Queue([])
    monkeypatch.setattr(queue.subprocess, "run", fake)
    assert end_orphans(tmp_path, [], print) == []
    assert fake.cancelled == []


def test_a_folder_with_a_bar_in_its_name_is_read_whole(monkeypatch):
    monkeypatch.setattr(queue.subprocess, "run", Queue(["7|stressbed_x|/home/a|b"]))
    assert queue.jobs() == [QueuedJob("7", "stressbed_x", Path("/home/a|b"))]
