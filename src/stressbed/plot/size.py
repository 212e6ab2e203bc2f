"""Scores of an embedder family against its models' sizes (HTEB, figure 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.names import AXIS_LABELS, Names, short_number
from stressbed.plot.dumbbell import INTERVAL, interval_label, with_intervals
from stressbed.plot.inputs import Panel, Source, of_panel, panels, shown, together
from stressbed.plot.layout import Drawn
from stressbed.plot.style import COLUMN, FAINT, INK, SHAPES, WIDTH, colour, new_figure, nice_limits

LINES = (ORIGINAL, *AXES, "hteb")
PER_LINE = 3
PANEL = 2.0
"""Inches of a panel's height."""


def figure(sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return the figure with a panel per family, setting and generator, from `size_ablation`.

    The interval of each total comes from `hteb_ranks`; where that has none, none is drawn.
    """
    lines = _lines(sources, names)
    found = [part for line in lines for part in line]
    columns = max(map(len, lines))
    drawn = new_figure(COLUMN if columns == 1 else WIDTH, len(lines) * PANEL + 0.35 + 0.15 * (columns == 1))
    grid = drawn.subplots(len(lines), columns, squeeze=False, sharey=True)
    for axes, line in zip(grid, lines, strict=True):
        for ax in axes[len(line) :]:
            ax.remove()
        for ax, (panel, family, part) in zip(axes, line, strict=False):
            size_ablation(ax, part, names)
            ax.set_title(", ".join(p for p in (shown(family, names), panel.title(names)) if p))
        axes[0].set_ylabel("Score (points)")
    values = [v for _, _, f in found for c in (*LINES, *INTERVAL) for v in f[c].dropna()]
    grid[0, 0].set_ylim(*nice_limits(values))
    handles = line_handles(names)
    if any(f[list(INTERVAL)].notna().all(axis=1).any() for _, _, f in found):
        handles[-1].set_label(f"HTEB, {interval_label(sources['hteb_ranks'].frame)}")
    drawn.legend(
        handles=handles, loc="outside upper center", ncols=3 if columns == 1 else 5, columnspacing=1.4
    )
    return Drawn(drawn, together([(p, f) for p, _, f in found]))


def _lines(sources: Mapping[str, Source], names: Names) -> list[list[tuple[Panel, str, pd.DataFrame]]]:
    """Return the families line by line; each setting and generator begins a new one."""
    lines = []
    for panel in panels(sources["size_ablation"].frame, names):
        ranks = of_panel(sources["hteb_ranks"], panel)
        families = [
            (panel, str(family), with_intervals(part, ranks))
            for family, part in panel.frame.groupby("family", sort=False)
        ]
        lines += [families[i : i + PER_LINE] for i in range(0, len(families), PER_LINE)]
    return lines


def size_ablation(ax: Axes, data: pd.DataFrame, names: Names) -> Axes:
    """Draw original, axes and total of one family against its models' parameters and return the axes.

    Args:
        ax: Where to draw.
        data: Columns parameters, original, lexical_stylistic, length, language, hteb (points); hteb_low
            and hteb_high where there are intervals.
        names: Colours.
    """
    rows = data.sort_values("parameters", kind="stable")
    sizes = rows["parameters"].to_numpy(dtype=float)
    for line in LINES:
        if rows[line].notna().any():
            ax.plot(sizes, rows[line], **_look(line, names), zorder=4 if line == "hteb" else 3)
    if set(INTERVAL) <= set(rows.columns):
        ax.vlines(sizes, rows[INTERVAL[0]], rows[INTERVAL[1]], color=INK, linewidth=0.7, zorder=2)
    ax.set_xscale("log")
    # A scale of powers of ten says little about models of 0.6B, 4B and 8B: ticks are the models.
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xticks(sizes, _tick_labels(sizes.tolist()))
    ax.set_xlim(sizes.min() / 1.5, sizes.max() * 1.5)
    ax.set_xlabel("Parameters")
    ax.grid(axis="y", color=FAINT, linewidth=0.5, zorder=0)
    ax.tick_params(labelleft=True)
    return ax


def _tick_labels(sizes: Sequence[float]) -> list[str]:
    """Return the sizes as labels; one that would touch its neighbour stands a line lower."""
    apart = 0.13 * math.log(2.25 * sizes[-1] / sizes[0])
    labels: list[str] = []
    for i, n in enumerate(sizes):
        near = i > 0 and math.log(n / sizes[i - 1]) < apart and not labels[-1].startswith("\n")
        labels.append(("\n" if near else "") + short_number(int(n)))
    return labels


def line_handles(names: Names) -> list[Line2D]:
    """Return a legend's entries for the lines."""
    return [Line2D([], [], **_look(line, names), label=AXIS_LABELS[line]) for line in LINES]


def _look(line: str, names: Names) -> dict[str, Any]:
    hue = INK if line == "hteb" else colour(line, names.colours)
    total = line == "hteb"
    return {
        "color": hue, "marker": "x" if total else SHAPES[line], "markersize": 4.2, "markeredgewidth": 1.0,
        "markerfacecolor": "white" if line == ORIGINAL else hue, "markeredgecolor": hue,
        "linewidth": 1.6 if total else 1.0, "linestyle": "-" if total or line == ORIGINAL else "--",
    }  # fmt: skip
