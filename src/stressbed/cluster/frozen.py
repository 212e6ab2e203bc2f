"""What a run was started with, kept for its jobs: workflow, package, and the plan with its catalogue.

A job may wait for days; by then somebody has edited a script or a config. Each job reads the workflow
anew, so it would follow the edit, while those before it did not. Jobs therefore use a copy.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

import yaml

import stressbed
from stressbed.config import Plan
from stressbed.errors import StressbedError
from stressbed.fingerprint import digest

PLAN = "plan.json"
COMMIT = "COMMIT"
CONFIG = "config.yaml"
PARTS = ("Snakefile", "workflow", "src")
"""What is copied of the folder that holds the workflow."""

_LEFT_OUT = ("__pycache__", ".ipynb_checkpoints")


def freeze(plan: Plan, root: Path, store: Path, *, begun: float) -> Path:
    """Copy what a run consists of, and return the copy's folder; an equal copy is used again.

    Args:
        plan: The run.
        root: The folder with the Snakefile.
        store: Where copies lie, each under the hash of its content.
        begun: When this process began to read it (seconds since 1970).

    Raises:
        StressbedError: A file was edited since: what this process has read is not what lies there.
    """
    files = list(_files(root))
    for path in files:
        if path.stat().st_mtime > begun:
            raise StressbedError(
                "the workflow was edited while the run was starting", where=str(path), do="start it again"
            )
    text = plan.dump()
    content = {str(p.relative_to(root)): p.read_bytes() for p in files}
    target = store / digest([text, {name: digest(data.hex()) for name, data in content.items()}])
    if target.exists():
        os.utime(target)
        return target
    part = store / f".{target.name}.{os.getpid()}"
    for name, data in content.items():
        (part / name).parent.mkdir(parents=True, exist_ok=True)
        (part / name).write_bytes(data)
    (part / PLAN).write_text(text, encoding="utf-8")
    config = yaml.safe_dump(plan.config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    (part / CONFIG).write_text(config, encoding="utf-8")
    (part / "src" / COMMIT).write_text(_commit(root), encoding="utf-8")
    part.replace(target)
    return target


def thaw(folder: Path) -> Plan | None:
    """Return the plan in a copy, for a job; None if the folder is not one.

    Raises:
        StressbedError: The job's package is not the copy's.
    """
    path = folder / PLAN
    if not path.exists():
        return None
    used = Path(stressbed.__file__).resolve().parents[1]
    if used != (folder / "src").resolve():
        raise StressbedError(
            "a job uses another stressbed than its run was started with",
            where=str(used),
            do="let jobs inherit PYTHONPATH (sbatch --export=ALL); nothing in the environment may reset it",
        )
    return Plan.parse(path.read_text(encoding="utf-8"))


def forget(store: Path, used: Iterable[str], *, age: float = 3600) -> None:
    """Remove the copies that no living run uses, and no other one can be about to use.

    Args:
        store: Where copies lie.
        used: The copies of the living runs.
        age: Seconds for which a copy is kept in any case.
    """
    kept = {Path(name).name for name in used}
    for path in store.iterdir() if store.exists() else ():
        if path.is_dir() and path.name not in kept and time.time() - path.stat().st_mtime > age:
            shutil.rmtree(path, ignore_errors=True)


def _files(root: Path) -> Iterable[Path]:
    for part in PARTS:
        path = root / part
        found = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in found:
            inside = file.relative_to(root).parts
            if not any(i in _LEFT_OUT or i.startswith(".") or i.endswith(".egg-info") for i in inside):
                yield file


def _commit(root: Path) -> str:
    command = ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
