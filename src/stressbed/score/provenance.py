"""What computed a cell: versions of everything that has a hand in the numbers."""

from __future__ import annotations

import functools
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import stressbed

LIBRARIES = ("mteb", "torch", "scikit-learn", "scipy", "numpy", "datasets")


@functools.cache
def versions() -> dict[str, str]:
    """Return versions by name; `commit` is there if the package lies in a git checkout."""
    found = {"python": platform.python_version(), "stressbed": stressbed.__version__}
    for library in LIBRARIES:
        found[library] = metadata.version(library)
    commit = _commit()
    return found | ({"commit": commit} if commit else {})


def _commit() -> str:
    """Return the checkout's commit, with `+` if tracked files were changed, or ""."""
    folder = Path(stressbed.__file__).parent
    kept = folder.parent / "COMMIT"
    if kept.exists():  # a copy that a run through a queue was started with
        return kept.read_text(encoding="utf-8")
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
            cwd=folder, capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
