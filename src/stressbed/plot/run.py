"""The plot stage: analysed tables in, figures and their data out."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from stressbed.analyse.names import Names
from stressbed.analyse.write import to_csv
from stressbed.plot import (
    CARDS,
    CROSSCHECK,
    INPUTS,
    NEEDS,
    by_original,
    dumbbell,
    forest,
    heatmap,
    size,
    stability,
)
from stressbed.plot.card import card
from stressbed.plot.card_data import card_data
from stressbed.plot.crosscheck import crosscheck_figure
from stressbed.plot.inputs import Source, read_source
from stressbed.plot.layout import Drawn
from stressbed.plot.style import said_figure, save, style
from stressbed.store import write_text

logger = logging.getLogger("stressbed")

DRAWINGS: Mapping[str, Callable[[Mapping[str, Source], Names], Drawn]] = {
    "axis_dumbbell": dumbbell.figure,
    "delta_heatmap": heatmap.figure,
    "shifts_forest": forest.figure,
    "drop_by_original": by_original.figure,
    "rank_stability": stability.figure,
    "size_ablation": size.figure,
}

WHAT_IS_LACKING = {
    "axis_dumbbell": "No embedder has a score.",
    "delta_heatmap": "No embedder has a delta.",
    "shifts_forest": "No transformation has deltas enough for a shift.",
    "drop_by_original": "No cell has both an original and a transformed score.",
    "rank_stability": "Ranks need several embedders, and their spread several datasets.",
    "size_ablation": "No family has several models in this run.",
}
"""What a figure without data says if its table does not say why."""


def plot(*, tables: Path, names: Names, folder: Path) -> list[Path]:
    """Draw all figures and a card per embedder; return the paths: PDF, SVG, PNG and the data as CSV of each.

    A run with several settings or generators gets a panel for each. A figure whose table has no rows is
    drawn nevertheless: it says in words what is lacking.

    Args:
        tables: Folder of the analysed tables (CSV, and Markdown for the notes).
        names: Labels, order and colours.
        folder: Where the figures go.
    """
    sources = {t: read_source(tables, t) for t in INPUTS}
    written: list[Path] = []
    with style():
        for name in DRAWINGS:
            written += _write(drawing(name, sources, names), folder, name)
        if len(names.generators) > 1:
            held = read_source(tables, f"{CROSSCHECK}_cells").frame
            written += _write(Drawn(crosscheck_figure(held, names), held), folder, CROSSCHECK)
        for embedder in names.embedders:
            data = card_data(embedder, sources, names)
            written += _write(Drawn(card(embedder, data, names), data), folder / CARDS, embedder)
    logger.info("drew %d files of figures", len(written))
    return written


def drawing(name: str, sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return a figure, or the sentence why there is none."""
    source = sources[NEEDS[name][0]]
    if len(source.frame):
        return DRAWINGS[name](sources, names)
    said = source.notes or (WHAT_IS_LACKING[name],)
    return Drawn(said_figure(said, title=f"No figure: {name.replace('_', ' ')}"), source.frame)


def _write(drawn: Drawn, folder: Path, name: str) -> list[Path]:
    """Write a figure and, beside it, what it shows."""
    path = folder / f"{name}.csv"
    write_text(path, to_csv(drawn.data))
    return [*save(drawn.figure, folder, name), path]
