"""Which texts the candidates rewrite: whole rows of the screening data, the same for all."""

from __future__ import annotations

import pandas as pd

from stressbed.fingerprint import text_digest

ROW = ["subset", "split", "row"]
"""What makes a row: for STS a pair of sentences, for retrieval a document or a query, else a text."""


def sample_texts(texts: pd.DataFrame, *, rows: int | None, seed: int) -> pd.DataFrame:
    """Return the texts of some rows of the screening data, whole rows, in their order.

    The rows with the smallest hash of seed and coordinates are drawn, so a row's place does not
    depend on the others, and a larger sample holds the smaller one. Training texts are left out where
    there are others: what is rewritten for a score is mostly the evaluated split.

    Args:
        texts: The dataset's texts (`texts.parquet`).
        rows: How many rows; None or more than there are keeps all.
        seed: Seed of the draw.
    """
    tested = texts[texts["split"] != "train"]
    chosen = tested if len(tested) else texts
    if rows is None:
        return chosen
    keys = list(dict.fromkeys(chosen[ROW].itertuples(index=False, name=None)))
    drawn = sorted(keys, key=lambda k: text_digest("screening", str(seed), *map(str, k)))[:rows]
    kept = pd.MultiIndex.from_frame(chosen[ROW]).isin(drawn)
    return chosen[kept]
