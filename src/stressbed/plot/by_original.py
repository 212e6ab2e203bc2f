"""Drop against the original score, a dot per embedder, dataset and transformation (HTEB, figure 9)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.names import Names
from stressbed.plot.forest import axis_handles
from stressbed.plot.inputs import Source, panels, together
from stressbed.plot.layout import Drawn, panel_grid
from stressbed.plot.style import FAINT, MUTED, SHAPES, colour

PANEL = 2.5
"""Inches of a panel's height."""
TURNS = 12
"""In how many turns the axes' dots are drawn, so that no axis lies on top of another everywhere."""


def figure(sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return the figure with a panel per setting and generator, from `drops_by_cell`.

    All panels have the same scales, so that settings can be compared by eye.
    """
    found = panels(sources["drops_by_cell"].frame, names)
    drawn, axes = panel_grid(len(found), PANEL, sharex=True, sharey=True)
    for ax, panel in zip(axes, found, strict=True):
        drop_by_original(ax, panel.frame, names)
        ax.set_title(panel.title(names))
        ax.tick_params(labelbottom=True, labelleft=True)
    shown = [a for a in AXES if any((p.frame["axis"] == a).any() for p in found)]
    drawn.legend(handles=axis_handles(shown, names), loc="outside upper center", ncols=3, handletextpad=0.2)
    return Drawn(drawn, together([(p, p.frame) for p in found]))


def drop_by_original(ax: Axes, data: pd.DataFrame, names: Names) -> Axes:
    """Draw one dot per cell (mean over seeds) and return the axes; above the line the embedder loses.

    There is no trend line: dots of one dataset or embedder hang together, so that no interval of a
    trend through them would hold what it says.

    Args:
        ax: Where to draw.
        data: Columns axis, original, drop (points); cells without a drop are left out and counted.
        names: Colours.
    """
    held = data.dropna(subset=["original", "drop"])
    size, alpha = dot(len(held))
    ax.axhline(0, color=MUTED, linewidth=0.8, zorder=3)
    for turn in range(TURNS):
        for axis in AXES:
            part = held[held["axis"] == axis].iloc[turn::TURNS]
            # Dots are pixels in PDF and SVG too: thousands of vector dots make files that open slowly.
            ax.scatter(
                part["original"], part["drop"], s=size, marker=SHAPES[axis], alpha=alpha, linewidth=0,
                color=colour(axis, names.colours), zorder=2, rasterized=True,
            )  # fmt: skip
    left = len(data) - len(held)
    said = f"n = {len(held):,}".replace(",", " ") + (f", {left} without a score" if left else "")
    ax.set_title(said, loc="right", color=MUTED, fontsize=6.5, weight="normal")
    ax.set_xlabel("Original score (points)")
    ax.set_ylabel("Drop (points)")
    ax.grid(color=FAINT, linewidth=0.4, zorder=0)
    ax.margins(0.04, 0.08)
    return ax


def dot(n: int) -> tuple[float, float]:
    """Return the area and the opacity of one of `n` dots: the more there are, the smaller and fainter."""
    crowd = min(1.0, max(0.0, (math.log10(max(n, 1)) - 1.5) / 2))
    return 18 - 12 * crowd, 0.85 - 0.45 * crowd
