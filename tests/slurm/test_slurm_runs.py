"""The workflow from dataset to report through a real SLURM."""

from __future__ import annotations

import pytest
from slurm_project import submitted, whole_project
from workflow_project import Project

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.timeout(600, method="signal"),
]


def test_a_run_through_slurm_has_the_cells_of_a_local_run(cluster, tmp_path):
    remote = whole_project(tmp_path / "remote")
    said = remote.run(timeout=500)
    assert len(remote.cells()) == 10
    local = Project(whole_project(tmp_path / "local").folder)
    local.run(*(f"results/scores/{name}.json" for name in remote.cells()))
    assert remote.fingerprints() == local.fingerprints()
    assert {n: c["score"] for n, c in remote.cells().items()} == {
        n: c["score"] for n, c in local.cells().items()
    }
    assert (remote.folder / "results/runs/tiny/report.html").exists()
    # generate, transform, 2 x embed, 2 x score; one group for the dataset, one for all after the scores
    assert len(submitted(said)) == 8
    assert "Nothing to be done" in remote.run("-n")
