"""`snakemake plan` says before a run what the run then does, and afterwards that it is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from workflow_project import Project, make_project

pytestmark = [pytest.mark.workflow, pytest.mark.slow]


def planned(project: Project) -> tuple[str, dict[str, Any]]:
    said = project.run("plan")
    return said, json.loads((project.folder / "results/runs/tiny/plan/plan.json").read_text())


def stages(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {s["name"]: s for s in plan["stages"]}


def jobs(project: Project, stage: str) -> int:
    return len(list((project.folder / "results/jobs" / stage).rglob("*.json")))


def test_what_is_planned_for_a_fresh_project_is_what_its_run_did(finished: Project, tmp_path: Path) -> None:
    said, plan = planned(make_project(tmp_path / "project"))
    seen = stages(plan)
    assert "0 % done" in said
    assert seen["generate"]["units"] == finished.counters("generate")["sent"]
    assert seen["generate"]["tokens_in"] == finished.counters("generate")["tokens_in"]
    assert seen["embed"]["units"] == finished.counters("embed")["encoded"]
    assert seen["score"]["units"] == len(finished.cells())
    for stage in ("generate", "transform", "embed", "score"):
        assert seen[stage]["jobs"] == seen[stage]["jobs_left"] == jobs(finished, stage)
    assert seen["datasets"]["jobs"] == jobs(finished, "dataset") + jobs(finished, "texts")


def test_a_finished_run_is_planned_as_done_and_stays_so(project: Project) -> None:
    said, plan = planned(project)
    assert "100 % done" in said
    assert all(s["jobs_left"] == 0 and s["done"] == s["units"] for s in plan["stages"])
    assert all(s["exact"] for s in plan["stages"])
    assert "Nothing to be done" in project.run("-n")


def test_after_a_change_what_is_left_is_what_the_run_then_does(project: Project) -> None:
    project.config(seeds=[1, 2, 3])
    _, plan = planned(project)
    seen = stages(plan)
    left = {name: s["units"] - s["done"] for name, s in seen.items()}
    assert left["score"] == 2 * 2
    assert 0 < plan["share_done"] < 1
    assert seen["generate"]["jobs_left"] == 1
    project.run()
    assert left["generate"] == project.counters("generate")["sent"]
    assert left["embed"] == project.counters("embed")["encoded"]
