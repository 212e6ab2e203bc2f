"""Claims that set groups beside each other: shares and points, sizes, languages, translations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from stressbed.analyse.aggregate import LEAST_ORIGINAL
from stressbed.analyse.conclusions.part import Finding, Part
from stressbed.analyse.names import ENGLISH, NON_ENGLISH, Names
from stressbed.analyse.statistics.gap import EVERY, SHARED, WITH
from stressbed.analyse.statistics.translated import ALL_EMBEDDERS, TRAINED, UNTRAINED
from stressbed.analyse.words import counted, is_gain, lose, points, shown, span
from stressbed.stats.coverage import interval_words
from stressbed.stats.ties import levels

MEAN = "(mean)"


def relative(part: Part) -> Iterator[Finding]:
    """Drops as shares of the original score, which rank embedders otherwise where originals differ."""
    every = part.rows("axis_profiles")
    frame = every.dropna(subset=["relative_drop"]) if len(every) else every
    without = len(every) - len(frame)
    left_out = (
        f" {without} of {len(every)} {'is' if without == 1 else 'are'} left out: below an original score of "
        f"{LEAST_ORIGINAL:g} points a share says nothing."
        if without
        else ""
    )
    if frame.empty:
        return
    shares, drops = frame["relative_drop"].to_numpy(dtype=float), -frame["hteb"].to_numpy(dtype=float)
    n = len(frame)
    of = f"the {n} embedders" if n > 1 else "the embedder"
    head = f"As a share of the original score {of} {_share(float(shares.mean()), plural=n > 1)}"
    if n == 1:
        yield Finding(f"{head}.{left_out}")
        return
    first, also = int(shares.argmin()), int(drops.argmin())
    named = [part.label(str(e)) for e in frame["embedder"]]
    by_points = f"{points(drops[also], 2)}{' gained' if is_gain(drops[also], 2) else ''}"
    by_share = f"{shown(abs(shares[first]))} %{' gained' if is_gain(shares[first]) else ''}"
    least = (
        f"the least both by share and in points: {named[first]} ({by_share}, {by_points})"
        if first == also
        else f"the least by share: {named[first]} ({by_share}); in points: {named[also]} ({by_points})"
    )
    moved = int((rankdata(levels(shares)) != rankdata(levels(drops))).sum())
    rank = "has another rank" if moved == 1 else "have another rank"
    yield Finding(f"{head} on average; {least}. {moved} of {n} {rank} by share than in points.{left_out}")


def _share(loss: float, *, plural: bool = True) -> str:
    """Return `lose 3.1 %` or `gains 0.2 %`."""
    return f"{'gain' if is_gain(loss) else 'lose'}{'' if plural else 's'} {shown(abs(loss))} %"


def sizes(part: Part) -> Iterator[Finding]:
    """Larger against smaller embedders of a family; families that lack a cell are left out."""
    frame = part.rows("size_ablation")
    if frame.empty:
        return
    better: list[bool] = []
    language: list[bool] = []
    known = frame.groupby("family")["drop"].transform(lambda d: d.notna().all()).astype(bool)
    for _, mine in frame[known].groupby("family", sort=False):
        first, last = mine.iloc[0], mine.iloc[-1]
        better.append(bool(last["drop"] < first["drop"]))
        if pd.notna(first.get("language")):
            language.append(bool(_axis_drop(last) < _axis_drop(first)))
    if not better:
        return
    drops = frame.loc[known, "drop"]
    ends = span(drops.min(), drops.max())
    yield Finding(
        f"The largest model of a family loses less than the smallest in {sum(better)} of "
        f"{counted(len(better), 'family', 'families')}; drops run from {ends} points.",
        part.paper("size_gap"),
    )
    if language:
        of_all = counted(len(language), "family", "families")
        yield Finding(f"On the Language axis it loses less in {sum(language)} of {of_all}.")


def _axis_drop(row: Any) -> float:
    return float(row["original"] - row["language"])


def gap(part: Part) -> Iterator[Finding]:
    """English against non-English datasets, in points and as shares."""
    pairs = {shared: _pairs(part.names, shared=shared) for shared in (True, False)}
    records = part.records("setting_gap")
    # Where all embedders have both groups, "shared" is the same gap with another draw of the bootstrap.
    alike = {(r["axes"], r["n_english"], r["n_non_english"]) for r in records if r["condition"] == EVERY}
    for row in records:
        panel = (row["axes"], row["n_english"], row["n_non_english"])
        if row["condition"] == SHARED and panel in alike:
            continue
        with_language = row["axes"] == WITH
        words = f"{row['condition']}, {'with' if with_language else 'without'} Language"
        interval = interval_words(int(min(row["datasets_english"], row["datasets_non_english"])))
        known = interval and pd.notna(row["gap_low"])
        ends = f" ({interval} {shown(row['gap_low'], 2)} to {shown(row['gap_high'], 2)})" if known else ""
        english, other = (lose(-row[g], 2) for g in (ENGLISH, NON_ENGLISH))
        claim = "gap_with_language" if with_language else "gap_without_language"
        yield Finding(
            f"English datasets {english}, non-English ones {other}: a gap of "
            f"{shown(row['gap'], 2)}{ends} ({words}; {row['n_english']} and {row['n_non_english']} embedders"
            ").",
            part.paper_over(claim, pairs[row["condition"] == SHARED]),
        )
    rows = part.rows("setting_gap_by_embedder")
    mean = rows[rows["embedder"] == MEAN] if len(rows) else rows
    shares = (
        [-float(mean[f"{g}_relative"].iloc[0]) for g in (ENGLISH, NON_ENGLISH)] if len(mean) else [np.nan]
    )
    if not np.isnan(shares).any():
        n = len(rows) - len(mean)
        yield Finding(
            f"As a share of the original score English datasets {_share(shares[0])} and non-English ones "
            f"{_share(shares[1])} (mean over the {counted(n, 'embedder')} with all cells of both).",
            part.paper_over("relative", pairs[True]),
        )


def _pairs(names: Names, *, shared: bool) -> set[tuple[str, str]]:
    """Return the pairs of dataset and embedder that a gap is over."""
    groups = {
        g: [d for d in names.datasets if names.language_groups.get(d) == g and d not in names.translations]
        for g in (ENGLISH, NON_ENGLISH)
    }
    have = {g: {e for e in names.embedders if _has(names, e, ds)} for g, ds in groups.items()}
    both = have[ENGLISH] & have[NON_ENGLISH]
    return {(d, e) for g, ds in groups.items() for d in ds for e in (both if shared else have[g])}


def _has(names: Names, embedder: str, datasets: list[str]) -> bool:
    return all(embedder in names.embedders_of(names.setting(d)) for d in datasets)


def translated(part: Part) -> Iterator[Finding]:
    """The same items in two languages: all embedders, and those that were trained on the second."""
    frame = part.rows("translated_datasets")
    for row in part.records("translated_datasets"):
        if row["embedder"] not in _GROUPS:
            continue
        source, other = row["source"], row["translated"]
        own = frame[(frame["translated"] == other) & ~frame["embedder"].isin(_GROUPS)]
        if row["embedder"] != ALL_EMBEDDERS:
            own = own[own["trained"] == ("yes" if row["embedder"] == TRAINED else "no")]
        who, claim = _GROUPS[row["embedder"]]
        yield Finding(
            f"The same items: {who} {lose(row['source_drop'])} on {part.label(source)} and "
            f"{lose(row['translated_drop'])} on {part.label(other)}, its translation.",
            part.paper_over(claim, {(d, str(e)) for e in own["embedder"] for d in (source, other)})
            if claim
            else "",
        )


_GROUPS = {
    ALL_EMBEDDERS: ("embedders", "translated"),
    TRAINED: ("those trained on its language", "translated_trained"),
    UNTRAINED: ("those not trained on it", ""),
}
