"""The analyse stage: tidy tables in, result tables out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from stressbed.analyse import FLAG_TABLES, SCORE_TABLES, crosscheck, rewrites, tables
from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.analyse.write import write_table
from stressbed.collect.rewrites import rewrite_counts, rewrite_examples
from stressbed.store import read_parquet

logger = logging.getLogger("stressbed")


def analyse(
    *, scores: Path, transforms: Sequence[Path], names: Names, example_seed: int, folder: Path
) -> list[Path]:
    """Write all result tables as CSV, Markdown and LaTeX and return their paths.

    Args:
        scores: `scores.parquet` of a run.
        transforms: The run's transform tables.
        names: Labels and order.
        example_seed: Seed of the drawn examples.
        folder: Where the tables go.
    """
    frame = read_parquet(scores).to_pandas()
    files = [p for p in sorted(transforms) if p.is_file()]
    counts = rewrite_counts(files)
    found = [getattr(tables, name)(frame, names) for name in SCORE_TABLES]
    if len(names.generators) > 1:
        found += [crosscheck.crosscheck(frame, names), crosscheck.crosscheck_cells(frame, names)]
    found += [rewrites.flag_rates(counts, names, by=by) for by in FLAG_TABLES]
    found.append(rewrites.outcomes(counts, names))
    found.append(rewrites.examples(rewrite_examples(files, seed=example_seed), names))
    written = [path for table in found for path in write_table(table, folder, names)]
    _say(found)
    return written


def _say(found: Sequence[Table]) -> None:
    incomplete = next(t for t in found if t.name == "incomplete_cells")
    if len(incomplete.frame):
        logger.warning("%d cells or subsets have no score: see incomplete_cells.csv", len(incomplete.frame))
    logger.info("wrote %d tables", len(found))
