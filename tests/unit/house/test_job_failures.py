"""A full disk ends a job with a message; an error of the program keeps its traceback."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from stressbed.jobs import job
from stressbed.store import write_text


def test_a_full_disk_ends_with_a_message_and_no_statistics(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs /dev/full: this system has none")
    log, stats = tmp_path / "log", tmp_path / "stats.json"
    with (
        pytest.raises(SystemExit) as e,
        job("embed", log_file=str(log), stats=str(stats)),
        full.open("w") as f,
    ):
        f.write("x")
    assert e.value.code == 1
    said = log.read_text()
    assert os.strerror(errno.ENOSPC) in said
    assert "make room" in said
    assert "Traceback" not in said
    assert not stats.exists()


def test_other_errors_of_files_keep_their_traceback(tmp_path: Path) -> None:
    log = tmp_path / "log"
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"), job("embed", log_file=str(log)):
        write_text(tmp_path / "file" / "below", "x")
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("logs", ["logs/score", "runs/mine/logs"])
def test_a_result_that_another_run_took_away_ends_with_a_message(tmp_path: Path, logs: str) -> None:
    log = tmp_path / logs / "a.log"
    with pytest.raises(SystemExit) as e, job("score", log_file=str(log)):
        (tmp_path / "embeddings" / "0.json").read_text()
    assert e.value.code == 1
    said = log.read_text()
    assert f"where: {tmp_path / 'embeddings' / '0.json'}" in said
    assert "another working directory" in said
    assert "Traceback" not in said


def test_a_missing_file_elsewhere_keeps_its_traceback(tmp_path: Path) -> None:
    log = tmp_path / "results" / "logs" / "a.log"
    with pytest.raises(FileNotFoundError), job("score", log_file=str(log)):
        (tmp_path / "model.json").read_text()
    assert "Traceback" in log.read_text()
