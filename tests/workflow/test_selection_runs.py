"""Choosing the generator by running it: checkpoints, resumption, a main run that uses the winner."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
import yaml
from workflow_project import Project, make_project

pytestmark = pytest.mark.workflow

TRANSFORMATIONS = ["paraphrasing", "summarised_expansion", "cross_translation"]
RATES = {"fake-a": 0.0, "fake-b": 0.1, "fake-c": 0.3, "fake-d": 0.9}
FOLDER = Path("results/select/pick")


def selecting(folder: Path) -> Project:
    """Return a project that chooses among four candidates, each of which logs what it is asked."""
    project = make_project(folder)
    generators = [
        {
            "id": name, "engine": "fake", "model": name, "batch_size": 8,
            "engine_options": {"empty_rate": rate, "log": str(folder / f"asked-{name}.txt")},
        }
        for name, rate in RATES.items()
    ]  # fmt: skip
    selection = {
        "id": "pick", "candidates": list(RATES), "dataset": "helpdesk-pairs", "rows": 6, "seed": 1,
        "transformations": TRANSFORMATIONS, "shortlist": 2, "judge_prompt": "quality", "resamples": 500,
    }  # fmt: skip
    entries = {"generators": generators, "selections": [selection]}
    (folder / "pick.yaml").write_text(yaml.safe_dump(entries))
    project.config(catalogue=["config/own-data/catalogue.yaml", "pick.yaml"], selection="pick")
    return project


def main_run(project: Project, **changes: object) -> None:
    """Let the run use the winner; its transformations are among those of the screening."""
    project.config(
        generator="auto", transformations=["paraphrasing", "cross_translation"], seeds=[1, 2], **changes
    )


def only_select(project: Project) -> None:
    path = project.folder / "run.yaml"
    run = yaml.safe_load(path.read_text())
    for key in ("datasets", "embedders", "transformations", "seeds", "generator"):
        run.pop(key, None)
    path.write_text(yaml.safe_dump(run))


def change_selection(project: Project, **changes: object) -> None:
    path = project.folder / "pick.yaml"
    entries = yaml.safe_load(path.read_text())
    entries["selections"][0].update(changes)
    path.write_text(yaml.safe_dump(entries))


def asked(project: Project) -> Counter[tuple[str, str]]:
    """Return how often each request was sent, by generator and key."""
    return Counter(
        (path.stem, key) for path in project.folder.glob("asked-*.txt") for key in path.read_text().split()
    )


def jobs(output: str) -> dict[str, int]:
    """Return the number of jobs by rule, from the table that Snakemake prints first."""
    table = output.split("Job stats:", maxsplit=2)[1].split("total", maxsplit=1)[0]
    return {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)}


def results(project: Project) -> dict[str, bytes]:
    """Return the selection's results, whatever tells time left out."""
    folder = project.folder / FOLDER
    kept = [p for p in folder.rglob("*") if p.suffix in {".json", ".csv", ".md", ".tex"}]
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(kept)}


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose selection has been made; tests copy it."""
    project = selecting(tmp_path_factory.mktemp("selected") / "project")
    only_select(project)
    project.run()
    return project


def test_a_selection_ends_in_tables_letters_and_a_winner(selected: Project) -> None:
    folder = selected.folder / FOLDER
    winner = json.loads((folder / "winner.json").read_text())
    shortlist = json.loads((folder / "shortlist.json").read_text())["shortlist"]
    assert shortlist == ["fake-a", "fake-b"]
    assert winner["winner"] in shortlist
    assert set(winner["letters"]) == set(shortlist)
    assert winner["n_observations"] == 6
    screening = pd.read_csv(folder / "tables" / "screening.csv")
    assert sorted(screening["generator"]) == sorted(RATES)
    for table in ("crossover", "judge_by_transformation", "generator_comparisons", "self_preference"):
        assert len(pd.read_csv(folder / "tables" / f"{table}.csv")), table
    assert (folder / "figures" / "crossover.svg").exists()
    assert (selected.folder / "results" / "runs" / "tiny" / "report.html").exists()


def test_every_judge_has_rated_the_same_texts_of_every_generator(selected: Project) -> None:
    frames = {
        p.relative_to(selected.folder / FOLDER): pd.read_parquet(p)
        for p in (selected.folder / FOLDER / "ratings").rglob("*.parquet")
    }
    assert len(frames) == 4
    rated = [set(zip(f["transformation"], f["text_id"], strict=True)) for f in frames.values()]
    assert all(r == rated[0] for r in rated)
    assert len(rated[0]) == 6 * 2 * len(TRANSFORMATIONS)


def test_a_second_run_does_nothing(selected: Project, tmp_path: Path) -> None:
    project = selected.copy(tmp_path / "project")
    assert "Nothing to be done" in project.run()


def test_the_main_run_takes_the_winner_and_asks_nothing_twice(selected: Project, tmp_path: Path) -> None:
    chosen = selecting(tmp_path / "project")
    main_run(chosen)
    chosen.run()
    winner = json.loads((chosen.folder / FOLDER / "winner.json").read_text())["winner"]
    cells = chosen.cells()
    assert len(cells) == 2 * (1 + 2 * 2)
    assert {name.split("/")[2] for name in cells} == {"none", winner}
    assert max(asked(chosen).values()) == 1
    summary = json.loads((chosen.folder / "results/runs/tiny/summary.json").read_text())
    assert summary["selection"]["winner"] == winner
    assert summary["jobs_without_statistics"] == 0
    assert results(chosen) == results(selected)
    assert "Nothing to be done" in chosen.run()

    # Named by its id, the same generator gives the same cells: they come from the store.
    before = chosen.fingerprints()
    chosen.config(generator=winner, selection=None)
    chosen.run()
    assert chosen.fingerprints() == before
    for embedder in ("random", "tf"):
        job = json.loads((chosen.folder / f"results/jobs/score/{embedder}/helpdesk-pairs.json").read_text())
        assert job["counters"]["computed"] == 0
    assert max(asked(chosen).values()) == 1


def test_a_selection_before_the_main_run_is_used_as_it_is(selected: Project, tmp_path: Path) -> None:
    project = selected.copy(tmp_path / "project")
    project.config(datasets=["helpdesk-pairs"], embedders=["random", "tf"], run="main")
    main_run(project)
    planned = jobs(project.run("-n"))
    assert not any(name.startswith("select_") for name in planned), planned
    project.run()
    assert max(asked(project).values()) == 1


def test_a_further_judge_runs_only_its_row_and_column(selected: Project, tmp_path: Path) -> None:
    project = selected.copy(tmp_path / "project")
    before = {p: p.stat().st_mtime_ns for p in (project.folder / FOLDER / "ratings").rglob("*.parquet")}
    change_selection(project, shortlist=3)
    project.run()
    after = {p: p.stat().st_mtime_ns for p in (project.folder / FOLDER / "ratings").rglob("*.parquet")}
    assert len(after) == 9
    assert {p: after[p] for p in before} == before
    crossover = pd.read_csv(project.folder / FOLDER / "tables" / "crossover.csv")
    assert {"fake-a", "fake-b", "fake-c"} <= set(crossover["judge"])
    assert "fake-c" in crossover.columns
    assert max(asked(project).values()) == 1

    change_selection(project, judges=["fake-d"])
    project.run()
    assert len(list((project.folder / FOLDER / "ratings" / "fake-d").rglob("*.parquet"))) == 3
    crossover = pd.read_csv(project.folder / FOLDER / "tables" / "crossover.csv")
    assert "fake-d" in set(crossover["judge"])
    assert "fake-d" not in crossover.columns


def test_another_prompt_for_judges_leaves_the_screening_alone(selected: Project, tmp_path: Path) -> None:
    project = selected.copy(tmp_path / "project")
    path = project.folder / "config" / "catalogue" / "judges.yaml"
    entries = yaml.safe_load(path.read_text())
    entries["judge_prompts"][0]["template"] = "Rate the result. " + entries["judge_prompts"][0]["template"]
    path.write_text(yaml.safe_dump(entries))
    planned = jobs(project.run("-n"))
    assert planned["select_judge"] == 4
    assert "select_generate" not in planned
    assert "select_shortlist" not in planned


@pytest.mark.parametrize("stage", ["select/pick/generate", "select/pick/judge"])
def test_a_killed_selection_goes_on_where_it_was(stage: str, selected: Project, tmp_path: Path) -> None:
    project = selecting(tmp_path / "project")
    only_select(project)
    project.kill_in(stage)
    project.run()
    assert results(project) == results(selected)
    assert "Nothing to be done" in project.run()
