"""The axis dumbbell: per embedder a row with the original's score and those of the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.style import FAINT, INK, MUTED, SHAPES, colour, nice_limits

POINTS = (ORIGINAL, *AXES)
ROW = 0.36
"""Inches per embedder."""


def by_total(data: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the best HTEB total first; rows without one last, by their original score."""
    return data.sort_values(
        ["hteb", ORIGINAL], ascending=False, na_position="last", kind="stable", ignore_index=True
    )


def axis_dumbbell(ax: Axes, data: pd.DataFrame, names: Names) -> Axes:
    """Draw one row per embedder and return the axes.

    Points are the original's score and the score of each axis, joined by a line from the lowest to the
    highest; the right columns hold Original and HTEB total, the last line their means (ø). A value that
    is lacking has no point and a dash.

    Args:
        ax: Where to draw.
        data: Columns embedder, original, lexical_stylistic, length, language, hteb (points), any order.
        names: Labels and colours.
    """
    rows = by_total(data)
    present = [p for p in POINTS if rows[p].notna().any()]
    for y, row in enumerate(rows.to_dict("records")):
        values = [row[p] for p in present if not math.isnan(row[p])]
        if values:
            ax.plot([min(values), max(values)], [y, y], color=FAINT, linewidth=3.2, zorder=1)
        for point in present:
            _point(ax, row[point], y, point, names)
    ax.set_xlim(*nice_limits([v for p in present for v in rows[p].dropna()]))
    ax.set_ylim(len(rows) + 0.35, -0.6)
    ax.set_yticks(range(len(rows)), [names.label(e) for e in rows["embedder"]])
    ax.set_xlabel("Score (points)")
    ax.grid(axis="x", color=FAINT, linewidth=0.5, zorder=0)
    ax.spines["left"].set_visible(False)
    _columns(ax, rows)
    return ax


def legend_handles(names: Names, points: Sequence[str] = POINTS) -> list[Line2D]:
    """Return a legend's entries for the original and the axes."""
    return [
        Line2D(
            [], [], linestyle="none", marker=SHAPES[p], markersize=6,
            markerfacecolor="white" if p == ORIGINAL else colour(p, names.colours),
            markeredgecolor=colour(p, names.colours), markeredgewidth=1.2, label=AXIS_LABELS[p],
        )
        for p in points
    ]  # fmt: skip


def _point(ax: Axes, x: float, y: float, point: str, names: Names) -> None:
    hue = colour(point, names.colours)
    original = point == ORIGINAL
    ax.scatter(
        x, y, s=40, marker=SHAPES[point], facecolor="white" if original else hue, edgecolor=hue,
        linewidth=1.2, zorder=4 if original else 3,
    )  # fmt: skip


def _columns(ax: Axes, rows: pd.DataFrame) -> None:
    """Write Original and HTEB beside each row, and their means below."""
    place = ax.get_yaxis_transform()
    for x, column in ((1.10, ORIGINAL), (1.22, "hteb")):
        weight = "bold" if column == "hteb" else "normal"
        style: dict[str, Any] = {"transform": place, "ha": "right", "va": "center_baseline"}
        ax.text(x, -0.75, AXIS_LABELS[column], **style, color=MUTED, fontsize=8)
        for y, value in enumerate(rows[column]):
            ax.text(x, y, _number(value), **style, weight=weight)
        mean = rows[column].mean(skipna=False)
        ax.text(x, len(rows) - 0.1, f"ø {_number(mean)}", **style, color=INK, weight=weight)
    ax.plot([1.02, 1.22], [len(rows) - 0.5] * 2, transform=place, color=MUTED, linewidth=0.6, clip_on=False)


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.1f}"
