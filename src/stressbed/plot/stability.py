"""How stable ranks of embedders are over seeds: Kendall's tau per transformation and axis (HTEB, table 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from stressbed.analyse.names import Names
from stressbed.plot.inputs import Source, panels, together
from stressbed.plot.layout import Drawn, panel_grid
from stressbed.plot.style import FAINT, INK, MUTED, SMALL, colour, number, wrapped

ROW = 0.22
"""Inches per row."""
HIGHEST = 1.06
"""Where the scale ends: a point at 1 is whole."""


def figure(sources: Mapping[str, Source], names: Names) -> Drawn:
    """Return the figure with a panel per setting and generator, from `rank_stability`."""
    found = panels(sources["rank_stability"].frame, names)
    rows = max(len(p.frame) for p in found)
    drawn, axes = panel_grid(len(found), ROW * rows + 0.6, sharex=True)
    for ax, panel in zip(axes, found, strict=True):
        rank_stability(ax, panel.frame, names)
        ax.set_title(panel.title(names))
        ax.tick_params(labelbottom=True)
    frames = pd.concat([p.frame for p in found])
    axes[0].set_xlim(lowest(frames), HIGHEST)
    drawn.legend(handles=_handles(), loc="outside upper center", ncols=2, handletextpad=0.3)
    return Drawn(drawn, together([(p, p.frame) for p in found]))


def rank_stability(ax: Axes, data: pd.DataFrame, names: Names) -> Axes:
    """Draw one row per transformation, axis and total, and return the axes.

    The filled point is the mean of tau between the ranks on the original and on transformed texts, the
    open one that between seeds of one transformation; lines are one standard deviation to each side, over
    datasets. The column beside it holds the latter as numbers or, where seeds cannot differ, says so.

    Args:
        ax: Where to draw.
        data: Columns row, level, tau_mean, tau_sd, within_mean, within_sd, within, in order.
        names: Labels, axes and colours.
    """
    before = ""
    for y, row in enumerate(data.to_dict("records")):
        axis = names.axes.get(str(row["row"]), str(row["row"]))
        hue = colour(axis, names.colours)
        both = not math.isnan(row["within_mean"])
        _point(ax, y - 0.14 * both, row["tau_mean"], row["tau_sd"], hue, filled=True)
        _point(ax, y + 0.16, row["within_mean"], row["within_sd"], hue, filled=False)
        _beside(ax, y, row)
        if before and axis != before:
            ax.axhline(y - 0.5, color=FAINT, linewidth=0.8, zorder=0)
        before = axis
    ax.annotate("Between seeds", (1, -0.6), **_place(ax), va="bottom", color=MUTED)
    ax.set_yticks(range(len(data)), [wrapped(names.label(str(r))) for r in data["row"]])
    for label, level in zip(ax.get_yticklabels(), data["level"], strict=True):
        label.set_fontweight("normal" if level == "transformation" else "bold")
    ax.set_ylim(len(data) - 0.4, -0.6)
    ax.set_xlim(lowest(data), HIGHEST)
    ax.set_xlabel("Kendall's τ, mean ± SD over datasets")
    ax.grid(axis="x", color=FAINT, linewidth=0.4, zorder=0)
    ax.spines["left"].set_visible(False)
    return ax


def _beside(ax: Axes, y: int, row: Mapping[Any, Any]) -> None:
    """Write tau between seeds, or why there is none."""
    mean, spread = row["within_mean"], row["within_sd"]
    said = wrapped(str(row["within"]) or "–", 14)
    part = f" ({row['members_differ']} of {row['members']})" if row["members_differ"] < row["members"] else ""
    text = said if math.isnan(mean) else f"{number(mean, 2)} ± {number(spread, 2)}{part}"
    ax.annotate(
        text, (1, y), **_place(ax), va="center", linespacing=0.95, color=MUTED if text == said else INK
    )


def _place(ax: Axes) -> dict[str, Any]:
    return {
        "xycoords": ax.get_yaxis_transform(), "xytext": (6, 0), "textcoords": "offset points",
        "fontsize": SMALL,
    }  # fmt: skip


def lowest(data: pd.DataFrame) -> float:
    """Return where the scale begins: below the lowest point and line, at most zero point eight."""
    ends = [0.8]
    for kind in ("tau", "within"):
        mean, spread = data[f"{kind}_mean"], data[f"{kind}_sd"].fillna(0.0)
        ends += [float(v) for v in (mean - spread).dropna()]
    return max(-HIGHEST, min(ends) - 0.06)


def _point(ax: Axes, y: float, mean: float, spread: float, hue: str, *, filled: bool) -> None:
    if math.isnan(mean):
        return
    if not math.isnan(spread):
        ax.plot(
            [max(-1.0, mean - spread), min(1.0, mean + spread)], [y, y], color=hue, linewidth=1.0, zorder=2
        )
    ax.scatter(mean, y, s=18, facecolor=hue if filled else "white", edgecolor=hue, linewidth=1.0, zorder=3)


def _handles() -> list[Line2D]:
    return [
        Line2D(
            [], [], linestyle="none", marker="o", markersize=4.4, markeredgecolor=INK,
            markerfacecolor=INK if filled else "white", label=label,
        )
        for filled, label in ((True, "Original and transformed"), (False, "Between seeds"))
    ]  # fmt: skip
