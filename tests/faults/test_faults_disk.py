"""Disks that are full or write-protected: a message, nothing half written, nothing done twice."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import become_nobody, child, status
from staged import STAGES, Ended, Run, make_run

from stressbed import store
from stressbed.errors import StressbedError

KINDS = {
    "dataset": ["datasets"], "texts": ["datasets"], "generate": ["completions"], "transform": ["transforms"],
    "embed": ["embeddings"], "score": ["scores"],
}  # fmt: skip
REMEDY = "do: make room, or the folder writable, and run again: what is stored is kept"


def outputs(run: Run, stage: str) -> object:
    return run.scores() if stage == "score" else run.files(*KINDS[stage])


class FullAt:
    """A disk that is full at its n-th write, by what is done last before a file counts as written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int, code: int = errno.ENOSPC) -> None:
        self.number, self.writes = number, 0
        real = os.fsync

        def fsync(fd: int) -> None:
            self.writes += 1
            if self.writes == self.number:
                raise OSError(code, os.strerror(code), str(Path(f"/proc/self/fd/{fd}").readlink()))
            real(fd)

        monkeypatch.setattr(store.os, "fsync", fsync)


@pytest.mark.parametrize("stage", STAGES)
def test_a_disk_that_is_full_at_any_write_loses_no_more_than_a_batch(tmp_path: Path, stage: str) -> None:
    before = make_run(tmp_path / "before")
    before.catalogue("generators", engine_options={"log": str(tmp_path / "asked")})
    if stage != STAGES[0]:
        before.until(STAGES[STAGES.index(stage) - 1])
    whole = before.copy(tmp_path / "whole")
    with pytest.MonkeyPatch.context() as patch:
        disk = FullAt(patch, 0)
        assert whole.job(stage).code == 0
    assert disk.writes > 1
    for number in range(1, disk.writes + 1):
        run = before.copy(tmp_path / str(number))
        (tmp_path / "asked").unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            FullAt(patch, number)
            ended = run.job(stage)
        assert ended.code == 1, f"write {number} of {disk.writes}"
        assert os.strerror(errno.ENOSPC) in ended.said
        assert REMEDY in ended.said
        assert "Traceback" not in ended.said
        assert not list(run.results.rglob("*.tmp"))
        again = run.job(stage)
        assert again.code == 0, again.said
        assert outputs(run, stage) == outputs(whole, stage)
        if stage == "generate":
            asked = (tmp_path / "asked").read_text().split()
            assert len(asked) <= len(set(asked)) + 4  # a batch


def without_traceback(ended: Ended, code: int) -> None:
    assert ended.code == 1, ended.said
    assert os.strerror(code) in ended.said
    assert REMEDY in ended.said
    assert "Traceback" not in ended.said


@pytest.mark.parametrize("code", [errno.EDQUOT, errno.EROFS], ids=["quota", "read-only file system"])
def test_a_quota_and_a_read_only_file_system_read_like_a_full_disk(
    run: Run, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    run.until("texts")
    FullAt(monkeypatch, 2, code)
    without_traceback(run.job("generate"), code)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[int]:
    """Make `folder` a disk of 4 kB and give the error of a write to it; without the right, a file of 1 kB."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(folder)]
    if os.getuid() == 0 and subprocess.run(mount, check=False, capture_output=True).returncode == 0:
        try:
            yield errno.ENOSPC
        finally:
            subprocess.run(["umount", str(folder)], check=True)
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        yield errno.EFBIG
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("stage", "folder"),
    [
        ("generate", ".store/completions"),
        ("generate", "completions/pairs"),
        ("transform", "transforms/pairs"),
        ("embed", ".store/vectors"),
        ("score", "scores/vectors"),
    ],
)
def test_a_disk_of_four_kilobytes_fills_up_and_is_said_to_be_full(
    finished: Run, tmp_path: Path, stage: str, folder: str
) -> None:
    """The real thing: numpy and Arrow have words of their own for it, with and without an error number."""
    run = make_run(tmp_path / "run")
    run.catalogue("embedders", batch_size=64)
    if stage != STAGES[0]:
        run.until(STAGES[STAGES.index(stage) - 1])
    with small_disk(run.results / folder) as code:
        without_traceback(run.job(stage), code)
    again = run.job(stage)
    assert again.code == 0, again.said
    assert outputs(run, stage) == outputs(finished, stage)


def test_a_log_that_cannot_be_written_any_more_costs_the_log_alone(run: Run) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full: this system has none")
    run.until("texts")
    log = Path(run.results / "logs/generate/pairs/llm.log")
    log.parent.mkdir(parents=True)
    log.symlink_to("/dev/full")
    assert run.job("generate").counters["sent"] == 24


@pytest.mark.parametrize("closed", ["", "logs", ".store", "completions", "jobs"], ids=lambda c: c or "all")
def test_results_that_another_user_owns_are_an_error_with_a_remedy(closed: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # outside pytest's own, which nobody else may enter
        Path(folder).chmod(0o755)
        run = make_run(Path(folder) / "run")
        run.until("texts")
        run.job("generate")
        for path in (run.results, *run.results.rglob("*")):
            mine = not closed or path.relative_to(run.results).parts[:1] == (closed,)
            path.chmod((0o555 if mine else 0o777) if path.is_dir() else (0o444 if mine else 0o666))
        said = Path(folder) / "said"

        def work() -> int:
            become_nobody()
            try:
                ended = run.job("generate")
            except StressbedError as e:  # found before any job
                ended = Ended(1, str(e))
            sys.stderr.write(ended.said)
            return ended.code

        # What Snakemake does before the job must not fail first: only the job's own writing counts here.
        for path in (run.results / "completions").rglob("*.parquet"):
            path.unlink()
        (run.results / "jobs/generate/pairs/llm.json").unlink()
        if closed == ".store":
            for path in (run.results / ".store/completions").rglob("batches/*"):
                path.unlink()
        with child(work, said) as pid:
            code = status(pid)
        assert code == 1, said.read_text()
        assert os.strerror(errno.EACCES) in said.read_text()
        assert (REMEDY if closed else "do: choose another folder") in said.read_text()
        assert "Traceback" not in said.read_text()
        for path in (run.results, *run.results.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        again = run.job("generate")
        assert again.code == 0
        assert again.counters["sent"] == (24 if closed == ".store" else 0)
