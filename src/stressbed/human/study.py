"""The two jobs after the sheets: how far the rated rewrites are from their originals, and what people say."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from stressbed.analyse.aggregate import AXES
from stressbed.analyse.items.intervals import item_coverage_note
from stressbed.analyse.names import Names
from stressbed.analyse.table import Table
from stressbed.analyse.write import to_csv, write_table
from stressbed.config.entries import EmbedderEntry
from stressbed.config.model import HumanStudy
from stressbed.fingerprint import text_digest
from stressbed.human import tables
from stressbed.human.drift import drift
from stressbed.human.ratings import read_ratings
from stressbed.plot.drift import drift_figure
from stressbed.plot.style import save, style
from stressbed.stats.bootstrap import spearman_interval
from stressbed.stats.interval import DegenerateWarning, enough
from stressbed.store import metadata_of, read_json, read_parquet, write_parquet, write_text

log = logging.getLogger("stressbed")

EMBEDDER = "stressbed.embedder"
"""Key, in the metadata of `drift.parquet`, of the label of the embedder that measured it."""


def measure_drift(
    *,
    items: Path,
    manifests: Sequence[Path],
    embedder: EmbedderEntry,
    identity: str,
    folder: Path,
    store_root: Path,
    out: Path,
) -> dict[str, int]:
    """Write the drift of every rated rewrite (item_id, drift) and return how many texts were encoded.

    Args:
        items: `items.parquet`.
        manifests: Manifests of the run's datasets.
        embedder: Entry of the embedder.
        identity: Hash of what decides its vectors.
        folder: Folder that relative model paths start from.
        store_root: Folder of the store.
        out: Where the table goes.

    Raises:
        EmbedError: The embedder cannot be used.
        StoreError: A file is damaged.
    """
    frame = read_parquet(items).to_pandas()
    found, encoded = drift(
        frame[frame["kind"] == "quality"],
        manifests={p.parent.name: read_json(p) for p in manifests},
        embedder=embedder,
        identity=identity,
        folder=folder,
        store_root=store_root,
    )
    described = pa.Table.from_pandas(found, preserve_index=False).replace_schema_metadata(
        {EMBEDDER: embedder.label or embedder.id}
    )
    write_parquet(out, described)
    return {"items": len(found), "encoded": encoded}


def analyse_ratings(
    *, items: Path, ratings: Sequence[Path], drift: Path, study: HumanStudy, names: Names, folder: Path
) -> dict[str, Any]:
    """Write the tables, the figure, `ratings.parquet` and `summary.json` of a study; return the last.

    Args:
        items: `items.parquet`.
        ratings: The filled sheets.
        drift: What `measure_drift` wrote.
        study: The study.
        names: Labels and order.
        folder: Where everything goes.

    Raises:
        Problems: Everything that is wrong with the ratings.
        StoreError: A file is damaged.
    """
    drawn = read_parquet(items).to_pandas()
    read = read_ratings(ratings, drawn, study=study)
    written = pa.Table.from_pandas(read.frame.drop(columns="file"), preserve_index=False)
    write_parquet(folder / "ratings.parquet", written)
    quality = tables.human_ratings(read.frame, drawn, names, study)
    found = [quality]
    if study.label_preservation is not None:
        paired = tables.paired_ratings(read.frame, drawn)
        found += [
            tables.label_preservation(paired, names, resamples=study.resamples),
            tables.label_preservation_pairs(paired, names, resamples=study.resamples),
        ]
    held = read_parquet(drift)
    points = quality_and_drift(read.frame, drawn, held.to_pandas(), names)
    against = quality_vs_drift(points, resamples=study.resamples)
    found.append(against)
    for table in found:
        write_table(table, folder / "tables", names)
    label = metadata_of(held.schema).get(EMBEDDER, "")
    with style():
        save(
            drift_figure(points, against.frame, names, embedder=label), folder / "figures", "quality_vs_drift"
        )
    write_text(folder / "figures" / "quality_vs_drift.csv", to_csv(points))
    return _summary(quality, read.frame, read.unrated, read.repeated, folder / "summary.json")


def quality_and_drift(
    ratings: pd.DataFrame, items: pd.DataFrame, drift: pd.DataFrame, names: Names
) -> pd.DataFrame:
    """Return one row per rated rewrite: item_id, group, axis, quality (mean over raters), drift."""
    quality = ratings[ratings["criterion"] == "quality"].groupby("item_id")["rating"].mean().rename("quality")
    held = items[items["kind"] == "quality"][["item_id", "group", "transformation"]]
    joined = held.merge(quality, on="item_id").merge(drift, on="item_id")
    order = list(names.transformations)
    place = joined.groupby("group")["transformation"].transform(lambda t: min(map(order.index, t)))
    joined = joined.assign(axis=joined["transformation"].map(names.axes), _place=place)
    joined = joined.sort_values(["_place", "item_id"], kind="stable", ignore_index=True)
    return joined[["item_id", "group", "axis", "quality", "drift"]]


def quality_vs_drift(points: pd.DataFrame, *, resamples: int) -> Table:
    """Return Spearman's rho between quality and drift per group of transformations, with its interval."""
    rows = []
    for group, part in points.dropna(subset=["drift"]).groupby("group", sort=False):
        rng = np.random.default_rng(int(text_digest("drift", str(group))[:16], 16))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DegenerateWarning)  # the table shows a dash
            found = spearman_interval(part["quality"], part["drift"], resamples=resamples, rng=rng)
        rows.append({"group": group, "rho": found.rho, "low": found.low, "high": found.high, "n": found.n})
    notes = [
        "Spearman's rho between a rewrite's mean quality and its drift (1 minus the cosine of original and "
        "rewrite), with a bootstrap interval over rewrites, aimed at 95 %.",
    ]
    frame = pd.DataFrame(rows, columns=["group", "rho", "low", "high", "n"])
    held = [int(n) for n in frame["n"] if enough(int(n))]
    if held and (note := item_coverage_note("spearman", min(held))):
        notes.append(f"{note[0].upper()}{note[1:]}.")
    return Table(
        "quality_vs_drift", "Does drift go with the quality that people see?", frame, notes, decimals=2
    )


def _summary(quality: Table, ratings: pd.DataFrame, unrated: int, repeated: int, out: Path) -> dict[str, Any]:
    frame = quality.frame
    if "source_language" in frame.columns:
        frame = frame[frame["source_language"] == tables.ALL]
    groups = frame[~frame["group"].isin([*AXES, tables.OVERALL])]
    found: dict[str, Any] = {
        "accepted": groups.loc[groups["accepted"], "group"].tolist(),
        "rejected": groups.loc[~groups["accepted"], "group"].tolist(),
        "ratings": len(ratings),
        "raters": int(ratings["rater"].nunique()),
        "items": int(ratings["item_id"].nunique()),
        "empty_cells": unrated,
        "repeated": repeated,
    }
    write_text(out, json.dumps(found, indent=2) + "\n")
    if found["rejected"]:
        log.warning("below the threshold: %s", ", ".join(found["rejected"]))
    return found
