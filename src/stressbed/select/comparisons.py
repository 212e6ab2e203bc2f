"""What the judges' ratings say: who is better, how sure that is, how judges treat their own work."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from stressbed.fingerprint import text_digest
from stressbed.select.ratings import ROW, Observed, units_of
from stressbed.stats.agreement import gwet_ac2
from stressbed.stats.bootstrap import Comparison, mean_interval, paired_comparisons, resample_means
from stressbed.stats.interval import DegenerateWarning, Interval
from stressbed.stats.letters import compact_letters


@dataclass(frozen=True)
class Outcome:
    """The comparison of the generators on the shortlist.

    Attributes:
        means: Mean rating of each, over observations, with its interval.
        comparisons: Every pair.
        letters: Generators that share one do not differ significantly.
        probability_best: Share of resamples in which each has the highest mean; ties are shared.
    """

    means: dict[str, Interval]
    comparisons: list[Comparison]
    letters: dict[str, str]
    probability_best: dict[str, float]


def generator_of_chance(*what: str) -> np.random.Generator:
    """Return a source of chance that depends on what it is for, and on nothing else."""
    return np.random.default_rng(int(text_digest("selection", *what)[:16], 16))


def compare(observed: Observed, *, resamples: int, alpha: float) -> Outcome:
    """Return means with intervals, all pairwise comparisons, letters and the probabilities of being best."""
    values, names, units = observed.pairs.to_numpy(), observed.generators, observed.units
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # the tables show dashes and say why
        means = {
            g: mean_interval(
                values[:, i],
                resamples=resamples,
                level=1 - alpha,
                rng=generator_of_chance("mean"),
                units=units,
            )
            for i, g in enumerate(names)
        }
        found = paired_comparisons(
            values, names=names, resamples=resamples, level=1 - alpha, rng=generator_of_chance("pairs"),
            units=units,
        )  # fmt: skip
    different = {frozenset({c.first, c.second}) for c in found if c.p_holm < alpha}
    letters = compact_letters(names, {g: m.estimate for g, m in means.items()}, different)
    resampled = resample_means(values, resamples=resamples, rng=generator_of_chance("pairs"), units=units)
    resampled = resampled[np.isfinite(resampled).all(axis=1)]
    best = np.isclose(resampled, resampled.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    shares = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    return Outcome(means, found, letters, dict(zip(names, map(float, shares), strict=True)))


def self_preference(observed: Observed, *, resamples: int, alpha: float) -> pd.DataFrame:
    """Return what each judge adds for its own outputs.

    `own_minus_others`: its rating of its own outputs minus its mean rating of the others'. As a good
    generator's outputs are better, `relative` compares that with what the other judges give: own minus
    others' by this judge, minus the same by them. Observations are the rows of the screening data.

    Columns: judge, own, others, own_minus_others, own_low, own_high, relative, relative_low,
    relative_high, n. Only judges that are on the shortlist.
    """
    by_judge = {
        str(j): part.pivot_table(index=ROW, columns="generator", values="rating", aggfunc="mean", sort=False)
        for j, part in observed.complete.groupby("judge", sort=False)
    }
    rows = []
    for judge in (j for j in observed.judges if j in observed.generators):
        others = [g for g in observed.generators if g != judge]
        gaps = {j: ratings[judge] - ratings[others].mean(axis=1) for j, ratings in by_judge.items()}
        own = gaps[judge].dropna()
        among = pd.concat([g for j, g in gaps.items() if j != judge], axis=1).mean(axis=1)
        relative = (gaps[judge] - among).dropna()
        rng = generator_of_chance("self", judge)
        first = _interval(own, observed, resamples, alpha, rng)
        second = _interval(relative, observed, resamples, alpha, rng)
        rows.append(
            {
                "judge": judge,
                "own": float(by_judge[judge][judge].mean()),
                "others": float(by_judge[judge][others].mean(axis=1).mean()),
                "own_minus_others": first.estimate, "own_low": first.low, "own_high": first.high,
                "relative": second.estimate, "relative_low": second.low, "relative_high": second.high,
                "n": len(own),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def judge_agreement(observed: Observed, *, scale: tuple[int, ...], alpha: float) -> pd.DataFrame:
    """Return Gwet's AC2 (ordinal weights) between the judges, per transformation and overall.

    Items are rewrites; ratings are the numbers that the judges answered. `spearman` is the mean rank
    correlation over pairs of judges. Columns: transformation, ac2, low, high, spearman, n_items, n_judges.
    """
    frame = observed.ratings.dropna(subset=["choice"])
    parts = [*frame.groupby("transformation", sort=False), ("all", frame)]
    rows = []
    for name, part in parts:
        wide = part.pivot_table(
            index=["transformation", "text_id", "generator"], columns="judge", values="choice", sort=False
        ).reindex(columns=observed.judges)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
            found = gwet_ac2(wide.to_numpy(dtype=float), categories=scale, level=1 - alpha)
        rows.append(
            {
                "transformation": str(name), "ac2": found.coefficient, "low": found.low, "high": found.high,
                "spearman": _mean_correlation(wide), "n_items": found.n_items, "n_judges": found.n_raters,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _mean_correlation(wide: pd.DataFrame) -> float:
    """Return the mean of Spearman's rho over pairs of judges; NaN where none has a value."""
    found = []
    for a, b in combinations(wide.columns, 2):
        both = wide[[a, b]].dropna()
        if len(both) > 2 and (both != both.iloc[0]).any().all():  # constant sides have no ranks
            found.append(float(spearmanr(both[a], both[b]).statistic))
    return float(np.mean(found)) if found else float("nan")


def _interval(
    values: pd.Series[float], observed: Observed, resamples: int, alpha: float, rng: np.random.Generator
) -> Interval:
    units = units_of(values.index, observed.complete)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
        return mean_interval(values.to_numpy(), resamples=resamples, level=1 - alpha, rng=rng, units=units)
