"""What a machine with a GPU shows: `make test-gpu`, or `python tests/gpu/report.py --out gpu-report.md`.

Each check runs in a process of its own with a time limit, and writes its figures into a Markdown file, with
the device and the versions. All models come from installed packages; nothing is downloaded. Without a GPU it
says so.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
LIMIT = 150
"""Seconds of one check."""

BUDGET = 560
"""Seconds of all checks: those that would begin later are not run, and the report says so."""

PACKAGES = ("torch", "transformers", "sentence-transformers", "vllm", "flash-attn", "mteb", "numpy")


@dataclass(frozen=True)
class Result:
    """A check's end: `pass`, `fail`, `skip` (the machine lacks something) or `not run` (no time was left)."""

    name: str
    status: str
    figures: dict[str, object]
    note: str
    seconds: float


def machine() -> dict[str, str]:
    """Return device and versions; no device without CUDA."""
    import torch

    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    if torch.cuda.is_available():
        for i in range(torch.cuda.device_count()):
            p = torch.cuda.get_device_properties(i)
            found[f"device {i}"] = (
                f"{p.name}, {p.total_memory / 2**30:.0f} GiB, capability {p.major}.{p.minor}"
            )
        found["CUDA"] = str(torch.version.cuda)
        found["driver"] = _driver()
    return found


def _driver() -> str:
    try:
        asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout.split()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return "unknown"


def run(name: str, store: Path, limit: float) -> Result:
    """Return how a check of `gpu_checks` ended."""
    began = time.monotonic()
    command = [sys.executable, str(HERE / "gpu_checks.py"), name, str(store)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return Result(name, "fail", {}, f"not finished after {limit:.0f} s", time.monotonic() - began)
    seconds = time.monotonic() - began
    last = (done.stdout.strip().splitlines() or [""])[-1]
    try:
        said = json.loads(last)
        return Result(name, said["status"], said["figures"], said["note"], seconds)
    except (ValueError, KeyError, TypeError):
        tail = " / ".join(done.stderr.strip().splitlines()[-3:])
        return Result(name, "fail", {}, f"exit status {done.returncode}: {tail}", seconds)


def markdown(found: dict[str, str], results: list[Result]) -> str:
    """Return the report."""
    counts = {s: sum(r.status == s for r in results) for s in ("pass", "fail", "skip", "not run")}
    lines = ["# stressbed on this GPU", "", ", ".join(f"{n} {s}" for s, n in counts.items()) + "."]
    lines += ["", "| machine | |", "|---|---|", *(f"| {k} | {v} |" for k, v in found.items())]
    lines += ["", "| check | result | seconds | figures | note |", "|---|---|---|---|---|"]
    for r in results:
        figures = ", ".join(f"{k} {_shown(v)}" for k, v in r.figures.items())
        note = r.note.replace("|", "/").replace("\n", " ")
        lines.append(f"| {r.name.replace('_', ' ')} | {r.status} | {r.seconds:.0f} | {figures} | {note} |")
    return "\n".join(lines) + "\n"


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main(argv: list[str] | None = None) -> int:
    """Run all checks and write the report; return 1 if one failed."""
    sys.path.insert(0, str(HERE))
    from gpu_checks import CHECKS

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("gpu-report.md"), help="where the report goes")
    parser.add_argument(
        "--store", type=Path, default=Path("results/.store"), help="where converted models lie"
    )
    parser.add_argument("--require-gpu", action="store_true", help="fail without a GPU")
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"of: {', '.join(CHECKS)}")
    args = parser.parse_args(argv)
    if unknown := sorted(set(args.checks) - set(CHECKS)):
        parser.error(f"no such check: {', '.join(unknown)}")
    found = machine()
    if "CUDA" not in found:
        print("needs gpu: no CUDA device, so nothing was checked and no report was written")
        return 1 if args.require_gpu else 0
    began, results = time.monotonic(), []
    for name in args.checks or CHECKS:
        left = BUDGET - (time.monotonic() - began)
        if left < 10:
            results.append(Result(name, "not run", {}, "no time was left", 0.0))
        else:
            results.append(run(name, args.store, min(LIMIT, left)))
        print(f"{results[-1].status:8} {name}", flush=True)
        args.out.write_text(markdown(found, results), encoding="utf-8")  # after each: none is lost
    print(f"written: {args.out}")
    return 1 if any(r.status == "fail" for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
