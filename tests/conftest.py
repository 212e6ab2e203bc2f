"""Shared by all tests: nothing is skipped in silence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

# Workers share the cores: libraries that take all of them each (torch, BLAS) would wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(_name, "1")


@pytest.fixture(autouse=True)
def _no_secret_of_another_test() -> None:
    """Forget the keys that earlier tests of this process used: a short one may be a word of a later test."""
    from stressbed import redaction

    redaction._known.clear()


SLOW_FIRST = ("slurm", "workflow", "faults", "determinism", "hub", "engines", "browser", "equality")
"""Folders in the order in which workers take their files: what takes minutes must not be left to the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long."""
    tests = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0]
        return SLOW_FIRST.index(folder) if folder in SLOW_FIRST else len(SLOW_FIRST)

    items.sort(key=place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker whole files, which share what they made; to one all that need the one SLURM."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "slurm" if "slurm" in Path(file).parts else file

    return ByFile(config, log)


NAMED = re.compile(r"needs (?P<what>[a-z0-9 _-]+):")
"""A skip says what the machine lacks: `needs gpu: no CUDA device`."""


def _unexpected(terminal: pytest.TerminalReporter, allowed: set[str]) -> list[str]:
    found = []
    for report in terminal.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        match = NAMED.search(reason)
        if match is None or match["what"] not in allowed:
            found.append(f"{report.nodeid}: {reason}")
    return found


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which a test was skipped for a reason that this machine may not have."""
    names = os.environ.get("STRESSBED_ALLOWED_SKIPS")
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if names is None or terminal is None:
        return
    found = _unexpected(terminal, set(names.split(",")))
    if found:
        terminal.write_line("skipped, but this run allows it only for: " + names, red=True)
        for line in found:
            terminal.write_line(f"  {line}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
