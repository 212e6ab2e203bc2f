"""The same cells under two generators: do deltas depend on who rewrites (HTEB, 4.2.3, appendix Q)?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr, spearmanr

from stressbed.analyse.aggregate import AXES, ORIGINAL, paired_totals
from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.fingerprint import text_digest
from stressbed.stats.bootstrap import mean_interval
from stressbed.stats.interval import DegenerateWarning

RESAMPLES = 10_000
OVERALL = "overall"
_KEYS = ["embedder", "dataset", "axis", "transformation"]


def pairs(names: Names) -> list[tuple[str, str]]:
    """Return every pair of the run's generators, in the order of its config."""
    return list(combinations(names.generators, 2))


def cells(scores: pd.DataFrame, names: Names) -> pd.DataFrame:
    """Return the deltas of every embedder, dataset and transformation under each pair of generators.

    Columns: first, second (generators), embedder, dataset, axis, transformation, delta_first,
    delta_second (points, mean over seeds), difference (first minus second). A delta is NaN where a seed
    is missing or failed, so that only cells with all seeds under both generators are compared.

    Args:
        scores: `scores.parquet` of a run with several generators.
        names: Their order, and that of the rows.
    """
    totals = paired_totals(scores)
    rewrites = totals[totals["transformation"] != ORIGINAL]
    delta = (rewrites["value"] - rewrites["full"]).rename("delta")
    held = rewrites[["generator", *_KEYS, "seed"]].join(delta)
    groups = held.groupby(["generator", *_KEYS], sort=False)["delta"]
    means = groups.mean().where(groups.count() == groups.size())
    wide = means.unstack("generator").reset_index()  # noqa: PD010  # repeats must raise
    parts = []
    for first, second in pairs(names):
        part = wide[_KEYS].assign(first=first, second=second)
        part["delta_first"] = wide.get(first, np.nan)
        part["delta_second"] = wide.get(second, np.nan)
        parts.append(part.assign(difference=part["delta_first"] - part["delta_second"]))
    found = pd.concat(parts, ignore_index=True)
    found = found.assign(
        _e=found["embedder"].map(list(names.embedders).index),
        _d=found["dataset"].map(list(names.datasets).index),
        _t=found["transformation"].map(list(names.transformations).index),
    ).sort_values(["first", "second", "_e", "_d", "_t"], kind="stable", ignore_index=True)
    return found[["first", "second", *_KEYS, "delta_first", "delta_second", "difference"]]


def crosscheck_cells(scores: pd.DataFrame, names: Names) -> Table:
    """Return the comparison cell by cell; see `cells`."""
    notes = ["Points, mean over seeds. difference: first minus second; a dash where a seed has no score."]
    return Table("crosscheck_cells", "Deltas under two generators, cell by cell", cells(scores, names), notes)


def crosscheck(scores: pd.DataFrame, names: Names) -> Table:
    """Return per transformation, per axis and overall how far two generators agree.

    Columns: first, second, group, mean_first, mean_second, difference, low, high (bootstrap interval
    of the mean difference over pairs of embedder and dataset), pearson, spearman (of the cells' deltas),
    kendall (tau-b of the embedders' mean deltas), n (cells compared), left_out (cells without a score
    under either).
    """
    held = cells(scores, names)
    rows = []
    for first, second in pairs(names):
        pair = held[(held["first"] == first) & (held["second"] == second)]
        for group, part in _groups(pair, names):
            rows.append(
                {"first": first, "second": second, "group": group, **_compare(part, first + second + group)}
            )
    notes = [
        "Deltas in points (transformed minus original), means over embedders and datasets. difference: first "
        f"minus second, with a 95 % bootstrap interval over pairs of embedder and dataset, {RESAMPLES} "
        "resamples; embedders share the rewrites of a dataset, so it describes these cells and is no test. "
        "pearson, spearman: of the cells' deltas. kendall: of the embedders' mean deltas. left_out: cells "
        "that lack a score under one of the two.",
    ]
    digits = {"pearson": 2, "spearman": 2, "kendall": 2}
    frame = pd.DataFrame(rows)
    return Table("crosscheck", "Do the deltas depend on the generator?", frame, notes, digits=digits)


def _groups(pair: pd.DataFrame, names: Names) -> Iterator[tuple[str, pd.DataFrame]]:
    for axis in AXES:
        of_axis = pair[pair["axis"] == axis]
        if of_axis.empty:
            continue
        yield axis, of_axis
        for t in (t for t, a in names.axes.items() if a == axis):
            yield t, of_axis[of_axis["transformation"] == t]
    yield OVERALL, pair


def _compare(part: pd.DataFrame, what: str) -> dict[str, float]:
    both = part.dropna(subset=["difference"])
    rng = np.random.default_rng(int(text_digest("crosscheck", what)[:16], 16))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
        units = both.groupby(["embedder", "dataset"])["difference"].mean().to_numpy()
        found = mean_interval(units, resamples=RESAMPLES, rng=rng)
    ranked = both.groupby("embedder")[["delta_first", "delta_second"]].mean()
    return {
        "mean_first": float(both["delta_first"].mean()),
        "mean_second": float(both["delta_second"].mean()),
        "difference": float(both["difference"].mean()), "low": found.low, "high": found.high,
        "pearson": _correlation(both, pearsonr), "spearman": _correlation(both, spearmanr),
        "kendall": _correlation(ranked, kendalltau),
        "n": len(both), "left_out": len(part) - len(both),
    }  # fmt: skip


def _correlation(frame: pd.DataFrame, measure: object) -> float:
    """Return a correlation of the two deltas; NaN for fewer than three rows or a side that does not vary."""
    x, y = frame["delta_first"].to_numpy(dtype=float), frame["delta_second"].to_numpy(dtype=float)
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(measure(x, y).statistic)  # type: ignore[operator]
