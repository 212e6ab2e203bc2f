"""The look of every figure, in one place: sizes, fonts, colours, how a figure is saved.

Colours are those of Okabe and Ito, which people with any common colour blindness can tell apart;
axes also differ in shape, so that no figure needs colour to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from stressbed.store import write_atomic

SUFFIXES = ("pdf", "svg", "png")

INK = "#222222"
MUTED = "#6b6b6b"
FAINT = "#d9d9d9"

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "original": "#222222",
        "lexical_stylistic": "#0072B2",
        "length": "#E69F00",
        "language": "#CC79A7",
    }
)
"""Colour of the original and of each axis; a run's `colours` come before these."""

SHAPES: Mapping[str, str] = MappingProxyType(
    {"original": "o", "lexical_stylistic": "s", "length": "^", "language": "D"}
)

DIVERGING = "RdBu"
"""Losses red, gains blue; it stays readable with red-green blindness."""

WIDTH = 7.2
"""Inches: the width of a text block over two columns."""

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # Fixed, so that the same figure is the same file.
    "svg.hashsalt": "stressbed",
}

_NO_DATES: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": "stressbed"},
    "svg": {"Date": None, "Creator": "stressbed"},
    "png": {"Software": "stressbed"},
}


@contextmanager
def style() -> Iterator[None]:
    """Apply the look inside a `with` block, and nowhere else."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        yield


def colour(name: str, chosen: Mapping[str, str]) -> str:
    """Return the colour of an axis or a catalogue id: the run's own, else the default."""
    return chosen.get(name) or COLOURS.get(name, INK)


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of so many inches, without pyplot's global state."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PDF, SVG and PNG, without dates, and return the paths."""
    paths = []
    for suffix in SUFFIXES:
        path = folder / f"{name}.{suffix}"
        _write(figure, path, suffix)
        paths.append(path)
    return paths


def _write(figure: Figure, path: Path, suffix: str) -> None:
    def write(tmp: Path) -> None:
        figure.savefig(tmp, format=suffix, metadata=_NO_DATES[suffix])

    write_atomic(path, write)


def nice_limits(values: Sequence[float]) -> tuple[float, float]:
    """Return limits that hold all values with a margin, never narrower than four points."""
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    margin = max(0.06 * (high - low), (4.0 - (high - low)) / 2, 0.5)
    return low - margin, high + margin
