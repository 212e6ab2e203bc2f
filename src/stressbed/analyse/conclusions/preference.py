"""Which embedder has the highest score once texts are rewritten, and whether the data decide it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from stressbed.analyse.items.intervals import FLAT
from stressbed.analyse.items.samples import ItemSamples, NoSamplesError, item_samples
from stressbed.analyse.study import TOTAL, Study, with_axes
from stressbed.analyse.words import counted, plural, shown
from stressbed.stats.coverage import words_beside
from stressbed.stats.interval import DegenerateWarning, Floats, enough
from stressbed.stats.location import hodges_lehmann, holm
from stressbed.stats.signed_rank import signed_rank

ALPHA = 0.05


@dataclass(frozen=True)
class Difference:
    """Score of one embedder minus that of another, in points; NaN where the data do not give it."""

    points: float
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan


Pairs = Mapping[tuple[str, str], Difference]


@dataclass(frozen=True)
class Comparisons:
    """All pairs of embedders.

    Attributes:
        pairs: (first, second) -> first minus second, p-values Holm-corrected over all pairs.
        basis: What the intervals are over, `12 datasets`; empty without intervals.
        reason: Why there are none; empty if there are.
        words: What they are called: not `95 %` where they cover less.
    """

    pairs: Pairs
    basis: str = ""
    reason: str = ""
    words: str = "95 % interval"

    def of(self, first: str, second: str) -> Difference:
        """Return first minus second."""
        if (first, second) in self.pairs:
            return self.pairs[first, second]
        d = self.pairs[second, first]
        return Difference(-d.points, -d.high, -d.low, d.p)


def preferences(
    study: Study, *, items: pd.DataFrame | None, resamples: int, rng: np.random.Generator
) -> list[dict[str, object]]:
    """Return a row per embedder, the best first: how it compares with the best, and whether that is decided.

    Compared is the total over the run's transformations. A difference counts as decided if its two-sided
    p-value, Holm-corrected over all pairs of embedders (the best one is chosen by the same data), is
    below 5 %.

    Args:
        study: The cells.
        items: Rows of `items.parquet`; they decide where there is one dataset.
        resamples: Bootstrap resamples of items.
        rng: Source of chance.
    """
    totals = study.matrix(TOTAL)
    if len(totals) == 0 or len(totals.columns) < 2:
        return []
    means = totals.mean().sort_values(ascending=False, kind="stable")
    order = [str(e) for e in means.index]
    compared = _compared(study, totals, items, resamples, rng)
    best = order[0]
    rows = [_row(best, Difference(0.0), _of_best(study, order, means, compared))]
    for name in order[1:]:
        found = compared.of(name, best)
        said = _of_other(study.names.label(best), float(means[name]), found, compared)
        rows.append(_row(name, found, said))
    return rows


def _row(embedder: str, found: Difference, verdict: str) -> dict[str, object]:
    return {
        "embedder": embedder, "question": "preference", "transformation": TOTAL, "delta": found.points,
        "low": found.low, "high": found.high, "verdict": verdict,
    }  # fmt: skip


def _of_best(study: Study, order: Sequence[str], means: pd.Series, compared: Comparisons) -> str:
    best, others = order[0], order[1:]
    head = f"Highest score after rewriting: {signed(float(means[best]))} points."
    if compared.reason:
        return f"{head} Whether that is more than chance is open: {compared.reason}."
    beaten = [o for o in others if compared.of(best, o).p < ALPHA]
    rest = [o for o in others if o not in beaten]
    said = [head]
    if beaten:
        said.append(f"Better than {listed(list(map(study.names.label, beaten)))}.")
    if rest:
        them = listed(list(map(study.names.label, rest)))
        said.append(f"Not told apart from {them}: the data do not decide between them.")
    return " ".join(said)


def _of_other(first: str, mean: float, found: Difference, compared: Comparisons) -> str:
    """Return the verdict on one that is not the best; `first` is the best one's label."""
    side = "fewer" if found.points <= 0 else "more"
    head = f"{signed(mean)} points after rewriting, {abs(found.points):.1f} {side} than {first}"
    if compared.reason:
        return f"{head}; whether that is more than chance is open: {compared.reason}."
    if math.isnan(found.low):
        return f"{head}; whether that is more than chance is open: all items differ alike."
    ends = f"{signed(found.low)} to {signed(found.high)}"
    decided = f"{first} is better" if found.p < ALPHA else "the data do not decide between the two"
    return f"{head} ({compared.words} of the difference {ends} over {compared.basis}): {decided}."


def _compared(
    study: Study,
    totals: pd.DataFrame,
    items: pd.DataFrame | None,
    resamples: int,
    rng: np.random.Generator,
) -> Comparisons:
    n = len(totals)
    plain = {
        (str(a), str(b)): Difference(float((totals[a] - totals[b]).mean()))
        for a, b in combinations(totals.columns, 2)
    }
    if enough(n):
        return Comparisons(_between(totals, list(plain)), f"{n} datasets")
    if len(study.datasets) > 1:
        words = f"{n} datasets are" if n > 1 else "one dataset with all cells is"
        return Comparisons(plain, reason=f"{words} too few for a comparison")
    if items is None:
        return Comparisons(plain, reason="one dataset, and its items were not compared")
    try:
        found = _samples(study, items, resamples, rng)
    except NoSamplesError as e:
        return Comparisons(plain, reason=f"one dataset, and {e}")
    return Comparisons(_within(found, list(plain)), found.basis, words=words_beside(found.note))


def _between(totals: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> Pairs:
    """Return the differences with intervals and tests over datasets."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        for a, b in pairs:
            # Rounding errors of sums are no differences, and ranks would take them for some.
            values = (totals[a] - totals[b]).to_numpy().round(9)
            place = hodges_lehmann(values)
            found.append(Difference(place.estimate, place.low, place.high, signed_rank(values).p))
    return _corrected(pairs, found)


@dataclass(frozen=True)
class _Within:
    """Totals of embedders on all items and in samples of them."""

    embedders: Sequence[str]
    totals: Floats
    samples: Floats
    basis: str
    note: str


def _samples(study: Study, items: pd.DataFrame, resamples: int, rng: np.random.Generator) -> _Within:
    """Return the totals of each embedder in samples of the only dataset's items."""
    cells = study.cells[study.cells["transformation"].isin(study.names.transformations)]
    if cells["matched"].any():
        raise NoSamplesError("rows were dropped, so that cells have other items")
    key = ["embedder", "transformation", "seed"]
    theirs = items[(items["generator"] == study.generator) & items["dataset"].isin(study.datasets)]
    named = cells.assign(cell=_cell(cells, key)).set_index("cell")
    found: ItemSamples = item_samples(
        theirs.assign(cell=_cell(theirs, key)),
        cells=list(named.index), scores=named["score"].tolist(), metric=str(named["metric"].iloc[0]),
        task_type=str(named["task_type"].iloc[0]), resamples=resamples, rng=rng,
    )  # fmt: skip
    totals = []
    for embedder in study.embedders:
        mine = (named["embedder"] == embedder).to_numpy()
        over_seeds = (
            pd.DataFrame(found.samples[mine]).groupby(named["transformation"].to_numpy()[mine]).mean()
        )
        totals.append(with_axes(over_seeds.T, study.names)[TOTAL].to_numpy())
    full = study.matrix(TOTAL).iloc[0].to_numpy()
    return _Within(study.embedders, full, np.stack(totals), _basis(found), found.note)


def _basis(found: ItemSamples) -> str:
    """Return what an interval within a dataset is over."""
    said = f"{counted(found.n, 'item')} of this dataset"
    what = found.resampled
    return said + (
        "" if what == found.unit else f", drawn by {counted(found.n_resampled, what, plural(what))}"
    )


def _cell(frame: pd.DataFrame, key: Sequence[str]) -> pd.Series:
    return frame[list(key)].astype(str).agg("|".join, axis=1)


def _within(found: _Within, pairs: Sequence[tuple[str, str]]) -> Pairs:
    """Return the differences with percentile intervals and two-sided bootstrap p-values."""
    place = {e: i for i, e in enumerate(found.embedders)}
    differences = []
    for a, b in pairs:
        observed = float(found.totals[place[a]] - found.totals[place[b]])
        samples = found.samples[place[a]] - found.samples[place[b]]
        held = samples[np.isfinite(samples)]
        # Items that all differ alike have no spread to judge by, however often they are drawn.
        alike = len(held) < len(samples) / 2 or (np.ptp(held) < FLAT and abs(observed) >= FLAT)
        differences.append(Difference(observed) if alike else bootstrapped(observed, samples))
    return _corrected(pairs, differences)


def bootstrapped(observed: float, samples: Floats) -> Difference:
    """Return a difference with its percentile interval and two-sided p-value, from bootstrap samples.

    The p-value is the share of samples, centred at the observed difference, that are at least as far
    from it as it is from zero, (count + 1) / (B + 1); samples without a value are left out.
    """
    held = samples[np.isfinite(samples)]
    low, high = np.quantile(held, [0.025, 0.975])
    # Rounding must not decide whether a sample is "at least as far".
    further = np.abs(held - observed) >= abs(observed) * (1 - 1e-12)
    return Difference(observed, float(low), float(high), (int(further.sum()) + 1) / (len(held) + 1))


def _corrected(pairs: Sequence[tuple[str, str]], found: Sequence[Difference]) -> Pairs:
    adjusted = holm([d.p for d in found])
    return {
        pair: Difference(d.points, d.low, d.high, float(p))
        for pair, d, p in zip(pairs, found, adjusted, strict=True)
    }


def signed(points: float) -> str:
    """Return points with one decimal and a minus where they are negative."""
    return shown(points)


def listed(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
