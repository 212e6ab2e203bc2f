"""Whether English datasets suffer more than non-English ones (the paper's 5.1, tables 5 and 25)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from stressbed.analyse.aggregate import LEAST_ORIGINAL, ORIGINAL, share_of
from stressbed.analyse.names import AXIS_LABELS, ENGLISH, NON_ENGLISH
from stressbed.analyse.study import TOTAL, Analysed, Rows, with_axes
from stressbed.analyse.table import Table, finish
from stressbed.stats.bootstrap import resample_means
from stressbed.stats.coverage import coverage_note
from stressbed.stats.interval import enough, too_few

GAP = (
    "generator", "condition", "axes", "n_english", "n_non_english", "datasets_english",
    "datasets_non_english", "english", "non_english", "gap", "gap_low", "gap_high",
)  # fmt: skip
BY_EMBEDDER = (
    "generator", "embedder", "english_original", "english_delta", "english_relative", "non_english_original",
    "non_english_delta", "non_english_relative",
)  # fmt: skip
_SAID = {ENGLISH: "English", NON_ENGLISH: "non-English"}
WITH, WITHOUT = "with_language", "without_language"
EVERY, SHARED = "all", "shared"
"""Whose deltas: of the embedders with all cells of a group, or of those with all cells of both."""
GAP_NOTES = (
    "Mean delta in points over datasets, then embedders. all: every embedder with all cells of a group; "
    "shared: those with all cells of both. gap: non-English minus English; bootstrap interval, aimed at "
    "95 %, the datasets of both groups resampled.",
    "Groups by the language of the texts before rewriting: English means all of a dataset's texts are, "
    "non-English all others. They are no parallel samples; the gap may be one of tasks or difficulty.",
)
BY_EMBEDDER_NOTES = (
    "delta: HTEB minus original, in points; relative: delta over original of the mean scores, in per "
    f"cent, blank where the original is under {LEAST_ORIGINAL:g} points. The last row is the mean of the "
    "values above it.",
)


def setting_gap(data: Analysed) -> Table:
    """Return the mean delta on English and non-English datasets, with and without the Language axis."""
    return _per_generator(
        data, "setting_gap", "English against non-English datasets", GAP, _gaps, notes=GAP_NOTES, decimals=2,
    )  # fmt: skip


def setting_gap_by_embedder(data: Analysed) -> Table:
    """Return per embedder with cells in both groups its drops there, absolute and relative."""
    return _per_generator(
        data, "setting_gap_by_embedder", "English against non-English datasets by embedder", BY_EMBEDDER,
        _embedders, notes=BY_EMBEDDER_NOTES,
    )  # fmt: skip


def _per_generator(
    data: Analysed,
    name: str,
    title: str,
    columns: Sequence[str],
    rows: Callable[[Analysed, str, Mapping[str, _Group]], Rows],
    *,
    notes: Sequence[str],
    decimals: int = 1,
) -> Table:
    """Return a table of all generators whose cells are of both groups; which are not is said below it."""
    found: list[Mapping[str, object]] = []
    said: list[str] = []
    for generator in data.names.generators:
        groups = _groups(data, generator)
        mine, sentences = ([], [why]) if (why := _lacking(groups)) else rows(data, generator, groups)
        found += mine
        said += sentences
    frame = pd.DataFrame(found, columns=list(columns))
    below = [*(notes if found else ()), *dict.fromkeys(said)]
    return finish(Table(name, title, frame, below, decimals=decimals), data.names, dashes=False)


class _Group:
    """The cells of one group of datasets: embedders with every cell of every dataset, and their values."""

    def __init__(self, scores: pd.DataFrame, order: Sequence[str]) -> None:
        # An embedder may lack a value, or have no row of a dataset at all: of another setting, for one.
        whole = scores.drop(columns=WITHOUT).notna().all(axis=1).unstack("embedder", fill_value=False)  # noqa: PD010  # unique index
        self.datasets = [str(d) for d in whole.index]
        self.lacking = {e: int((~whole[e]).sum()) for e in order if e in whole and not whole[e].all()}
        self.embedders = [e for e in order if e in whole and whole[e].all()]
        self.scores = scores

    def matrix(self, column: str, embedders: Sequence[str]) -> pd.DataFrame:
        """Return datasets x embedders of a column."""
        return self.scores[column].unstack("embedder")[list(embedders)]  # noqa: PD010  # unique index


def _groups(data: Analysed, generator: str) -> dict[str, _Group]:
    """Return the groups that have cells, each with scores, axes, total and the total without Language."""
    studies = [s for s in data.studies if s.generator == generator]
    means = pd.concat([s.means for s in studies])
    means = means[~means.index.duplicated()]
    scores = with_axes(means, data.names)
    # A dataset translated by a generator is not one of the benchmark's: it has a table of its own.
    own = ~scores.index.get_level_values("dataset").isin(list(data.names.translations))
    scores = scores[own]
    others = [a for a in studies[0].axes if a != "language"]
    scores[WITHOUT] = scores[others].mean(axis=1, skipna=False) if others else np.nan
    scores[WITH] = scores[TOTAL]
    group = scores.index.get_level_values("dataset").map(data.names.language_groups)
    return {
        g: _Group(scores[group == g], list(data.names.embedders))
        for g in (ENGLISH, NON_ENGLISH)
        if (group == g).any()
    }


def _lacking(groups: Mapping[str, _Group]) -> str:
    missing = [_SAID[g] for g in (ENGLISH, NON_ENGLISH) if g not in groups]
    return f"Left out: the run has no {' and no '.join(missing)} datasets." if missing else ""


def _left_out(data: Analysed, groups: Mapping[str, _Group]) -> list[str]:
    """Return who has only a part of a group's cells, and how much is missing."""
    return [
        f"{AXIS_LABELS[name]} datasets: {data.names.label(embedder)} is left out, it lacks cells of "
        f"{missing} of {len(group.datasets)}."
        for name, group in groups.items()
        for embedder, missing in group.lacking.items()
    ]


def _shared(groups: Mapping[str, _Group]) -> list[str]:
    """Return the embedders with all cells of both groups."""
    return [e for e in groups[ENGLISH].embedders if e in groups[NON_ENGLISH].embedders]


def _gaps(data: Analysed, generator: str, groups: Mapping[str, _Group]) -> Rows:
    rows: list[Mapping[str, object]] = []
    said: list[str] = []
    for condition, members in (
        (EVERY, {g: f.embedders for g, f in groups.items()}),
        (SHARED, dict.fromkeys(groups, _shared(groups))),
    ):
        if not all(members.values()):
            said.append(f"{condition.capitalize()} embedders: left out, none has all cells of both groups.")
            continue
        for axes in (WITH, WITHOUT):
            if all(f.scores[axes].isna().all() for f in groups.values()):
                said.append("Without the Language axis: left out, the run has no other axis.")
                continue
            rng = data.rng("setting_gap", generator, condition, axes)
            row = _gap(rng, data.options.resamples, groups, members, axes)
            rows.append({"generator": generator, "condition": condition, **row})
    return rows, [*said, *_left_out(data, groups), *(_sureness(groups) if rows else ())]


def _sureness(groups: Mapping[str, _Group]) -> list[str]:
    """Return why the gap has no interval, or how well it covers: the smaller group of datasets decides."""
    n = min(len(g.datasets) for g in groups.values())
    if why := too_few(n, "dataset"):
        return [f"No interval of the gap: {why} in each group."]
    note = coverage_note(n)
    return [f"{note[0].upper()}{note[1:]}."] if note else []


def _gap(
    rng: np.random.Generator,
    resamples: int,
    groups: Mapping[str, _Group],
    members: Mapping[str, Sequence[str]],
    axes: str,
) -> Mapping[str, object]:
    deltas = {
        g: (f.matrix(axes, members[g]) - f.matrix(ORIGINAL, members[g])).mean(axis=1)
        for g, f in groups.items()
    }
    means = {g: float(d.mean(skipna=False)) for g, d in deltas.items()}
    low = high = float("nan")
    if all(enough(len(d)) and d.notna().all() for d in deltas.values()):
        drawn = [
            resample_means(deltas[g].to_numpy()[:, None], resamples=resamples, rng=rng)[:, 0]
            for g in (ENGLISH, NON_ENGLISH)
        ]
        low, high = (float(q) for q in np.quantile(drawn[1] - drawn[0], [0.025, 0.975]))
    return {
        "axes": axes, "n_english": len(members[ENGLISH]), "n_non_english": len(members[NON_ENGLISH]),
        "datasets_english": len(deltas[ENGLISH]), "datasets_non_english": len(deltas[NON_ENGLISH]),
        **means, "gap": means[NON_ENGLISH] - means[ENGLISH], "gap_low": low, "gap_high": high,
    }  # fmt: skip


def _embedders(data: Analysed, generator: str, groups: Mapping[str, _Group]) -> Rows:
    rows = [_by_embedder(generator, e, groups) for e in _shared(groups)]
    said = _left_out(data, groups)
    if not rows:
        return [], ["Left out: no embedder has all cells of both groups.", *said]
    numbers = pd.DataFrame(rows)[list(BY_EMBEDDER[2:])].mean()
    mean = {"generator": generator, "embedder": "(mean)", **{str(k): v for k, v in numbers.items()}}
    return [*rows, mean], said


def _by_embedder(generator: str, embedder: str, groups: Mapping[str, _Group]) -> dict[str, object]:
    row: dict[str, object] = {"generator": generator, "embedder": embedder}
    for name, group in groups.items():
        original = float(group.matrix(ORIGINAL, [embedder]).mean().iloc[0])
        delta = float(group.matrix(TOTAL, [embedder]).mean().iloc[0]) - original
        row |= {
            f"{name}_original": original, f"{name}_delta": delta,
            f"{name}_relative": share_of(original, delta),
        }  # fmt: skip
    return row
