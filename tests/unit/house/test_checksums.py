"""Snakemake reads an input once for all outputs of a job, and again when it has changed."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from snakemake import io

from stressbed.workflow.checksums import remember_checksums

SNAKEFILE = """
from stressbed.workflow.checksums import remember_checksums
import hashlib

if {remember}:
    remember_checksums()
plain = hashlib.file_digest


def counted(*args):
    print("read", args[0].name)
    return plain(*args)


hashlib.file_digest = counted

rule all:
    input: [f"in{{i}}" for i in range(3)]
    output: [f"out{{i}}" for i in range(5)]
    shell: "touch {{output}}"
"""


def reads(folder, *, remember: bool) -> int:
    """Return how often Snakemake reads three inputs of a job with five outputs when it ends."""
    folder.mkdir()
    (folder / "Snakefile").write_text(SNAKEFILE.format(remember=remember))
    for i in range(3):
        (folder / f"in{i}").write_text(f"content {i}")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1"],
        cwd=folder, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert (folder / "out4").exists()
    return done.stdout.count("read in")


def test_an_input_is_read_once_for_all_outputs(tmp_path):
    assert reads(tmp_path / "plain", remember=False) == 15, "Snakemake does it itself: remove the module"
    assert reads(tmp_path / "remembered", remember=True) == 3


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file as Snakemake sees it, with checksums that are remembered."""
    monkeypatch.setattr(io._IOFile, "checksum", io._IOFile.checksum)
    remember_checksums()
    (tmp_path / "a.txt").write_text("first")
    found = io.IOFile(str(tmp_path / "a.txt"))
    monkeypatch.setattr(io._IOFile, "is_storage", property(lambda self: False))

    class Rule:
        class workflow:
            class iocache:
                active = False

    found.rule = Rule
    return found


def checksum(file) -> str | None:
    return asyncio.run(file.checksum(1000))


def test_a_changed_file_has_another_checksum(file):
    assert checksum(file) == f"sha256:{hashlib.sha256(b'first').hexdigest()}"
    path = Path(file)
    before = path.stat()
    path.write_text("other")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert checksum(file) == f"sha256:{hashlib.sha256(b'other').hexdigest()}"


def test_a_file_that_is_gone_has_none(file):
    checksum(file)
    Path(file).unlink()
    assert checksum(file) is None
