"""Snakemake's own linter finds nothing but what was decided otherwise."""

from __future__ import annotations

import re
import subprocess
import sys

from workflow_project import ROOT

DECIDED = {"Specify a conda environment or container for each rule."}
"""One pinned virtual environment holds everything (envs/), so no rule names one of its own."""


def test_the_linter_finds_nothing_new() -> None:
    command = [sys.executable, "-m", "snakemake", "--lint", "--configfile", "config/test.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    said = done.stdout + done.stderr
    titles = {m[1] for m in re.finditer(r"^\s+\* (.+?):?:$", said, re.M)}
    assert "Lints for rule" in said or not titles
    assert titles <= DECIDED


def test_rules_are_signatures() -> None:
    """No rule file holds logic: a rule is at most 40 lines, the Snakefile at most 80."""
    assert len((ROOT / "Snakefile").read_text().splitlines()) <= 80
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        rules = re.split(r"\n *(?:use rule|rule|checkpoint) ", path.read_text())[1:]
        assert all(len(rule.rstrip().splitlines()) <= 40 for rule in rules), path
