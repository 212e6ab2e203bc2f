"""Jobs that are asked to end, or are killed: what is lost is the batch in flight and nothing else."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import child, status, when
from loopback_endpoint import Endpoint, Reply, chat
from staged import STAGES, Run

import stressbed.score.run
from stressbed import stopping
from stressbed.embed.embedders.baseline import RandomEmbedder
from stressbed.generate.engines.fake import FakeEngine

SAID = "stopped on request (SIGTERM)"
REMEDY = "do: run again: what is finished is kept"
WORK: dict[str, tuple[object, str]] = {
    "generate": (FakeEngine, "complete"),
    "embed": (RandomEmbedder, "encode"),
    "score": (stressbed.score.run, "compute_cell"),
}
"""What a stage does once per batch."""

LEFT = {"generate": "sent", "embed": "encoded", "score": "computed"}
WHOLE = {"generate": 24, "embed": 36, "score": 3}
BATCH = {"generate": 4, "embed": 4, "score": 1}


def at_call(patch: pytest.MonkeyPatch, stage: str, number: int, then: Callable[[], object]) -> None:
    """Do something when a stage begins its n-th batch."""
    place, name = WORK[stage]
    real = getattr(place, name)
    calls = [0]

    def work(*args: Any, **more: Any) -> Any:
        calls[0] += 1
        if calls[0] == number:
            then()
        return real(*args, **more)

    patch.setattr(place, name, work)


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def before(run: Run, stage: str) -> None:
    run.until(STAGES[STAGES.index(stage) - 1])


def goes_on(run: Run, finished: Run, stage: str, done: int) -> None:
    """Check that the next run starts from what was done and ends like an undisturbed one."""
    again = run.job(stage)
    assert again.code == 0, again.said
    assert again.counters[LEFT[stage]] == WHOLE[stage] - done
    kind = {"generate": "completions", "embed": "embeddings"}.get(stage)
    same = (run.files(kind), finished.files(kind)) if kind else (run.scores(), finished.scores())
    assert same[0] == same[1]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("stage", list(WORK))
def test_sigterm_lets_the_batch_in_flight_finish(run: Run, finished: Run, stage: str, number: int) -> None:
    before(run, stage)
    with pytest.MonkeyPatch.context() as patch:
        at_call(patch, stage, number, terminate)
        ended = run.job(stage)
    assert ended.code == stopping.STATUS == 143
    assert SAID in ended.said
    assert REMEDY in ended.said
    assert "Traceback" not in ended.said
    goes_on(run, finished, stage, number * BATCH[stage])


def test_sigterm_in_the_last_batch_is_not_forgotten(run: Run, finished: Run) -> None:
    """Else a job of several datasets would go on with the next one."""
    before(run, "generate")
    with pytest.MonkeyPatch.context() as patch:
        at_call(patch, "generate", 6, terminate)
        ended = run.job("generate")
    assert ended.code == stopping.STATUS
    assert f"{SAID} after all batches" in ended.said
    goes_on(run, finished, "generate", 24)


def test_a_second_sigterm_does_not_cut_the_batch_off(run: Run, finished: Run) -> None:
    before(run, "generate")
    with pytest.MonkeyPatch.context() as patch:
        at_call(patch, "generate", 2, lambda: (terminate(), terminate()))
        assert run.job("generate").code == stopping.STATUS
    goes_on(run, finished, "generate", 8)


@pytest.mark.parametrize(
    ("stage", "work"),
    [
        ("dataset", "stressbed.dataset.freeze.freeze"),
        ("texts", "stressbed.dataset.record.record"),
        ("transform", "stressbed.transform.run.transform"),
    ],
)
def test_sigterm_ends_a_stage_without_batches_at_once(run: Run, stage: str, work: str) -> None:
    if stage != "dataset":
        before(run, stage)

    def ended(*_: Any, **__: Any) -> None:
        try:
            terminate()
            time.sleep(30)
        except Exception:  # as a library may do
            time.sleep(30)

    clock = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, ended)
        job = run.job(stage)
    assert time.monotonic() - clock < 20
    assert job.code == stopping.STATUS
    assert SAID in job.said
    assert run.job(stage).code == 0


def test_the_handler_of_before_is_back_after_a_job(run: Run) -> None:
    handler = signal.getsignal(signal.SIGTERM)
    run.until("embed")
    assert signal.getsignal(signal.SIGTERM) is handler


def test_sigterm_while_an_endpoint_asks_to_wait_keeps_the_answers_and_asks_no_more(
    run: Run, endpoint: Endpoint
) -> None:
    before(run, "generate")
    good = 5

    def rule(body: dict[str, Any], n: int) -> Reply:
        if len(endpoint.bodies) <= good:
            return chat("A good answer.")
        if len(endpoint.bodies) == good + 1:
            threading.Timer(0.2, terminate).start()
        return Reply(429, "slow down", {"retry-after": "60"})

    endpoint.rule = rule
    run.catalogue(
        "generators", engine="openai", base_url=endpoint.url, concurrency=2, batch_size=24, model="m",
        engine_options={"tries": 3},
    )  # fmt: skip
    clock = time.monotonic()
    ended = run.job("generate")
    assert time.monotonic() - clock < 20
    assert ended.code == stopping.STATUS, ended.said
    assert SAID in ended.said
    assert len(endpoint.bodies) <= good + 2
    endpoint.rule = lambda body, n: chat("Another answer.")
    again = run.job("generate")
    assert again.code == 0, again.said
    assert again.counters["reused"] == good


@pytest.mark.parametrize("stage", list(WORK))
def test_sigkill_costs_the_batch_in_flight(run: Run, finished: Run, tmp_path: Path, stage: str) -> None:
    before(run, stage)
    there = tmp_path / "in the third batch"

    def hang() -> None:
        there.touch()
        time.sleep(60)

    def work() -> int:
        patch = pytest.MonkeyPatch()
        if stage == "embed":
            patch.setattr("stressbed.embed.encode.CHUNK", 1)
        at_call(patch, stage, 3, hang)
        return run.job(stage).code

    with child(work, tmp_path / "said") as pid:
        when(there.exists)
        os.kill(pid, signal.SIGKILL)
        assert status(pid) == -signal.SIGKILL
    goes_on(run, finished, stage, 2 * BATCH[stage])


def test_a_kill_in_the_middle_of_a_write_leaves_no_broken_entry(
    run: Run, finished: Run, tmp_path: Path
) -> None:
    before(run, "generate")

    def work() -> int:
        real = os.fsync
        calls = [0]

        def fsync(fd: int) -> None:
            calls[0] += "batches" in str(Path(f"/proc/self/fd/{fd}").readlink())
            if calls[0] == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            real(fd)

        os.fsync = fsync
        return run.job("generate").code

    with child(work, tmp_path / "said") as pid:
        assert status(pid) == -signal.SIGKILL
    assert list(run.results.rglob(".*.tmp"))
    goes_on(run, finished, "generate", 4)


def test_control_c_keeps_what_was_embedded(run: Run, finished: Run) -> None:
    before(run, "embed")

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        at_call(patch, "embed", 3, interrupt)
        with pytest.raises(KeyboardInterrupt):
            run.job("embed")
    goes_on(run, finished, "embed", 8)
