"""Whether the drops hold on pairs without known training overlap (the paper's 5.1 and appendix K)."""

from __future__ import annotations

import pandas as pd

from stressbed.analyse.metadata import metadata, on_a_hub
from stressbed.analyse.study import TOTAL, Analysed, Pairs, Rows, Study, per_study
from stressbed.analyse.table import Table
from stressbed.analyse.words import counted
from stressbed.config.load import Plan

COLUMNS = ("pairs", "zero_shot_pairs", "trained_pairs", "unknown_pairs", "drop_all", "drop_zero_shot")


def zero_shot(data: Analysed) -> Table:
    """Return the mean drop over all pairs of embedder and dataset, and over zero-shot pairs only."""
    return per_study(
        data, "zero_shot", "Drops without known training overlap", COLUMNS, lambda s: _rows(data, s),
        notes=[
            "Mean over pairs of embedder and dataset of original minus HTEB, in points. Zero-shot: mteb's "
            "record of the embedder's training data names neither the dataset nor one that mteb knows to "
            "be like it. Pairs that mteb has no record of, and local datasets, are unknown.",
        ],
        decimals=2,
    )  # fmt: skip


def _rows(data: Analysed, study: Study) -> Rows:
    every = -study.deltas[TOTAL]
    drops = every.dropna()
    known = pd.Series(
        [data.zero_shot.get((str(e), str(d))) for e, d in drops.index], index=drops.index, dtype=object
    )
    fresh, trained = known.eq(other=True), known.eq(other=False)
    if not (fresh | trained).any():
        return [], [
            f"Left out{study.label}: mteb has no training data on record for these embedders and datasets."
        ]
    row = {
        "pairs": len(drops), "zero_shot_pairs": int(fresh.sum()), "trained_pairs": int(trained.sum()),
        "unknown_pairs": int(known.isna().sum()), "drop_all": drops.mean(),
        "drop_zero_shot": drops[fresh].mean(),
    }  # fmt: skip
    said = [] if fresh.any() else [f"No zero-shot pair{study.label}."]
    if lacking := len(every) - len(drops):
        verb = "is" if lacking == 1 else "are"
        said.append(f"{counted(lacking, 'pair')} without every cell{study.label} {verb} left out.")
    return [row], said


def zero_shot_pairs(plan: Plan) -> Pairs:
    """Return for each pair of a run whether mteb's metadata say that it is zero-shot; None: not known.

    mteb is only asked (and imported) about embedders with a name on a hub and datasets that are its tasks.
    """
    c = plan.catalogue
    pairs: dict[tuple[str, str], bool | None] = dict.fromkeys(plan.pairs)
    asked = [(e, d) for e, d in pairs if on_a_hub(c.embedders[e]) and c.datasets[d].task]
    if not asked:
        return pairs
    metas = metadata(c.embedders[e].model for e, _ in asked)
    for e, d in asked:
        meta = metas[c.embedders[e].model]
        if meta is not None:
            pairs[e, d] = meta.is_zero_shot_on([c.datasets[d].task])
    return pairs
