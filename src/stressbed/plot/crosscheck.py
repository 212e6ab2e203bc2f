"""Deltas under one generator against those under another, a dot per cell."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.style import FAINT, MUTED, SHAPES, colour, new_figure

PANEL = 3.6
"""Inches of a panel's side."""


def crosscheck_figure(data: pd.DataFrame, names: Names) -> Figure:
    """Return a figure with a panel per pair of generators.

    A dot is an embedder on a dataset under a transformation, coloured by axis; on the line both
    generators cost the embedder the same. Cells without a score under one of the two are left out.

    Args:
        data: Columns first, second, axis, delta_first, delta_second (points).
        names: Labels and colours.
    """
    panels = list(data.groupby(["first", "second"], sort=False))
    figure = new_figure(PANEL * len(panels) + 0.4, PANEL + 0.5)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    shown = data.dropna(subset=["delta_first", "delta_second"])
    values = shown[["delta_first", "delta_second"]].to_numpy(dtype=float)
    low, high = (float(values.min()), float(values.max())) if len(shown) else (-1.0, 1.0)
    margin = max(0.06 * (high - low), 0.5)
    for ax, ((first, second), part) in zip(axes, panels, strict=True):
        _panel(ax, part, names, (low - margin, high + margin))
        ax.set_xlabel(f"Δ under {names.label(str(first))} (points)")
        ax.set_ylabel(f"Δ under {names.label(str(second))} (points)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), handletextpad=0.2)
    return figure


def _panel(ax: Axes, part: pd.DataFrame, names: Names, limits: tuple[float, float]) -> None:
    ax.axline((0, 0), slope=1, color=MUTED, linewidth=0.8, zorder=1)
    ax.axhline(0, color=FAINT, linewidth=0.6, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=0.6, zorder=0)
    for axis in AXES:
        held = part[part["axis"] == axis].dropna(subset=["delta_first", "delta_second"])
        if len(held):
            ax.scatter(
                held["delta_first"], held["delta_second"], s=18, marker=SHAPES[axis], alpha=0.75, linewidth=0,
                color=colour(axis, names.colours), label=AXIS_LABELS[axis], zorder=2,
            )  # fmt: skip
    ax.set_xlim(*limits)
    ax.set_ylim(*limits)
    ax.set_aspect("equal")
