"""Which cells a job would compute, as the dry run's message names them, on a made run with all its files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks.bench_scale import TRANSFORMATIONS, VARIANTS, fill, make_project  # noqa: E402

from stressbed import paths  # noqa: E402
from stressbed.check import load_run  # noqa: E402
from stressbed.config.load import Plan  # noqa: E402
from stressbed.workflow import Grid, cells_to_compute  # noqa: E402

Change = Callable[[Any], dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("filled")
    make_project(made, 4 * VARIANTS)
    fill(made)
    return made


@pytest.fixture
def plan(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.chdir(folder)
    return load_run(yaml.safe_load(Path("run.yaml").read_text(encoding="utf-8")))


def stale(plan: Plan) -> list[str]:
    grid = Grid.of(plan)
    at = {"embedder": plan.config.embedders[0], "dataset": plan.config.datasets[0]}
    found = cells_to_compute(grid, [p.format(**at) for p in grid.cells(paths.SCORE)])
    return [v for v in found.split(", ") if v != "none"]


def changed(plan: Plan, kind: str, name: str, **values: Any) -> Plan:
    entries = dict(getattr(plan.catalogue, kind))
    entries[name] = entries[name].model_copy(update=values)
    return replace(plan, catalogue=replace(plan.catalogue, **{kind: entries}))


def test_nothing_is_stale_when_all_is_there(plan: Plan) -> None:
    assert stale(plan) == []


def test_a_prompt_makes_its_transformations_stale(plan: Plan) -> None:
    found = {v.split("/")[1] for v in stale(changed(plan, "prompts", "summarise", template="Shorter."))}
    assert found == {"summarisation", "summarised_expansion"}


def test_markers_make_no_cell_stale(plan: Plan) -> None:
    assert stale(changed(plan, "markers", next(iter(plan.catalogue.markers)), reasoning=["zzz"])) == []


def test_a_generator_makes_every_rewrite_stale_and_not_the_original(plan: Plan) -> None:
    found = stale(changed(plan, "generators", "made", model="other"))
    assert len(found) == 3 * len(TRANSFORMATIONS)
    assert paths.ORIGINAL not in found


@pytest.mark.parametrize(
    ("kind", "values"), [("datasets", {"row_limit": 4}), ("embedders", {"dimensions": 8})]
)
def test_datasets_and_embedders_make_all_their_cells_stale(plan: Plan, kind: str, values: dict) -> None:
    assert len(stale(changed(plan, kind, getattr(plan.config, kind)[0], **values))) == VARIANTS


def test_a_rewritten_variant_is_seen_though_it_was_read_before(plan: Plan) -> None:
    import pyarrow.parquet as pq

    assert stale(plan) == []
    variant = plan.rewrites[0]
    path = Path(Grid.of(plan).path(paths.TRANSFORM).format(dataset=plan.config.datasets[0], variant=variant))
    old = pq.read_table(path)
    pq.write_table(old.replace_schema_metadata({"stressbed.content_hash": "another"}), path)
    assert stale(plan) == [str(variant)]
    pq.write_table(old, path)
