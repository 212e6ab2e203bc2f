"""A finished run, shared by the tests of the workflow."""

from __future__ import annotations

from pathlib import Path

import pytest
from workflow_project import Project, make_project


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose run is complete; tests that change something work on a copy."""
    project = make_project(tmp_path_factory.mktemp("finished") / "project")
    project.run()
    return project


@pytest.fixture
def project(finished: Project, tmp_path: Path) -> Project:
    """A copy of the finished project."""
    return finished.copy(tmp_path / "project")
