"""What collect keeps of a cell's items is enough to make its score again, for every task type."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from eq_chain import ORIGINAL, Chain
from eq_tasks import KINDS

from stressbed.analyse.items.intervals import item_intervals
from stressbed.analyse.items.panels import blocks
from stressbed.analyse.names import Names
from stressbed.collect.gold import read_golds
from stressbed.collect.items import item_rows, item_values
from stressbed.config.entries import EmbedderEntry
from stressbed.paths import Cell

ENTRY = EmbedderEntry(id="random", backend="random", model="random", dimensions=8)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "InstructionRetrieval"])
def test_every_task_type_has_intervals_over_its_items(kind: str, tmp_path: Path) -> None:
    chain = Chain(tmp_path, kind, ENTRY)
    variant = chain.add()
    chain.embed()
    chain.score()
    original, cell = chain.cell(ORIGINAL), chain.cell(variant)
    golds = read_golds(chain.folder)
    at = Cell("e", "d", variant)
    items = item_rows("r", at, cell, item_values(original), golds=golds).to_pandas()
    scores = pd.DataFrame(
        [
            {
                "embedder": "e", "dataset": "d", "generator": variant.generator, "seed": variant.seed,
                "transformation": variant.transformation, "subset": "(all)", "status": "ok",
                "score": cell["score"], "original": original["score"], "metric": cell["metric"],
                "task_type": cell["task_type"],
            }
        ]
    )  # fmt: skip
    names = Names(
        {"e": "E"}, {"d": "D"}, {variant.generator: "G"}, {variant.transformation: "T"},
        {variant.transformation: "length"},
    )  # fmt: skip
    (row,) = item_intervals(blocks([items]), scores, names, resamples=200, seed=0).frame.to_dict("records")
    assert "made again" not in row["note"]
    assert "not made of" not in row["note"]
    assert row["drop"] == pytest.approx(original["score"] - cell["score"])
    if kind == "ClusteringLegacy":  # three sets of documents: no interval, and the row says why
        assert pd.isna(row["low"])
        assert pd.isna(row["high"])
        assert "3 experiments are too few" in row["note"]
    else:
        assert row["low"] <= row["high"], row["note"]
