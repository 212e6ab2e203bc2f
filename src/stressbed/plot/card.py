"""The card of one embedder: its profile, its ranks, its datasets, and the items that it fails worst on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure, SubFigure

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.card_items import item_lines, items_text
from stressbed.plot.card_panels import (
    DATASET_LABEL,
    ROW_LABEL,
    Value,
    dataset_lines,
    delta_profile,
    rank_lines,
    values_of,
)
from stressbed.plot.inputs import Panel
from stressbed.plot.style import INK, WIDTH, new_figure, number, said_figure, two_lines, wrapped

ROW = 0.165
"""Inches per row of a card."""
TALL = 1.5
"""Rows that a row takes in a column with labels of two lines."""
EDGE = 10
"""Datasets that are shown from each end where there are more than twice as many."""


@dataclass(frozen=True)
class Block:
    """What the card shows of one setting and generator.

    Attributes:
        panel: Its data.
        rows: Total, axes and transformations.
        datasets: From the most robust one; an empty name stands for those that are left out.
        row_size: Rows that one of `rows` takes: more where a label has two lines.
        dataset_size: The same of `datasets`.
    """

    panel: Panel
    rows: Sequence[str]
    datasets: Sequence[str]
    row_size: float = 1.0
    dataset_size: float = 1.0

    @property
    def height(self) -> float:
        """Inches."""
        return 0.95 + ROW * self.room

    @property
    def room(self) -> float:
        """Rows that the higher one of its columns needs."""
        return max(len(self.rows) * self.row_size + 5, len(self.datasets) * self.dataset_size)


def card(embedder: str, data: pd.DataFrame, names: Names) -> Figure:
    """Return the card of an embedder, one page.

    Args:
        embedder: Catalogue id.
        data: What `card_data` gathers.
        names: Labels, axes and colours.
    """
    blocks = [_block(panel, names) for panel in _panels(data)]
    if not blocks:
        return said_figure(["This embedder has no scores."], title=wrapped(names.label(embedder), 60))
    said = item_lines(data, names)
    heights = [b.height for b in blocks] + ([0.11 * len(said) + 0.3] if said else [])
    figure = new_figure(WIDTH, sum(heights) + 0.35)
    figure.suptitle(wrapped(names.sized(embedder), 70), x=0.01, ha="left", fontsize=11, weight="bold")
    parts = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for part, block in zip(parts, blocks, strict=False):
        _draw_block(part, block, names)
    if said:
        items_text(parts[-1].subplots(), said)
    return figure


def _panels(data: pd.DataFrame) -> list[Panel]:
    scored = data[data["part"] == "score"]
    keys = scored[["generator", "setting"]].drop_duplicates().itertuples(index=False)
    return [
        Panel(g, s, data[(data["generator"] == g) & (data["setting"] == s)].reset_index(drop=True))
        for g, s in keys
    ]


def _block(panel: Panel, names: Names) -> Block:
    deltas = values_of(panel.frame, "delta")
    rows = ["hteb"]
    for axis in AXES:
        rows += [axis, *(t for t in names.transformations if names.axes[t] == axis)]
    before, after = (values_of(panel.frame, f"dataset_{c}") for c in (ORIGINAL, "hteb"))
    drops = {d: before[d].value - after[d].value for d in before}
    # A dataset without a total has no place in the order: it stands at the end.
    order = sorted(drops, key=lambda d: math.inf if math.isnan(drops[d]) else drops[d])
    if len(order) > 2 * EDGE:
        order = [*order[:EDGE], "", *order[-EDGE:]]
    shown = [r for r in rows if r in deltas]
    return Block(panel, shown, order, _size(shown, ROW_LABEL, names), _size(order, DATASET_LABEL, names))


def _size(ids: Sequence[str], width: int, names: Names) -> float:
    return TALL if any("\n" in two_lines(names.label(i), width) for i in ids if i) else 1.0


def _draw_block(part: SubFigure, block: Block, names: Names) -> None:
    grid = part.add_gridspec(2, 2, height_ratios=[len(block.rows) * block.row_size + 1, 4], wspace=0.06)
    profile, ranks = part.add_subplot(grid[0, 0]), part.add_subplot(grid[1, 0])
    datasets = part.add_subplot(grid[:, 1])
    part.suptitle(
        "\n".join(summary(block.panel, names)), x=0.01, ha="left", fontsize=7, linespacing=1.4, color=INK
    )
    delta_profile(profile, block.panel.frame, block.rows, names)
    rank_lines(ranks, block.panel.frame)
    room = block.room / block.dataset_size
    dataset_lines(datasets, block.panel.frame, block.datasets, names, room=room)


def summary(panel: Panel, names: Names) -> list[str]:
    """Return the lines above a block: what it is about, scores with intervals, ranks."""
    scores, ranks = values_of(panel.frame, "score"), values_of(panel.frame, "rank")
    words = [f"{AXIS_LABELS[name]} {_said(value)}" for name, value in scores.items()]
    sure = values_of(panel.frame, "interval").get("datasets")
    lines = ["   ".join(words) + " points" + (f"   [{sure.note} over datasets]" if sure else "")]
    if ranks:
        # Embedders that share a place have ranks of a half.
        before, after = (_said(ranks[n], digits=int(ranks[n].value % 1 > 0)) for n in (ORIGINAL, "hteb"))
        basis = values_of(panel.frame, "compared").get("datasets")
        over = (
            "" if basis is None else f"; over the {basis.value:.0f} of {basis.note} datasets with every cell"
        )
        lines.append(f"Rank {before} of {ranks['hteb'].note} on original texts, {after} under HTEB{over}")
    title = panel.title(names)
    return ([title] if title else []) + lines


def _said(value: Value, *, digits: int = 1) -> str:
    ends = f" [{number(value.low, digits)}, {number(value.high, digits)}]"
    return number(value.value, digits) + ("" if math.isnan(value.low) else ends)
