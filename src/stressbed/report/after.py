"""Snakemake's report, written when a run has finished."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from stressbed.select.winner import winner_path
from stressbed.store import write_text

if TYPE_CHECKING:
    from stressbed.config import Plan

log = logging.getLogger("stressbed")


def write_report(plan: Plan, snakefile: str | Path = "Snakefile") -> Path | None:
    """Write `report.html` of the run and return its path, or None if the run has no results yet.

    Snakemake is asked in a process of its own, with the run's resolved config, because a running
    workflow cannot report on itself. A report that fails is logged and does not fail the run.
    """
    folder = plan.run_folder
    config, out = folder / "config.yaml", folder / "report.html"
    done = winner_path(plan) if plan.only_selects else folder / "summary.json"
    if not config.exists() or not done.exists():
        return None
    part = out.with_suffix(".part.html")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--configfile", str(config)]
    command += ["--report", str(part), "--nolock", "--quiet", "all"]
    command += ["--config", f"results={plan.results}"]  # they may have been moved since
    env = {**os.environ, "TQDM_DISABLE": "1"}
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if ended.returncode != 0 or not part.exists():
        log.error("the report could not be written:\n%s", ended.stderr[-2000:])
        part.unlink(missing_ok=True)
        return None
    write_text(out, contained(part.read_text(encoding="utf-8")))
    part.unlink()
    return out


_DATA = re.compile(r'<script id="[\w-]+">\s*var \w+ = ')
"""How each of the report's blocks of data begins."""


def contained(page: str) -> str:
    """Return a report in which no text of the run can end the script element that holds it.

    Snakemake writes data into scripts as plain JSON: a notice or a label with `</script>` in it would end the
    script, break the page, and what follows would be read as the page's own.
    """
    parts, at = [], 0
    decoder = json.JSONDecoder()
    while (found := _DATA.search(page, at)) is not None:
        try:
            _, end = decoder.raw_decode(page, found.end())
        except ValueError:
            end = found.end()
        parts += [page[at : found.end()], page[found.end() : end].replace("<", r"\u003c")]
        at = end
    return "".join([*parts, page[at:]])
