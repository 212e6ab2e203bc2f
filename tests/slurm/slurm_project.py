"""Runs through SLURM: of the whole workflow, and of small rules under the shipped profile."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from workflow_project import ROOT, Project, make_project

QUICK = ("--slurm-init-seconds-before-status-checks", "4", "--latency-wait", "10")
"""The shipped profile waits longer between questions, which is right for long jobs."""


@dataclass
class SlurmProject(Project):
    """A folder with the shipped profile and a Snakefile; `config` is for the whole workflow."""

    configfile: str = ""

    def env(self) -> dict[str, str]:
        package = (self.folder if self.configfile else ROOT) / "src"
        return {**super().env(), "PYTHONPATH": str(package)}

    def command(self, *args: str) -> list[str]:
        config = ["--configfile", self.configfile] if self.configfile else []
        own = ["--workflow-profile", "profiles/slurm", *QUICK]
        return [sys.executable, "-m", "snakemake", *args, *own, *config]

    @contextlib.contextmanager
    def started(self, *args: str) -> Iterator[Started]:
        """A run in the background; it is interrupted if it still runs at the end."""
        log = (self.folder / "snakemake.out").open("a")
        process = subprocess.Popen(
            self.command(*args),
            cwd=self.folder,
            env=self.env(),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        run = Started(self, process)
        try:
            yield run
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@dataclass
class Started:
    """A run that goes on while a test does something to it."""

    project: SlurmProject
    process: subprocess.Popen[bytes]

    @property
    def said(self) -> str:
        return (self.project.folder / "snakemake.out").read_text()

    def finish(self, seconds: int = 150) -> str:
        """Return what the run printed; it must succeed."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired as e:
            raise AssertionError(f"no end in {seconds} s:\n{self.said[-6000:]}") from e
        assert self.process.returncode == 0, self.said[-6000:]
        return self.said

    def kill(self) -> None:
        """Kill Snakemake as a crashed login node does: its jobs in the queue live on."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


STEADY = """
from stressbed.cluster.polls import keep_every_job

onstart:
    keep_every_job(workflow.scheduler._executor, interval=4)
"""
"""As in stressbed's own Snakefile: the queue is asked at a steady pace."""


def whole_project(folder: Path) -> SlurmProject:
    """Return the tiny run of the workflow's own tests, for SLURM; its generator answers at once."""
    project = SlurmProject(make_project(folder).folder, "run.yaml")
    generator = {"id": "slow-fake", "engine": "fake", "model": "fake"}
    (folder / "extra.yaml").write_text(yaml.safe_dump({"generators": [generator]}))
    return project


def rules_project(folder: Path, snakefile: str) -> SlurmProject:
    """Return a project of a few rules under the shipped profile, without stressbed's own."""
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    (folder / "Snakefile").write_text(snakefile + STEADY)
    return SlurmProject(folder)


def submitted(said: str) -> list[str]:
    """Return the SLURM ids of the jobs that a run submitted."""
    return re.findall(r"submitted with SLURM jobid (\d+)", said)


def spans(file: Path) -> list[tuple[float, float]]:
    """Return (start, end) of what wrote `start NAME SECONDS` and `end NAME SECONDS` lines."""
    begun: dict[str, float] = {}
    found = []
    for line in file.read_text().splitlines():
        kind, name, at = line.split()
        if kind == "start":
            begun[name] = float(at)
        else:
            found.append((begun.pop(name), float(at)))
    return sorted(found)


def wait_for(condition, what: str, run: Started | None = None, seconds: float = 90) -> None:
    """Wait until a condition holds; what the run said is part of the error."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        if run is not None and run.process.poll() is not None:
            raise AssertionError(f"the run ended before {what}:\n{run.said[-4000:]}")
        time.sleep(0.2)
    raise AssertionError(f"waited {seconds} s for {what}:\n{run.said[-4000:] if run else ''}")
