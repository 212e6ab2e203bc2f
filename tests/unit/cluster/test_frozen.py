"""What a run through a queue was started with stays what its jobs use."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import yaml

import stressbed
from stressbed.check import load_run
from stressbed.cluster.frozen import COMMIT, CONFIG, forget, freeze, thaw
from stressbed.config.load import Plan, read_config
from stressbed.errors import StressbedError
from stressbed.workflow import Grid

ROOT = Path(__file__).resolve().parents[3]
LATER = time.time() + 1_000_000


@pytest.fixture
def root(tmp_path) -> Path:
    """A small workflow."""
    folder = tmp_path / "root"
    (folder / "workflow" / "rules").mkdir(parents=True)
    (folder / "src" / "package" / "__pycache__").mkdir(parents=True)
    (folder / "Snakefile").write_text("rule all: ...")
    (folder / "workflow" / "rules" / "a.smk").write_text("rule a: ...")
    (folder / "src" / "package" / "code.py").write_text("x = 1")
    (folder / "src" / "package" / "__pycache__" / "code.pyc").write_bytes(b"\0")
    (folder / "data.csv").write_text("not copied")
    return folder


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_run(read_config(ROOT / "config" / "test.yaml"), base=ROOT)


def test_a_copy_holds_the_workflow_the_package_and_the_config(root, plan, tmp_path):
    copy = freeze(plan, root, tmp_path / "store", begun=LATER)
    names = {str(p.relative_to(copy)) for p in copy.rglob("*") if p.is_file()}
    assert names == {
        "Snakefile", "workflow/rules/a.smk", "src/package/code.py", f"src/{COMMIT}", "plan.json", CONFIG,
    }  # fmt: skip
    assert yaml.safe_load((copy / CONFIG).read_text())["run"] == plan.config.run


@pytest.mark.parametrize("name", ["test", "quickstart", "hteb-german", "quickstart-auto", "planted"])
def test_a_plan_comes_back_as_it_was(name, root, tmp_path, monkeypatch):
    plan = load_run(read_config(ROOT / "config" / f"{name}.yaml"), base=ROOT)
    copy = freeze(plan, root, tmp_path / "store", begun=LATER)
    monkeypatch.setattr(stressbed, "__file__", str(copy / "src" / "stressbed" / "__init__.py"))
    back = thaw(copy)
    assert back == plan
    kinds = ("datasets", "embedders", "generators", "transformations", "prompts")
    assert Grid.of(back).spec(*kinds) == Grid.of(plan).spec(*kinds)


def test_a_job_that_would_use_another_package_than_its_run_stops(root, plan, tmp_path):
    with pytest.raises(StressbedError, match="another stressbed") as error:
        thaw(freeze(plan, root, tmp_path / "store", begun=LATER))
    assert str(Path(stressbed.__file__).resolve().parents[1]) in str(error.value)


def test_a_folder_that_is_no_copy_has_no_plan(root):
    assert thaw(root) is None


def test_a_later_edit_does_not_reach_the_copy(root, plan, tmp_path):
    copy = freeze(plan, root, tmp_path / "store", begun=LATER)
    (root / "src" / "package" / "code.py").write_text("x = 2")
    (root / "Snakefile").unlink()
    assert (copy / "src" / "package" / "code.py").read_text() == "x = 1"
    assert (copy / "Snakefile").exists()


def test_equal_content_is_copied_once_and_an_edit_makes_another_copy(root, plan, tmp_path):
    store = tmp_path / "store"
    first = freeze(plan, root, store, begun=LATER)
    assert freeze(plan, root, store, begun=LATER) == first
    (root / "workflow" / "rules" / "a.smk").write_text("rule b: ...")
    assert freeze(plan, root, store, begun=LATER) != first
    other = Plan(plan.config.model_copy(update={"notice": "another"}), plan.catalogue, plan.base)
    assert freeze(other, root, store, begun=LATER).name not in {first.name}


def test_an_edit_while_the_run_starts_is_refused(root, plan, tmp_path):
    file = root / "src" / "package" / "code.py"
    os.utime(file, (LATER, LATER))
    with pytest.raises(StressbedError, match="edited while the run was starting") as error:
        freeze(plan, root, tmp_path / "store", begun=time.time() + 1)
    assert "code.py" in str(error.value)


def test_copies_that_no_living_run_uses_are_removed(root, plan, tmp_path):
    store = tmp_path / "store"
    kept = freeze(plan, root, store, begun=LATER)
    (root / "Snakefile").write_text("rule other: ...")
    other = freeze(plan, root, store, begun=LATER)
    forget(store, [str(kept)])
    assert {p.name for p in store.iterdir()} == {kept.name, other.name}, "another run may be about to use it"
    os.utime(other, (time.time() - 10_000,) * 2)
    forget(store, [str(kept)])
    assert [p.name for p in store.iterdir()] == [kept.name]
