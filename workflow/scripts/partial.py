"""Collect, analyse and draw the cells that are there, beside the run's own results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed import paths
from stressbed.analyse.items.run import analyse_items
from stressbed.analyse.names import Names
from stressbed.analyse.run import analyse
from stressbed.collect.cells import collect
from stressbed.collect.drifts import collect_drift
from stressbed.collect.texts import collect_texts
from stressbed.config import Plan
from stressbed.jobs import job
from stressbed.plot.run import plot
from stressbed.report.page import FILE
from stressbed.report.page.build import write_page
from stressbed.select.winner import resolved
from stressbed.workflow import Grid

if TYPE_CHECKING:
    snakemake: Any  # what Snakemake puts in front of a script

with job("partial", log_file=snakemake.log[0]) as this:
    plan = resolved(Plan.parse(snakemake.params.plan))
    folder = Path(snakemake.params.folder)
    scores, names = folder / "scores.parquet", Names.of(plan)
    items, texts, drift = (folder / f"{n}.parquet" for n in ("items", "item_texts", "item_drift"))
    collect(plan=plan, scores_out=scores, items_out=items)
    collect_texts(plan=plan, out=texts)
    collect_drift(plan=plan, store_root=plan.results / paths.STORE, out=drift)
    analyse(
        plan=plan,
        scores=scores,
        transforms=Grid(plan).present_transforms(),
        folder=folder / "tables",
    )
    analyse_items(plan=plan, scores=scores, items=items, texts=texts, drift=drift, folder=folder / "tables")
    plot(tables=folder / "tables", names=names, folder=folder / "figures")
    write_page(
        tables=folder / "tables",
        names=names,
        out=folder / FILE,
        run=plan.config.run,
        description=plan.config.description,
        notice=f"The run was not finished when this page was written. {plan.config.notice}",
    )
