"""Run every benchmark: `make bench`, or `python -m benchmarks score` for one."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main() -> None:
    known = sorted(p.stem.removeprefix("bench_") for p in FOLDER.glob("bench_*.py"))
    chosen = sys.argv[1:] or known
    unknown = set(chosen) - set(known)
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    sys.argv = sys.argv[:1]
    for name in chosen:
        print(f"\n== {name}", flush=True)
        runpy.run_path(str(FOLDER / f"bench_{name}.py"), run_name="__main__")


if __name__ == "__main__":
    main()
