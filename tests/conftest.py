"""Shared by all tests: nothing is skipped in silence."""

from __future__ import annotations

import os
import re
from pathlib import Path

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together what parallel workers must not part: the tests of a file, and of SLURM."""
    tests = Path(__file__).parent

    def folder(item: pytest.Item) -> str:
        return item.path.relative_to(tests).parts[0]

    items.sort(key=lambda i: SLOW_FIRST.index(folder(i)) if folder(i) in SLOW_FIRST else len(SLOW_FIRST))
    for item in items:
        name = "slurm" if folder(item) == "slurm" else str(item.path.relative_to(tests))
        item.add_marker(pytest.mark.xdist_group(name))


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
