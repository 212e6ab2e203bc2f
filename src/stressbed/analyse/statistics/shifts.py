"""How far each transformation shifts the scores, and how sure that is (the paper's figure 7)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from stressbed.analyse.study import Analysed, Study, per_study
from stressbed.analyse.table import Table
from stressbed.stats.interval import DegenerateWarning, Floats, enough, too_few
from stressbed.stats.location import hodges_lehmann, holm
from stressbed.stats.signed_rank import signed_rank

COLUMNS = (
    "transformation", "axis", "unit", "n", "zeros", "shift", "low", "high", "p", "p_holm", "median_abs",
    "method",
)  # fmt: skip
UNITS = {
    "dataset": "the mean delta of a dataset over seeds and embedders",
    "dataset_embedder": "the mean delta of a dataset and an embedder over seeds",
}
NOTES = (
    "Hodges-Lehmann shift of delta with its exact 95 % interval, not adjusted for the number of "
    "transformations; two-sided Wilcoxon signed-rank test, exact given ties and zeros (zeros are ranked and "
    "carry no sign: Pratt).",
    "p_holm: Holm over the transformations of a row's setting and generator. median_abs: median of the "
    "absolute observations.",
)


def shifts(data: Analysed) -> Table:
    """Return the location shift of each transformation with interval and test.

    Observations are dataset means over seeds and embedders, or means per dataset and embedder, as the
    options say. Datasets with a missing cell are left out, which a sentence says.
    """
    unit = data.options.shift_unit
    more = (
        ["Embedders on one dataset are not independent: the interval is too narrow and p too small."]
        if unit == "dataset_embedder"
        else []
    )
    return per_study(
        data, "shifts", "Shift of the scores by transformation", COLUMNS, lambda s: _rows(s, unit),
        notes=[f"An observation is {UNITS[unit]}.", *NOTES, *more],
        decimals=2, digits={"p": 4, "p_holm": 4},
    )  # fmt: skip


def observations(study: Study, transformation: str, unit: str) -> Floats:
    """Return the deltas that are tested: one per dataset, or one per dataset and embedder.

    A dataset on which any embedder lacks a cell of the transformation is left out: its mean would be
    one over other embedders.
    """
    deltas = study.deltas[transformation]
    lacking = deltas.isna().groupby("dataset").transform("any")
    kept = deltas[~lacking]
    if unit == "dataset":
        kept = kept.groupby("dataset").mean()
    return np.asarray(kept.to_numpy(dtype=np.float64))


def _datasets(study: Study, transformation: str) -> int:
    """Return on how many datasets every embedder has the transformation's cells."""
    return int((~study.deltas[transformation].isna().groupby("dataset").any()).sum())


def _rows(study: Study, unit: str) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
    found: list[dict[str, object]] = []
    said: list[str] = []
    for name, axis in study.names.axes.items():
        values = observations(study, name, unit)
        if len(values) == 0:
            said.append(f"{study.names.label(name)}{study.label}: left out, no dataset has all its cells.")
            continue
        with warnings.catch_warnings():
            # What is lacking is said in a sentence.
            warnings.simplefilter("ignore", DegenerateWarning)
            test, place = signed_rank(values), hodges_lehmann(values)
        # Embedders on one dataset add observations, but no datasets: few stay few.
        ends = (place.low, place.high) if enough(_datasets(study, name)) else (math.nan, math.nan)
        found.append(
            {
                "transformation": name, "axis": axis, "unit": unit, "n": len(values), "zeros": test.zeros,
                "shift": place.estimate, "low": ends[0], "high": ends[1], "p": test.p,
                "median_abs": float(np.median(np.abs(values))), "method": test.method,
            }
        )  # fmt: skip
    if found:
        adjusted = holm([float(str(r["p"])) for r in found])
        found = [r | {"p_holm": float(p)} for r, p in zip(found, adjusted, strict=True)]
        said += _lacking(study, pd.DataFrame(found))
    return found, said


def _lacking(study: Study, frame: pd.DataFrame) -> list[str]:
    """Return sentences on intervals and tests that the data do not give."""
    said = []
    n, most, all_datasets = int(frame["n"].min()), int(frame["n"].max()), len(study.datasets)
    if frame["low"].isna().any():
        datasets = min(_datasets(study, str(t)) for t in frame["transformation"])
        said.append(f"No interval{study.label}: {too_few(datasets, 'dataset')}.")
    smallest = 2.0 * 0.5**n if n else math.nan
    if smallest * len(frame) > 0.05:
        said.append(
            f"No shift can be significant{study.label}: with {n} observation{'s' * (n != 1)} the smallest "
            f"possible p is {min(1.0, smallest):.2g} before Holm's correction."
        )
    if n < most or (frame["unit"].eq("dataset").all() and n < all_datasets):
        said.append(f"Datasets with a missing cell are left out{study.label}; n counts those that are left.")
    return said
