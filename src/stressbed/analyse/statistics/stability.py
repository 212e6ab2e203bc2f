"""How far the ranking of the embedders survives rewriting (the paper's tables 7 and 21)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import ORIGINAL, strict_mean
from stressbed.analyse.seeds import IDENTICAL
from stressbed.analyse.study import TOTAL, Analysed, Study, per_study, rows_of, with_axes
from stressbed.analyse.table import Table
from stressbed.analyse.words import counted
from stressbed.stats.interval import DegenerateWarning, Floats
from stressbed.stats.rank_correlation import kendall_taus

COLUMNS = (
    "row", "level", "n_datasets", "n_embedders", "tau_mean", "tau_sd", "within_mean", "within_sd", "n_within",
    "tau_there", "pairs", "pairs_all", "members", "members_differ", "within",
)  # fmt: skip
BY_DATASET = ("dataset", "row", "level", "n_embedders", "tau", "within", "pairs", "pairs_all")
SEEDS = ("transformation", "n_cells", "sd_mean", "sd_max", "pairs", "pairs_all", "within")
SAME_LANGUAGES = (
    "Two seeds that drew the same languages for a dataset are one variant there: the pair is left out."
)
NOTES = (
    "Kendall's tau-b between the ranking of the embedders on the original and on the rewritten dataset: "
    "mean and sample SD over datasets. An axis is ranked by its axis scores and HTEB by its totals, so "
    "neither is a mean of the taus above or below it.",
    "within: the same between the rankings of two seeds, mean over pairs of seeds, then over the n_within "
    "datasets with a pair that can differ; tau_there: tau over these same datasets. Where within is not "
    "above it, the seeds alone could explain the reranking.",
    f"{SAME_LANGUAGES} pairs: those that can differ, of pairs_all, over all datasets. members: the "
    "transformations of a row; members_differ: those in which a pair can differ. The others do not change "
    "with the seed and hold within up.",
)


def rank_stability(data: Analysed) -> Table:
    """Return mean and SD over datasets of Kendall's tau-b between original and rewritten rankings."""
    return per_study(
        data, "rank_stability", "Rank stability of the embedders", COLUMNS, _summary,
        notes=NOTES, decimals=3,
    )  # fmt: skip


def rank_stability_by_dataset(data: Analysed) -> Table:
    """Return the taus that `rank_stability` averages, one row per dataset."""

    def rows(study: Study) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
        why = _too_few(study)
        frame = pd.DataFrame() if why else taus(study)
        return [{str(k): v for k, v in r.items()} for r in frame.to_dict("records")], why

    return per_study(
        data, "rank_stability_by_dataset", "Rank stability by dataset", BY_DATASET, rows,
        notes=[
            "within: mean tau over the pairs of seeds that can differ, of pairs_all; blank without one.",
            SAME_LANGUAGES,
        ],
        decimals=3,
    )  # fmt: skip


def seed_spread(data: Analysed) -> Table:
    """Return per transformation the SD of a cell's score over seeds, where seeds can differ."""
    return per_study(
        data, "seed_spread", "Spread of the scores over seeds", SEEDS, _spread,
        notes=[
            "Sample SD over seeds of a score (points), mean and largest over embedders and datasets. Seeds "
            "differ where a language is drawn or the generator's temperature is above 0. An SD is the root "
            "of half the mean squared difference between the pairs of seeds that can differ.",
            f"{SAME_LANGUAGES} pairs: those that can differ, of pairs_all, over all datasets.",
        ],
        decimals=2,
    )  # fmt: skip


def taus(study: Study) -> pd.DataFrame:
    """Return one row per dataset and row of the table: tau, and tau within seeds (NaN where none).

    On each dataset only embedders with every cell are ranked; fewer than two have no tau.
    """
    seeds = _by_seed(study)
    rows = list(rows_of(study.names, study))
    found: list[dict[str, object]] = []
    for dataset in study.datasets:
        scores = study.scores.xs(dataset, level="dataset").dropna()
        if len(scores) < 2:
            continue
        tau = _kendall(
            scores[[r for r, _ in rows]].to_numpy().T, np.tile(scores[ORIGINAL].to_numpy(), (len(rows), 1))
        )
        for (row, level), value in zip(rows, tau, strict=True):
            held = _seed_columns(seeds, dataset, row, scores.index)
            pairs = study.seeds.pairs(study.generator, dataset, _members(study, row), list(held))
            found.append(
                {
                    "dataset": dataset, "row": row, "level": level, "n_embedders": len(scores),
                    "tau": float(value), "within": _within(held, pairs), "pairs": len(pairs),
                    "pairs_all": len(held) * (len(held) - 1) // 2,
                }
            )  # fmt: skip
    return pd.DataFrame(found, columns=BY_DATASET)


def _kendall(x: Floats, y: Floats) -> Floats:
    """Return the taus of paired rows; NaN, which the tables count, where a row has no ranking."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        return kendall_taus(x, y)


def _summary(study: Study) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
    if why := _too_few(study):
        return [], why
    frame = taus(study)
    if frame.empty:
        return [], [f"Rank stability{study.label}: left out, no dataset has two embedders with all cells."]
    found = []
    for row, level in rows_of(study.names, study):
        mine = frame[frame["row"] == row]
        tau, both = mine["tau"].dropna(), mine.dropna(subset=["tau", "within"])
        inside, members = both["within"], _members(study, row)
        found.append(
            {
                "row": row, "level": level, "n_datasets": len(tau),
                "n_embedders": int(mine["n_embedders"].min()), "tau_mean": tau.mean(),
                "tau_sd": tau.std(ddof=1), "within_mean": inside.mean(), "within_sd": inside.std(ddof=1),
                "n_within": len(both), "tau_there": both["tau"].mean(), "pairs": int(mine["pairs"].sum()),
                "pairs_all": int(mine["pairs_all"].sum()), "members": len(members),
                "members_differ": sum(_differs(frame, t) for t in members), "within": _why_none(mine),
            }
        )  # fmt: skip
    said = []
    if len(set(frame["dataset"])) == 1:
        said.append(f"One dataset{study.label}: there is no SD over datasets.")
    dropped = int(frame["tau"].isna().sum())
    if dropped:
        verb = "is" if dropped == 1 else "are"
        said.append(
            f"{counted(dropped, 'tau')}{study.label} {verb} left out: all embedders have the same score "
            "there."
        )
    least, most = int(frame["n_embedders"].min()), int(frame["n_embedders"].max())
    if least < len(study.embedders):
        said.append(
            f"Embedders with a missing cell{study.label} are left out on that dataset; n_embedders is the "
            "fewest that were ranked."
        )
    if most < 4:
        said.append(
            f"{counted(most, 'embedder')}{study.label}: tau takes "
            f"{counted(most * (most - 1) // 2 + 1, 'value')} at most and says little."
        )
    return found, said


def _too_few(study: Study) -> list[str]:
    n = len(study.embedders)
    return [] if n > 1 else [f"Rank stability{study.label}: left out, {n} embedder has no ranking."]


def _why_none(mine: pd.DataFrame) -> str:
    """Return why a row has no tau between seeds; empty where it has one."""
    if mine["pairs_all"].sum() == 0:
        return "one seed"
    if mine["pairs"].sum() == 0:
        return IDENTICAL
    return "" if mine.dropna(subset=["tau", "within"]).shape[0] else "no tau"


def _differs(frame: pd.DataFrame, transformation: str) -> bool:
    """Return whether a pair of seeds of a transformation can differ on any dataset."""
    return bool(frame.loc[frame["row"] == transformation, "pairs"].sum())


def _members(study: Study, row: str) -> list[str]:
    """Return the transformations of a row: itself, or those of an axis or of the total."""
    axes = study.names.axes
    return [t for t in axes if row in {t, axes[t], TOTAL}]


def _by_seed(study: Study) -> dict[int, pd.DataFrame]:
    """Return each seed's scores per embedder and dataset, with axes and total."""
    rewritten = study.cells[study.cells["axis"] != ORIGINAL]
    found = {}
    for seed, part in rewritten.groupby("seed"):
        mean = strict_mean(part, ["embedder", "dataset", "transformation"])
        wide = mean.pivot(index=["embedder", "dataset"], columns="transformation", values="value")  # noqa: PD010
        wide = wide.reindex(columns=list(study.names.transformations))
        found[int(str(seed))] = with_axes(wide, study.names)
    return found


def _seed_columns(
    seeds: Mapping[int, pd.DataFrame], dataset: str, row: str, embedders: pd.Index
) -> dict[int, Floats]:
    """Return by seed the scores of the embedders in a row of the table; seeds that lack one are left out."""
    found = {s: f[row].xs(dataset, level="dataset").reindex(embedders).to_numpy() for s, f in seeds.items()}
    return {s: values for s, values in found.items() if np.isfinite(values).all()}


def _within(scores: Mapping[int, Floats], pairs: Sequence[tuple[int, int]]) -> float:
    """Return the mean tau over pairs of seeds; NaN if there is no pair or no ranking."""
    if not pairs:
        return float("nan")
    first, second = (np.array([scores[p[i]] for p in pairs]) for i in (0, 1))
    values = _kendall(first, second)
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def _spread(study: Study) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
    rewritten = study.cells[study.cells["axis"] != ORIGINAL]
    if rewritten["seed"].nunique() < 2:
        return [], [f"Spread over seeds{study.label}: left out, the run has one seed."]
    found: list[dict[str, object]] = []
    for name in study.names.axes:
        sd, pairs, pairs_all = _seed_sds(study, rewritten[rewritten["transformation"] == name], name)
        found.append(
            {
                "transformation": name, "n_cells": len(sd), "sd_mean": sd.mean(), "sd_max": sd.max(),
                "pairs": pairs, "pairs_all": pairs_all,
                "within": IDENTICAL if pairs_all and not pairs else "",
            }
        )  # fmt: skip
    return found, []


def _seed_sds(study: Study, cells: pd.DataFrame, transformation: str) -> tuple[pd.Series[float], int, int]:
    """Return the SD over seeds of each cell that has one, and the pairs of seeds that can differ, of all.

    The SD is the root of half the mean squared difference between pairs of seeds, which is the sample SD
    where all pairs can differ.
    """
    found: list[float] = []
    kept = every = 0
    for dataset, part in cells.groupby("dataset", sort=False):
        wide = part.pivot(index="embedder", columns="seed", values="value")  # noqa: PD010  # repeats must raise
        seeds = [int(str(s)) for s in wide.columns[wide.notna().any()]]
        pairs = study.seeds.pairs(study.generator, str(dataset), [transformation], seeds)
        kept, every = kept + len(pairs), every + len(seeds) * (len(seeds) - 1) // 2
        if pairs:
            apart = pd.concat([(wide[a] - wide[b]) ** 2 / 2 for a, b in pairs], axis=1)
            found += np.sqrt(apart.mean(axis=1)).dropna().tolist()
    return pd.Series(found, dtype=np.float64), kept, every
