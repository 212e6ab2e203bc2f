"""What happens when a run with a queue begins, before its first job is submitted."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import psutil

from stressbed.cluster import queue
from stressbed.cluster.frozen import CONFIG, forget, freeze
from stressbed.cluster.orphans import end_orphans
from stressbed.cluster.owners import Owner, claim, living
from stressbed.cluster.polls import keep_every_job
from stressbed.config import Plan
from stressbed.errors import StressbedError

FOLDER = Path(".snakemake/stressbed")

STARTUP = 2.0
"""Seconds that a process takes before it reads the workflow; its birth is not known more exactly either."""

log = logging.getLogger("snakemake.logging")


def begin(workflow: Any, plan: Plan) -> None:
    """Prepare a run whose jobs wait in a queue; a run on this machine needs nothing.

    Orphans of killed runs end, jobs get a copy of the workflow and the plan, and the executor loses none.

    Args:
        workflow: Snakemake's.
        plan: The run.
    """
    if not workflow.non_local_exec:
        return
    try:
        _begin(workflow, plan)
    except StressbedError as error:
        sys.exit(f"\n{error}\n")  # a user's matter needs its message, not a traceback of the workflow


def _begin(workflow: Any, plan: Plan) -> None:
    executor = workflow.scheduler._executor
    slurm = workflow.executor_plugin.name == "slurm"
    name = getattr(executor, "run_uuid", "") or f"run-{id(executor)}"
    owners = living(FOLDER / "runs")
    if slurm:
        end_orphans(Path.cwd(), owners, log.warning)
    forget(FOLDER / "plans", [o.plan for o in owners])
    begun = psutil.Process().create_time() + STARTUP
    copy = freeze(plan, Path(workflow.basedir), (FOLDER / "plans").resolve(), begun=begun)
    claim(FOLDER / "runs", Owner.this_process(name, copy))
    # Jobs inherit it. The working directory's profile imports the package before the workflow does.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(copy / "src"), os.environ.get("PYTHONPATH")])
    )
    executor.snakefile = str(copy / "Snakefile")
    workflow.config_settings.configfiles = [copy / CONFIG]
    if slurm:
        settings = workflow.executor_settings
        keep_every_job(executor, lambda: queue.known(name), settings.init_seconds_before_status_checks)
    else:
        keep_every_job(executor)


def snakefile(workflow: Any) -> Path:
    """Return the Snakefile of what the run was started with: the copy's, where there is one."""
    executor = getattr(workflow.scheduler, "_executor", None)
    return Path(getattr(executor, "snakefile", workflow.main_snakefile))
