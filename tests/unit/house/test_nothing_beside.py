"""Tests read nothing that lies beside the clone: whoever has the repository alone can run them all."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
CLIMBS = re.compile(r"Path\(__file__\)(?:\.resolve\(\))?\.parents\[(\d+)\]")
"""How tests find the folders of the repository."""


def test_no_test_climbs_above_the_repository():
    files = sorted((ROOT / "tests").rglob("*.py"))
    assert len(files) > 100
    for path in files:
        text = path.read_text(encoding="utf-8")
        depth = len(path.relative_to(ROOT).parts) - 1
        assert all(int(n) <= depth for n in CLIMBS.findall(text)), path
        assert not re.search(r"\bROOT\.parents?\b", text.replace(r"\bROOT\.parents?\b", "")), path
