"""The panels of an embedder's card: deltas, ranks, datasets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.plot.forest import limits_with_zero
from stressbed.plot.style import FAINT, INK, MUTED, SHAPES, SMALL, colour, nice_limits, number, two_lines

DATASET_LABEL, ROW_LABEL = 34, 30
"""Characters of a line of a label: of a dataset, of an axis or a transformation."""
OTHERS = "#b0b0b0"
"""Colour of the other embedders."""


@dataclass(frozen=True)
class Value:
    """A value with its interval, NaN where there is none."""

    value: float
    low: float
    high: float
    note: str


def values_of(data: pd.DataFrame, part: str) -> dict[str, Value]:
    """Return the values of one part of a card's data by name."""
    rows = data[data["part"] == part]
    numbers = rows[["value", "low", "high"]].to_numpy(dtype=float)
    return {
        str(name): Value(float(value), float(low), float(high), str(note))
        for name, (value, low, high), note in zip(rows["name"], numbers, rows["note"], strict=True)
    }


def delta_profile(ax: Axes, data: pd.DataFrame, rows: Sequence[str], names: Names) -> Axes:
    """Draw the deltas of one embedder per axis and transformation, those of the others behind them.

    Args:
        ax: Where to draw.
        data: Long table with the parts `delta`, `others`, `shift` and `score`.
        rows: Total, axes and transformations from top to bottom.
        names: Labels, axes and colours.
    """
    own, verdicts = values_of(data, "delta"), values_of(data, "shift")
    others = data[data["part"] == "others"]
    drop = values_of(data, "score")["drop"]
    verdicts["hteb"] = Value(-drop.value, -drop.high, -drop.low, "")
    ax.axvline(0, color=MUTED, linewidth=0.7, zorder=1)
    for y, name in enumerate(rows):
        axis = names.axes.get(name, name)
        large = name in {*AXES, "hteb"}
        hue = INK if name == "hteb" else colour(axis, names.colours)
        ticks = others.loc[others["name"] == name, "value"].to_numpy(dtype=float)
        ax.plot(ticks, [y] * len(ticks), "|", color=OTHERS, markersize=6, markeredgewidth=0.7, zorder=1)
        ax.scatter(
            own[name].value, y, s=22 if large else 10, marker="o" if name == "hteb" else SHAPES[axis],
            color=hue, zorder=3,
        )  # fmt: skip
        if name in verdicts and not math.isnan(verdicts[name].low):
            _lane(ax, y + 0.34, verdicts[name])
        _number_beside(ax, y, own[name].value, bold=large)
    ax.set_yticks(range(len(rows)), [two_lines(names.label(r), ROW_LABEL) for r in rows], fontsize=SMALL)
    for label, name in zip(ax.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if name in {*AXES, "hteb"} else "normal")
    ax.set_ylim(len(rows) - 0.4, -0.7)
    shown = data.loc[data["part"].isin(["delta", "others", "shift"]), ["value", "low", "high"]]
    total = pd.DataFrame({"low": [-drop.high], "high": [-drop.low]})
    ax.set_xlim(*limits_with_zero(pd.concat([shown, total])))
    ax.set_title("Δ (points): this embedder; grey: the others", fontsize=SMALL + 0.5, weight="normal")
    _plain(ax)
    return ax


def _lane(ax: Axes, y: float, held: Value) -> None:
    """Draw an interval, with its own estimate, below its point."""
    ax.plot([held.low, held.high], [y, y], color=INK, linewidth=0.8, zorder=2)
    ax.plot(held.value, y, marker="|", color=INK, markersize=3.2, markeredgewidth=1.2, zorder=2)


def _number_beside(ax: Axes, y: float, value: float, *, bold: bool = False) -> None:
    ax.annotate(
        number(value, sign=True), (1, y), xycoords=ax.get_yaxis_transform(), xytext=(24, 0),
        textcoords="offset points", ha="right", va="center_baseline", fontsize=SMALL,
        weight="bold" if bold else "normal",
    )  # fmt: skip


def rank_lines(ax: Axes, data: pd.DataFrame) -> Axes:
    """Draw the rank on original texts and under HTEB with their intervals; words where there are none."""
    ranks = values_of(data, "rank")
    if not ranks:
        ax.axis("off")
        return ax
    last = int(ranks["hteb"].note)
    for y, name in enumerate((ORIGINAL, "hteb")):
        held = ranks[name]
        ax.plot([held.low, held.high], [y, y], color=INK, linewidth=1.4, zorder=2)
        face = "white" if name == ORIGINAL else INK
        ax.scatter(held.value, y, s=20, zorder=3, edgecolor=INK, facecolor=face)
    ax.set_yticks([0, 1], [AXIS_LABELS[ORIGINAL], AXIS_LABELS["hteb"]], fontsize=SMALL)
    ax.set_ylim(1.6, -0.6)
    ax.set_xlim(max(last, 2) + 0.5, 0.5)
    few = last <= 8
    ax.set_xticks(range(1, last + 1) if few else [1, *range(5, last - 1, 5), last])
    ax.set_title("Rank (1 is the best)", fontsize=SMALL + 0.5, weight="normal")
    _plain(ax)
    return ax


def dataset_lines(
    ax: Axes, data: pd.DataFrame, datasets: Sequence[str], names: Names, *, room: float = 1
) -> Axes:
    """Draw original and total per dataset and return the axes.

    Args:
        ax: Where to draw.
        data: Long table with the parts `dataset_original` and `dataset_hteb`.
        datasets: From top to bottom; an empty name stands for those that are left out.
        names: Labels.
        room: Rows that there is room for: few datasets stand as close as many.
    """
    before, after = (values_of(data, f"dataset_{c}") for c in (ORIGINAL, "hteb"))
    for y, name in enumerate(datasets):
        if name:
            _dataset(ax, y, before[name].value, after[name].value)
        else:
            ax.annotate(
                f"{len(after) - len(datasets) + 1} more between them", (0.5, y), ha="center", va="center",
                xycoords=ax.get_yaxis_transform(), color=MUTED, fontsize=SMALL,
            )  # fmt: skip
    labels = [two_lines(names.label(d), DATASET_LABEL) if d else "…" for d in datasets]
    ax.set_yticks(range(len(datasets)), labels, fontsize=SMALL)
    ax.set_ylim(max(len(datasets), room) - 0.4, -0.7)
    ax.set_xlim(*nice_limits(_finite([before, after], datasets)))
    title = "Datasets, most robust on top: original (open), HTEB"
    # It begins above the labels: where those are long, their panel is narrow.
    ax.set_title(title, fontsize=SMALL + 0.5, weight="normal", loc="right")
    _plain(ax)
    return ax


def _dataset(ax: Axes, y: float, before: float, after: float) -> None:
    ax.plot([before, after], [y, y], color=FAINT, linewidth=2.2, zorder=1)
    ax.scatter(before, y, s=13, facecolor="white", edgecolor=INK, linewidth=0.9, zorder=3)
    ax.scatter(after, y, s=11, color=INK, zorder=4)
    _number_beside(ax, y, after - before)


def _finite(parts: Sequence[Mapping[str, Value]], names: Sequence[str]) -> list[float]:
    found = [part[name].value for part in parts for name in names if name in part]
    return [v for v in found if not math.isnan(v)]


def _plain(ax: Axes) -> None:
    ax.grid(axis="x", color=FAINT, linewidth=0.4, zorder=0)
    ax.spines["left"].set_visible(False)
    ax.tick_params(labelsize=SMALL)
