"""Totals and ranks of the embedders with intervals over datasets, before and after rewriting."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from stressbed.analyse.aggregate import ORIGINAL
from stressbed.analyse.study import TOTAL, Analysed, Rows, Study, per_study
from stressbed.analyse.table import Table
from stressbed.stats.bootstrap import mean_intervals, rank_intervals
from stressbed.stats.coverage import coverage_note
from stressbed.stats.interval import FEWEST, DegenerateWarning, Floats, Interval, too_few

COLUMNS = (
    "embedder", "original", "original_low", "original_high", "hteb", "hteb_low", "hteb_high", "drop",
    "drop_low", "drop_high", "rank_original", "rank_original_low", "rank_original_high", "rank_hteb",
    "rank_low", "rank_high", "n_datasets",
)  # fmt: skip


def hteb_ranks(data: Analysed) -> Table:
    """Return per embedder original, total and drop with intervals, and both ranks with theirs.

    Datasets are resampled, the same ones for all embedders; only those on which every embedder has every
    cell take part.
    """
    return per_study(
        data, "hteb_ranks", "Ranks of the embedders, with intervals", COLUMNS, lambda s: _rows(data, s),
        notes=[
            "Percentile bootstrap intervals over datasets, aimed at 95 %: what other datasets of the same "
            f"kind would show; none with fewer than {FEWEST}. Rank 1 is the best; ranks are those of the "
            "HTEB total and of the original score.",
        ],
        digits={c: 1 for c in COLUMNS if c.startswith("rank")},
    )  # fmt: skip


def _rows(data: Analysed, study: Study) -> Rows:
    original, total = study.matrix(ORIGINAL), study.matrix(TOTAL)
    n, k = total.shape
    if n == 0 or k == 0:
        return [], [f"Ranks{study.label}: left out, no dataset has every cell of every embedder."]
    said = []
    if n < len(study.datasets):
        said.append(f"Only the {n} of {len(study.datasets)} datasets with every cell{study.label}.")
    if why := too_few(n, "dataset"):
        said.append(f"No intervals{study.label}: {why}.")
    elif note := coverage_note(n):
        said.append(f"{note[0].upper()}{note[1:]}{study.label}.")

    before, after = original.to_numpy(), total.to_numpy()
    make: dict[str, tuple[Callable[..., list[Interval]], Floats]] = {
        "original": (mean_intervals, before), "hteb": (mean_intervals, after),
        "drop": (mean_intervals, before - after), "rank_original": (rank_intervals, before),
        "rank_hteb": (rank_intervals, after),
    }  # fmt: skip
    # The same resamples everywhere, so that a drop's interval fits those of the scores.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)  # a sentence says it
        parts = {
            name: function(
                values, resamples=data.options.resamples,
                rng=data.rng("hteb_ranks", study.generator, study.setting),
            )
            for name, (function, values) in make.items()
        }  # fmt: skip
    return [_row(e, n, {p: v[i] for p, v in parts.items()}) for i, e in enumerate(total.columns)], said


def _row(embedder: object, n: int, parts: dict[str, Interval]) -> dict[str, object]:
    row: dict[str, object] = {"embedder": embedder, "n_datasets": n}
    for name, interval in parts.items():
        prefix = "rank" if name == "rank_hteb" else name
        row[name] = interval.estimate
        row[f"{prefix}_low"], row[f"{prefix}_high"] = interval.low, interval.high
    return row
