"""Real, small runs of the workflow in a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]

CATALOGUE = {
    "generators": [
        {
            "id": "slow-fake",
            "engine": "fake",
            "model": "fake",
            "description": "For tests: deterministic rewrites, one batch after another.",
            "batch_size": 4,
        }
    ]
}


@dataclass
class Project:
    """A copy of the workflow and its configs; the package is the copy's own."""

    folder: Path

    def env(self) -> dict[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "OMP_NUM_THREADS": "1",
            "TQDM_DISABLE": "1",
            "HF_HUB_OFFLINE": "1",
        }

    def command(self, *args: str) -> list[str]:
        # Targets come first: --configfile would take them for further config files.
        return [sys.executable, "-m", "snakemake", *args, "--cores", "2", "--configfile", "run.yaml"]

    def run(self, *args: str, check: bool = True, timeout: int = 300) -> str:
        """Run Snakemake and return what it printed."""
        done = subprocess.run(
            self.command(*args),
            cwd=self.folder,
            env=self.env(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"snakemake {args} failed:\n{done.stdout[-6000:]}")
        return done.stdout

    def kill_in(self, stage: str, timeout: int = 120) -> None:
        """Start a run and kill it and its jobs, without a chance to clean up, once a stage works."""
        log = self.folder / "results" / "logs" / stage
        before = {p: p.stat().st_size for p in log.rglob("*.log")}
        process = subprocess.Popen(
            self.command(),
            cwd=self.folder,
            env=self.env(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + timeout
        try:
            while time.monotonic() < deadline:
                if any(p.stat().st_size > before.get(p, 0) for p in log.rglob("*.log")):
                    time.sleep(0.2)
                    return
                if process.poll() is not None:
                    raise AssertionError(f"the run ended before {stage} started")
                time.sleep(0.02)
            raise AssertionError(f"{stage} did not start in {timeout} s")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self.run("--unlock", check=False)

    def config(self, **changes: Any) -> None:
        """Write the run config with changes."""
        path = self.folder / "run.yaml"
        old = yaml.safe_load(path.read_text()) if path.exists() else {}
        path.write_text(yaml.safe_dump({**old, **changes}))

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text in a file of the project."""
        path = self.folder / name
        text = path.read_text()
        assert old in text, f"{old!r} is not in {name}"
        path.write_text(text.replace(old, new))

    def cells(self) -> dict[str, dict[str, Any]]:
        """Return every cell's record by its path below `scores/`."""
        root = self.folder / "results" / "scores"
        return {
            str(p.relative_to(root).with_suffix("")): json.loads(p.read_text())
            for p in sorted(root.rglob("*.json"))
        }

    def fingerprints(self) -> dict[str, str]:
        """Return every cell's fingerprint."""
        return {name: cell["fingerprint"] for name, cell in self.cells().items()}

    def counters(self, stage: str) -> dict[str, float]:
        """Return the sums of the counters of a stage's last jobs."""
        total: dict[str, float] = {}
        for path in (self.folder / "results" / "jobs" / stage).rglob("*.json"):
            for key, value in json.loads(path.read_text())["counters"].items():
                if isinstance(value, int | float):
                    total[key] = total.get(key, 0) + value
        return total

    def copy(self, folder: Path) -> Project:
        """Return a copy of the project, results, file times and Snakemake's records included."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder)


def make_project(folder: Path) -> Project:
    """Return a fresh project with a tiny run: two datasets, two embedders, no model."""
    for name in ("workflow", "profiles", "config", "src"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "Snakefile", folder / "Snakefile")
    (folder / "extra.yaml").write_text(yaml.safe_dump(CATALOGUE))
    project = Project(folder)
    project.config(
        run="tiny",
        datasets=["helpdesk-pairs"],
        embedders=["random", "tf"],
        generator="slow-fake",
        transformations=["paraphrasing", "translation"],
        seeds=[1, 2],
        catalogue=["config/own-data/catalogue.yaml", "extra.yaml"],
    )
    return project
