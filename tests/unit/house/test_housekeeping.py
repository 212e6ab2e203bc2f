"""The store's survey names what a config names, and removal takes the rest only."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stressbed import cli, housekeeping, paths
from stressbed.check import load_run
from stressbed.config import Plan
from stressbed.errors import StoreError
from stressbed.store import Store

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    config = {
        "run": "tiny",
        "results": str(tmp_path / "results"),
        "datasets": ["helpdesk-pairs"],
        "embedders": ["random"],
        "generator": "fake",
        "transformations": ["paraphrasing"],
        "seeds": [1],
        "catalogue": ["config/own-data/catalogue.yaml"],
    }
    return load_run(config, base=ROOT)


def fill(plan: Plan) -> Store:
    """Put one named and one stale part of each kind into the store, and one finished cell."""
    store = Store(plan.results / paths.STORE)
    for name in (plan.generator_identity("fake"), "f" * 32):
        folder = store.root / "completions" / name
        folder.mkdir(parents=True)
        (folder / "batch").write_bytes(b"x" * 1000)
    for name in (
        plan.embedder_identity("random"),
        plan.embedder_identity("random") + "-" + "a" * 32,
        "e" * 32,
    ):
        folder = store.root / "vectors" / name
        folder.mkdir(parents=True)
        (folder / "chunk.npy").write_bytes(b"x" * 500)
    store.put("cells", "1" * 32, b"{}")
    store.put("cells", "2" * 32, b"{}")
    cell = plan.results / paths.SCORE.format(
        embedder="random", dataset="helpdesk-pairs", variant=str(plan.variants[0])
    )
    cell.parent.mkdir(parents=True)
    cell.write_text(json.dumps({"fingerprint": "1" * 32}))
    return store


def test_the_survey_tells_named_from_stale(plan: Plan) -> None:
    store = fill(plan)
    found = {(e.kind, e.path.name): e.named for e in housekeeping.survey(store.root, [plan])}
    identity = plan.embedder_identity("random")
    assert found == {
        ("completions", plan.generator_identity("fake")): True,
        ("completions", "f" * 32): False,
        ("vectors", identity): True,
        ("vectors", f"{identity}-{'a' * 32}"): True,
        ("vectors", "e" * 32): False,
        ("cells", "1" * 32): True,
        ("cells", "2" * 32): False,
    }


def test_removal_takes_only_what_no_config_names_and_says_how_much(plan: Plan) -> None:
    store = fill(plan)
    entries = housekeeping.survey(store.root, [plan])
    assert "1 (1 kB)" in housekeeping.report(entries)
    stale = sum(e.size for e in entries if not e.named)
    assert housekeeping.remove(entries) == stale
    left = housekeeping.survey(store.root, [plan])
    assert left
    assert all(e.named for e in left)


def test_the_command_reports_first_and_removes_only_when_told(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = fill(plan)
    config = tmp_path / "run.json"
    config.write_text(json.dumps(plan.config.model_dump(mode="json")))
    monkeypatch.chdir(ROOT)
    assert cli.main(["clean-store", str(config)]) == 0
    assert "nothing was removed" in capsys.readouterr().out
    assert store.has("cells", "2" * 32)
    assert cli.main(["clean-store", "--yes", str(config)]) == 0
    assert not store.has("cells", "2" * 32)
    assert store.has("cells", "1" * 32)


def test_a_bad_config_ends_in_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "run.yaml"
    config.write_text("run: [unclosed")
    assert cli.main(["check", str(config)]) == 1
    assert str(config) in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"fingerprint": 3}'])
def test_nothing_is_removed_while_a_cell_cannot_be_read(plan: Plan, content: str) -> None:
    store = fill(plan)
    (cell,) = (plan.results / "scores").rglob("*.json")
    cell.write_text(content)
    with pytest.raises(StoreError) as caught:
        housekeeping.survey(store.root, [plan])
    assert caught.value.where == str(cell)


def test_a_file_that_a_job_is_writing_is_no_part_of_the_store(plan: Plan) -> None:
    store = fill(plan)
    fresh, old = (store.path("cells", c * 32).with_name(f".{c * 32}.7.tmp") for c in "34")
    for path in (fresh, old):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"half")
    os.utime(old, (1, 1))
    housekeeping.remove(housekeeping.survey(store.root, [plan]))
    assert fresh.exists()
    assert not old.exists()


def test_links_are_removed_and_what_they_lead_to_stays(plan: Plan, tmp_path: Path) -> None:
    store = fill(plan)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").write_bytes(b"x" * 10_000)
    (store.root / "vectors" / "link").symlink_to(tmp_path / "elsewhere")
    (store.root / "cells" / "11" / "dangling").symlink_to(tmp_path / "nothing")
    entries = housekeeping.survey(store.root, [plan])
    assert sum(e.size for e in entries if e.name == "link") < 1000
    housekeeping.remove(entries)
    assert (tmp_path / "elsewhere" / "mine").exists()
    assert not (store.root / "vectors" / "link").is_symlink()


@pytest.mark.parametrize("command", ["plan", "export-scores", "export-rewrites"])
def test_a_folder_that_cannot_be_made_is_said_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "x", tmp_path / ("a" * 300)):
        assert cli.main([command, str(tmp_path / "no.yaml"), "--out", str(out)]) == 1
        assert "where: --out" in capsys.readouterr().err


def test_an_error_of_the_disk_ends_in_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(args: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(tmp_path / "x"))

    monkeypatch.setattr(cli, "_check", full)
    assert cli.main(["check", "any"]) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert str(tmp_path / "x") in said


def test_output_that_nobody_reads_any_longer_is_no_error() -> None:
    command = (
        f"{sys.executable} -m stressbed.cli check config/minimal-check.yaml | true; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
