"""How a figure's panels are placed, and what every figure function returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from stressbed.plot.style import COLUMN, WIDTH, new_figure

PER_LINE = 2


@dataclass(frozen=True)
class Drawn:
    """A figure and the data that it shows."""

    figure: Figure
    data: pd.DataFrame


def panel_grid(
    n: int, height: float, *, more: float = 0.3, sharex: bool = False, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure of `n` panels, two in a line, and their axes: one column wide, or two.

    Args:
        n: Number of panels.
        height: Inches of each.
        more: Inches above them all, for a legend.
        sharex: Whether panels have one horizontal scale.
        sharey: Whether panels have one vertical scale.
    """
    columns = min(n, PER_LINE)
    lines = math.ceil(n / columns)
    figure = new_figure(COLUMN if columns == 1 else WIDTH, lines * height + more)
    grid = np.ravel(figure.subplots(lines, columns, squeeze=False, sharex=sharex, sharey=sharey))
    for ax in grid[n:]:
        ax.remove()
    return figure, list(grid[:n])
