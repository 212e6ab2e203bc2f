"""What a run comes to: findings and verdicts in words, and which statistics it has."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from stressbed.analyse import CONCLUSIONS
from stressbed.analyse.conclusions.findings import findings
from stressbed.analyse.conclusions.paper import Beside
from stressbed.analyse.conclusions.recommendation import recommendation
from stressbed.analyse.conclusions.statistical_tests import statistical_tests
from stressbed.analyse.names import Names
from stressbed.analyse.read import read_table
from stressbed.analyse.study import Analysed
from stressbed.analyse.write import write_table
from stressbed.config.load import Plan
from stressbed.store import read_parquet, write_text

logger = logging.getLogger("stressbed")


def conclude(*, plan: Plan, scores: Path, items: Path, tables: Path, out: Path) -> list[Path]:
    """Write `findings.md` and the tables that are made of other tables; return the paths.

    Args:
        plan: The run.
        scores: Its `scores.parquet`.
        items: Its `items.parquet`.
        tables: Folder of its tables; the new ones go there too.
        out: `findings.md`.
    """
    names = Names.of(plan)
    data = Analysed(read_parquet(scores).to_pandas(), names, plan.config.analysis)
    known = read_tables(tables)
    verdicts = recommendation(
        data,
        questions=names.questions,
        item_intervals=known.get("item_intervals"),
        items=read_parquet(items).to_pandas() if len(names.datasets) == 1 else None,
    )
    known = {**known, verdicts.name: verdicts.frame}
    found = [verdicts, statistical_tests(plan, names, known)]
    written = [path for table in found for path in write_table(table, tables, names)]
    write_text(out, findings(known, names, run=plan.config.run, beside=Beside.of(plan)))
    logger.info("wrote %s and %d tables", out.name, len(found))
    return [*written, out]


def read_tables(folder: Path) -> Mapping[str, pd.DataFrame]:
    """Return the tables in a folder by name, but for those that are made of others."""
    return {p.stem: read_table(p) for p in sorted(folder.glob("*.csv")) if p.stem not in CONCLUSIONS}
