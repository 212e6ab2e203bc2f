"""A finished tiny run, shared by the tests of faults."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from staged import ROOT, Run, make_run

sys.path += [str(ROOT / "tests/unit/engines"), str(ROOT / "tests/workflow")]

from loopback_endpoint import Endpoint


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run whose cells are all scored; tests that change something take a copy or a fresh one."""
    run = make_run(tmp_path_factory.mktemp("finished"))
    run.until("score")
    return run


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A fresh run."""
    return make_run(tmp_path / "run")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """An endpoint on this machine that answers as a test wants."""
    server = Endpoint()
    yield server
    server.close()
