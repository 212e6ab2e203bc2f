"""Differences between two runs, with intervals and tests where the data give them."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import AXES, ORIGINAL, strict_mean
from stressbed.analyse.conclusions.preference import bootstrapped
from stressbed.analyse.items.samples import NoSamplesError, item_samples
from stressbed.analyse.names import Names
from stressbed.analyse.study import TOTAL, with_axes
from stressbed.analyse.table import Table
from stressbed.stats.interval import DegenerateWarning, Floats, enough
from stressbed.stats.location import hodges_lehmann, holm
from stressbed.stats.signed_rank import signed_rank

BEFORE, AFTER = "before", "after"
SCORE, DROP = "score", "drop"
BETWEEN = "Hodges-Lehmann over datasets, signed-rank test"
WITHIN = "bootstrap of items within the datasets"
IDENTICAL = "every cell is the same in both runs"
METHODS = {
    BETWEEN: f"{BETWEEN}: the difference is the estimate of the shift, not the difference of the two means.",
    WITHIN: f"{WITHIN}: it says nothing of other datasets. Experiments are no independent items.",
}
ALPHA = 0.05
ORIGINALS = "none"
"""Generator of the originals."""

COLUMNS = (
    "generator", "embedder", "became", "measure", "row", "n_datasets", "before", "after", "difference", "low",
    "high", "p", "p_holm", "method", "verdict",
)  # fmt: skip

Items = Callable[[str, str, str], pd.DataFrame]
"""(side, embedder, dataset) -> rows of that run's `items.parquet`; embedders by their id in that run."""

Key = tuple[str, str]
"""Measure (`score`, `drop`) and row (`original`, an axis, the total, a transformation)."""


Measures = dict[Key, "pd.Series[Any]"]


@dataclass(frozen=True)
class Sampling:
    """How items are drawn.

    Attributes:
        items: Gives the items of either run.
        resamples: Number of samples.
        rng: Source of chance.
    """

    items: Items
    resamples: int
    rng: np.random.Generator


def run_differences(cells: pd.DataFrame, names: Names, sampling: Sampling) -> Table:
    """Return per embedder how original score, axes, total and drops differ: second run minus first.

    With six datasets or more a difference has the Hodges-Lehmann interval over datasets and the signed-rank
    test; with fewer a bootstrap of the items within the datasets, where every cell's score can be made
    again from its items; else no interval. Holm's correction is over all tests of the table.

    Args:
        cells: Pairs of cells (`pairing.Pairing.cells`).
        names: Order and axes of the transformations that are compared.
        sampling: How items are drawn.
    """
    rows: list[dict[str, object]] = []
    reasons: list[str] = []
    for (embedder, became), of_both in cells.groupby(["embedder", "became"], sort=False):
        for generator in names.generators or [ORIGINALS]:
            mine = of_both[of_both["generator"].isin([generator, ORIGINALS])]
            found, reason = _of_embedder(mine, names, sampling)
            rows += [{"generator": generator, "embedder": embedder, "became": became, **r} for r in found]
            reasons += [f"{names.label(str(embedder))}: no interval, {reason}."] if reason else []
    adjusted = holm([float(str(r["p"])) for r in rows])
    tests = int(np.isfinite(adjusted).sum())
    rows = [
        r | {"p_holm": float(p), "verdict": _verdict(r, float(p))}
        for r, p in zip(rows, adjusted, strict=True)
    ]
    frame = _without_repeats(pd.DataFrame(rows, columns=list(COLUMNS)))
    notes = [
        "Points; difference is after minus before. score: higher is better; drop (original minus "
        "transformed): lower is better. Means over the datasets with every cell of the row in both runs.",
        "hteb: mean over axes. A row that names a transformation is the drop under it; an axis of one "
        "transformation has no drop of its own.",
        f"low, high: interval of the difference, aimed at 95 %, not corrected. p_holm: Holm; tests: {tests}.",
        *(sentence for method, sentence in METHODS.items() if (frame["method"] == method).any()),
        *dict.fromkeys(reasons),
    ]
    digits = {"p": 4, "p_holm": 4}
    return Table("run_differences", "Differences between the runs", frame, notes, digits=digits, decimals=2)


def run_cells(cells: pd.DataFrame) -> Table:
    """Return the pairs of cells one by one: scores and drops before and after."""
    keys = ["embedder", "dataset", "generator"]
    full = cells[cells["transformation"] == ORIGINAL].set_index(["embedder", "dataset"])[[BEFORE, AFTER]]
    held = cells.join(full.rename(columns={BEFORE: "original_before", AFTER: "original_after"}), on=keys[:2])
    rewritten = held["transformation"] != ORIGINAL
    frame = held[
        ["embedder", "became", "dataset", "generator", "transformation", "axis", "seed", "same_texts"]
    ].assign(
        before=held[BEFORE],
        after=held[AFTER],
        difference=held[AFTER] - held[BEFORE],
        drop_before=(held["original_before"] - held[BEFORE]).where(rewritten),
        drop_after=(held["original_after"] - held[AFTER]).where(rewritten),
    )
    frame["drop_difference"] = frame["drop_after"] - frame["drop_before"]
    notes = ["Points. same_texts: both runs embedded the same rewrites."]
    return Table("run_cells", "Pairs of cells", _without_repeats(frame), notes, decimals=2)


def _without_repeats(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table without columns that tell nothing apart: same ids in both runs, one generator."""
    alone = ["became"] if (frame["embedder"] == frame["became"]).all() else []
    alone += ["generator"] if frame.loc[frame["generator"] != ORIGINALS, "generator"].nunique() < 2 else []
    return frame.drop(columns=alone)


def _of_embedder(
    cells: pd.DataFrame, names: Names, sampling: Sampling
) -> tuple[list[dict[str, object]], str]:
    """Return an embedder's rows, and why some have no interval.

    One whose every cell is unchanged has nothing to be tested.
    """
    sides = {side: _measures(_means(cells, side, names), names) for side in (BEFORE, AFTER)}
    # Rounding errors of sums are no differences, and ranks would take them for some.
    held = {key: (sides[AFTER][key] - sides[BEFORE][key]).dropna().round(9) for key in sides[BEFORE]}
    samples: Mapping[Key, Floats] = {}
    reason = ""
    unchanged = bool((cells[AFTER] == cells[BEFORE]).all())
    if not unchanged and any(not enough(len(values)) for values in held.values()):
        datasets = [str(d) for d in cells["dataset"].unique()]
        try:
            samples = _samples(cells, datasets, names, sampling)
        except NoSamplesError as e:
            reason = str(e)
    rows = []
    for key, values in held.items():
        row = {
            "measure": key[0], "row": key[1], "n_datasets": len(values),
            "before": float(sides[BEFORE][key][values.index].mean()),
            "after": float(sides[AFTER][key][values.index].mean()),
        }  # fmt: skip
        array = np.asarray(values, dtype=np.float64)
        rows.append(row | (_UNCHANGED if unchanged else _difference(array, samples.get(key))))
    return rows, reason if any(r["method"] == "" and r["n_datasets"] for r in rows) else ""


_NOTHING: dict[str, object] = {"low": math.nan, "high": math.nan, "p": math.nan, "method": ""}
_UNCHANGED: dict[str, object] = {**_NOTHING, "difference": 0.0, "method": IDENTICAL}


def _difference(values: Floats, samples: Floats | None) -> dict[str, object]:
    """Return estimate, interval and test of one difference; `values` has one number per dataset."""
    if enough(len(values)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)
            place, test = hodges_lehmann(values), signed_rank(values)
        ends = {"low": place.low, "high": place.high}
        return {"difference": place.estimate, **ends, "p": test.p, "method": BETWEEN}
    mean = float(values.mean()) if len(values) else math.nan
    if samples is None or not len(values) or np.isfinite(samples).sum() < len(samples) / 2:
        return {**_NOTHING, "difference": mean}
    found = bootstrapped(mean, samples)
    return {"difference": mean, "low": found.low, "high": found.high, "p": found.p, "method": WITHIN}


def _means(cells: pd.DataFrame, side: str, names: Names) -> pd.DataFrame:
    """Return datasets x (original, transformations): mean over seeds of one run's scores."""
    mean = strict_mean(cells, ["dataset", "transformation"], side)
    wide = mean.pivot(index="dataset", columns="transformation", values=side)  # noqa: PD010
    wide = wide.reindex(columns=[ORIGINAL, *names.transformations])
    return wide.reindex(index=list(dict.fromkeys(cells["dataset"])))


def _measures(means: pd.DataFrame, names: Names) -> Measures:
    """Return scores and drops, from scores of the original and of transformations."""
    if not names.transformations:
        return {(SCORE, ORIGINAL): means[ORIGINAL]}
    full = with_axes(means, names)
    sizes = Counter(names.axes.values())
    # What says the same twice would be tested twice: one axis is the total, one transformation its axis.
    axes = [a for a in AXES if sizes[a] and len(sizes) > 1]
    larger = [a for a in axes if sizes[a] > 1]
    found = {(SCORE, column): full[column] for column in (ORIGINAL, *axes, TOTAL)}
    found |= {(DROP, c): full[ORIGINAL] - full[c] for c in (TOTAL, *larger, *names.transformations)}
    return found


def _samples(
    cells: pd.DataFrame, datasets: Sequence[str], names: Names, sampling: Sampling
) -> dict[Key, Floats]:
    """Return each measure's difference in samples of items, mean over datasets.

    Raises:
        NoSamplesError: A dataset's scores cannot be made again from its items.
    """
    found: list[Measures] = []
    for dataset in datasets:
        mine = cells[cells["dataset"] == dataset]
        try:
            found.append(_of_dataset(mine, names, sampling))
        except NoSamplesError as e:
            raise NoSamplesError(f"on {dataset} {e}") from e
    return {key: np.mean([np.asarray(f[key], dtype=np.float64) for f in found], axis=0) for key in found[0]}


def _of_dataset(cells: pd.DataFrame, names: Names, sampling: Sampling) -> Measures:
    """Return each measure's difference in samples of one dataset's items, the same in both runs."""
    if cells["matched"].any():
        raise NoSamplesError("rows were dropped, so that cells have other items")
    embedder, became, dataset = (str(cells[c].iloc[0]) for c in ("embedder", "became", "dataset"))
    tables, keys, scores = [], [], []
    for side, of_run, column in (
        (BEFORE, embedder, "own_generator_before"),
        (AFTER, became, "own_generator_after"),
    ):
        items = sampling.items(side, of_run, dataset)
        if items.empty:
            raise NoSamplesError("no items were kept")
        tables.append(items.assign(cell=_named(side, items, "generator")))
        keys += _named(side, cells, column).tolist()
        scores += cells[side].tolist()
    items = pd.concat(tables, ignore_index=True)
    found = item_samples(
        items[items["cell"].isin(keys)], cells=keys, scores=scores,
        metric=str(cells["metric"].iloc[0]), task_type=str(cells["task_type"].iloc[0]),
        resamples=sampling.resamples, rng=sampling.rng,
    )  # fmt: skip
    transformations = cells["transformation"].to_numpy()
    parts = []
    for drawn in np.split(found.samples, 2):
        means = pd.DataFrame(drawn).groupby(transformations).mean().T
        parts.append(_measures(means.reindex(columns=[ORIGINAL, *names.transformations]), names))
    return {key: parts[1][key] - parts[0][key] for key in parts[0]}


def _named(side: str, frame: pd.DataFrame, generator: str) -> pd.Series:
    """Return one name per cell: side, generator, transformation, seed."""
    return side + "|" + frame[[generator, "transformation", "seed"]].astype(str).agg("|".join, axis=1)


def _verdict(row: Mapping[str, object], p: float) -> str:
    """Return in a word or two what the test says."""
    if row["method"] == IDENTICAL or row["low"] == row["high"] == row["difference"] == 0:
        return "unchanged"
    if math.isnan(p):
        return "no test"
    if p >= ALPHA:
        return "not decided"
    rises = float(str(row["difference"])) > 0
    return "better" if rises == (row["measure"] == SCORE) else "worse"
