"""What disrupts each embedder most, and whether the axes go together (the paper's 4.2.3 and 5.2)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from stressbed.analyse.aggregate import LEAST_ORIGINAL, ORIGINAL, share_of
from stressbed.analyse.study import TOTAL, Analysed, Rows, Study, per_study
from stressbed.analyse.table import Table
from stressbed.analyse.words import counted
from stressbed.stats.bootstrap import resample_means, spearman_interval
from stressbed.stats.interval import DegenerateWarning, Floats, enough, too_few
from stressbed.stats.ties import levels

CORRELATIONS = ("level", "first", "second", "rho", "low", "high", "n")
SURE = 10
"""Observations from which the interval of a rank correlation needs no note."""
DROPS = ("embedder", "dataset", "transformation", "axis", "original", "drop")


def axis_profiles(data: Analysed) -> Table:
    """Return per embedder the mean delta of each axis and which one disrupts it most."""
    columns = (
        "embedder", "lexical_stylistic", "length", "language", TOTAL, "most_disruptive", "certainty",
        "relative_drop", "n_datasets",
    )  # fmt: skip
    return per_study(
        data, "axis_profiles", "What disrupts each embedder most", columns,
        lambda s: _profiles(data, s),
        notes=[
            "Mean delta of each axis in points, over seeds, datasets, then transformations. most_disruptive: "
            "the axis with the largest absolute delta.",
            "certainty: per cent of bootstrap samples of the datasets in which the same axis is the most "
            "disruptive. relative_drop: drop over original of the mean scores, in per "
            f"cent; blank where the original is under {LEAST_ORIGINAL:g} points.",
        ],
        digits={"certainty": 0},
    )  # fmt: skip


def _profiles(data: Analysed, study: Study) -> Rows:
    found: list[dict[str, object]] = []
    said: list[str] = []
    for embedder in study.embedders:
        mean = study.mean_scores(embedder)
        if np.isnan(list(mean.values())).any():
            said.append(f"{study.names.label(embedder)}{study.label}: left out, it lacks cells.")
            continue
        deltas = {a: mean[a] - mean[ORIGINAL] for a in [*study.axes, TOTAL]}
        biggest = max(study.axes, key=lambda a: abs(deltas[a]))
        values = study.deltas.xs(embedder, level="embedder")[study.axes]
        found.append(
            {
                "embedder": embedder, **deltas,
                "most_disruptive": biggest if len(study.axes) > 1 else "",
                "certainty": _certainty(data, study, pd.DataFrame(values), biggest),
                "relative_drop": share_of(mean[ORIGINAL], -deltas[TOTAL]),
                "n_datasets": len(values),
            }
        )  # fmt: skip
    if len(study.axes) < 2:
        said.append(f"One axis{study.label}: there is none that disrupts most.")
    elif why := too_few(min((int(str(r["n_datasets"])) for r in found), default=0), "dataset"):
        said.append(
            f"How certain the most disruptive axis is cannot be said{study.label}: resampled datasets need "
            f"as many as an interval, and {why}."
        )
    return found, said


def _certainty(data: Analysed, study: Study, values: pd.DataFrame, axis: str) -> float:
    """Return the share of resamples of the datasets, in per cent, in which an axis disrupts most."""
    if not enough(len(values)) or len(study.axes) < 2:
        return float("nan")
    rng = data.rng("axis_profiles", study.generator, study.setting)
    means = np.abs(resample_means(values.to_numpy(), resamples=data.options.resamples, rng=rng))
    return float(100 * (means.argmax(axis=1) == list(values.columns).index(axis)).mean())


def axis_correlations(data: Analysed) -> Table:
    """Return Spearman's rho between the deltas of each pair of axes, with intervals, at two levels.

    Level `embedder`: mean deltas, one per embedder; embedders are resampled. Level `cell`: one delta per
    embedder and dataset; datasets are resampled with all their embedders, which are not independent.
    """
    return per_study(
        data, "axis_correlations", "Do the axes go together?", CORRELATIONS,
        lambda s: _correlations(data, s),
        notes=[
            "Spearman's rho between the deltas of two axes, with a percentile bootstrap interval, aimed at "
            "95 %, where six embedders or datasets or more are resampled.",
            "embedder: mean deltas, embedders are resampled. cell: every embedder on every dataset, whole "
            "datasets are resampled; n counts embedders or datasets.",
        ],
        decimals=2,
    )  # fmt: skip


def _correlations(data: Analysed, study: Study) -> Rows:
    if len(study.axes) < 2:
        return [], [f"Correlations between axes{study.label}: left out, the run has one axis."]
    matrices = {a: study.matrix(a, deltas=True) for a in study.axes}
    n_datasets, n_embedders = next(iter(matrices.values())).shape
    found: list[dict[str, object]] = []
    said: list[str] = []
    for first, second in combinations(study.axes, 2):
        rng = data.rng("axis_correlations", study.generator, study.setting, first, second)
        x, y = (matrices[a].to_numpy() for a in (first, second))
        if n_embedders >= 3 and n_datasets:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DegenerateWarning)
                rho = spearman_interval(
                    x.mean(axis=0), y.mean(axis=0), resamples=data.options.resamples, rng=rng
                )
            found.append(
                {
                    "level": "embedder",
                    "first": first,
                    "second": second,
                    "rho": rho.rho,
                    "low": rho.low,
                    "high": rho.high,
                    "n": rho.n,
                }
            )
        if n_datasets >= 2 and n_datasets * n_embedders >= 6:
            estimate, low, high = cluster_spearman(x, y, resamples=data.options.resamples, rng=rng)
            found.append(
                {
                    "level": "cell",
                    "first": first,
                    "second": second,
                    "rho": estimate,
                    "low": low,
                    "high": high,
                    "n": n_datasets,
                }
            )
    if n_embedders < 3:
        said.append(f"Over embedders{study.label}: left out, three are needed; there are {n_embedders}.")
    elif why := too_few(n_embedders, "embedder"):
        said.append(f"Over embedders{study.label}: {why}.")
    elif n_embedders < SURE:
        said.append(_narrow(n_embedders, "embedders", study))
    if n_datasets < 2:
        said.append(f"Over cells{study.label}: left out, two datasets with every cell are needed.")
    elif why := too_few(n_datasets, "dataset"):
        said.append(f"Over cells{study.label}: {why}.")
    elif n_datasets < SURE:
        said.append(_narrow(n_datasets, "datasets", study))
    return sorted(found, key=lambda r: str(r["level"]), reverse=True), said


def _narrow(n: int, units: str, study: Study) -> str:
    return (
        f"{n} {units}{study.label}: a bootstrap interval over so few is too narrow; read it as a lower bound "
        "of the uncertainty."
    )


def cluster_spearman(
    x: Floats, y: Floats, *, resamples: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    """Return Spearman's rho over all entries of two matrices, with a 95 % interval; rows are resampled.

    Args:
        x: Shape (rows, columns).
        y: The same shape.
        resamples: Number of samples.
        rng: Source of chance.

    Returns:
        Estimate, low, high; NaN where a side is constant, no ends with fewer rows than an interval needs.
    """
    # Ranks that only rounding sets apart are tied.
    x, y = (levels(v.ravel()).reshape(v.shape).astype(np.float64) for v in (x, y))
    estimate = _rho(x.ravel(), y.ravel())
    if not enough(len(x)):
        return estimate, float("nan"), float("nan")
    drawn = rng.integers(len(x), size=(resamples, len(x)))
    rhos = [_rho(x[rows].ravel(), y[rows].ravel()) for rows in drawn]
    kept = np.array([r for r in rhos if np.isfinite(r)])
    low, high = np.quantile(kept, [0.025, 0.975]) if len(kept) else (np.nan, np.nan)
    return estimate, float(low), float(high)


def _rho(x: Floats, y: Floats) -> float:
    a, b = (rankdata(v) - (len(v) + 1) / 2 for v in (x, y))
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale else float("nan")


def drops_by_cell(data: Analysed) -> Table:
    """Return the drop of every embedder, dataset and transformation, beside the original's score."""
    return per_study(
        data, "drops_by_cell", "Drop against original score", DROPS, lambda s: (_drops(s), _without(s)),
        notes=["Mean over seeds; drop is original minus transformed, in points."],
    )  # fmt: skip


def _without(study: Study) -> list[str]:
    """Return how many rows are left out because a seed has no score, or the original has none."""
    means = study.means
    lacking = int(means[list(study.names.axes)].isna().to_numpy()[means[ORIGINAL].notna()].sum())
    lacking += int(means[ORIGINAL].isna().sum()) * len(study.names.axes)
    if not lacking:
        return []
    verb = "lacks" if lacking == 1 else "lack"
    return [
        f"Left out{study.label}: {counted(lacking, 'row')} that {verb} a score under a seed or on the "
        "original; incomplete_cells.csv says why."
    ]


def _drops(study: Study) -> list[Mapping[str, object]]:
    # `means` has one row per pair; ordered by embedder, dataset, transformation.
    frame = study.means.reset_index()
    long = frame.melt(
        id_vars=["embedder", "dataset", ORIGINAL], value_vars=list(study.names.axes),
        var_name="transformation", value_name="score",
    )  # fmt: skip
    long = long.assign(axis=long["transformation"].map(study.names.axes), drop=long[ORIGINAL] - long["score"])
    long = long.dropna(subset=["drop"])
    order = [{n: i for i, n in enumerate(k)} for k in (study.embedders, study.datasets, study.names.axes)]
    places = [long[c].map(o) for c, o in zip(("embedder", "dataset", "transformation"), order, strict=True)]
    long = long.iloc[np.lexsort([p.to_numpy() for p in reversed(places)])]
    return [{str(k): v for k, v in r.items()} for r in long[list(DROPS)].to_dict("records")]
