"""From cells to figures when cells are missing, or all of them."""

import json

import pandas as pd
from fabricate import make_plan, write_cells, write_transforms

from stressbed.analyse import TABLES
from stressbed.analyse.names import Names
from stressbed.analyse.run import analyse
from stressbed.collect.cells import collect
from stressbed.plot.run import plot
from stressbed.report.summary import summary


def everything(plan, transforms=()):
    folder = plan.run_folder
    scores, names = folder / "scores.parquet", Names.of(plan)
    collect(plan=plan, scores_out=scores, items_out=folder / "items.parquet")
    analyse(plan=plan, scores=scores, transforms=transforms, folder=folder / "tables")
    plot(tables=folder / "tables", names=names, folder=folder / "figures")
    summary(plan=plan, scores=scores, jobs=[], out=folder / "summary.json")
    return folder


def test_an_unfinished_run_has_tables_with_its_gaps(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion", "translation"), seeds=(1,))
    write_cells(plan, lambda c: None if c.embedder == "beta" and c.dataset == "topics" else 50.0)
    folder = everything(plan, [write_transforms(plan, "pairs", plan.rewrites[0], [{}, {"empty": True}])])
    assert {p.stem for p in (folder / "tables").glob("*.csv")} == set(TABLES)
    scores = pd.read_csv(folder / "tables" / "hteb_scores.csv").set_index("embedder")
    assert scores.loc["alpha", "hteb"] == 50
    assert pd.isna(scores.loc["beta", "hteb"])
    assert len(pd.read_csv(folder / "tables" / "incomplete_cells.csv")) == 3
    assert json.loads((folder / "summary.json").read_text())["cells"]["missing"] == 3
    assert (folder / "figures" / "delta_heatmap.png").stat().st_size > 1000


def test_a_run_with_nothing_at_all_still_says_so(tmp_path):
    plan = make_plan(tmp_path, transformations=("expansion",), seeds=(1,))
    folder = everything(plan)
    assert json.loads((folder / "summary.json").read_text())["cells"]["missing"] == 8
    assert pd.read_csv(folder / "tables" / "hteb_scores.csv")["hteb"].isna().all()
    assert pd.read_csv(folder / "tables" / "flag_rates_by_generator.csv").empty
