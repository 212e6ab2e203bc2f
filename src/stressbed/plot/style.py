"""The look of every figure, in one place: sizes, fonts, colours, how a figure is saved.

Colours are those of Okabe and Ito, which people with any common colour blindness can tell apart;
axes also differ in shape, so that no figure needs colour to be read.
"""

from __future__ import annotations

import math
import textwrap
import warnings
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
    {"original": "o", "lexical_stylistic": "s", "length": "^", "language": "D", "hteb": "|"}
)

DIVERGING = "RdBu"
"""Losses red, gains blue; it stays readable with red-green blindness."""

COLUMN = 3.5
"""Inches: the width of one column of a paper; figures are drawn at the size at which they are printed."""
WIDTH = 7.2
"""Inches: the width of a text block over two columns."""

DPI = 300
"""Dots per inch of a PNG, and of the dots that are pixels in PDF and SVG too."""

SMALL = 6.0
"""Points: the smallest type in any figure."""
LONGEST_LABEL = 24
"""Characters of a label in one line; longer ones are broken, so that they leave room for the data."""

_SETTINGS: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7.0,
    "axes.titlesize": 7.5,
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
    "legend.fontsize": 7.0,
    "xtick.labelsize": 6.5,
    # The same: type is wider at a coarse resolution, and what is placed at one may be cut at another.
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    # Labels and texts are users' words: two dollars in them are no formula.
    "text.parse_math": False,
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
    """Apply the look inside a `with` block, and nowhere else.

    Labels and texts come in any script, and the fonts of a machine rarely hold them all: a glyph that
    is missing is drawn as a box, which a reader sees; it is no reason for a warning.
    """
    with mpl.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from")
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
    place(figure)
    for suffix in SUFFIXES:
        path = folder / f"{name}.{suffix}"
        _write(figure, path, suffix)
        paths.append(path)
    return paths


def place(figure: Figure) -> None:
    """Place the parts of a figure once and for all: the same in every format, and in a third of the time."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def _write(figure: Figure, path: Path, suffix: str) -> None:
    def write(tmp: Path) -> None:
        figure.savefig(tmp, format=suffix, metadata=_NO_DATES[suffix])

    write_atomic(path, write)


def said_figure(sentences: Sequence[str], *, title: str) -> Figure:
    """Return a small figure that says in words why there is nothing to draw."""
    # Notes are Markdown: their code marks mean nothing here.
    lines = [line for s in sentences for line in textwrap.wrap(s.replace("`", ""), 62)]
    figure = new_figure(COLUMN, 0.34 + 0.135 * len(lines))
    figure.suptitle(title, x=0.02, ha="left", fontsize=7.5, weight="bold")
    ax = figure.subplots()
    ax.axis("off")
    ax.text(0, 1, "\n".join(lines), va="top", color=MUTED, transform=ax.transAxes)
    return figure


def wrapped(label: str, width: int = LONGEST_LABEL) -> str:
    """Return a label in lines of at most `width` characters, broken after spaces and hyphens.

    What stands in parentheses at the end stays together where it fits into a line of its own.
    """
    lines = textwrap.wrap(label, width)
    name, opened, rest = label.rpartition(" (")
    if len(lines) > 1 and opened and label.endswith(")") and len(rest) < width:
        lines = [*textwrap.wrap(name, width), f"({rest}"]
    return "\n".join(lines) or label


def shortened(label: str, most: int) -> str:
    """Return a label of at most `most` characters; its middle is left out: ids often differ at the end."""
    if len(label) <= most:
        return label
    end = (most - 1) // 2
    return f"{label[: most - 1 - end].rstrip()}…{label[len(label) - end :].lstrip()}"


def two_lines(label: str, width: int) -> str:
    """Return a label in at most two lines of at most `width` characters, shortened where it does not fit."""
    for most in range(2 * width, width, -1):
        lines = wrapped(shortened(label, most), width)
        if lines.count("\n") < 2:
            return lines
    return shortened(label, width)


def number(value: float, digits: int = 1, *, sign: bool = False) -> str:
    """Return a number as it is shown: a true minus, no negative zero, a dash where there is none."""
    if math.isnan(value):
        return "–"
    text = f"{round(value, digits) + 0.0:{'+' if sign else ''}.{digits}f}".replace("-", "−")
    return text.removeprefix("+") if not text.strip("+0.") else text


def nice_limits(values: Sequence[float]) -> tuple[float, float]:
    """Return limits that hold all values with a margin, never narrower than four points."""
    low, high = (min(values), max(values)) if values else (0.0, 100.0)
    margin = max(0.06 * (high - low), (4.0 - (high - low)) / 2, 0.5)
    return low - margin, high + margin
