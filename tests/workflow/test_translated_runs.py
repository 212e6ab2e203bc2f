"""A dataset that is another one in translation, through the whole workflow."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from workflow_project import CATALOGUE, Project, make_project

pytestmark = pytest.mark.workflow

NOTHING = "Nothing to be done"
GERMAN = "helpdesk-pairs-deu"
TRANSLATOR = "translate/transforms/helpdesk-pairs/slow-fake/put-deu-Latn/1337.parquet"
ENTRIES: dict[str, list[dict[str, Any]]] = {
    **CATALOGUE,
    "prompts": [{"id": "put", "template": "Put this into {target_language}.", "source": "here"}],
    "transformations": [
        {
            "id": "put",
            "label": "Put",
            "axis": "language",
            "draw": "subset",
            "pool": ["fra-Latn"],
            "exclude": "subset",
            "steps": [{"prompt": "put", "language": "target"}],
        }
    ],
    "datasets": [
        {
            "id": GERMAN,
            "translate_dataset": {
                "source": "helpdesk-pairs",
                "generator": "slow-fake",
                "transformation": "put",
            },
            "task_type": "STS",
            "languages": {"default": ["deu-Latn"]},
            "main_score": "cosine_spearman",
        }
    ],
}


def make_translated(folder: Path, **changes: Any) -> Project:
    project = make_project(folder)
    (project.folder / "extra.yaml").write_text(yaml.safe_dump(ENTRIES))
    project.config(datasets=["helpdesk-pairs", GERMAN], embedders=["tf"], seeds=[1], **changes)
    return project


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_translated(tmp_path_factory.mktemp("translated") / "project")
    project.run()
    return project


def read(project: Project, name: str) -> Any:
    path = project.folder / "results" / name
    return pd.read_parquet(path) if path.suffix == ".parquet" else json.loads(path.read_text())


def jobs(said: str) -> dict[str, int]:
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+)\s+(\d+)$", said, re.M)}


def test_the_translated_dataset_is_run_like_any_other(done: Project) -> None:
    assert len(done.cells()) == 2 * 1 * (1 + 2)
    translated, texts = read(done, TRANSLATOR), read(done, f"datasets/{GERMAN}/texts.parquet")
    assert texts["text"].tolist() == translated["text"].tolist()
    assert set(texts["language"]) == {"deu-Latn"}
    again = read(done, f"transforms/{GERMAN}/slow-fake/translation/1.parquet")
    assert again["original"].tolist() == texts["text"].tolist()
    assert set(again["source_language"]) == {"deu-Latn"}
    assert "deu-Latn" not in set(again["target_language"])
    made = read(done, f"datasets/{GERMAN}/manifest.json")["translation"]
    assert made["source_hash"] == read(done, "datasets/helpdesk-pairs/manifest.json")["content_hash"]
    scores = read(done, "runs/tiny/scores.parquet")
    assert set(scores.loc[scores["dataset"] == GERMAN, "language"]) == {"deu-Latn"}


def test_the_table_sets_source_and_translation_side_by_side(done: Project) -> None:
    table = pd.read_csv(done.folder / "results/runs/tiny/tables/translated_datasets.csv")
    assert table["embedder"].tolist() == ["tf", "(all)"]
    assert set(table["language"]) == {"deu-Latn"}
    by_dataset = pd.read_csv(done.folder / "results/runs/tiny/tables/by_dataset.csv").set_index("dataset")
    for side, dataset in (("source", "helpdesk-pairs"), ("translated", GERMAN)):
        for name in ("original", "drop"):
            assert table[f"{side}_{name}"].tolist() == pytest.approx([by_dataset.loc[dataset, name]] * 2)


def test_the_summary_counts_the_translations_requests(done: Project) -> None:
    found = read(done, "runs/tiny/summary.json")
    own = sum(
        read(done, f"jobs/generate/{d}/slow-fake.json")["counters"]["sent"]
        for d in ("helpdesk-pairs", GERMAN)
    )
    translating = read(done, "jobs/translate/generate/helpdesk-pairs/slow-fake/put-deu-Latn/1337.json")
    assert translating["counters"]["sent"] > 0
    assert found["requests"]["sent"] == own + translating["counters"]["sent"]
    assert found["jobs_without_statistics"] == 0


def test_a_second_run_does_nothing(done: Project) -> None:
    assert NOTHING in done.run()


def test_a_changed_prompt_of_the_translation_redoes_the_dataset_and_its_cells_only(
    done: Project, tmp_path: Path
) -> None:
    project = done.copy(tmp_path / "project")
    before = project.fingerprints()
    project.edit("extra.yaml", "Put this into", "Say this in")
    said = project.run("-n")
    counts = jobs(said)
    assert counts["dataset"] == counts["texts"] == counts["translate_generate"] == 1
    assert counts["generate"] == counts["embed"] == counts["score"] == 1
    (stale,) = [line for line in said.splitlines() if "cells to compute" in line]
    assert GERMAN in stale
    assert all(v in stale for v in ("none/original/0", "paraphrasing/1", "translation/1"))
    project.run()
    after = project.fingerprints()
    assert {name.split("/")[1] for name in after if after[name] != before[name]} == {GERMAN}
    assert all(after[name] != before[name] for name in after if f"/{GERMAN}/" in name)
    assert NOTHING in project.run()


def test_a_changed_prompt_of_a_rewrite_leaves_the_translation_alone(done: Project, tmp_path: Path) -> None:
    project = done.copy(tmp_path / "project")
    project.edit("config/catalogue/prompts.yaml", "Rephrase the following text", "Reword the following text")
    counts = jobs(project.run("-n"))
    assert not {"dataset", "texts", "translate_generate", "translate_transform"} & set(counts)
    assert counts["generate"] == 2


def test_a_source_that_is_not_part_of_the_run_is_an_intermediate(done: Project, tmp_path: Path) -> None:
    project = make_translated(tmp_path / "project")
    project.config(datasets=[GERMAN])
    project.run()
    assert {name.split("/")[1] for name in project.cells()} == {GERMAN}
    german = {name: value for name, value in done.fingerprints().items() if f"/{GERMAN}/" in name}
    assert project.fingerprints() == german
    assert read(project, "runs/tiny/summary.json")["jobs_without_statistics"] == 0
    assert NOTHING in project.run()
    (project.folder / "results" / TRANSLATOR).unlink()  # as after a failed job: it is missed and made anew
    project.run()
    assert project.counters("generate")["sent"] == 0
    assert project.fingerprints() == german


def test_a_run_killed_while_it_translates_ends_with_the_same_cells(done: Project, tmp_path: Path) -> None:
    project = make_translated(tmp_path / "project")
    for stage in ("translate/generate", "translate/transform", "dataset", "texts"):
        project.kill_in(stage)
    project.run()
    assert project.fingerprints() == done.fingerprints()
