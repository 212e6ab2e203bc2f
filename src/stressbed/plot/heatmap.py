"""The delta heatmap: embedder by transformation, losses red, gains blue (HTEB, figure 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle
from matplotlib.transforms import IdentityTransform, ScaledTranslation

from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.dumbbell import by_total
from stressbed.plot.inputs import Panel, Source, of_panel, panels, together
from stressbed.plot.layout import PER_LINE, Drawn, panel_grid
from stressbed.plot.style import COLUMN, DIVERGING, FAINT, INK, MUTED, SMALL, colour, number, wrapped

Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

ROW = 0.235
"""Inches per embedder."""
CELL = 0.315
"""Inches of a cell's width at least: its number must be legible."""
LABELS = 1.45
"""Inches for the embedders' labels."""


def figure(sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return the figure with a panel per setting and generator, from `delta_by_transformation`.

    Rows stand in the order of the axis dumbbell, whose table `hteb_scores` is; all panels have one scale.
    """
    columns = grouped(names)
    found = [
        (p, _in_order(p, of_panel(sources["hteb_scores"], p)).reindex(columns=["embedder", *columns]))
        for p in panels(sources["delta_by_transformation"].frame, names)
    ]
    rows = max(len(frame) for _, frame in found)
    limit = largest(np.concatenate([f[columns].to_numpy(dtype=float).ravel() for _, f in found]))
    drawn, axes = panel_grid(len(found), ROW * rows + 1.3, more=0)
    width = max(COLUMN, LABELS + CELL * len(columns))
    drawn.set_figwidth(min(len(found), PER_LINE) * width)
    for ax, (panel, frame) in zip(axes, found, strict=True):
        delta_heatmap(ax, frame, names, order=list(frame["embedder"]), limit=limit)
        ax.set_xlabel("Mean Δ (points), transformed − original")
        ax.set_title(panel.title(names), pad=24)
    return Drawn(drawn, together(found))


def _in_order(panel: Panel, scores: pd.DataFrame) -> pd.DataFrame:
    if "hteb" not in scores.columns:
        return panel.frame
    order = {e: i for i, e in enumerate(by_total(scores)["embedder"])}
    return panel.frame.sort_values(
        "embedder", key=lambda c: c.map(order), kind="stable", ignore_index=True, na_position="last"
    )


def delta_heatmap(
    ax: Axes, data: pd.DataFrame, names: Names, *, order: Sequence[str], limit: float | None = None
) -> Axes:
    """Draw a matrix of deltas with its values printed, columns grouped by axis, and return the axes.

    Args:
        ax: Where to draw.
        data: Column embedder and one column per transformation (points, transformed minus original).
        names: Labels, axes and colours; transformations stand in their order.
        order: Embedders from top to bottom.
        limit: Delta at the ends of the colour scale; the largest absolute delta if None.
    """
    columns = grouped(names)
    values = data.set_index("embedder").reindex(index=list(order), columns=columns).to_numpy(dtype=float)
    scale = colour_scale(largest(values) if limit is None else limit)
    # NaN is drawn as nothing; `_cell` hatches it.
    ax.imshow(scale.to_rgba(values), aspect="auto", interpolation="nearest")
    for y, x in np.ndindex(values.shape):
        _cell(ax, x, y, float(values[y, x]), scale)
    labels = [wrapped(names.label(c)) for c in columns]
    ax.set_xticks(range(len(columns)), labels, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(order)), [wrapped(names.sized(e)) for e in order])
    ax.tick_params(length=0, labelsize=SMALL)
    ax.spines[:].set_visible(False)
    _axis_groups(ax, columns, names)
    return ax


def grouped(names: Names) -> list[str]:
    """Return the transformations, those of one axis side by side, axes in order of appearance."""
    axes = list(dict.fromkeys(names.axes[t] for t in names.transformations))
    return [t for a in axes for t in names.transformations if names.axes[t] == a]


def colour_scale(limit: float) -> ScalarMappable:
    """Return the colour scale of deltas: zero in the middle, the same reach on both sides."""
    return ScalarMappable(Normalize(-limit, limit), colormaps[DIVERGING])


def largest(values: Matrix) -> float:
    """Return the largest absolute delta, but at least one point: the reach of the colour scale."""
    finite = np.abs(values[np.isfinite(values)])
    return max(1.0, float(finite.max())) if finite.size else 1.0


def _cell(ax: Axes, x: int, y: int, value: float, scale: ScalarMappable) -> None:
    if math.isnan(value):
        ax.add_patch(
            Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white", edgecolor=FAINT, hatch="////", linewidth=0)
        )
        ax.text(x, y, "–", ha="center", va="center", color=MUTED, fontsize=SMALL)
        return
    red, green, blue, _ = scale.to_rgba(np.array([value]))[0]
    dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
    text = number(value, sign=True)
    ax.text(x, y, text, ha="center", va="center", color="white" if dark else INK, fontsize=SMALL)


def _axis_groups(ax: Axes, columns: Sequence[str], names: Names) -> None:
    """Draw a strip in its axis's colour above each group, and white lines between cells."""
    figure = ax.get_figure(root=True)
    above = ScaledTranslation(0, 5 / 72, figure.dpi_scale_trans) if figure else IdentityTransform()
    place = ax.get_xaxis_transform() + above
    start = 0
    for axis, members in groupby(columns, key=lambda c: names.axes[c]):
        n = len(list(members))
        hue = colour(axis, names.colours)
        ax.plot(
            [start - 0.46, start + n - 0.54], [1.0, 1.0], transform=place, color=hue, linewidth=3,
            solid_capstyle="butt", clip_on=False,
        )  # fmt: skip
        label = AXIS_LABELS[axis].replace("/", "/\n" if n == 1 else "/")
        ax.annotate(
            label, (start + n / 2 - 0.5, 1.0), xycoords=place, xytext=(0, 4), textcoords="offset points",
            ha="center", va="bottom", weight="bold", fontsize=6.5,
        )  # fmt: skip
        if start:
            ax.axvline(start - 0.5, color="white", linewidth=3)
        start += n
    ax.set_xticks(np.arange(-0.5, len(columns)), minor=True)
    ax.set_yticks(np.arange(-0.5, ax.get_ylim()[0] + 0.6), minor=True)
    ax.grid(which="minor", color="white", linewidth=0.8)
    ax.tick_params(which="minor", length=0)
