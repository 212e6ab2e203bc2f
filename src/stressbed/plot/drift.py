"""Drift of a rewrite against the quality that people see in it (HTEB, figure 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stressbed.analyse.names import Names
from stressbed.plot.style import FAINT, SHAPES, SMALL, WIDTH, colour, new_figure

COLUMNS = 4
PANEL = 1.75
"""Inches of a panel's height."""


def drift_figure(
    data: pd.DataFrame, correlations: pd.DataFrame, names: Names, *, embedder: str = ""
) -> Figure:
    """Return a figure with a panel per group of transformations.

    A dot is one rated rewrite: its mean quality over raters and its drift. Each panel says Spearman's rho
    with its interval and the number of rewrites.

    Args:
        data: Columns group, axis, quality (1 to 5), drift.
        correlations: Columns group, rho, low, high, n; its order is that of the panels.
        names: Labels and colours.
        embedder: Label of the embedder, for the axis.
    """
    groups = list(correlations["group"])
    columns = min(COLUMNS, len(groups)) or 1
    lines = math.ceil(len(groups) / columns) or 1
    figure = new_figure(WIDTH, lines * PANEL + 0.45)
    axes = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True)
    for ax in axes.ravel()[len(groups) :]:
        ax.set_visible(False)
    for ax, row in zip(axes.ravel(), correlations.to_dict("records"), strict=False):
        _panel(ax, data[data["group"] == row["group"]], row, names)
    under = f" under {embedder}" if embedder else ""
    figure.supxlabel("Mean quality (1 to 5)", fontsize=7)
    figure.supylabel(f"Drift, 1 − cos{under}", fontsize=7)
    axes[0, 0].set_ylim(*_limits(data["drift"]))
    return figure


def _panel(ax: Axes, part: pd.DataFrame, row: Mapping[Any, Any], names: Names) -> None:
    axis = str(part["axis"].iloc[0]) if len(part) else ""
    ax.scatter(
        part["quality"], part["drift"], s=9, color=colour(axis, names.colours), marker=SHAPES.get(axis, "o"),
        alpha=0.55, linewidth=0,
    )  # fmt: skip
    ax.set_xlim(0.8, 5.2)
    ax.set_xticks([1, 2, 3, 4, 5])
    ax.grid(color=FAINT, linewidth=0.4, zorder=0)
    ax.set_title(title_of(str(row["group"]), names), fontsize=7)
    rho, low, high = (float(str(row[k])) for k in ("rho", "low", "high"))
    said = f"n = {row['n']}" if math.isnan(rho) else f"ρ = {rho:.2f} [{low:.2f}, {high:.2f}]\nn = {row['n']}"
    ax.text(0.97, 0.96, said.replace("-", "−"), transform=ax.transAxes, ha="right", va="top", fontsize=SMALL)


def _limits(drifts: pd.Series) -> tuple[float, float]:
    """Return limits that leave room above the dots for two lines of text."""
    low, high = (min(0.0, drifts.min()), drifts.max()) if drifts.notna().any() else (0.0, 1.0)
    span = max(high - low, 0.01)
    return low - 0.05 * span, high + 0.3 * span


def title_of(group: str, names: Names) -> str:
    """Return the label of a group of transformations: pooled ones joined."""
    return " + ".join(names.label(t) for t in group.split("+"))
