"""A script's world is its inputs and params: no script reads a config or a catalogue."""

import ast
from pathlib import Path

import pytest

from stressbed.check import load_run
from stressbed.config import Plan
from stressbed.config.load import read_config

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))
READERS = {"load_run", "read_run", "read_config", "read_mapping", "read_what_can_be", "safe_load"}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_no_script_reads_a_config(script):
    tree = ast.parse(script.read_text())
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    used |= {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    assert not used & READERS


@pytest.mark.parametrize("config", sorted((ROOT / "config").glob("*.yaml")), ids=lambda p: p.stem)
def test_a_script_gets_the_run_as_it_was_checked(config, monkeypatch):
    monkeypatch.chdir(ROOT)
    plan = load_run(read_config(config))
    used = plan.of_used_entries()
    given = Plan.parse(used.dump())
    assert given == used
    assert given.config == plan.config
    for name in ("pairs", "variants", "generators", "datasets", "transformations", "translations"):
        assert getattr(given, name) == getattr(plan, name)
    for name in plan.generators:
        assert given.generator_identity(name) == plan.generator_identity(name)
    for name in plan.config.embedders:
        assert given.embedder_identity(name) == plan.embedder_identity(name)
    for name in plan.datasets:
        assert given.dataset_identity(name) == plan.dataset_identity(name)


def test_entries_that_the_run_does_not_use_are_left_out(monkeypatch):
    monkeypatch.chdir(ROOT)
    plan = load_run(read_config(ROOT / "config" / "quickstart.yaml"))
    catalogue = plan.of_used_entries().catalogue
    assert sorted(catalogue.embedders) == sorted(plan.config.embedders)
    assert sorted(catalogue.datasets) == sorted(plan.config.datasets)
    assert list(catalogue.generators) == ["smollm2-135m"]
    assert "translate" in catalogue.prompts
    assert not catalogue.selections
