"""The forest of shifts: how far each transformation moves scores, with its interval (HTEB, figure 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.inputs import Source, panels, together
from stressbed.plot.layout import Drawn, panel_grid
from stressbed.plot.style import COLUMN, FAINT, INK, MUTED, SHAPES, SMALL, colour, number, wrapped
from stressbed.stats.interval import FEWEST

ROW = 0.21
"""Inches per transformation."""
CONVINCING = 0.05
"""Adjusted p values from here on are greyed, as in the paper."""
INTERVALS = "Intervals: 95 %, not adjusted for the number of transformations."
NO_INTERVALS = f"No intervals: they need {FEWEST} datasets."
P_NOTE = "p: Wilcoxon, adjusted by Holm; grey: p ≥ .05."
PLACES = (("median_abs", r"$|\tilde{\Delta}|$", 24), ("p_holm", "p", 54), ("n", "n", 80))
"""Columns beside a panel: what they hold, their header, and where they end (points from the panel)."""


def figure(sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return the figure with a panel per setting and generator, from `shifts`."""
    found = panels(sources["shifts"].frame, names)
    rows = max(len(p.frame) for p in found)
    drawn, axes = panel_grid(len(found), ROW * rows + 0.75, more=0.55, sharex=True)
    for ax, panel in zip(axes, found, strict=True):
        shifts_forest(ax, panel.frame, names)
        ax.set_title(panel.title(names), pad=13)
        ax.tick_params(labelbottom=True)
    axes[0].set_xlim(*limits_with_zero(pd.concat([p.frame[["shift", "low", "high"]] for p in found])))
    shown = [a for a in AXES if any((p.frame["axis"] == a).any() for p in found)]
    drawn.legend(handles=axis_handles(shown, names), loc="outside upper center", ncols=3, handletextpad=0.2)
    between = " " if drawn.get_figwidth() > COLUMN else "\n"
    units = sorted({f"{u}s" for p in found for u in p.frame["unit"]})
    some = any(p.frame[["low", "high"]].notna().all(axis=1).any() for p in found)
    about = between.join([INTERVALS if some else NO_INTERVALS, P_NOTE])
    columns = f"First column: median of the absolute deltas. n: {' or '.join(units)}."
    drawn.supxlabel(f"{about}\n{columns}", fontsize=SMALL, color=MUTED)
    return Drawn(drawn, together([(p, p.frame) for p in found]))


def shifts_forest(ax: Axes, data: pd.DataFrame, names: Names) -> Axes:
    """Draw one row per transformation, those of one axis side by side, and return the axes.

    A point is the Hodges-Lehmann shift, its line the 95 % interval. The columns beside it hold the median
    of the absolute deltas, the adjusted p value and the number of deltas. A row without an interval has none.

    Args:
        ax: Where to draw.
        data: Columns transformation, axis, n, shift, low, high, p_holm, median_abs (points), in order.
        names: Labels and colours.
    """
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    before = ""
    for y, row in enumerate(data.to_dict("records")):
        hue = colour(str(row["axis"]), names.colours)
        ax.scatter(row["shift"], y, s=17, marker=SHAPES.get(str(row["axis"]), "o"), color=hue, zorder=2)
        # On top of the point, with upright ends: many deltas make intervals narrower than points.
        ends = [row["low"], row["high"]]
        ax.plot(
            ends, [y, y], color=INK, linewidth=0.8, marker="|", markersize=6, markeredgewidth=0.8, zorder=3
        )
        if before and row["axis"] != before:
            ax.axhline(y - 0.5, color=FAINT, linewidth=0.6, zorder=0)
        before = str(row["axis"])
        _columns(ax, y, row)
    for _, header, x in PLACES:
        ax.annotate(header, (1, -0.7), **_beside(ax, x), color=MUTED, va="bottom", parse_math=True)
    ax.set_yticks(range(len(data)), [wrapped(names.label(t)) for t in data["transformation"]])
    ax.set_ylim(len(data) - 0.45, -0.6)
    ax.set_xlim(*limits_with_zero(data[["shift", "low", "high"]]))
    ax.set_xlabel("Shift of the score (points)")
    ax.grid(axis="x", color=FAINT, linewidth=0.4, zorder=0)
    ax.spines["left"].set_visible(False)
    return ax


def p_text(p: float) -> str:
    """Return a p value as papers print it: `< .001`, `.023`, a dash where there is none."""
    if math.isnan(p):
        return "–"
    return "< .001" if p < 0.001 else f"{min(p, 1.0):.3f}".removeprefix("0")


def limits_with_zero(data: pd.DataFrame) -> tuple[float, float]:
    """Return limits that hold all values of a table and zero, with a margin."""
    values = [0.0, *(float(v) for v in data.to_numpy(dtype=float).ravel() if not math.isnan(v))]
    low, high = min(values), max(values)
    margin = max(0.06 * (high - low), 0.2)
    return low - margin, high + margin


def axis_handles(axes: list[str], names: Names) -> list[Line2D]:
    """Return a legend's entries for axes: shape and colour."""
    return [
        Line2D(
            [], [], linestyle="none", marker=SHAPES[a], markersize=4.6, color=colour(a, names.colours),
            label=AXIS_LABELS[a],
        )
        for a in axes
    ]  # fmt: skip


def _columns(ax: Axes, y: int, row: Mapping[Any, Any]) -> None:
    doubtful = not row["p_holm"] < CONVINCING
    texts = {
        "median_abs": number(row["median_abs"]), "p_holm": p_text(row["p_holm"]), "n": number(row["n"], 0),
    }  # fmt: skip
    for column, _, x in PLACES:
        hue = MUTED if column == "p_holm" and doubtful else INK
        ax.annotate(
            texts[column], (1, y), **_beside(ax, x), va="center_baseline", color=hue,
            alpha=0.75 if hue == MUTED else 1,
        )  # fmt: skip


def _beside(ax: Axes, x: float) -> dict[str, Any]:
    return {
        "xycoords": ax.get_yaxis_transform(), "xytext": (x, 0), "textcoords": "offset points", "ha": "right",
        "fontsize": 6.5,
    }  # fmt: skip
