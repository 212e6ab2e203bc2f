"""The plot stage: analysed tables in, figures and their data out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from stressbed.analyse.names import Names
from stressbed.analyse.write import to_csv
from stressbed.plot import CROSSCHECK, INPUTS, dumbbell, heatmap
from stressbed.plot.crosscheck import crosscheck_figure
from stressbed.plot.style import WIDTH, new_figure, nice_limits, save, style
from stressbed.store import write_text

logger = logging.getLogger("stressbed")


def plot(*, tables: Path, names: Names, folder: Path) -> list[Path]:
    """Draw all figures and return the paths written: PDF, SVG, PNG and the data as CSV of each.

    A run with several generators gets one panel per generator.

    Args:
        tables: Folder of the analysed tables (CSV).
        names: Labels, order and colours.
        folder: Where the figures go.
    """
    scores, deltas = (_by_generator(pd.read_csv(tables / f"{t}.csv"), names) for t in INPUTS)
    with style():
        written = _axis_dumbbell(scores, names, folder) + _delta_heatmap(deltas, scores, names, folder)
        if len(names.generators) > 1:
            held = pd.read_csv(tables / f"{CROSSCHECK}_cells.csv")
            written += save(crosscheck_figure(held, names), folder, CROSSCHECK)
            write_text(folder / f"{CROSSCHECK}.csv", to_csv(held))
    logger.info("drew %d files of figures", len(written))
    return written


def _axis_dumbbell(scores: dict[str, pd.DataFrame], names: Names, folder: Path) -> list[Path]:
    n = len(scores)
    rows = max(len(f) for f in scores.values())
    figure = new_figure(WIDTH, n * (dumbbell.ROW * rows + 0.95) + 0.35)
    panels = figure.subplots(n, 1, squeeze=False, sharex=True)[:, 0]
    for ax, (generator, frame) in zip(panels, scores.items(), strict=True):
        dumbbell.axis_dumbbell(ax, frame, names).label_outer()
        if n > 1:
            ax.set_title(names.label(generator), pad=18)
    shown = [p for p in dumbbell.POINTS if any(f[p].notna().any() for f in scores.values())]
    values = [v for f in scores.values() for p in dumbbell.POINTS for v in f[p].dropna()]
    panels[0].set_xlim(*nice_limits(values))
    figure.legend(
        handles=dumbbell.legend_handles(names, shown),
        loc="outside upper center",
        ncols=len(shown),
        handletextpad=0.2,
        columnspacing=1.6,
    )
    return _save(figure, folder, "axis_dumbbell", scores, dumbbell.by_total)


def _delta_heatmap(
    deltas: dict[str, pd.DataFrame], scores: dict[str, pd.DataFrame], names: Names, folder: Path
) -> list[Path]:
    n = len(deltas)
    rows = max(len(f) for f in deltas.values())
    figure = new_figure(WIDTH, n * (heatmap.ROW * rows + 0.75) + 0.65)
    panels = figure.subplots(n, 1, squeeze=False, sharex=True)[:, 0]
    columns = heatmap.grouped(names)
    everything = pd.concat(deltas.values()).reindex(columns=columns).to_numpy(dtype=float)
    limit = heatmap.largest(everything)
    for ax, (generator, frame) in zip(panels, deltas.items(), strict=True):
        order = list(dumbbell.by_total(scores[generator])["embedder"])
        heatmap.delta_heatmap(ax, frame, names, order=order, limit=limit)
        if n > 1:
            ax.set_title(names.label(generator), pad=30)
    bar = figure.colorbar(heatmap.colour_scale(limit), ax=list(panels), pad=0.015, fraction=0.025, aspect=18)
    bar.set_label("Δ (points)")
    bar.ax.spines[:].set_visible(False)
    return _save(figure, folder, "delta_heatmap", deltas, lambda f: f[["embedder", *columns]])


def _save(
    figure: Figure,
    folder: Path,
    name: str,
    data: dict[str, pd.DataFrame],
    shown: Callable[[pd.DataFrame], pd.DataFrame],
) -> list[Path]:
    """Write a figure and, beside it, what it shows."""
    frames = [shown(f).assign(generator=g) for g, f in data.items()]
    if len(frames) == 1:
        frames = [frames[0].drop(columns="generator")]
    path = folder / f"{name}.csv"
    write_text(path, to_csv(pd.concat(frames, ignore_index=True)))
    return [*save(figure, folder, name), path]


def _by_generator(frame: pd.DataFrame, names: Names) -> dict[str, pd.DataFrame]:
    if "generator" not in frame.columns:
        return {next(iter(names.generators)): frame}
    return {str(g): f.drop(columns="generator") for g, f in frame.groupby("generator", sort=False)}
