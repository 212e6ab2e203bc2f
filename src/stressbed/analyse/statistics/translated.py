"""The same items in two languages: a dataset beside its translation (the paper's 4.2.2, table 24)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from stressbed.analyse.aggregate import profile
from stressbed.analyse.study import Analysed
from stressbed.analyse.table import Table, finish

VALUES = ("source_original", "source_drop", "translated_original", "translated_drop")
COLUMNS = ("generator", "source", "translated", "language", "embedder", "trained", *VALUES)
ALL_EMBEDDERS, TRAINED, UNTRAINED = "(all)", "(trained on the language)", "(not trained on the language)"
"""Stand for means over embedders."""

NOTES = (
    "Points; drop is original minus HTEB, mean over seeds, then transformations of an axis, then axes. "
    "Items, labels and metric are the same; the texts were translated once, before all else.",
    f"{ALL_EMBEDDERS}: mean over the embedders that have every cell of both datasets; below it those whose "
    "`trained` is yes, and those whose is no.",
    "trained: whether the embedder's entry, or else mteb's metadata, names the translation's language; "
    "blank: neither names any.",
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
                rows += [*mine, *_means(mine)]
            else:
                said.append(f"{translated}: left out, no embedder has cells on both it and {source}.")
            said += _incomplete(mine, translated)
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
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
                "language": str(spoken.iloc[0]), "embedder": embedder,
                "trained": _trained(data.languages.get(embedder, frozenset()), str(spoken.iloc[0])), **values,
            }  # fmt: skip


def _trained(known: frozenset[str], language: str) -> str:
    """Return whether a language is among those of an embedder; empty where none is known."""
    return ("yes" if language.partition("-")[0] in known else "no") if known else ""


def _means(rows: list[dict[str, object]]) -> Iterator[dict[str, object]]:
    """Yield means over the embedders that lack nothing: of all, and by whether they know the language."""
    frame = pd.DataFrame(rows).dropna(subset=list(VALUES))
    groups = {ALL_EMBEDDERS: frame}
    if frame["trained"].isin(["yes", "no"]).any():
        groups |= {TRAINED: frame[frame["trained"] == "yes"], UNTRAINED: frame[frame["trained"] == "no"]}
    for name, mine in groups.items():
        if name == ALL_EMBEDDERS or len(mine):
            means = {v: float(mine[v].mean()) for v in VALUES}
            yield {**rows[0], "embedder": name, "trained": "", **means}


def _incomplete(rows: list[dict[str, object]], translated: str) -> list[str]:
    values = pd.DataFrame(rows, columns=list(COLUMNS))[list(VALUES)]
    n = int(values.isna().any(axis=1).sum())
    if not n:
        return []
    return [f"{translated}: the mean rests on {len(rows) - n} of {len(rows)} embedders; others lack a cell."]
