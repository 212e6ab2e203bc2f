"""The store's survey names what a config names, and removal takes the rest only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stressbed import cli, housekeeping, paths
from stressbed.config import Plan, load_run
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
