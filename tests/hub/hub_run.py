"""Run steps in a fresh process that sees the loopback hub and a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def child(steps: list[list[Any]], url: str, home: Path, **more: str) -> list[Any]:
    """Return the steps' results; fails with the process' output if it does not end well."""
    kept = ("PATH", "VIRTUAL_ENV", "LANG", "LD_LIBRARY_PATH")
    environment = {
        **{k: os.environ[k] for k in kept if k in os.environ},
        "HOME": str(home),
        "HF_HOME": str(home / "hf"),
        "HF_ENDPOINT": url,
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DOWNLOAD_TIMEOUT": "5",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(map(str, (HERE, HERE.parent / "unit" / "dataset"))),
        "PYTHONWARNINGS": "ignore",
        **more,
    }
    home.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, str(HERE / "hub_child.py"), json.dumps(steps)],
        env=environment, cwd=home, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    line = next(x for x in reversed(done.stdout.splitlines()) if x.startswith("RESULT "))
    return json.loads(line.removeprefix("RESULT "))
