"""Runs tests in forked processes, which have the large libraries in memory and import stressbed anew."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import coverage
import pytest

LIBRARIES = (
    "numpy", "pandas", "scipy.stats", "scipy.sparse", "sklearn.linear_model", "sklearn.metrics", "irrCAC.raw",
    "pyarrow.parquet", "statsmodels.api", "torch", "transformers", "sentence_transformers", "datasets",
    "mteb", "yaml", "pydantic", "hypothesis", "matplotlib.pyplot", "openpyxl", "lingua", "httpx", "jinja2",
)  # fmt: skip
"""Imported once, before the first fork: none of them imports stressbed."""
QUIET = ("-q", "-n", "0", "-m", "not slow", "-p", "no:cacheprovider", "--no-header", "--tb=line")


def load_libraries() -> None:
    """Import what takes seconds; no library may have started a thread when processes fork."""
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MPLBACKEND="Agg")
    for name in LIBRARIES:
        importlib.import_module(name)


def copy_tree(root: Path, target: Path) -> None:
    """Copy what git would commit: the working tree itself is never changed."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, check=True, capture_output=True
    ).stdout.split(b"\0")
    for name in filter(None, (item.decode() for item in listed)):
        source, copied = root / name, target / name
        if source.is_file():
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(source.read_bytes())
            os.utime(copied, ns=(source.stat().st_mtime_ns,) * 2)


@contextlib.contextmanager
def changed(path: Path, source: str) -> Iterator[None]:
    """Change a module of a copy, and change it back with its time, so that its compiled form stays valid."""
    old, times = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(source, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(old, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


class Recorder:
    """Notes which test executes which line, how long each takes, and which fails first."""

    def __init__(self, measured: coverage.Coverage | None = None) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}
        self.setup: dict[str, float] = {}
        self.failed: list[str] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        if self.measured:
            self.measured.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)
        if report.when == "call":
            self.seconds[report.nodeid] = report.duration
        if report.when == "setup":  # what a file shares is made once, whichever of its tests runs
            file = report.nodeid.partition("::")[0]
            self.setup[file] = max(self.setup.get(file, 0.0), report.duration)


def in_child(copy: Path, log: Path, work: Callable[[], dict[str, Any]]) -> int:
    """Start work in a process of its own that sees a copy; return its id. Its result lies beside the log."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(copy)
        sys.path[:0] = [str(copy / "src")]
        os.environ.update(PYTHONPATH=str(copy / "src"), TMPDIR=str(log.parent))
        done = work()
        log.with_suffix(".json").write_text(json.dumps(done), encoding="utf-8")
    finally:
        os._exit(0)


def run_tests(tests: Sequence[str]) -> dict[str, Any]:
    """Run tests until the first fails; called in a child."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    recorder = Recorder()
    base = f"--basetemp={os.environ['TMPDIR']}/pytest-{os.getpid()}"
    code = int(pytest.main([*QUIET, "-x", base, *tests], plugins=[recorder]))
    return {"code": code, "failed": recorder.failed[:1]}


def measure(file: str, packages: Sequence[str], data: str) -> dict[str, Any]:
    """Run a file's tests under coverage, each test a context of its own; called in a child."""
    source = [f"src/stressbed/{name}" for name in packages]
    measured = coverage.Coverage(source=source, data_file=data, config_file=False)
    measured.start()
    recorder = Recorder(measured)
    base = f"--basetemp={os.environ['TMPDIR']}/pytest-{os.getpid()}"
    code = int(pytest.main([*QUIET, base, file], plugins=[recorder]))
    measured.stop()
    lines: dict[str, dict[str, list[int]]] = {}
    found = measured.get_data()
    here = Path.cwd()
    for name in found.measured_files():
        by_line = found.contexts_by_lineno(name)
        tests: dict[str, list[int]] = {}
        for line, contexts in by_line.items():
            for context in contexts:
                tests.setdefault(context, []).append(line)
        lines[str(Path(name).relative_to(here))] = tests
    times = {"seconds": recorder.seconds, "setup": sum(recorder.setup.values())}
    return {"code": code, "failed": recorder.failed, "lines": lines, **times}


def has_ended(child: int, until: float) -> bool:
    """Return whether a child has ended; end it and what it started when its time is over."""
    if os.waitpid(child, os.WNOHANG)[0]:
        return True
    if time.monotonic() < until:
        return False
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True
