"""Results of benchmarks as a table: printed, and put into docs/performance.md by `python -m benchmarks`."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Sequence
from pathlib import Path

DOC = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
WRITE = "STRESSBED_BENCH_DOC"
"""Set by `python -m benchmarks`: results go into the document too."""

VERDICT = {True: "yes", False: "NO", None: ""}


def publish(
    name: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *notes: str, document: Path = DOC
) -> None:
    """Print a table; within `python -m benchmarks` also replace the block of this name in the document.

    Args:
        name: Of the block, between `<!-- bench: NAME -->` and `<!-- end: NAME -->`.
        columns: Heads; the first column is what was measured.
        rows: Cells; numbers come formatted.
        notes: Sentences below the table: sizes, repeats, what the machine was doing.
        document: The page with the block.
    """
    cells = [[str(c) for c in row] for row in rows]
    lines = [
        "| " + " | ".join(columns) + " |",
        "|" + "|".join(" --- " if i == 0 else " ---: " for i in range(len(columns))) + "|",
        *("| " + " | ".join(row) + " |" for row in cells),
    ]
    text = "\n".join([*lines, "", *notes, f"({machine()})"])
    print(text, flush=True)
    if os.environ.get(WRITE):
        replace_block(name, text, document)


def replace_block(name: str, text: str, path: Path = DOC) -> None:
    """Replace what stands between the marks of a block.

    Raises:
        LookupError: The document has no such block.
    """
    old = path.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- bench: {re.escape(name)} -->\n).*?(<!-- end: {re.escape(name)} -->)", re.S)
    new, n = pattern.subn(lambda m: f"{m[1]}{text}\n{m[2]}", old)
    if n != 1:
        raise LookupError(f"{path} has {n} blocks called {name!r}")
    path.write_text(new, encoding="utf-8")


def machine() -> str:
    """Return a line about the machine and how busy it was: absolute seconds mean nothing without it."""
    load = os.getloadavg()[0]
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"{time.strftime('%Y-%m-%d', time.gmtime())}, load average {load:.1f} at the end"
    )
