"""What the code imports is what the environment files install."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
RUN = ("run.txt", "slurm.txt", "packaged-models.txt")
OPTIONAL = {"vllm"}
"""Imported by one engine only, which says so when it is missing."""
PLACES = {
    "src": RUN,
    "workflow/scripts": RUN,
    "benchmarks": (*RUN, "test.txt", "test-no-deps.txt"),
    "tests": (*RUN, "test.txt", "test-no-deps.txt", "mutants.txt"),
}


def imported(folder: Path) -> dict[str, Path]:
    """Return top-level modules that a folder's files import, those imported within functions too."""
    found: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            else:
                continue
            found |= {name.partition(".")[0]: path for name in names}
    return found


def declared(files: tuple[str, ...]) -> set[str]:
    """Return the distributions that some environment files name, normalised."""
    lines = (line for f in files for line in (ROOT / "envs" / f).read_text().splitlines())
    names = (re.match(r"[A-Za-z0-9._-]+", line) for line in lines if not line.startswith("#"))
    return {normal(m.group()) for m in names if m}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("place", PLACES)
def test_every_import_is_declared(place):
    """A package that another environment file brings is there on this machine and not on a new one."""
    distributions = packages_distributions()
    known = declared(PLACES[place])
    own = {p.stem for p in (ROOT / "tests").rglob("*.py")} | {"stressbed", "benchmarks", "tests"}
    undeclared = []
    for name, path in imported(ROOT / place).items():
        if name in sys.stdlib_module_names or name in own or name in OPTIONAL:
            continue
        sources = {normal(d) for d in distributions.get(name, [name])}
        if not sources & known:
            undeclared.append(f"{name} ({', '.join(sources)}) in {path.relative_to(ROOT)}")
    assert not undeclared, "add to envs/run.txt or envs/test.txt: " + "; ".join(undeclared)
