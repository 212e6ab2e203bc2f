"""Snakemake's report, written when a run has finished."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stressbed.select.winner import winner_path

if TYPE_CHECKING:
    from stressbed.workflow import Grid

log = logging.getLogger("stressbed")


def write_report(grid: Grid, snakefile: str | Path = "Snakefile") -> Path | None:
    """Write `report.html` of the run and return its path, or None if the run has no results yet.

    Snakemake is asked in a process of its own, with the run's resolved config, because a running
    workflow cannot report on itself. A report that fails is logged and does not fail the run.
    """
    folder = grid.plan.run_folder
    config, out = folder / "config.yaml", folder / "report.html"
    done = winner_path(grid.plan) if grid.plan.only_selects else folder / "summary.json"
    if not config.exists() or not done.exists():
        return None
    part = out.with_suffix(".part.html")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--configfile", str(config)]
    command += ["--report", str(part), "--nolock", "--quiet", "all"]
    env = {**os.environ, "TQDM_DISABLE": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if ended.returncode != 0 or not part.exists():
        log.error("the report could not be written:\n%s", ended.stderr[-2000:])
        part.unlink(missing_ok=True)
        return None
    part.replace(out)
    return out
