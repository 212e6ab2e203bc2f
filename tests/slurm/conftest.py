"""A cluster for all tests here, and projects whose runs go through it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))

from slurm_cluster import Cluster, missing, running


@pytest.fixture(scope="session")
def whole_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The cluster, started once; without SLURM or root every test that asks for it is skipped."""
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with running(tmp_path_factory.mktemp("slurm")) as cluster:
        yield cluster


@pytest.fixture
def cluster(whole_cluster: Cluster) -> Iterator[Cluster]:
    """The cluster, empty and with its node before and after each test."""
    whole_cluster.wait_for_node("idle")
    yield whole_cluster
    whole_cluster.set_node("resume")
    whole_cluster.ask("scancel", "--user=root")
    whole_cluster.wait_until_empty()
