"""What the card of one embedder shows, as one long table gathered from the analysed tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from stressbed.analyse.aggregate import AXES, ORIGINAL
from stressbed.analyse.names import Names
from stressbed.analyse.remarks import remarks
from stressbed.plot.dumbbell import with_intervals
from stressbed.plot.inputs import Panel, Source, of_panel, panels
from stressbed.stats.coverage import interval_words

COLUMNS = ("generator", "setting", "part", "name", "value", "low", "high", "note")
ITEMS = 3
"""Items that a card shows."""

NONE = (math.nan, math.nan)
"""An interval that there is none of."""

FIELDS = 2
"""Texts of an item that a card shows."""

Row = dict[str, object]
ITEM = ["generator", "dataset", "transformation", "seed", "subset", "item"]


def card_data(embedder: str, sources: Mapping[str, Source], names: Names) -> pd.DataFrame:
    """Return everything that an embedder's card shows, one value per row.

    `part` says what a value is: `score` (original, hteb, drop in points), `rank` (1 is best; the note is out
    of how many), `interval` (over how many datasets the intervals of both are; the note is what they are
    called), `compared` (on how many datasets the ranks rest, where some lack a cell; the note is of how
    many), `delta` (transformed minus original, per axis, transformation and for the total), `shift` (what the
    verdicts say of a transformation, with its interval), `others` (deltas of the other embedders; the note is
    which), `dataset_original` and `dataset_hteb`, `item_original` and `item_rewritten` (one of the worst
    items, its text in the note), `item_remark` (the note says that its rewrite is a fallback or has error
    flags). Values that a run lacks have no row.

    Args:
        embedder: Catalogue id.
        sources: The analysed tables.
        names: The run's names.
    """
    rows: list[Row] = []
    for panel in panels(sources["hteb_scores"].frame, names):
        if "embedder" in panel.frame.columns and (panel.frame["embedder"] == embedder).any():
            keys = {"generator": panel.generator, "setting": panel.setting}
            rows += [keys | row for row in _panel_rows(embedder, panel, sources, names)]
    rows += list(_item_rows(embedder, sources))
    return pd.DataFrame(rows, columns=list(COLUMNS)).fillna(
        dict.fromkeys(("generator", "setting", "note"), "")
    )


def _row(part: str, name: str, value: Any, ends: Sequence[Any] = NONE, *, note: str = "") -> Row:
    return {"part": part, "name": name, "value": value, "low": ends[0], "high": ends[1], "note": note}


def _panel_rows(embedder: str, panel: Panel, sources: Mapping[str, Source], names: Names) -> Iterator[Row]:
    ranks = of_panel(sources["hteb_ranks"], panel)
    yield from _scores(embedder, with_intervals(panel.frame, ranks), ranks)
    yield from _deltas(embedder, panel.frame, of_panel(sources["delta_by_transformation"], panel), names)
    verdicts = _of(embedder, of_panel(sources["recommendation"], panel))
    for row in verdicts.to_dict("records"):
        if row["transformation"] and not math.isnan(row["low"]):
            yield _row("shift", str(row["transformation"]), row["delta"], (row["low"], row["high"]))
    datasets = _of(embedder, _within_setting(panel, sources["by_dataset"], names))
    for row in datasets.to_dict("records"):
        for column in (ORIGINAL, "hteb"):
            yield _row(f"dataset_{column}", str(row["dataset"]), row[column])
    compared = _of(embedder, ranks)
    if len(compared) and "n_datasets" in compared and not math.isnan(compared["hteb_low"].iloc[0]):
        n = int(compared["n_datasets"].iloc[0])
        yield _row("interval", "datasets", n, note=interval_words(n))
    if len(compared) and "n_datasets" in compared and compared["n_datasets"].iloc[0] < len(datasets):
        yield _row("compared", "datasets", compared["n_datasets"].iloc[0], note=str(len(datasets)))


def _of(embedder: str, frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["embedder"] == embedder] if "embedder" in frame.columns else frame.iloc[:0]


def _scores(embedder: str, scores: pd.DataFrame, ranks: pd.DataFrame) -> Iterator[Row]:
    mine = _of(embedder, scores).iloc[0]
    held = _of(embedder, ranks)
    # Intervals of `hteb_ranks` rest on the datasets that all embedders have; they fit these scores only
    # where the totals are the same.
    fits = len(held) and not math.isnan(mine["hteb_low"])
    for column in (ORIGINAL, "hteb", "drop"):
        ends = [held[f"{column}_{end}"].iloc[0] if fits else math.nan for end in ("low", "high")]
        yield _row("score", column, mine[column], ends)
    if len(held):
        row = held.iloc[0]
        for name, prefix in ((ORIGINAL, "rank_original"), ("hteb", "rank")):
            ends = [row[f"{prefix}_low"], row[f"{prefix}_high"]]
            yield _row("rank", name, row[f"rank_{name}"], ends, note=str(len(ranks)))


def _deltas(embedder: str, scores: pd.DataFrame, deltas: pd.DataFrame, names: Names) -> Iterator[Row]:
    wide = scores[["embedder", *AXES, "hteb"]].copy()
    wide[[*AXES, "hteb"]] = wide[[*AXES, "hteb"]].sub(scores[ORIGINAL], axis=0)
    if "embedder" in deltas.columns:
        wide = wide.merge(deltas, how="left", on="embedder")
    shown = [c for c in (*AXES, "hteb", *names.transformations) if c in wide.columns]
    for row in wide.to_dict("records"):
        own = row["embedder"] == embedder
        for column in shown:
            if not math.isnan(row[column]):
                note = "" if own else str(row["embedder"])
                yield _row("delta" if own else "others", column, row[column], note=note)


def _within_setting(panel: Panel, source: Source, names: Names) -> pd.DataFrame:
    frame = of_panel(source, panel)
    if panel.setting and "setting" not in source.frame.columns and "dataset" in frame.columns:
        frame = frame[frame["dataset"].map(dict(names.settings)) == panel.setting]
    return frame


def _item_rows(embedder: str, sources: Mapping[str, Source]) -> Iterator[Row]:
    """Yield the texts of the worst items: one per dataset, those first on which the embedder loses most.

    Items of different datasets cannot be compared by their values, which have each metric's own unit.
    """
    items = _of(embedder, sources["worst_items"].frame)
    if items.empty:
        return
    items = items.assign(generator=items["generator"] if "generator" in items.columns else "")
    drops = _of(embedder, sources["by_dataset"].frame)
    order = drops.groupby("dataset")["drop"].max().sort_values(ascending=False) if len(drops) else drops
    rank = {d: i for i, d in enumerate(order.index)}
    found = items.assign(
        place=items["dataset"].map(rank).fillna(len(rank)),
        turn=items.sort_values("delta", kind="stable").drop_duplicates(ITEM).groupby("dataset").cumcount(),
    )
    found["turn"] = found.groupby(ITEM)["turn"].transform("max")
    found["left"] = found["rewritten_text"] == ""
    found = found.sort_values(["turn", "place", *ITEM, "left"], kind="stable")
    kept = found[ITEM].drop_duplicates().head(ITEMS)
    shown = kept.merge(found, on=ITEM, how="left").groupby(ITEM, sort=False).head(FIELDS)
    for row in shown.to_dict("records"):
        name = "/".join(str(row[c]) for c in (*ITEM[1:], "field"))
        keys = {"generator": row["generator"], "setting": ""}
        yield keys | _row("item_original", name, row["original_value"], note=str(row["original_text"]))
        yield keys | _row("item_rewritten", name, row["value"], note=str(row["rewritten_text"]))
        if said := remarks(row.get("outcome"), row.get("flags")):
            yield keys | _row("item_remark", name, math.nan, note=said)
