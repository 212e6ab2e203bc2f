"""Every table and sentence of a run that has two of everything, beside approved files."""

from __future__ import annotations

import os

import pytest
from approved import FOLDER, approve
from rich_run import write_run

from stressbed.analyse import run as analysis
from stressbed.analyse.conclusions.run import conclude
from stressbed.analyse.items.run import analyse_items
from stressbed.collect.cells import collect
from stressbed.collect.drifts import collect_drift
from stressbed.collect.texts import collect_texts


def known_training(plan):
    """Stand in for mteb's record of training data: one pair in three is not known."""
    return {p: (True, False, None)[i % 3] for i, p in enumerate(plan.pairs)}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    plan, transforms = write_run(tmp_path_factory.mktemp("rich"))
    folder = plan.run_folder
    scores, items, texts, drift = (
        folder / f"{n}.parquet" for n in ("scores", "items", "item_texts", "item_drift")
    )
    collect(plan=plan, scores_out=scores, items_out=items)
    collect_texts(plan=plan, out=texts)
    collect_drift(plan=plan, store_root=plan.results / ".store", out=drift)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "zero_shot_pairs", known_training)
        analysis.analyse(plan=plan, scores=scores, transforms=transforms, folder=folder / "tables")
    analyse_items(plan=plan, scores=scores, items=items, texts=texts, drift=drift, folder=folder / "tables")
    conclude(plan=plan, scores=scores, items=items, tables=folder / "tables", out=folder / "findings.md")
    return folder


def some_rows(text: str, first: int, every: int) -> str:
    """Return a table's first and last rows, every so many of the others, and how many it has."""
    lines = text.rstrip("\n").split("\n")
    kept = [x for i, x in enumerate(lines) if i < first or i >= len(lines) - 8 or i % every == 0]
    return "\n".join([*kept, f"{len(lines)} lines"]) + "\n"


def test_every_table_is_approved(tables):
    """The CSV has all values; Markdown shows rounding, marks, bold, labels and notes."""
    written = sorted((tables / "tables").iterdir())
    if not os.environ.get("STRESSBED_APPROVE"):
        assert {p.stem for p in written} == {p.stem for p in (FOLDER / "rich").iterdir()} - {"findings"}
    for path in written:
        if path.suffix == ".csv":
            approve(f"rich/{path.name}", some_rows(path.read_text(encoding="utf-8"), 45, 17))
        if path.suffix == ".md":
            approve(f"rich/{path.name}", some_rows(path.read_text(encoding="utf-8"), 16, 60))


def test_every_finding_is_approved(tables):
    approve("rich/findings.md", (tables / "findings.md").read_text(encoding="utf-8"))
