"""How far the ranking of the embedders survives rewriting (the paper's tables 7 and 21)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import ORIGINAL, strict_mean
from stressbed.analyse.study import TOTAL, Analysed, Study, per_study, rows_of, with_axes
from stressbed.analyse.table import Table
from stressbed.analyse.words import counted
from stressbed.stats.interval import DegenerateWarning, Floats
from stressbed.stats.rank_correlation import kendall_taus

IDENTICAL = "identical by construction"

COLUMNS = (
    "row", "level", "n_datasets", "n_embedders", "tau_mean", "tau_sd", "within_mean", "within_sd", "within",
)  # fmt: skip
BY_DATASET = ("dataset", "row", "level", "n_embedders", "tau", "within")
SEEDS = ("transformation", "n_cells", "sd_mean", "sd_max", "within")
NOTES = (
    "Kendall's tau-b between the ranking of the embedders on the original and on the rewritten dataset: "
    "mean and sample SD over datasets. An axis is ranked by its axis scores and HTEB by its totals, so "
    "neither is a mean of the taus above or below it.",
    "within: the same between the rankings of two seeds, mean over pairs of seeds, then datasets. Where it "
    "is not above tau, the seeds alone could explain the reranking.",
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
        notes=["within: mean tau over pairs of seeds; blank where seeds cannot differ."], decimals=3,
    )  # fmt: skip


def seed_spread(data: Analysed) -> Table:
    """Return per transformation the SD of a cell's score over seeds, where seeds can differ."""
    return per_study(
        data, "seed_spread", "Spread of the scores over seeds", SEEDS, _spread,
        notes=[
            "Sample SD over seeds of a score (points), mean and largest over embedders and datasets. Seeds "
            "differ where a language is drawn or the generator's temperature is above 0."
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
            inside = _within(seeds, dataset, row, scores.index) if _varies(study, row) else float("nan")
            found.append(
                {
                    "dataset": dataset, "row": row, "level": level, "n_embedders": len(scores),
                    "tau": float(value), "within": inside,
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
        tau, inside = mine["tau"].dropna(), mine["within"].dropna()
        found.append(
            {
                "row": row, "level": level, "n_datasets": len(tau),
                "n_embedders": int(mine["n_embedders"].min()), "tau_mean": tau.mean(),
                "tau_sd": tau.std(ddof=1), "within_mean": inside.mean(), "within_sd": inside.std(ddof=1),
                "within": _why_none(study, row, inside),
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


def _why_none(study: Study, row: str, inside: pd.Series[float]) -> str:
    if not _varies(study, row):
        return IDENTICAL
    if study.cells.loc[study.cells["axis"] != ORIGINAL, "seed"].nunique() < 2:
        return "one seed"
    return "" if len(inside) else "no tau"


def _varies(study: Study, row: str) -> bool:
    """Return whether the seeds of a transformation, or of one in an axis or the total, can differ."""
    axes = study.names.axes
    members = {t for t in axes if row in {t, axes[t], TOTAL}}
    return bool(members & study.names.varying.get(study.generator, frozenset()))


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


def _within(seeds: Mapping[int, pd.DataFrame], dataset: str, row: str, embedders: pd.Index) -> float:
    """Return the mean tau over pairs of seeds; NaN if there is no pair or no ranking."""
    columns = [s[row].xs(dataset, level="dataset").reindex(embedders).to_numpy() for s in seeds.values()]
    columns = [c for c in columns if np.isfinite(c).all()]
    pairs = list(combinations(columns, 2))
    if not pairs:
        return float("nan")
    first, second = (np.array([p[i] for p in pairs]) for i in (0, 1))
    values = _kendall(first, second)
    kept = values[np.isfinite(values)]
    return float(kept.mean()) if len(kept) else float("nan")


def _spread(study: Study) -> tuple[Sequence[Mapping[str, object]], Sequence[str]]:
    rewritten = study.cells[study.cells["axis"] != ORIGINAL]
    if rewritten["seed"].nunique() < 2:
        return [], [f"Spread over seeds{study.label}: left out, the run has one seed."]
    found: list[dict[str, object]] = []
    for name in study.names.axes:
        cells = rewritten[rewritten["transformation"] == name].dropna(subset=["value"])
        sd = cells.groupby(["embedder", "dataset"])["value"].std(ddof=1).dropna()
        varies = _varies(study, name)
        found.append(
            {
                "transformation": name, "n_cells": len(sd),
                "sd_mean": sd.mean() if varies else float("nan"),
                "sd_max": sd.max() if varies else float("nan"),
                "within": "" if varies else IDENTICAL,
            }
        )  # fmt: skip
    return found, []
