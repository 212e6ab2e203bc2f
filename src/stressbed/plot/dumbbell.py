"""The axis dumbbell: per embedder a row with the original's score and those of the axes (HTEB, figure 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.inputs import Source, of_panel, panels, together
from stressbed.plot.layout import Drawn, panel_grid
from stressbed.plot.style import COLUMN, FAINT, INK, MUTED, SHAPES, colour, nice_limits, number, wrapped
from stressbed.stats.coverage import interval_words

POINTS = (ORIGINAL, *AXES)
INTERVAL = ("hteb_low", "hteb_high")
AGREE = 0.001
"""Points by which two tables' totals may differ: their CSVs are rounded."""
ROW = 0.25
"""Inches per embedder."""
PLACES = ((ORIGINAL, 32), ("hteb", 59))
"""Points from the panel's right edge at which the columns of numbers end."""


def figure(sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return the figure with a panel per setting and generator, from `hteb_scores` and `hteb_ranks`.

    The interval of the total comes from `hteb_ranks`; where that has none, none is drawn.
    """
    found = [(p, with_intervals(p.frame, of_panel(sources["hteb_ranks"], p)))
             for p in panels(sources["hteb_scores"].frame, names)]  # fmt: skip
    rows = max(len(frame) for _, frame in found)
    drawn, axes = panel_grid(len(found), ROW * (rows + 1) + 0.75, more=0.42, sharex=True)
    for ax, (panel, frame) in zip(axes, found, strict=True):
        axis_dumbbell(ax, frame, names, rows=rows)
        ax.set_title(panel.title(names), pad=14)
        ax.tick_params(labelbottom=True)
    points = [p for p in POINTS if any(f[p].notna().any() for _, f in found)]
    axes[0].set_xlim(*nice_limits([v for _, f in found for v in values_of(f)]))
    handles = legend_handles(names, [*points, "hteb"])
    if any(f[list(INTERVAL)].notna().all(axis=1).any() for _, f in found):
        handles[-1].set_label(f"HTEB, {interval_label(sources['hteb_ranks'].frame)}")
    columns = 3 if drawn.get_figwidth() <= COLUMN else len(handles)
    drawn.legend(
        handles=handles, loc="outside upper center", ncols=columns, handletextpad=0.2, columnspacing=1.4
    )
    return Drawn(drawn, together([(p, by_total(f)) for p, f in found]))


def by_total(data: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the best HTEB total first; rows without one last, by their original score."""
    return data.sort_values(
        ["hteb", ORIGINAL], ascending=False, na_position="last", kind="stable", ignore_index=True
    )


def values_of(data: pd.DataFrame) -> list[float]:
    """Return every score and interval's end that a panel shows."""
    columns = [c for c in (*POINTS, "hteb", *INTERVAL) if c in data.columns]
    return [float(v) for c in columns for v in data[c].dropna()]


def axis_dumbbell(ax: Axes, data: pd.DataFrame, names: Names, *, rows: int | None = None) -> Axes:
    """Draw one row per embedder and return the axes.

    Points are the original's score and the score of each axis, joined by a line from the lowest to the
    highest; below them the HTEB total as a tick, with its interval. The right columns hold Original and
    HTEB total, the last line their means (ø). A value that is lacking has no point and a dash.

    Args:
        ax: Where to draw.
        data: Columns embedder, original, lexical_stylistic, length, language, hteb (points), any order;
            hteb_low and hteb_high where there are intervals.
        names: Labels and colours.
        rows: Rows that there is room for, so that panels have rows of one height; all of them if None.
    """
    shown = by_total(data)
    present = [p for p in POINTS if shown[p].notna().any()]
    for y, row in enumerate(shown.to_dict("records")):
        values = [row[p] for p in present if not math.isnan(row[p])]
        if values:
            ax.plot([min(values), max(values)], [y, y], color=FAINT, linewidth=2.6, zorder=1)
        for point in present:
            _point(ax, row[point], y, point, names)
        _total(ax, y + 0.33, row)
    ax.set_xlim(*nice_limits(values_of(shown)))
    ax.set_ylim((rows or len(shown)) + 0.35, -0.6)
    ax.set_yticks(range(len(shown)), [wrapped(names.label(e)) for e in shown["embedder"]])
    ax.set_xlabel("Score (points)")
    ax.grid(axis="x", color=FAINT, linewidth=0.5, zorder=0)
    ax.spines["left"].set_visible(False)
    _columns(ax, shown)
    return ax


def legend_handles(names: Names, points: Sequence[str] = POINTS) -> list[Line2D]:
    """Return a legend's entries for the original, the axes and the total."""
    return [_total_handle() if p == "hteb" else _handle(p, names) for p in points]


def with_intervals(data: pd.DataFrame, ranks: pd.DataFrame) -> pd.DataFrame:
    """Return scores with the interval of each embedder's total, empty where `hteb_ranks` has none.

    Intervals rest on the datasets that all embedders have; they are kept where the totals agree, hence
    where the scores rest on the same.
    """
    if not {"embedder", "hteb", *INTERVAL} <= set(ranks.columns):
        return data.assign(**dict.fromkeys(INTERVAL, math.nan))
    held = ranks[["embedder", "hteb", *INTERVAL]].rename(columns={"hteb": "same"})
    found = data.merge(held, how="left", on="embedder")
    differ = ~((found["hteb"] - found["same"]).abs() < AGREE)
    found.loc[differ, list(INTERVAL)] = math.nan
    return found.drop(columns="same")


def interval_label(ranks: pd.DataFrame) -> str:
    """Return what the intervals of `hteb_ranks` are called: by the fewest datasets that one rests on."""
    return interval_words(int(ranks.loc[ranks["hteb_low"].notna(), "n_datasets"].min()))


def _handle(point: str, names: Names) -> Line2D:
    hue = colour(point, names.colours)
    return Line2D(
        [], [], linestyle="none", marker=SHAPES[point], markersize=4.6, label=AXIS_LABELS[point],
        markerfacecolor="white" if point == ORIGINAL else hue, markeredgecolor=hue, markeredgewidth=1,
    )  # fmt: skip


def _total_handle() -> Line2D:
    return Line2D(
        [], [], linewidth=0.9, color=INK, marker="|", markersize=6, markeredgewidth=1.6, label="HTEB"
    )  # fmt: skip


def _point(ax: Axes, x: float, y: float, point: str, names: Names) -> None:
    hue = colour(point, names.colours)
    original = point == ORIGINAL
    ax.scatter(
        x, y, s=22, marker=SHAPES[point], facecolor="white" if original else hue, edgecolor=hue,
        linewidth=1.0, zorder=4 if original else 3,
    )  # fmt: skip


def _total(ax: Axes, y: float, row: Mapping[Any, Any]) -> None:
    """Draw the HTEB total as a tick and its interval as a thin line."""
    if not math.isnan(row["hteb"]):
        ax.plot(row["hteb"], y, marker="|", markersize=5, markeredgewidth=1.6, color=INK, zorder=3)
        ax.plot([row.get(k, math.nan) for k in INTERVAL], [y, y], color=INK, linewidth=0.8, zorder=2)


def _columns(ax: Axes, rows: pd.DataFrame) -> None:
    """Write Original and HTEB beside each row, and their means below."""
    place = ax.get_yaxis_transform()
    for name, x in PLACES:
        style: dict[str, Any] = {
            "xycoords": place, "xytext": (x, 0), "textcoords": "offset points", "ha": "right",
            "va": "center_baseline", "weight": "bold" if name == "hteb" else "normal", "fontsize": 6.5,
        }  # fmt: skip
        ax.annotate(AXIS_LABELS[name], (1, -0.85), **{**style, "weight": "normal"}, color=MUTED)
        for y, value in enumerate(rows[name]):
            ax.annotate(number(value), (1, y), **style)
        ax.annotate(f"ø {number(rows[name].mean(skipna=False))}", (1, len(rows)), **style)
    below = len(rows) - 0.5
    ax.annotate(
        "", (1, below), (PLACES[-1][1], 0), xycoords=place, textcoords="offset points",
        arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
