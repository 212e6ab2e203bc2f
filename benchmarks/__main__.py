"""Run every benchmark: `make bench`, or `python -m benchmarks scale --cells 12800` for one.

Tables go to standard output. `--write` also puts them into docs/performance.md.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from benchmarks.table import WRITE

FOLDER = Path(__file__).parent


def main() -> None:
    known = sorted(p.stem.removeprefix("bench_") for p in FOLDER.glob("bench_*.py"))
    given = [a for a in sys.argv[1:] if a != "--write"]
    n_names = next((i for i, a in enumerate(given) if a.startswith("-")), len(given))
    chosen, options = given[:n_names] or known, given[n_names:]
    unknown = set(chosen) - set(known)
    if unknown:
        sys.exit(f"no benchmark is called {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    if options and len(chosen) > 1:
        sys.exit("options are for one benchmark: name it first")
    if "--write" in sys.argv:
        os.environ[WRITE] = "1"
    os.environ.setdefault("TQDM_DISABLE", "1")
    missed = []
    for name in chosen:
        sys.argv = [f"bench_{name}", *options]
        print(f"\n== {name}", flush=True)
        try:
            runpy.run_path(str(FOLDER / f"bench_{name}.py"), run_name="__main__")
        except SystemExit as e:
            if e.code:
                missed.append(f"{name}: {e.code}")
    if missed:
        sys.exit("\n".join(["not every target was met:", *missed]))


if __name__ == "__main__":
    main()
