"""The analyse stage: tidy tables in, result tables out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from stressbed.analyse import FLAG_TABLES, SCORE_TABLES
from stressbed.analyse.descriptive import catalogue, rewrites
from stressbed.analyse.descriptive import scores as score_tables
from stressbed.analyse.metadata import trained_languages
from stressbed.analyse.names import Names
from stressbed.analyse.statistics import crosscheck
from stressbed.analyse.statistics.registry import STATISTICS
from stressbed.analyse.statistics.zero_shot import zero_shot_pairs
from stressbed.analyse.study import Analysed
from stressbed.analyse.table import Table
from stressbed.analyse.write import write_table
from stressbed.collect.rewrites import rewrite_counts, rewrite_examples
from stressbed.config.load import Plan
from stressbed.store import read_parquet

logger = logging.getLogger("stressbed")


def analyse(*, plan: Plan, scores: Path, transforms: Sequence[Path], folder: Path) -> list[Path]:
    """Write all result tables as CSV, Markdown and LaTeX and return their paths.

    Args:
        plan: The run: labels, order, options of the statistics, catalogue.
        scores: Its `scores.parquet`.
        transforms: Its transform tables.
        folder: Where the tables go.
    """
    names, known = Names.of(plan), zero_shot_pairs(plan)
    frame = read_parquet(scores).to_pandas()
    # In the order of the seeds: the first that has a rewrite counts it, here as in `scores.parquet`.
    place = {seed: i for i, seed in enumerate(plan.config.seeds)}
    files = sorted((p for p in transforms if p.is_file()), key=lambda p: place[int(p.stem)])
    counts = rewrite_counts(files)
    found = [getattr(score_tables, name)(frame, names) for name in SCORE_TABLES]
    data = Analysed(frame, names, plan.config.analysis, known, trained_languages(plan))
    found += [statistic(data) for statistic in STATISTICS.values()]
    found += [
        catalogue.catalogue_embedders(plan, names, zero_shot=known),
        catalogue.catalogue_datasets(plan, names),
        catalogue.catalogue_generators(plan, names),
    ]
    if len(names.generators) > 1:
        found += [crosscheck.crosscheck(data), crosscheck.crosscheck_cells(frame, names)]
    found += [rewrites.flag_rates(counts, names, by=by) for by in FLAG_TABLES]
    found.append(rewrites.outcomes(counts, names))
    found.append(rewrites.examples(rewrite_examples(files, seed=plan.config.seeds[0]), names))
    written = [path for table in found for path in write_table(table, folder, names)]
    _say(found)
    return written


def _say(found: Sequence[Table]) -> None:
    incomplete = next(t for t in found if t.name == "incomplete_cells")
    if len(incomplete.frame):
        logger.warning("%d cells or subsets have no score: see incomplete_cells.csv", len(incomplete.frame))
    logger.info("wrote %d tables", len(found))
