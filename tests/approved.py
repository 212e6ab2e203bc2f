"""Whole outputs beside files that a person has read: whatever changes in a table or a sentence is seen.

That a number is right, other tests say, beside independent computations; here it stays what it was, in every
column and every sentence. After a change that is meant: `STRESSBED_APPROVE=1 pytest ...`, then read the diff.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "approved"
NUMBER = re.compile(r"-?\d+\.\d{5,}(?:e-?\d+)?")
"""A number that was not rounded for people: its last digits may differ between processors."""


def approve(name: str, found: str, *, within: float = 3e-6) -> None:
    """Fail unless a text is the approved one; long decimals may differ by so much."""
    path = FOLDER / name
    if os.environ.get("STRESSBED_APPROVE"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(found, encoding="utf-8")
    expected = path.read_text(encoding="utf-8") if path.is_file() else ""
    lines, wanted = found.split("\n"), expected.split("\n")
    different = [(w, f) for w, f in zip(wanted, lines, strict=False) if not _same(w, f, within)]
    shown = "\n".join(f"- {w}\n+ {f}" for w, f in different[:5])
    assert not different, f"{name}: {len(different)} lines differ\n{shown}"
    assert len(lines) == len(wanted), f"{name}: {len(lines)} lines for {len(wanted)}"


def _same(wanted: str, found: str, within: float) -> bool:
    if wanted == found:
        return True
    old, new = NUMBER.findall(wanted), NUMBER.findall(found)
    return NUMBER.sub("#", wanted) == NUMBER.sub("#", found) and all(
        abs(float(a) - float(b)) <= within * max(1.0, abs(float(a))) for a, b in zip(old, new, strict=True)
    )
