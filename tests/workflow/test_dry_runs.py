"""Every shipped config builds its whole DAG without a model, a hub or a dataset."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from workflow_project import ROOT, make_project

pytestmark = pytest.mark.workflow

CONFIGS = sorted(p.name for p in (ROOT / "config").glob("*.yaml"))

MEASURED = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.stdout.write(done.stdout + done.stderr)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("PEAK_KB", used.ru_maxrss)
print("CPU_S", used.ru_utime + used.ru_stime)
sys.exit(done.returncode)
"""


def dry_run(folder: Path, config: str) -> tuple[str, float, float]:
    """Return what a dry run says, its CPU seconds (wall time depends on other work), its peak in GB."""
    project = make_project(folder)
    command = [sys.executable, "-m", "snakemake", "-n", "--configfile", f"config/{config}"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command],
        cwd=project.folder,
        env=project.env(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    peak = re.search(r"PEAK_KB (\d+)", done.stdout)
    cpu = re.search(r"CPU_S ([\d.]+)", done.stdout)
    assert peak is not None
    assert cpu is not None
    return done.stdout, float(cpu[1]), int(peak[1]) / 1e6


def jobs(said: str) -> dict[str, int]:
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+)\s+(\d+)$", said, re.M)}


def test_there_are_configs() -> None:
    assert {"quickstart.yaml", "own-data.yaml", "hteb-english.yaml", "hteb-multilingual.yaml"} <= set(CONFIGS)


@pytest.mark.parametrize("config", CONFIGS)
def test_a_shipped_config_builds_its_dag(tmp_path: Path, config: str) -> None:
    said, seconds, memory = dry_run(tmp_path / "project", config)
    counts = jobs(said)
    run = yaml.safe_load((ROOT / "config" / config).read_text())
    if "selection" in run:  # all that a selection decides comes after its checkpoints
        listed = yaml.safe_load((ROOT / "config" / "catalogue" / "selections.yaml").read_text())["selections"]
        (chosen,) = [s for s in listed if s["id"] == run["selection"]]
        assert counts["dataset"] == counts["select_shortlist"] == counts["select_winner"] == 1
        assert counts["select_generate"] == counts["select_transform"] == len(chosen["candidates"])
    else:
        assert counts["dataset"] == len(run["datasets"])
    assert counts.get("human_sheets", 0) == ("human" in run)
    if "job_axes" not in run and "selection" not in run:
        assert counts["embed"] == counts["score"] == len(run["datasets"]) * len(run["embedders"])
    print(f"{config}: {seconds:.1f} CPU s, {memory:.2f} GB, {counts['total']} jobs")
    assert seconds < 30
    assert memory < 1.5
