"""The pages of measurements have a place for every table, and only places that a benchmark fills."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.table import replace_block  # noqa: E402


def test_every_table_has_a_place_and_every_place_a_table() -> None:
    published = set()
    for path in (ROOT / "benchmarks").glob("bench_*.py"):
        published |= set(re.findall(r'publish\(\s*"([a-z]+)"', path.read_text(encoding="utf-8")))
    pages = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "docs").glob("*.md"))]
    assert published == {name for text in pages for name in re.findall(r"<!-- bench: ([a-z]+) -->", text)}


def test_a_block_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- bench: x -->\nold\n<!-- end: x -->\nb\n<!-- bench: y -->\n<!-- end: y -->\n")
    replace_block("x", "new \\1 text", page)
    replace_block("x", "new \\1 text", page)
    assert page.read_text() == (
        "a\n<!-- bench: x -->\nnew \\1 text\n<!-- end: x -->\nb\n<!-- bench: y -->\n<!-- end: y -->\n"
    )
    with pytest.raises(LookupError, match="'z'"):
        replace_block("z", "text", page)
