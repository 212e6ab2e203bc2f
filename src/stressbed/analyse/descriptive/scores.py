"""The result tables that are made of scores: pure functions of `scores.parquet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import pandas as pd

from stressbed.analyse.aggregate import (
    AXES,
    PROFILE,
    any_marked,
    complete_datasets,
    paired_parts,
    paired_totals,
    profile,
    strict_mean,
)
from stressbed.analyse.descriptive.zeros import zeros_marked
from stressbed.analyse.names import AXIS_LABELS, Names
from stressbed.analyse.table import BOLD_NOTE, DISTINCT_NOTE, FALLBACK_NOTE, Table, finish, ordered
from stressbed.collect.schema import ALL, OK

BEST: Mapping[str, Literal["max", "min"]] = {c: "max" for c in PROFILE if c != "drop"}
"""Columns whose best value is bold: scores. The smallest drop is as often a floor as a merit."""


@zeros_marked(differences=False)
def hteb_scores(scores: pd.DataFrame, names: Names) -> Table:
    """Return the table embedder x (original, axis scores, HTEB total, drop), in points."""
    totals = paired_totals(scores)
    n = scores["dataset"].nunique()
    counted = f"{n} dataset{'s' * (n != 1)}" if len(names.setting_order) == 1 else "a setting's datasets"
    notes = [
        f"Mean over {counted}, unweighted; drop is original minus HTEB.",
        *_partial_axes(names),
    ]
    return _profile_table("hteb_scores", "HTEB scores", totals, names, notes)


@zeros_marked(differences=False)
def hteb_scores_common(scores: pd.DataFrame, names: Names) -> Table:
    """Return `hteb_scores` over the datasets on which every embedder has every cell."""
    totals = paired_totals(scores)
    common = complete_datasets(totals)
    kept = totals[totals["dataset"].isin(common)]
    left = [d for d in names.datasets if d not in common]
    notes = [
        f"Only the {len(common)} of {len(names.datasets)} datasets on which every embedder has every cell.",
        *([f"Left out: {', '.join(left)}."] if left else []),
        *_partial_axes(names),
    ]
    return _profile_table("hteb_scores_common", "HTEB scores on common datasets", kept, names, notes)


def _profile_table(name: str, title: str, totals: pd.DataFrame, names: Names, notes: Sequence[str]) -> Table:
    by = ["generator", "setting", "embedder"]
    totals = totals.assign(setting=totals["dataset"].map(names.setting))
    keys = all_keys(names)
    frame = keys.merge(profile(totals, by), how="left", on=by) if len(totals) else keys
    marks = keys.merge(any_marked(totals, by), how="left", on=by) if len(totals) else keys
    frame, marks = frame.reindex(columns=[*by, *PROFILE]), marks.reindex(columns=[*by, *PROFILE])
    bold = [BOLD_NOTE] if len(frame) > 1 else []
    table = Table(
        name, title, frame, [*notes, *bold], _only_flags(marks, by), BEST, parts=("generator", "setting")
    )
    return finish(table, names)


def all_keys(names: Names) -> pd.DataFrame:
    """Return every (generator, setting, embedder) of a run, in its order."""
    rows = [(g, s, e) for g in names.generators for s in names.setting_order for e in names.embedders_of(s)]
    return pd.DataFrame(rows, columns=["generator", "setting", "embedder"])


@zeros_marked(differences=True)
def delta_by_transformation(scores: pd.DataFrame, names: Names) -> Table:
    """Return embedder x transformation: transformed minus original, mean over seeds, then datasets."""
    totals = rewritten(paired_totals(scores))
    totals = totals.assign(setting=totals["dataset"].map(names.setting))
    by = ["generator", "setting", "embedder"]
    mean = strict_mean(totals, [*by, "dataset", "transformation"], "delta")
    mean = strict_mean(mean, [*by, "transformation"], "delta")
    marked = totals.groupby([*by, "transformation"])["marked"].any().reset_index()
    frame = all_keys(names).merge(_wide(mean, by, "delta", names), how="left", on=by)
    marks = all_keys(names).merge(_wide(marked, by, "marked", names), how="left", on=by)
    notes = ["Points; negative: the embedder loses. Mean over seeds, then datasets."]
    return finish(
        Table(
            "delta_by_transformation",
            "Score delta by embedder and transformation",
            frame,
            notes,
            _only_flags(marks, by),
            digits={},
        ),
        names,
    )


@zeros_marked(differences=True)
def delta_by_task_type(scores: pd.DataFrame, names: Names) -> Table:
    """Return task type x transformation: mean delta over seeds, then datasets, then embedders.

    A task type's row rests on the embedders that have every cell of that type, so that its columns
    can be compared with each other; `n_embedders` and `n_datasets` count them.
    """
    totals = rewritten(paired_totals(scores))
    by = ["generator", "task_type"]
    panels = totals.groupby([*by, "embedder"])
    lacking = totals["delta"].isna().groupby([totals[k] for k in [*by, "embedder"]]).transform("any")
    # An embedder may have no row of a dataset at all: of another setting, for one.
    absent = panels["dataset"].transform("nunique") < totals.groupby(by)["dataset"].transform("nunique")
    kept, others = totals[~(lacking | absent)], totals[lacking | absent]
    keys = totals[by].drop_duplicates().sort_values(by)
    mean = strict_mean(kept, [*by, "embedder", "dataset", "transformation"], "delta")
    mean = strict_mean(mean, [*by, "embedder", "transformation"], "delta")
    mean = strict_mean(mean, [*by, "transformation"], "delta")
    counts = kept.groupby(by)[["dataset", "embedder"]].nunique()
    counts = counts.rename(columns={"dataset": "n_datasets", "embedder": "n_embedders"}).reset_index()
    marked = kept.groupby([*by, "transformation"])["marked"].any().reset_index()
    frame = keys.merge(counts, how="left", on=by).merge(_wide(mean, by, "delta", names), how="left", on=by)
    frame[["n_datasets", "n_embedders"]] = frame[["n_datasets", "n_embedders"]].fillna(0).astype(int)
    marks = frame[[*by, "n_datasets", "n_embedders"]].merge(
        _wide(marked, by, "marked", names), how="left", on=by
    )
    notes = [
        "Points; negative: embedders lose. Mean over seeds, datasets of the type, then embedders.",
        "A row rests on the embedders that have every cell of its type.",
        *(
            f"{kind}: left out, {', '.join(map(names.label, mine))}."
            for kind, mine in others.groupby("task_type")["embedder"].unique().items()
        ),
    ]
    marks = _only_flags(marks, [*by, "n_datasets", "n_embedders"])
    return finish(
        Table("delta_by_task_type", "Score delta by task type and transformation", frame, notes, marks), names
    )


@zeros_marked(differences=False)
def by_dataset(scores: pd.DataFrame, names: Names) -> Table:
    """Return embedder x dataset: original, axis scores, HTEB, drop; most fallbacks and most zero vectors."""
    totals = paired_totals(scores if "zero_vectors" in scores else scores.assign(zero_vectors=0.0))
    by = ["generator", "dataset", "task_type", "metric", "embedder"]
    totals = totals.assign(metric=totals.groupby("dataset")["metric"].transform("first"))
    share = totals.groupby(by)["fallback_share"].max().reset_index()
    zero = totals.groupby(by)["zero_vectors"].max().fillna(0).astype(int).reset_index()
    frame = profile(totals, by).merge(share, on=by).merge(zero, on=by)
    marks = any_marked(totals, by).assign(fallback_share=False, zero_vectors=False)
    frame = ordered(frame, names)
    marks = frame[by].merge(marks, on=by)[frame.columns]
    notes = [
        "Mean over seeds, then transformations of an axis; of fallback share and zero vectors the largest of "
        "its cells.",
        *_partial_axes(names),
    ]
    table = Table(
        "by_dataset", "Scores by dataset", frame, notes, _only_flags(marks, by), digits={"fallback_share": 3}
    )
    return finish(table, names)


@zeros_marked(differences=False)
def by_language(scores: pd.DataFrame, names: Names) -> Table:
    """Return embedder x language: original, axis scores, HTEB, drop, over the subsets in that language.

    `source_language` is the language of the texts before rewriting; subsets with two stand under both
    names joined. Subsets are averaged within a dataset first, then datasets.
    """
    # Not called `language`: a profile has an axis of that name.
    parts = paired_parts(scores).rename(columns={"language": "source_language"})
    by = ["generator", "source_language", "embedder"]
    counts = parts.groupby(by)["dataset"].nunique().rename("n_datasets").reset_index()
    frame = profile(parts, by, within=["subset", "split"]).merge(counts, on=by)
    frame = ordered(frame[[*by, "n_datasets", *PROFILE]], names)
    marks = frame[[*by, "n_datasets"]].merge(any_marked(parts, by), on=by)[frame.columns]
    notes = ["Subsets of a dataset first, then datasets; language before rewriting.", *_partial_axes(names)]
    panels = frame.groupby("source_language")["n_datasets"]
    if (panels.max() > panels.min()).any():
        notes.append(
            "n_datasets differs within a language: compare rows of embedders with the same datasets only."
        )
    marks = _only_flags(marks, [*by, "n_datasets"])
    return finish(Table("by_language", "Scores by language", frame, notes, marks), names)


def incomplete_cells(scores: pd.DataFrame, names: Names) -> Table:
    """Return every cell, and every subset of a scored cell, that has no score, with the reason."""
    columns = ["embedder", "dataset", "subset", "generator", "transformation", "seed", "status", "error"]
    total = scores["subset"] == ALL
    cell = ["embedder", "dataset", "generator", "transformation", "seed"]
    scored = pd.MultiIndex.from_frame(scores.loc[total & (scores["status"] == OK), cell])
    within = pd.Series(pd.MultiIndex.from_frame(scores[cell]).isin(scored), index=scores.index)
    bad = scores[(scores["status"] != OK) & (total | within)]
    notes = [
        "Each of these blanks the totals it belongs to; a subset absent from a scored cell only its language."
    ]
    frame = bad[columns].sort_values(columns, ignore_index=True)
    return finish(Table("incomplete_cells", "Cells without a score", frame, notes), names)


def fallbacks(scores: pd.DataFrame, names: Names) -> Table:
    """Return per dataset and variant the texts, what became of them and whether the variant is marked."""
    columns = ["generator", "dataset", "transformation", "seed"]
    counts = [
        "distinct", "n_texts", "distinct_flagged", "flagged", "retried", "distinct_fallbacks", "fallbacks",
        "distinct_dropped", "dropped",
    ]  # fmt: skip
    rows = rewritten(scores[scores["subset"] == ALL]).dropna(subset=["n_texts"])
    frame = rows.groupby(columns)[[*counts, "fallback_share", "marked"]].first().reset_index()
    frame[counts] = frame[counts].fillna(0).astype(int)
    notes = [
        "The same for every embedder. Marked: fallbacks and dropped texts exceed the run's fallback_mark.",
        DISTINCT_NOTE,
        "flagged: at least one error flag, whatever the outcome; retried: a later attempt is used.",
        FALLBACK_NOTE,
    ]
    table = Table("fallbacks", "Fallbacks by variant", frame, notes, digits={"fallback_share": 3})
    return finish(table, names)


def rewritten(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not the original's."""
    return rows[rows["transformation"] != "original"]


def _wide(frame: pd.DataFrame, by: Sequence[str], value: str, names: Names) -> pd.DataFrame:
    wide = frame.pivot(index=list(by), columns="transformation", values=value)  # noqa: PD010
    wide = wide.reindex(columns=list(names.transformations))
    wide.columns.name = None
    return wide.reset_index()


def _only_flags(marks: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return marks as booleans, false in the key columns and where there is no cell."""
    values = [c for c in marks.columns if c not in keys]
    flags = pd.DataFrame(False, index=marks.index, columns=marks.columns)
    flags[values] = marks[values].eq(other=True)
    return flags


def _partial_axes(names: Names) -> list[str]:
    have = set(names.axes.values())
    if have == set(AXES):
        return []
    labels = [AXIS_LABELS[a] for a in AXES if a in have]
    return [f"This run covers only {' and '.join(labels)}: its HTEB is the mean over that."]
