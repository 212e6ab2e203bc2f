"""The end of a selection: the judges' ratings become tables, a figure and a winner."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.analyse.write import to_csv, write_table
from stressbed.config.entries import SelectionEntry
from stressbed.generate.request import NO_ANSWER
from stressbed.plot.crossover import crossover_figure
from stressbed.plot.style import save, style
from stressbed.select import comparisons
from stressbed.select.comparisons import Outcome
from stressbed.select.ratings import Observed, observe
from stressbed.stats.interval import too_few
from stressbed.store import read_json, write_text

log = logging.getLogger("stressbed")

SCALE = (1, 2, 3, 4, 5)
AVERAGE, LETTERS = "average", "letters"


def choose(
    *,
    ratings: Sequence[Path],
    shortlist: Path,
    selection: SelectionEntry,
    names: Names,
    folder: Path,
    figures: Path,
    out: Path,
    scale: Sequence[int] = SCALE,
) -> dict[str, Any]:
    """Write the tables, the figure and `winner.json` of a selection; return what the last holds.

    Args:
        ratings: Ratings of every judge and generator.
        shortlist: `shortlist.json`.
        selection: The selection, for its judges, resamples and level.
        names: Labels.
        folder: Where the tables go.
        figures: Where the figure goes.
        out: `winner.json`.
        scale: The ratings that there are.

    Raises:
        DataError: Nothing can be compared: a judge gave no rating, or no text has all of them.
        StoreError: A file is damaged.
    """
    screened = read_json(shortlist)
    generators: list[str] = screened["shortlist"]
    judges = list(dict.fromkeys([*generators, *selection.judges]))
    observed = observe(ratings, generators=generators, judges=judges)
    outcome = comparisons.compare(observed, resamples=selection.resamples, alpha=selection.alpha)
    for table in tables(observed, outcome, selection, scale):
        write_table(table, folder, names)
    shown = points(observed, outcome)
    with style():
        save(crossover_figure(shown, names, scale=scale), figures, "crossover")
    write_text(figures / "crossover.csv", to_csv(shown))
    errors = {g: float(rate["total"]) for g, rate in screened["rates"].items()}
    found = winner(outcome, errors=errors, names=names, n=len(observed.pairs))
    write_text(out, json.dumps(found, indent=2, sort_keys=True) + "\n")
    log.info("%s", found["sentence"])
    return found


def tables(
    observed: Observed, outcome: Outcome, selection: SelectionEntry, scale: Sequence[int]
) -> list[Table]:
    """Return the result tables of the judges' ratings, the paper's tables 10 and 11 first.

    Args:
        observed: The ratings.
        outcome: Their comparison.
        selection: The selection, for its resamples and level.
        scale: The ratings that there are.
    """
    level = f"{100 * (1 - selection.alpha):g} %"
    counted = (
        f"Ratings from {scale[0]} to {scale[-1]}. A rating counts where the same judge rated the same text's "
        f"rewrite by every generator; {observed.excluded} ratings do not count for that reason, and missing "
        f"ones are never filled in. {len(observed.pairs)} observations: rows of the screening data (for STS "
        "pairs), averaged over judges, transformations and texts."
    )
    tests = (
        f"Bootstrap over observations, {selection.resamples} resamples; p-values are Holm-corrected over all "
        f"pairs. Generators that share a letter do not differ significantly (alpha {selection.alpha:g})."
    )
    if observed.units.shared:
        tests += f" Rows share texts, so what is drawn is {observed.units.n} shared texts and rows."
    if why := too_few(observed.units.n, "observation"):
        tests += f" No intervals and no p-values: {why}."
    pooled = judge_rows(observed)
    best = dict.fromkeys(observed.generators, "max")
    two = dict.fromkeys([*observed.generators, "total"], 2)
    own = comparisons.self_preference(observed, resamples=selection.resamples, alpha=selection.alpha)
    agreement = comparisons.judge_agreement(observed, scale=tuple(scale), alpha=selection.alpha)
    return [
        Table("crossover", "Mean rating by judge (rows) and generator (columns)",
              crossover_rows(pooled, outcome),
              [f"low, high: interval of the average at {level}.", counted, tests],
              decimals=2),
        Table("judge_by_transformation", "Mean rating by transformation and generator, over judges",
              transformation_rows(observed), [counted, "Totals are means of the unrounded cells."],
              best=best, digits=two),  # type: ignore[arg-type]
        Table("generator_comparisons", "Differences of mean ratings between generators",
              comparison_rows(outcome, selection.alpha), [f"Intervals at {level}, not adjusted. {tests}"],
              decimals=3),
        Table("self_preference", "What judges add for their own outputs", own, [
            "own_minus_others: a judge's mean rating of its own outputs minus that of the others'. relative: "
            "the same minus what the other judges give, since a better generator's outputs are better. "
            f"Intervals at {level}.",
        ], decimals=2),
        Table("judge_agreement", "Agreement between judges", agreement, [
            "Gwet's AC2 with ordinal weights over rewrites; spearman: mean rank correlation over pairs of "
            f"judges. Intervals at {level}.",
        ], decimals=2),
        Table("judge_counts", "Ratings asked for, and why some are missing", count_rows(observed)),
    ]  # fmt: skip


def judge_rows(observed: Observed) -> pd.DataFrame:
    """Return the mean rating by judge and generator: index judge, a column per generator."""
    wide = observed.complete.pivot_table(index="judge", columns="generator", values="rating", aggfunc="mean")
    return wide.reindex(index=observed.judges, columns=observed.generators)


def crossover_rows(pooled: pd.DataFrame, outcome: Outcome) -> pd.DataFrame:
    """Return table 10: a row per judge, then the average over observations, its interval and the letters."""
    rows: list[dict[str, float | str]] = []
    for judge in pooled.index:
        rows.append(
            {"judge": str(judge), **{g: round(float(pooled.loc[judge, g]), 6) for g in pooled.columns}}
        )
    means = outcome.means
    rows.append({"judge": AVERAGE, **{g: round(m.estimate, 6) for g, m in means.items()}})
    rows.append({"judge": "low", **{g: round(m.low, 6) for g, m in means.items()}})
    rows.append({"judge": "high", **{g: round(m.high, 6) for g, m in means.items()}})
    rows.append({"judge": LETTERS, **outcome.letters})
    return pd.DataFrame(rows, dtype=object)


def transformation_rows(observed: Observed) -> pd.DataFrame:
    """Return table 11: mean rating by transformation and generator, with totals before rounding."""
    cells = observed.complete.pivot_table(
        index="transformation", columns="generator", values="rating", aggfunc="mean"
    )
    order = list(dict.fromkeys(observed.ratings["transformation"]))
    cells = cells.reindex(index=[t for t in order if t in cells.index], columns=observed.generators)
    cells.loc["total"] = cells.mean()
    cells["total"] = cells.mean(axis=1)
    cells.columns.name = None
    return cells.reset_index()


def comparison_rows(outcome: Outcome, alpha: float) -> pd.DataFrame:
    """Return every pair of generators: difference, interval, p-values, whether it is significant."""
    return pd.DataFrame(
        [
            {
                "first": c.first, "second": c.second, "difference": c.difference, "low": c.low,
                "high": c.high, "p": c.p, "p_holm": c.p_holm, "significant": bool(c.p_holm < alpha),
            }
            for c in outcome.comparisons
        ]
    )  # fmt: skip


def count_rows(observed: Observed) -> pd.DataFrame:
    """Return how many ratings each judge was asked for per generator, and how many are missing and why."""
    frame = observed.ratings
    wanted = frame.groupby(["judge", "generator"], sort=False)
    counts = wanted.size().rename("asked").to_frame()
    counts["rated"] = wanted["rating"].count()
    judges = [frame["judge"], frame["generator"]]
    reasons = {"unparsable": {"unparsable"}, "too_long": {"too_long"}, "unanswered": NO_ANSWER}
    for name, those in reasons.items():
        counts[name] = frame["reason"].isin(list(those)).groupby(judges).sum()
    counts["counted"] = observed.complete.groupby(["judge", "generator"]).size()
    return counts.fillna({"counted": 0}).astype(int).reset_index()


def points(observed: Observed, outcome: Outcome) -> pd.DataFrame:
    """Return what the figure shows: mean, interval and letters per generator, and each judge's mean."""
    pooled = judge_rows(observed)
    rows = [
        {
            "generator": g, "mean": m.estimate, "low": m.low, "high": m.high, "letters": outcome.letters[g],
            **{f"judge {j}": pooled.loc[j, g] for j in observed.judges},
        }
        for g, m in sorted(outcome.means.items(), key=lambda of: -of[1].estimate)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def winner(outcome: Outcome, *, errors: Mapping[str, float], names: Names, n: int) -> dict[str, Any]:
    """Return who won, by how much, and how sure that is.

    The highest mean wins; of equal means the one with the lower error rate, then the one that stands
    first among the candidates.

    Args:
        outcome: The comparison.
        errors: Total error rate of each generator.
        names: Labels, for the sentence.
        n: Number of observations.
    """
    order = list(outcome.means)
    ranked = sorted(order, key=lambda g: (-round(outcome.means[g].estimate, 12), errors[g], order.index(g)))
    first, second = ranked[:2]
    pair = next(c for c in outcome.comparisons if {c.first, c.second} == {first, second})
    sign = 1 if pair.first == first else -1
    low, high = sorted([sign * pair.low, sign * pair.high])
    tied = [g for g in ranked[1:] if set(outcome.letters[g]) & set(outcome.letters[first])]
    found: dict[str, Any] = {
        "winner": first, "runner_up": second, "margin": sign * pair.difference, "margin_low": low,
        "margin_high": high, "p": pair.p, "p_holm": pair.p_holm, "tied_with": tied,
        "probability_best": outcome.probability_best[first], "letters": outcome.letters,
        "means": {g: m.estimate for g, m in outcome.means.items()}, "n_observations": n,
    }  # fmt: skip
    rounded = {k: round(v, 6) if isinstance(v, float) else v for k, v in found.items()}
    rounded["means"] = {g: round(m, 6) for g, m in found["means"].items()}
    return {**rounded, "sentence": sentence(found, names)}


def sentence(found: Mapping[str, Any], names: Names) -> str:
    """Return in one sentence who won and how sure that is."""
    label = names.label
    said = (
        f"{label(found['winner'])} has the highest mean rating ({found['means'][found['winner']]:.2f}), "
        f"{found['margin']:.2f} above {label(found['runner_up'])} "
    )
    if math.isnan(found["margin_low"]):
        return f"{said}(no interval: too few observations, {found['n_observations']})."
    said += (
        f"(interval {found['margin_low']:.2f} to "
        f"{found['margin_high']:.2f}, Holm-corrected p = {found['p_holm']:.2g}, "
        f"best in {100 * found['probability_best']:.0f} % of resamples of {found['n_observations']} "
        "observations)"
    )
    if found["tied_with"]:
        return f"{said}; not significantly better than {', '.join(map(label, found['tied_with']))}."
    return f"{said}; significantly better than all others."
