"""Whether the profiles are the embedders' own or the datasets' (the paper's table 6)."""

from __future__ import annotations

import warnings

from stressbed.analyse.aggregate import ORIGINAL
from stressbed.analyse.study import TOTAL, Analysed, Rows, Study, per_study
from stressbed.analyse.table import Table
from stressbed.analyse.words import counted
from stressbed.stats.interval import DegenerateWarning, enough
from stressbed.stats.split_half import split_half

COLUMNS = ("measure", "row", "n_datasets", "n_embedders", "halves", "median", "low", "high")


def split_half_table(data: Analysed) -> Table:
    """Return the split-half reliability of the embedders' ranking, by delta per axis and by score."""
    return per_study(
        data, "split_half", "Split-half reliability", COLUMNS, lambda s: _rows(data, s),
        notes=[
            "Spearman's rho between the rankings of the embedders in two random halves of the datasets, "
            "stratified by task type; an odd stratum's extra dataset goes to either half by chance. Median "
            "over the splits; low and high are the smallest and the largest, not an interval.",
            "delta: embedders ranked by mean delta of the axis; score: by mean score.",
        ],
        decimals=2,
    )  # fmt: skip


def _rows(data: Analysed, study: Study) -> Rows:
    n_datasets, n_embedders = (
        study.complete.index.get_level_values(k).nunique() for k in ("dataset", "embedder")
    )
    if n_datasets < 2 or n_embedders < 3:
        return [], [
            f"Split-half reliability{study.label}: left out, it needs two datasets and three embedders; "
            f"complete datasets: {n_datasets}, embedders: {len(study.embedders)}."
        ]
    types = study.task_types()
    wanted = [("delta", a) for a in [*study.axes, TOTAL]]
    wanted += [("score", a) for a in [ORIGINAL, *study.axes, TOTAL]]
    found: list[dict[str, object]] = []
    said: list[str] = []
    for measure, row in wanted:
        values = study.matrix(row, deltas=measure == "delta")
        # The same halves for every row of a study, so that rows can be compared.
        rng = data.rng("split_half", study.generator, study.setting)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)
            half = split_half(
                values.to_numpy(), [types[d] for d in values.index], halves=data.options.halves, rng=rng
            )
        if half.halves == 0:
            said.append(
                f"{measure} of {study.names.label(row)}{study.label}: left out, all embedders have the same "
                "mean in one half of every halving."
            )
            continue
        if without := data.options.halves - half.halves:
            verb = "is" if without == 1 else "are"
            said.append(
                f"{measure} of {study.names.label(row)}{study.label}: {counted(without, 'halving')} of "
                f"{data.options.halves:,} {verb} left out, all embedders have the same mean in one half."
            )
        found.append(
            {
                "measure": measure, "row": row, "n_datasets": n_datasets, "n_embedders": n_embedders,
                "halves": half.halves, "median": half.median, "low": half.low, "high": half.high,
            }
        )  # fmt: skip
    if n_datasets < len(study.datasets):
        said.append(f"Only the {n_datasets} of {len(study.datasets)} datasets with every cell{study.label}.")
    if not enough(n_datasets):
        said.append(f"{n_datasets} datasets{study.label}: halves of two or three are little to go by.")
    return found, said
