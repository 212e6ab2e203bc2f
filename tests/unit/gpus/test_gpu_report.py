"""The report that a machine with a GPU writes: what it says without one, and how a check may end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parents[2] / "gpu"))

import gpu_checks  # noqa: E402
import report  # noqa: E402


@pytest.fixture
def _no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.usefixtures("_no_gpu")
def test_without_a_gpu_it_says_so_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "r.md"
    assert report.main(["--out", str(out)]) == 0
    assert "no CUDA device" in capsys.readouterr().out
    assert not out.exists()
    assert report.main(["--out", str(out), "--require-gpu"]) == 1


def ended(monkeypatch, code, limit=20):
    """How a check ends whose process runs this code."""
    popen = subprocess.run
    monkeypatch.setattr(
        subprocess, "run", lambda command, **kw: popen([sys.executable, "-c", code], **kw)
    )  # fmt: skip
    return report.run("some_check", Path("store"), limit)


def test_figures_of_a_check_come_from_its_last_line(monkeypatch):
    line = json.dumps({"status": "pass", "figures": {"texts/s": 3.14159}, "note": ""})
    found = ended(monkeypatch, f"print('noise'); print({line!r})")
    assert (found.status, found.figures) == ("pass", {"texts/s": 3.14159})


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("raise SystemExit('driver too old')", "exit status 1: driver too old"),
        ("import os; os.kill(os.getpid(), 9)", "exit status -9"),
        ("print(1)", "exit status 0"),
        ("import time; time.sleep(20)", "not finished after 1 s"),
    ],
)
def test_a_check_that_breaks_fails_with_what_it_said(monkeypatch, code, note):
    found = ended(monkeypatch, code, limit=1 if "sleep" in code else 20)
    assert found.status == "fail"
    assert note in found.note


def test_the_report_counts_and_shows_everything():
    results = [
        report.Result("a_check", "pass", {"texts/s": 3.14159, "devices": "0+1"}, "", 12.3),
        report.Result("b_check", "fail", {}, "one | two\nthree", 1.0),
    ]
    text = report.markdown({"device 0": "X100, 80 GiB"}, results)
    assert "1 pass, 1 fail, 0 skip, 0 not run." in text
    assert "| device 0 | X100, 80 GiB |" in text
    assert "| a check | pass | 12 | texts/s 3.14, devices 0+1 |  |" in text
    assert "| b check | fail | 1 |  | one / two three |" in text


@pytest.mark.parametrize(
    ("raised", "status", "note"),
    [
        (gpu_checks.Skip("vLLM is not installed"), "skip", "vLLM is not installed"),
        (AssertionError("7 differ"), "fail", "7 differ"),
        (RuntimeError("no kernel"), "fail", "RuntimeError: no kernel"),
    ],
)
def test_a_check_prints_how_it_ended(monkeypatch, capsys, raised, status, note):
    def check(store):
        raise raised

    monkeypatch.setitem(gpu_checks.CHECKS, "made", check)
    gpu_checks.main("made", "store")
    said = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert (said["status"], said["note"]) == (status, note)


def test_an_unknown_check_is_refused():
    with pytest.raises(SystemExit):
        report.main(["no_such_check"])
