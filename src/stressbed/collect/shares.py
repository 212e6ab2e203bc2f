"""Which items of a frozen dataset share a text with others: they are not independent of each other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq

from stressbed.collect.texts import PAIRED, texts_of_items
from stressbed.stats.units import shared_units
from stressbed.store import read_json, reading

Shares = Mapping[tuple[str, str], Mapping[str, str]]
"""(subset, split) -> item -> numbers of the units that it shares with other items, joined by a blank."""

OF_QUERY, OF_SUMMARY = "queries.text", "text"
"""Field of the text that an item of retrieval, and one of summarisation, stands for."""

_COLUMNS = ["text_id", "subset", "split", "field", "row", "position", "text"]


def read_shares(folder: Path) -> Shares:
    """Return what the items of a frozen dataset share; items that share nothing are left out.

    Units are texts, or groups of items that hang together by texts (`stressbed.stats.units`). The texts of
    an item are both of a pair, the query, or the document that is summarised. Experiments of classification
    and clustering have none: they share their test data, which their intervals say.

    Args:
        folder: The dataset's folder, with `manifest.json` and `texts.parquet`.

    Raises:
        StoreError: A file is damaged.
    """
    try:
        manifest = read_json(folder / "manifest.json")
    except FileNotFoundError:
        return {}
    kind, path = manifest.get("task_type"), folder / "texts.parquet"
    field = {"Retrieval": OF_QUERY, "Reranking": OF_QUERY, "Summarization": OF_SUMMARY}.get(str(kind))
    if not path.is_file() or (field is None and kind not in PAIRED):
        return {}
    with reading(path):  # of a corpus only the queries are read
        chosen = None if field is None else [("field", "==", field)]
        texts = pq.read_table(path, columns=_COLUMNS, filters=chosen).to_pandas()
    found: dict[tuple[str, str], dict[str, str]] = {}
    for (subset, split), rows in texts_of_items(manifest, texts).groupby(["subset", "split"], sort=False):
        of_item = rows.groupby("item", sort=False)["original"].agg(list)
        units = zip(of_item.index, shared_units(of_item.tolist()), strict=True)
        found[str(subset), str(split)] = {str(i): " ".join(map(str, u)) for i, u in units if u}
    return found
