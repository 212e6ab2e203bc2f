"""A study with people by running it: sheets, filled sheets, tables, and a rating that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from workflow_project import Project, make_project

pytestmark = pytest.mark.workflow

STUDY = {
    "per_transformation": 6, "raters": 2, "resamples": 200,
    "label_preservation": {"dataset": "helpdesk-pairs", "transformations": ["paraphrasing"], "pairs": 5},
}  # fmt: skip


def fill(project: Project, rater: str, shift: int) -> Path:
    """Rate every item of the study and save it as a form would."""
    items = pd.read_parquet(project.folder / "results/human/tiny/items.parquet")
    folder = project.folder / "filled"
    folder.mkdir(exist_ok=True)
    for kind, columns in (("quality", ["quality", "fluency"]), ("similarity", ["similarity"])):
        ids = items.loc[items["kind"] == kind, "item_id"]
        frame = pd.DataFrame({"item_id": ids, "rater": rater})
        for i, column in enumerate(columns):
            frame[column] = [1 + (shift + i + n) % 5 for n in range(len(ids))]
        frame.to_csv(folder / f"{kind}-{rater}.csv", index=False, encoding="utf-8-sig")
    return folder / f"quality-{rater}.csv"


def test_sheets_go_out_and_ratings_come_in(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    project.config(human=STUDY)
    project.run()
    folder = project.folder / "results/human/tiny"
    sheets = sorted(p.name for p in (folder / "sheets").iterdir() if not p.name.startswith("."))
    assert {Path(s).suffix for s in sheets} == {".csv", ".html"}
    items = pd.read_parquet(folder / "items.parquet")
    assert (items["kind"] == "similarity").sum() == 10
    assert "Nothing to be done" in project.run()

    # Filled sheets make the tables; nothing is rewritten or scored again.
    last = [fill(project, rater, shift) for shift, rater in enumerate(["anna", "ben"])][-1]
    project.config(human={**STUDY, "ratings": ["filled"]})
    before = project.fingerprints()
    said = project.run()
    assert "Finished jobid" in said
    assert project.fingerprints() == before
    for name in ("human_ratings", "label_preservation", "label_preservation_pairs", "quality_vs_drift"):
        assert len(pd.read_csv(folder / "tables" / f"{name}.csv")), name
    assert json.loads((folder / "summary.json").read_text())["raters"] == 2
    drift = pd.read_parquet(folder / "drift.parquet")["drift"]
    assert drift.between(-1e-6, 2).all()
    assert "Nothing to be done" in project.run()

    # A rating that cannot be stops with its place, and leaves the rest alone.
    text = last.read_text(encoding="utf-8-sig").splitlines()
    first = text[1].split(",")
    text[1] = ",".join([*first[:2], "9", first[3]])
    last.write_text("\n".join(text), encoding="utf-8")
    said = project.run(check=False)
    assert "quality 9 is off the scale" in said
    assert "quality-ben.csv, line 2" in said
    assert "Traceback" not in said.split("off the scale")[0].rsplit("human ratings", 1)[-1]
