"""Worker processes: each on its devices, in order, and their ends are told."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from gpu_stubs import TWO, Stub, Unmakeable

from stressbed.errors import EmbedError, EngineError
from stressbed.workers import Workers, share, together


@pytest.fixture
def two():
    workers = Workers(Stub, [("0",), ("1", "2")], where="generator 'g'")
    yield workers
    workers.close()


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("total", [0, 1, 7, 16])
def test_what_is_shared_comes_back_in_order(total, n):
    items = list(range(total))
    parts = share(items, n)
    assert together(parts) == items
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_parts_of_other_sizes_are_refused():
    with pytest.raises(ValueError, match="do not belong together"):
        together([[1], [2, 3]])


def test_each_worker_is_a_process_that_sees_its_devices_only(two):
    assert two.call("environment", [("CUDA_VISIBLE_DEVICES",)] * 2) == ["0", "1,2"]
    assert len({os.getpid(), *two.call("number", [(), ()])}) == 3


def test_a_worker_that_is_left_out_answers_nothing(two):
    assert two.call("environment", [None, ("CUDA_VISIBLE_DEVICES",)]) == [None, "1,2"]


@pytest.mark.parametrize(("how", "status"), [("die", "SIGKILL"), ("leave", "exit status 3")])
def test_a_worker_that_dies_is_named_and_the_others_end(two, how, status):
    ids = two.call("number", [(), ()])
    with pytest.raises(EngineError, match=rf"worker 2 of 2 \(device 1,2\) died \({status}\)") as e:
        two.call(how, [None, ()])
    assert "run again" in str(e.value)
    assert "generator 'g'" in str(e.value)
    for number in ids:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
    with pytest.raises(EngineError, match="have ended"):
        two.call("number", [(), ()])


def test_an_error_of_the_object_comes_back_and_the_workers_stay(two):
    with pytest.raises(EmbedError, match="no such thing"):
        two.call("refuse", [(), None])
    with pytest.raises(EngineError, match=r"worker 1 of 2 \(device 0\) failed: ZeroDivisionError: stub"):
        two.call("stumble", [(), None])
    with pytest.raises(MemoryError, match="out of memory"):
        two.call("exhaust", [(), None])
    assert None not in two.call("number", [(), ()])


def test_log_messages_come_to_the_job_with_the_worker_that_wrote_them(two, caplog):
    two.call("say", [None, ("loading",)])
    assert "worker 2 of 2 (device 1,2): loading" in caplog.text


def test_a_worker_may_start_processes_of_its_own_from_any_main_module(tmp_path):
    """As vLLM does for tensor parallelism; `spawn` would run a job's script again in each of them."""
    script = tmp_path / "job.py"  # no `__main__` guard, like Snakemake's scripts
    script.write_text(
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from gpu_stubs import Stub\nfrom stressbed.workers import Workers\n"
        "print('ran', flush=True)\n"
        "w = Workers(Stub, [()], where='w'); print(w.call('processes_of_its_own', [()])); w.close()\n"
    )
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, script, here], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.split("\n")[:2] == ["ran", "[[4, 9]]"], done.stderr


def test_an_object_that_cannot_be_made_leaves_no_process(monkeypatch):
    started = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **k: started.append(popen(*a, **k)) or started[-1])
    with pytest.raises(EmbedError, match="cannot be made"):
        Workers(Unmakeable, TWO, where="w", error=EmbedError)
    assert len(started) == 2
    assert all(p.poll() is not None for p in started)


def test_workers_end_when_their_parent_is_killed(tmp_path):
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from gpu_stubs import Stub\nfrom stressbed.workers import Workers\n"
        "w = Workers(Stub, [(), ()], where='w'); print(*w.call('number', [(), ()]), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)],
        stdout=subprocess.PIPE, text=True, timeout=60, check=False,
    ).stdout  # fmt: skip
    ids = [int(n) for n in out.split()]
    assert len(ids) == 2
    until = time.monotonic() + 10
    while any(map(_runs, ids)):
        assert time.monotonic() < until, "a worker outlives its parent"
        time.sleep(0.1)


def _runs(number: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_makes_the_object_may_hold_arguments():
    workers = Workers(partial(dict, a=1), TWO, where="w")
    assert workers.call("get", [("a",), ("b", 2)]) == [1, 2]
    workers.close()
