"""Aggregation of cells, in the paper's order: seeds, datasets, transformations of an axis, axes.

Means are strict: one value that is lacking makes the mean NaN. A total over fewer cells than another
row's would look like a number and mean something else.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from stressbed.collect.schema import ALL
from stressbed.errors import DataError

AXES = ("lexical_stylistic", "length", "language")
"""The paper's axes, in its order."""

ORIGINAL = "original"
LEAST_ORIGINAL = 5.0
"""Original score in points below which a drop has no share: a convention.

Near zero the share of a rounding error is large, and below zero (a correlation) it has the wrong sign.
"""

PROFILE = (ORIGINAL, *AXES, "hteb", "drop")
"""Columns of a profile: the original's score, one per axis, their mean, original minus that mean."""


def strict_mean(frame: pd.DataFrame, by: Sequence[str], value: str = "value") -> pd.DataFrame:
    """Return the mean of a column per group, NaN for a group that holds a NaN; groups are sorted."""
    by = list(by)
    groups = frame.groupby(by, sort=True, observed=True)[value]
    lacking = frame[value].isna().groupby([frame[k] for k in by], sort=True, observed=True).any()
    return groups.mean().mask(lacking).reset_index()


def paired_totals(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell with `value` (points), what its score counts as in a mean.

    See `paired`; the rows are those of the cells' totals.
    """
    return paired(scores[scores["subset"] == ALL], ["embedder", "dataset"])


def paired_parts(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell, subset and split with `value` (points); see `paired`."""
    return paired(scores[scores["subset"] != ALL], ["embedder", "dataset", "subset", "split"])


def paired(rows: pd.DataFrame, unit: Sequence[str]) -> pd.DataFrame:
    """Return rows with `value` (points) and, per generator, with the original's rows of the same unit.

    `value` is the score itself. Where rows were dropped or subsets are absent, the score belongs to
    other items than the full original does; it then counts as the full original plus the cell's own
    delta (which is taken on matching items), so that totals and drops stay paired.

    Raises:
        DataError: A metric is better when lower: it cannot be averaged with the others.
    """
    unit = list(unit)
    if not rows["higher_is_better"].all():
        names = sorted(set(rows.loc[~rows["higher_is_better"], "metric"]))
        raise DataError(
            "a metric is better when lower; it cannot be averaged with the others",
            where=", ".join(names),
            do="take the datasets with this metric into a run of their own and read its scores.parquet",
        )
    is_original = rows["transformation"] == ORIGINAL
    originals = rows[is_original]
    full = originals.set_index(unit)["score"].rename("full")
    rewrites = rows[~is_original].join(full, on=unit)
    anchored = rewrites["full"] + rewrites["delta"]
    rewrites["value"] = rewrites["score"].where(~rewrites["matched"], anchored)
    generators = rewrites[["generator"]].drop_duplicates()
    copies = originals.assign(value=originals["score"], full=originals["score"])
    copies = copies.drop(columns="generator").merge(generators, how="cross")
    return pd.concat([copies, rewrites], ignore_index=True)[[*rows.columns, "value", "full"]]


def profile(
    rows: pd.DataFrame, by: Sequence[str], within: Sequence[str] = (), value: str = "value"
) -> pd.DataFrame:
    """Return one row per group with the columns `PROFILE`, in points; a lacking cell blanks the total.

    Args:
        rows: Rows of `paired_totals` or `paired_parts`.
        by: Columns of a group, e.g. generator and embedder.
        within: Columns below a dataset that are averaged before datasets are (subset and split).
        value: Column that is averaged.
    """
    by = list(by)
    dataset = [] if "dataset" in by else ["dataset"]
    mean = rows
    levels = [[*dataset, *within, "axis", "transformation"], [*dataset, "axis", "transformation"]]
    for level in [*levels, ["axis", "transformation"], ["axis"]]:
        mean = strict_mean(mean, [*by, *level], value)
    wide = mean.pivot(index=by, columns="axis", values=value)  # noqa: PD010  # repeats must raise
    axes = [a for a in AXES if a in wide.columns]
    wide = wide.reindex(columns=[ORIGINAL, *AXES])
    complete = wide[ORIGINAL].notna()
    wide["hteb"] = wide[axes].mean(axis=1, skipna=False).where(complete)
    wide["drop"] = wide[ORIGINAL] - wide["hteb"]
    wide.columns.name = None
    return wide.reset_index()


def share_of(original: float, change: float) -> float:
    """Return a change as per cent of the original score; NaN where that is under `LEAST_ORIGINAL` points."""
    return 100 * change / original if original >= LEAST_ORIGINAL else float("nan")


def complete_datasets(totals: pd.DataFrame) -> list[str]:
    """Return the datasets on which every embedder has a value for every variant, sorted."""
    lacking = totals["value"].isna().groupby(totals["dataset"]).any()
    return sorted(str(d) for d in lacking.index[~lacking])


def any_marked(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return a profile's shape with booleans: whether any cell behind a value has too many fallbacks."""
    flags = rows.assign(value=rows["marked"].astype(float))
    wide = flags.pivot_table(index=list(by), columns="axis", values="value", aggfunc="max", observed=True)
    wide = wide.reindex(columns=[ORIGINAL, *AXES]).fillna(0.0).astype(bool)
    wide["hteb"] = wide[list(AXES)].any(axis=1)
    wide["drop"] = wide["hteb"] | wide[ORIGINAL]
    wide.columns.name = None
    return wide.reset_index()
