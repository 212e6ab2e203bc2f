"""The analysis of items: tidy tables in, result tables out."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from stressbed.analyse.items.causes import item_causes
from stressbed.analyse.items.intervals import item_intervals
from stressbed.analyse.items.panels import blocks, read_blocks, read_groups
from stressbed.analyse.items.worst import worst_items
from stressbed.analyse.names import Names
from stressbed.analyse.write import write_table
from stressbed.config.load import Plan
from stressbed.store import read_parquet

logger = logging.getLogger("stressbed")

_FEATURES = [
    "dataset", "generator", "transformation", "seed", "subset", "split", "item", "language", "flags",
    "length_ratio", "edit_distance",
]  # fmt: skip
_TEXTS = [*_FEATURES[:9], "field", "position", "original", "rewritten", "outcome"]
_DRIFT = [
    "embedder", "dataset", "generator", "transformation", "seed", "subset", "split", "item", "drift",
]  # fmt: skip


def analyse_items(
    *, plan: Plan, scores: Path, items: Path, texts: Path, drift: Path, folder: Path
) -> list[Path]:
    """Write the tables of items as CSV, Markdown and LaTeX and return their paths.

    The files are read in parts, and none is held as a whole.

    Args:
        plan: The run.
        scores: Its `scores.parquet`.
        items: Its `items.parquet`.
        texts: Its `item_texts.parquet`.
        drift: Its `item_drift.parquet`.
        folder: Where the tables go.

    Raises:
        StoreError: A file is damaged.
    """
    names, options = Names.of(plan), plan.config.analysis
    frame = read_parquet(scores).to_pandas()
    drawn = {"resamples": options.resamples, "seed": options.seed}
    found = [
        item_intervals(read_blocks(items), frame, names, **drawn),
        worst_items(read_blocks(items), frame, read_groups(texts, _TEXTS), names),
        item_causes(
            read_blocks(items), frame, read_groups(texts, _FEATURES), _drift_blocks(drift), names, **drawn
        ),
    ]
    written = [path for table in found for path in write_table(table, folder, names)]
    logger.info("wrote %d tables of items", len(found))
    return written


def _drift_blocks(path: Path) -> Iterator[pd.DataFrame]:
    return blocks(read_groups(path, _DRIFT))
