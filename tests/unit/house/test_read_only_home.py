"""mteb's cache folder is made where it can be made, whichever of our modules imports mteb first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stressbed import caches

FIRST = "from stressbed.score.lookup import LookupEncoder; LookupEncoder(None, contexts={}); print('made')"


def test_scoring_needs_no_home_that_can_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file: nothing can be made below it, not even by root")
    kept = {k: v for k, v in os.environ.items() if k not in {"MTEB_CACHE", "HF_HOME"}}
    environment = {**kept, "HOME": str(home), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", FIRST], env=environment, capture_output=True, text=True)  # noqa: PLW1510
    assert done.stdout == "made\n", done.stderr[-500:]


def test_a_home_that_can_be_written_keeps_mtebs_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(caches.MTEB, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    caches.away_from_home()
    assert caches.MTEB not in os.environ
    (tmp_path / ".cache").write_text("")
    caches.away_from_home()
    assert os.environ[caches.MTEB] == caches.elsewhere()
    monkeypatch.setenv(caches.MTEB, "mine")
    caches.away_from_home()
    assert os.environ[caches.MTEB] == "mine"
