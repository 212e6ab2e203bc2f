"""The items that lose most, with their texts before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from stressbed.analyse.items.intervals import Facts, cell_facts, in_order
from stressbed.analyse.items.panels import Panel, panels
from stressbed.analyse.items.scores import per_item
from stressbed.analyse.names import Names
from stressbed.analyse.remarks import outcome_of
from stressbed.analyse.table import Table, finish

PER_CELL = 3
"""Items of each embedder, dataset and transformation; seeds compete for them."""

ROWS = 2000
"""Rows of the whole table."""

SHOWN = 200
"""Rows of it in Markdown and LaTeX."""

PLACE = ["dataset", "generator", "transformation", "seed", "subset", "split", "item"]
_NAMES = [c for c in [*PLACE, "field", "language", "outcome", "flags"] if c != "seed"]
_TEXT = ["field", "original_text", "rewritten_text", "language", "outcome", "flags"]
_CELL = ["embedder", "dataset", "generator", "transformation", "rank"]
_FOUND = ["subset", "split", "item", "seed", "unit", "original_value", "value", "delta"]
COLUMNS = (
    "generator", "embedder", "dataset", "transformation", "seed", "subset", "item", "unit", "field",
    "original_value", "value", "delta", "original_text", "rewritten_text", "language", "outcome", "flags",
)  # fmt: skip
NOTES = (
    "Of each embedder, dataset and transformation the items that lose most, one seed of each item. "
    "rewritten_text is empty where the transformation leaves the text as it is: another text of the item, "
    "or a document of the corpus, was rewritten. outcome: what became of it; a fallback is an answer that "
    "was cut off and kept, or the original where no answer was usable.",
    "Values lie between 0 and 1: the metric of a query, the correlation of a summarised document (down to "
    "−1), the F1 of a sentence to be found. A pair's value is 1 minus the distance between the place of its "
    "similarity among all pairs (0: least similar, 1: most) and that of its gold score, or its label.",
    "These are extremes, picked by what is measured: some of them would lose less in another rewrite. They "
    "show what can happen, not what usually does.",
)
NO_TEXTS = "Items without a text here had no row in item_texts.parquet."


def worst_items(
    blocks: Iterable[pd.DataFrame], scores: pd.DataFrame, texts: Iterable[pd.DataFrame], names: Names
) -> Table:
    """Return the items that lose most, a row per text of the item.

    Args:
        blocks: Rows of `items.parquet`, one embedder on one dataset at a time (`read_blocks`).
        scores: `scores.parquet`.
        texts: Rows of `item_texts.parquet`, in parts of any size.
        names: Order of rows.
    """
    facts = cell_facts(scores)
    rows = [row for block in blocks for row in block_candidates(block, facts)]
    notes = list(NOTES)
    frame = pd.DataFrame(columns=list(COLUMNS))
    if rows:
        chosen = capped(pd.DataFrame(rows, columns=[*_CELL, *_FOUND]))
        found = _with_texts(chosen, texts)
        if (found["field"] == "").any():
            notes.append(NO_TEXTS)
        # An item is not cut in the middle of its texts.
        sizes = found.groupby("order", sort=True).size().cumsum()
        kept = found[found["order"].isin(sizes.index[sizes <= ROWS])]
        frame = in_order(kept, names, then=("delta", "order"))[list(COLUMNS)]
    table = Table("worst_items", "Items that lose most", frame, notes, decimals=3, rows=SHOWN)
    return finish(table, names, dashes=False)


def block_candidates(block: pd.DataFrame, facts: Facts) -> Iterator[tuple[Any, ...]]:
    """Yield the items that lose most of one embedder on one dataset, by generator and transformation.

    Rows have the columns `_CELL` and `_FOUND`.
    """
    embedder, dataset = str(block["embedder"].iloc[0]), str(block["dataset"].iloc[0])
    own = facts.get((embedder, dataset), {})
    rows: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for panel in panels(block):
        task_type = next((own[v].task_type for v in panel.variants if v in own), "")
        worth = per_item(panel, task_type=task_type)
        if worth is None:
            continue
        for i, (generator, transformation, seed) in enumerate(panel.variants):
            lost = _lowest(panel, worth[0][:, i], worth[1][:, i], seed)
            rows.setdefault((generator, transformation), []).extend(lost)
    for (generator, transformation), found in rows.items():
        worst: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        for row in sorted(found, key=lambda r: r[-1]):
            worst.setdefault(row[:3], row)  # an item stands once, with its worst seed
        for rank, row in enumerate(list(worst.values())[:PER_CELL]):
            yield embedder, dataset, generator, transformation, rank, *row


def _lowest(panel: Panel, values: Any, originals: Any, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield the items of a variant that lose most, at most `PER_CELL`, with the columns `_FOUND`."""
    delta = values - originals
    losing = np.flatnonzero(delta < 0)
    for i in losing[np.argsort(delta[losing], kind="stable")[:PER_CELL]]:
        numbers = (float(originals[i]), float(values[i]), float(delta[i]))
        yield panel.subset, panel.split, panel.items[i], seed, panel.unit, *numbers


def capped(candidates: pd.DataFrame) -> pd.DataFrame:
    """Return at most `ROWS` items with their `order`, embedders and transformations taking turns.

    The worst item of every dataset comes before the second of any.
    """
    groups = ["generator", "embedder", "transformation"]
    ordered = candidates.sort_values(["rank", "delta"], kind="stable")
    place = ordered.groupby(groups, sort=False).cumcount()
    kept = ordered.assign(place=place).sort_values("place", kind="stable").head(ROWS)
    return kept.assign(order=np.arange(len(kept)))


def _with_texts(chosen: pd.DataFrame, texts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return a row per text of the chosen items, in their order; one without a text where there is none."""
    wanted = pd.MultiIndex.from_frame(chosen[PLACE])
    of_dataset = chosen.groupby("dataset")["item"].agg(set).to_dict()
    parts = []
    for rows in texts:
        for dataset in pd.unique(rows["dataset"].astype(object)):
            # A quick look by item first; few rows are left for the exact one.
            held = rows["item"].isin(of_dataset.get(dataset, set())) & (rows["dataset"] == dataset)
            known = rows[held].astype(dict.fromkeys(_NAMES, object))
            parts.append(known[pd.MultiIndex.from_frame(known[PLACE]).isin(wanted)])
    found = _joined(pd.concat(parts, ignore_index=True)) if any(map(len, parts)) else None
    if found is None:
        return chosen.assign(**dict.fromkeys(_TEXT, ""))
    merged = chosen.merge(found, how="left", on=PLACE)
    merged[_TEXT] = merged[_TEXT].astype(object).where(merged[_TEXT].notna(), "")
    return merged


def _joined(texts: pd.DataFrame) -> pd.DataFrame:
    """Return one row per item and field: the texts of a field that holds a list stand below each other."""
    ordered = texts.sort_values([*PLACE, "field", "position"], kind="stable")
    rows = []
    for key, part in ordered.groupby([*PLACE, "field"], sort=False):
        new = part["rewritten"].where(part["rewritten"].notna(), part["original"])
        touched = bool(part["rewritten"].notna().any())
        flags = dict.fromkeys(f for text in part["flags"] for f in text.split(",") if f)
        outcomes = dict.fromkeys(map(outcome_of, part["outcome"], part["original"], new))
        rows.append(
            (*key, "\n".join(part["original"]), "\n".join(new) if touched else "",
             ", ".join(dict.fromkeys(part["language"].dropna())), ", ".join(outcomes), ", ".join(flags))
        )  # fmt: skip
    return pd.DataFrame(rows, columns=[*PLACE, *_TEXT])
