"""Each kind of change redoes its own cells and no others; nothing is lost when a run is killed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from workflow_project import Project, make_project

pytestmark = pytest.mark.workflow

NOTHING = "Nothing to be done"


def changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    """Return the cells whose fingerprint is new or different."""
    return {name for name, value in after.items() if before.get(name) != value}


def computed(project: Project) -> int:
    """Return how many cells the last scoring jobs computed."""
    return int(project.counters("score")["computed"])


def tables(project: Project) -> dict[str, bytes]:
    folder = project.folder / "results" / "runs" / "tiny" / "tables"
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}


def test_a_run_makes_every_promised_file(finished: Project) -> None:
    run = finished.folder / "results" / "runs" / "tiny"
    for name in (
        "scores.parquet",
        "items.parquet",
        "item_texts.parquet",
        "item_drift.parquet",
        "tables/hteb_scores.csv",
        "tables/item_intervals.csv",
        "tables/worst_items.csv",
        "tables/item_causes.csv",
        "tables/delta_by_transformation.csv",
        "figures/axis_dumbbell.pdf",
        "figures/axis_dumbbell.png",
        "figures/delta_heatmap.pdf",
        "figures/delta_heatmap.png",
        "report.html",
        "summary.json",
        "config.yaml",
    ):
        assert (run / name).stat().st_size > 0, name
    scores = pd.read_csv(run / "tables" / "hteb_scores.csv")
    assert list(scores.columns) == [
        "embedder", "original", "lexical_stylistic", "length", "language", "hteb", "drop",
    ]  # fmt: skip
    assert len(finished.cells()) == 2 * 1 * (1 + 2 * 2)


def test_a_second_run_does_nothing(project: Project) -> None:
    assert NOTHING in project.run()


def test_touched_files_and_a_lost_label_change_nothing(project: Project) -> None:
    for script in (project.folder / "workflow" / "scripts").glob("*.py"):
        script.touch()
    (project.folder / "results/datasets/helpdesk-pairs/texts.parquet").touch()
    assert NOTHING in project.run()


def test_a_changed_prompt_redoes_its_transformation_only(project: Project) -> None:
    before = project.fingerprints()
    project.edit("config/catalogue/prompts.yaml", "Rephrase the following text", "Reword the following text")
    said = project.run("-n")
    assert "paraphrasing/1" in said
    stale = [line for line in said.splitlines() if "cells to compute" in line]
    assert stale
    assert all("paraphrasing/1" in line and "translation" not in line for line in stale)
    project.run()
    after = project.fingerprints()
    assert {name.split("/")[-2] for name in changed(before, after)} == {"paraphrasing"}
    # At temperature 0 both seeds ask the same, so their cells share a fingerprint and are computed once.
    assert computed(project) == len({after[name] for name in changed(before, after)})


@pytest.mark.parametrize(
    ("changes", "part", "new_cells"),
    [
        ({"embedders": ["random", "tf", "tfidf-svd"]}, "tfidf-svd/", 5),
        ({"datasets": ["helpdesk-pairs", "helpdesk"]}, "/helpdesk/", 10),
        ({"seeds": [1, 2, 3]}, "/3", 4),
        ({"transformations": ["paraphrasing", "translation", "style_change"]}, "/style_change/", 4),
        ({"generator": ["slow-fake", "fake"]}, "/fake/", 8),
    ],
    ids=["embedder", "dataset", "seed", "transformation", "generator"],
)
def test_an_addition_makes_only_its_own_cells(
    project: Project, changes: dict[str, list[object]], part: str, new_cells: int
) -> None:
    before = project.cells()
    project.config(**changes)
    project.run()
    after = project.cells()
    new = set(after) - set(before)
    assert len(new) == new_cells
    assert all(part in name + "/" or name.endswith(part) for name in new)
    assert all(after[name] == before[name] for name in before), "an old cell was computed again"


def test_a_changed_figure_redraws_only(project: Project) -> None:
    project.edit("src/stressbed/plot/__init__.py", 'VERSION = "', 'VERSION = "9')
    said = project.run("-n")
    rules = {line.split()[0] for line in said.split("Job stats:")[1].splitlines()[3:] if line.strip()}
    assert "plot" in rules
    assert not rules & {"dataset", "texts", "generate", "transform", "embed", "score", "collect", "analyse"}


def test_a_forced_job_reuses_valid_cells(project: Project) -> None:
    before = project.cells()
    project.run("--forcerun", "score", "embed")
    assert computed(project) == 0
    assert project.counters("score")["reused"] == len(before)
    assert project.counters("embed")["encoded"] == 0
    assert project.cells() == before


def test_a_forced_generation_asks_nothing(project: Project) -> None:
    project.run("--forcerun", "generate")
    assert project.counters("generate")["sent"] == 0
    assert project.counters("generate")["reused"] > 0


def test_without_the_store_results_are_the_same(project: Project) -> None:
    before, old = project.fingerprints(), tables(project)
    shutil.rmtree(project.folder / "results" / ".store")
    assert NOTHING in project.run()
    project.run("--forcerun", "generate", "embed", "score")
    assert project.fingerprints() == before
    assert tables(project) == old


def test_a_single_cell_is_a_target(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.config(job_axes=["embedder", "dataset", "variant"])
    target = "results/scores/tf/helpdesk-pairs/slow-fake/paraphrasing/1.json"
    project.run(target)
    assert list(project.cells()) == ["tf/helpdesk-pairs/slow-fake/paraphrasing/1"]


@pytest.mark.parametrize("axes", [["embedder"], ["embedder", "dataset", "variant"]], ids="-".join)
def test_any_cut_into_jobs_gives_the_same_scores(finished: Project, tmp_path: Path, axes: list[str]) -> None:
    other = make_project(tmp_path / "project")
    other.config(job_axes=axes)
    other.run()
    assert tables(other) == tables(finished)
    assert other.fingerprints() == finished.fingerprints()


def test_a_neural_embedder_scores_the_same_however_it_is_cut(tmp_path: Path) -> None:
    """Its vectors may differ in the last bits with the batch they are in; scores must not show it."""
    scores = []
    for axes in (["embedder"], ["embedder", "dataset", "variant"]):
        project = make_project(tmp_path / "-".join(axes))
        project.config(embedders=["minilm-l6"], transformations=["paraphrasing"], seeds=[1], job_axes=axes)
        project.run("--until", "score")
        scores.append({name: cell["score"] for name, cell in project.cells().items()})
    assert len(scores[0]) == 2
    assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_a_run_killed_in_each_stage_ends_with_the_same_tables(finished: Project, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    for stage in ("dataset", "texts", "generate", "transform", "embed", "score"):
        project.kill_in(stage)
    project.run()
    assert tables(project) == tables(finished)
    assert project.fingerprints() == finished.fingerprints()


def test_bad_input_reaches_no_job(project: Project) -> None:
    project.config(embedders=["random", "tff"])
    said = project.run(check=False)
    assert "did you mean 'tf'?" in said
    assert "Traceback" not in said


def test_the_resolved_config_stands_beside_the_results(finished: Project) -> None:
    text = (finished.folder / "results/runs/tiny/config.yaml").read_text()
    assert yaml.safe_load(text)["seeds"] == [1, 2]
