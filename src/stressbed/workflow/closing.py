"""The last words of a run: where its results are."""

from __future__ import annotations

from pathlib import Path

from stressbed import paths
from stressbed.config import Plan
from stressbed.report import page
from stressbed.select.winner import outcome


def where_results_are(plan: Plan) -> list[str]:
    """Return one line per stage that says where its results lie, and what a selection has chosen."""
    r, run = plan.results, plan.run_folder
    chosen = outcome(plan)
    lines = [
        ("selection", f"{plan.selection_folder}/winner.json, tables/, figures/" if chosen else ""),
        ("people", f"{r}/{paths.HUMAN_FOLDER.format(run=plan.config.run)}/" if plan.config.human else ""),
    ]
    if plan.only_selects:
        lines += [("report", f"{run}/report.html")]
    else:
        lines += _places(r, run)
    said = [str(chosen["sentence"])] if chosen else []
    return [*(f"  {name:<11}{place}" for name, place in lines if place and _exists(place)), *said]


def _places(r: Path, run: Path) -> list[tuple[str, str]]:
    return [
        ("datasets", f"{r}/datasets/"),
        ("rewrites", f"{r}/transforms/"),
        ("cells", f"{r}/scores/"),
        ("all scores", f"{run}/scores.parquet, items.parquet"),
        # What `snakemake partial` made says less than the finished run's own, once that is there.
        ("so far", "" if (run / "scores.parquet").exists() else f"{run}/partial/"),
        ("tables", f"{run}/tables/"),
        ("figures", f"{run}/figures/"),
        ("summary", f"{run}/summary.json"),
        ("page", f"{run}/{page.FILE}"),
        ("report", f"{run}/report.html"),
    ]


def _exists(place: str) -> bool:
    return Path(place.split(",", maxsplit=1)[0]).exists()
