"""The same items in two languages: a dataset beside its translation (the paper's 4.2.2, table 24)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from stressbed.analyse.aggregate import profile
from stressbed.analyse.study import Analysed
from stressbed.analyse.table import Table, finish

COLUMNS = (
    "generator", "source", "translated", "language", "embedder", "source_original", "source_drop",
    "translated_original", "translated_drop",
)  # fmt: skip
ALL_EMBEDDERS = "(all)"
"""Stands for the mean over embedders."""

NOTES = (
    "Points; drop is original minus HTEB, mean over seeds, then transformations of an axis, then axes. "
    "Items, labels and metric are the same; the texts were translated once, before all else.",
    f"{ALL_EMBEDDERS}: mean over the embedders that have every cell of both datasets.",
)


def translated_datasets(data: Analysed) -> Table:
    """Return embedder x translated dataset: original's score and drop on the source and on the translation.

    Generators are never averaged. Source and translation may belong to different settings; a row is an
    embedder that has cells on both.
    """
    rows: list[Mapping[str, object]] = []
    said: list[str] = []
    pairs = [(data.names.translations[d], d) for d in data.names.datasets if d in data.names.translations]
    if not pairs:
        said.append("Left out: no dataset of the run is another one in translation.")
    for source, translated in pairs:
        if source not in data.names.datasets:
            said.append(f"{translated}: left out, its source {source} is not part of the run.")
            continue
        for generator in data.names.generators:
            mine = list(_rows(data, generator, source, translated))
            if mine:
                rows += [*mine, _mean(mine)]
            else:
                said.append(f"{translated}: left out, no embedder has cells on both it and {source}.")
            said += _incomplete(mine, translated)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    notes = [*(NOTES if rows else ()), *dict.fromkeys(said)]
    return finish(Table("translated_datasets", "The same items in two languages", frame, notes), data.names)


def _rows(data: Analysed, generator: str, source: str, translated: str) -> Iterator[dict[str, object]]:
    """Yield a row per embedder with cells on both datasets; a lacking cell blanks what rests on it."""
    totals = data.totals
    cells = totals[(totals["generator"] == generator) & totals["dataset"].isin([source, translated])]
    if cells.empty:
        return
    frame = profile(cells, ["embedder", "dataset"]).set_index(["embedder", "dataset"])
    found = frame[["original", "drop"]].to_dict("index")
    spoken = cells.loc[cells["dataset"] == translated, "language"]
    for embedder in data.names.embedders:
        keys = {"source": (embedder, source), "translated": (embedder, translated)}
        if all(key in found for key in keys.values()):
            values = {
                f"{which}_{name}": value for which, key in keys.items() for name, value in found[key].items()
            }
            yield {
                "generator": generator, "source": source, "translated": translated,
                "language": str(spoken.iloc[0]), "embedder": embedder, **values,
            }  # fmt: skip


def _mean(rows: list[dict[str, object]]) -> dict[str, object]:
    """Return the row of means over the embedders that lack nothing."""
    frame = pd.DataFrame(rows)
    values = list(COLUMNS[5:])
    means = frame[values].dropna().mean()
    return {**rows[0], "embedder": ALL_EMBEDDERS, **{v: float(means[v]) for v in values}}


def _incomplete(rows: list[dict[str, object]], translated: str) -> list[str]:
    values = pd.DataFrame(rows, columns=COLUMNS)[list(COLUMNS[5:])]
    n = int(values.isna().any(axis=1).sum())
    if not n:
        return []
    return [f"{translated}: the mean rests on {len(rows) - n} of {len(rows)} embedders; others lack a cell."]
