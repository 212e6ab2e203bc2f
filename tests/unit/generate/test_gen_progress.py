"""Progress in the log: answer by answer, but not a line for each."""

from __future__ import annotations

import logging

import pytest

from stressbed.generate.asking import LazyEngine, Sender, Tally, _Once
from stressbed.generate.completions import CompletionStore
from stressbed.generate.engines.shared import SharedEngine
from stressbed.generate.request import ChatRequest, Completion
from stressbed.progress import Progress
from stressbed.stopping import Stop


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, logger="stressbed")
    return lambda: [r.getMessage() for r in caplog.records]


def test_a_line_every_five_seconds_with_rate_and_time_left(said):
    clock = Clock()
    progress = Progress("job", 1000, "requests", clock=clock)
    for _ in range(160):
        clock.now += 0.125
        progress.add()
    assert said() == [
        "job: 40 of 1000 requests, 8 a second, about 2 min left",
        "job: 80 of 1000 requests, 8 a second, about 2 min left",
        "job: 120 of 1000 requests, 8 a second, about 2 min left",
        "job: 160 of 1000 requests, 8 a second, about 2 min left",
    ]


def test_a_day_of_work_has_few_lines_and_the_end_none(said):
    clock = Clock()
    progress = Progress("job", 86_400, "requests", clock=clock)
    for done in range(1, 86_401):
        clock.now += 1
        progress.reach(done)
    assert 200 < len(said()) < 400
    assert progress.done == 86_400
    assert said()[-1].startswith("job: 8")
    assert "86400 of" not in said()[-1]


def test_what_is_reached_twice_counts_once(said):
    progress = Progress("job", 4, "requests")
    progress.add(3)
    progress.reach(2)
    progress.reach(4)
    assert progress.done == 4
    assert said() == []


class Engine:
    """Tells of each answer, a minute apart, within one batch."""

    def __init__(self, clock: Clock) -> None:
        self.clock, self.progress = clock, lambda n: None

    def watch(self, progress):
        self.progress = progress

    def complete(self, requests, keys):
        for _ in keys:
            self.clock.now += 60
            self.progress(1)
        return [Completion(k, "fine", "stop", 1, 1) for k in keys]

    def count_tokens(self, texts):
        return [1 for _ in texts]

    def close(self):
        pass


def test_a_single_batch_moves_with_its_answers(said, tmp_path, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(Progress.__init__, "__kwdefaults__", {"clock": clock})
    shared = SharedEngine(lambda: Engine(clock))
    sender = Sender(CompletionStore(tmp_path), LazyEngine(lambda: shared), Stop(), 64, "d g")
    requests = [ChatRequest((("user", str(i)),), 5) for i in range(4)]
    sender.send([_Once(r.key("g"), r, 1) for r in requests], "step 1", Tally())
    assert said() == [
        "d g, step 1: 4 requests in 1 batches",
        "d g, step 1: 1 of 4 requests, 0.0167 a second, about 3 min left",
        "d g, step 1: 2 of 4 requests, 0.0167 a second, about 2 min left",
        "d g, step 1: 3 of 4 requests, 0.0167 a second, about 60 s left",
    ]
