"""What judges say about generators: means with intervals and letters, and each judge's own mean."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.figure import Figure

from stressbed.analyse.names import Names
from stressbed.plot.style import COLOURS, FAINT, INK, MUTED, WIDTH, new_figure

ROW = 0.34
"""Inches per generator."""


def crossover_figure(data: pd.DataFrame, names: Names, *, scale: Sequence[int]) -> Figure:
    """Return a figure with a row per generator, the best on top.

    The dot is the mean over observations with its interval; a small tick is one judge's mean, filled
    blue where the judge rates its own outputs. Generators that share a letter do not differ.

    Args:
        data: Columns generator, mean, low, high, letters, and `judge ID` for each judge; best first.
        names: Labels.
        scale: The ratings that there are: the range that the axis never exceeds.
    """
    judges = [c for c in data.columns if str(c).startswith("judge ")]
    figure = new_figure(WIDTH, ROW * len(data) + 0.95)
    ax = figure.subplots()
    for y, row in enumerate(data.to_dict("records")):
        for judge in judges:
            own = judge.removeprefix("judge ") == row["generator"]
            hue = COLOURS["lexical_stylistic"] if own else MUTED
            ax.scatter(row[judge], y, marker="|", s=90, color=hue, linewidth=2.2 if own else 1.0, zorder=2)
        ax.plot([row["low"], row["high"]], [y, y], color=INK, linewidth=2.4, zorder=3)
        ax.scatter(row["mean"], y, s=34, color=INK, zorder=4)
        ax.text(
            1.02, y, f"{row['mean']:.2f} {row['letters']}", transform=ax.get_yaxis_transform(),
            va="center_baseline", weight="bold",
        )  # fmt: skip
    ax.set_yticks(range(len(data)), [names.label(g) for g in data["generator"]])
    ax.set_ylim(len(data) - 0.4, -0.6)
    values = data[["low", "high", *judges]].to_numpy(dtype=float)
    low, high = float(pd.Series(values.ravel()).min()), float(pd.Series(values.ravel()).max())
    margin = max(0.08 * (high - low), 0.05)
    ax.set_xlim(max(scale[0] - margin, low - margin), min(scale[-1] + margin, high + margin))
    ax.set_xlabel(
        f"Mean rating ({scale[0]} to {scale[-1]}); ticks: single judges, blue: a judge on its own outputs"
    )
    ax.grid(axis="x", color=FAINT, linewidth=0.5, zorder=0)
    ax.spines["left"].set_visible(False)
    return figure
