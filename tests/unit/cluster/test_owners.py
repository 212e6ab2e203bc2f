"""Whether the process that a queue's jobs belong to still lives."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import asdict, replace

import pytest

from stressbed.cluster.owners import Owner, claim, living


@pytest.fixture
def me(tmp_path) -> Owner:
    return Owner.this_process("stressbed_me", tmp_path / "plan")


def record(folder, owner: Owner):
    path = folder / f"{owner.name}.json"
    path.write_text(json.dumps(asdict(owner)))
    return path


def test_a_process_that_claimed_its_jobs_lives(tmp_path, me):
    claim(tmp_path, me)
    assert living(tmp_path) == [me]


@pytest.mark.parametrize(
    "change", [{"pid": 2**22 - 3}, {"born": 1.0}], ids=["no such process", "number used again"]
)
def test_a_process_of_this_machine_that_is_gone_is_dead_at_once(tmp_path, me, change):
    path = record(tmp_path, replace(me, **change))
    assert living(tmp_path) == []
    assert not path.exists()


def test_a_record_that_was_cut_off_counts_as_dead(tmp_path):
    (tmp_path / "stressbed_x.json").write_text('{"name": "stress')
    assert living(tmp_path) == []


def test_another_machines_silent_process_is_dead(tmp_path, me):
    path = record(tmp_path, replace(me, host="login2"))
    os.utime(path, (time.time() - 1000,) * 2)
    assert living(tmp_path) == []


def test_another_machines_process_that_beats_lives(tmp_path, me):
    path = record(tmp_path, replace(me, host="login2"))
    threading.Timer(0.3, os.utime, [path]).start()
    assert living(tmp_path, silence=5) == [replace(me, host="login2")]


def test_a_short_silence_of_another_machine_is_waited_out(tmp_path, me):
    record(tmp_path, replace(me, host="login2"))
    begun = time.monotonic()
    assert living(tmp_path, silence=1) == []
    assert time.monotonic() - begun > 0.5


def test_there_are_no_owners_before_the_first_run(tmp_path):
    assert living(tmp_path / "none") == []
