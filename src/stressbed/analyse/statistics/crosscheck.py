"""The same cells under two generators: do deltas depend on who rewrites (HTEB, 4.2.3, appendix Q)?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import pearsonr

from stressbed.analyse.aggregate import AXES, ORIGINAL, paired_totals
from stressbed.analyse.names import Names
from stressbed.analyse.study import Analysed
from stressbed.analyse.table import Table
from stressbed.stats.bootstrap import resample_means, spearman_rows
from stressbed.stats.coverage import coverage_note
from stressbed.stats.interval import FEWEST, Floats, enough
from stressbed.stats.rank_correlation import kendall_tau_b
from stressbed.stats.ties import levels

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
    ).sort_values(["first", "second", "_e", "_d", "_t"])
    return found[["first", "second", *_KEYS, "delta_first", "delta_second", "difference"]]


def crosscheck_cells(scores: pd.DataFrame, names: Names) -> Table:
    """Return the comparison cell by cell; see `cells`."""
    notes = ["Points, mean over seeds. difference: first minus second; a dash where a seed has no score."]
    return Table("crosscheck_cells", "Deltas under two generators, cell by cell", cells(scores, names), notes)


def crosscheck(data: Analysed) -> Table:
    """Return per transformation, per axis and overall how far two generators agree.

    Columns: first, second, group, mean_first, mean_second, difference, low, high (bootstrap interval
    of the mean difference over datasets), pearson, spearman (of the cells' deltas), kendall (tau-b of the
    embedders' mean deltas, over the datasets on which every embedder has every cell), n (cells compared),
    left_out (cells without a score under either).
    """
    names, resamples = data.names, data.options.resamples
    held = cells(data.scores, names)
    rows = []
    for first, second in pairs(names):
        pair = held[(held["first"] == first) & (held["second"] == second)]
        for group, part in _groups(pair, names):
            rng = data.rng("crosscheck", first, second, group)
            row = _compare(part, resamples=resamples, rng=rng)
            rows.append({"first": first, "second": second, "group": group, **row})
    frame = pd.DataFrame(rows)
    notes = [
        "Deltas in points (transformed minus original), means over embedders and datasets. difference: first "
        f"minus second, with a bootstrap interval over datasets, aimed at 95 %, {resamples} resamples: "
        "embedders share the rewrites of a dataset, so whole datasets are drawn; none with fewer than "
        f"{FEWEST}.",
        "pearson, spearman: of the cells' deltas. kendall: of the embedders' mean deltas over the datasets "
        "on which every embedder has every cell. Values that differ by rounding only are tied.",
    ]
    if frame["left_out"].any():
        notes.append("left_out: cells without a score under one of the two; incomplete_cells.csv says why.")
    if note := coverage_note(int(held["dataset"].nunique())):
        notes.append(f"{note[0].upper()}{note[1:]}.")
    digits = {"pearson": 2, "spearman": 2, "kendall": 2}
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


def _compare(part: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> dict[str, float]:
    both = part.dropna(subset=["difference"])
    low, high = _interval(both, resamples=resamples, rng=rng)
    return {
        "mean_first": float(both["delta_first"].mean()),
        "mean_second": float(both["delta_second"].mean()),
        "difference": float(both["difference"].mean()), "low": low, "high": high,
        "pearson": _correlation(both, _pearson), "spearman": _correlation(both, _spearman),
        "kendall": _correlation(_ranked(part), kendall_tau_b),
        "n": len(both), "left_out": len(part) - len(both),
    }  # fmt: skip


def _interval(both: pd.DataFrame, *, resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the interval of the cells' mean difference; whole datasets are drawn, with all their cells."""
    sums = both.groupby("dataset")["difference"].agg(["sum", "size"])
    if not enough(len(sums)):
        return float("nan"), float("nan")
    drawn = resample_means(sums.to_numpy(dtype=np.float64), resamples=resamples, rng=rng)
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975])
    return float(low), float(high)


def _ranked(part: pd.DataFrame) -> pd.DataFrame:
    """Return the embedders' mean deltas, over the same datasets for all of them."""
    lacking = part["difference"].isna().groupby(part["dataset"]).any()
    whole = part[~part["dataset"].map(lacking).astype(bool)]
    seen = whole.groupby("embedder")["dataset"].nunique()
    kept = whole[whole["embedder"].map(seen) == whole["dataset"].nunique()]
    return kept.groupby("embedder")[["delta_first", "delta_second"]].mean()


def _pearson(x: Floats, y: Floats) -> float:
    return float(pearsonr(x, y).statistic)


def _spearman(x: Floats, y: Floats) -> float:
    a, b = (levels(v).astype(np.float64)[None] for v in (x, y))
    return float(spearman_rows(a, b)[0])


def _correlation(frame: pd.DataFrame, measure: Callable[[Floats, Floats], float]) -> float:
    """Return a correlation of the two deltas; NaN for fewer than three rows or a side that does not vary."""
    x, y = (frame[c].to_numpy(dtype=np.float64) for c in ("delta_first", "delta_second"))
    if len(x) < 3 or not levels(x).any() or not levels(y).any():
        return float("nan")
    return measure(x, y)
