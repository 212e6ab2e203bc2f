"""Drift against quality: vectors of the store, a correlation with known truth, everything written."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from test_human_import import AXES, NAMES, POOLED, rate, study_items

from stressbed.config.entries import EmbedderEntry
from stressbed.config.model import HumanStudy
from stressbed.embed.embedders import open_embedder
from stressbed.errors import EmbedError
from stressbed.human.drift import cosine, drift, role_of
from stressbed.human.study import analyse_ratings, quality_and_drift, quality_vs_drift

MANIFEST = {"dataset": "d", "task": "d", "task_type": "STS", "languages": {"default": ["eng-Latn"]}}


def texts(n=12):
    return pd.DataFrame(
        {"item_id": [f"i{k}" for k in range(n)], "dataset": "d", "field": "sentence1",
         "original": [f"the cat number {k} sat on the mat" for k in range(n)],
         "rewrite": [f"a cat, {k}, was sitting there" for k in range(n)]}
    )  # fmt: skip


def measure(items, store, backend="wordllama"):
    entry = EmbedderEntry(id="e", backend=backend, model="l2_supercat" if backend == "wordllama" else backend)
    return drift(
        items, manifests={"d": MANIFEST}, embedder=entry, identity="x", folder=store, store_root=store
    )


def test_drift_is_one_minus_the_cosine_and_a_second_run_encodes_nothing(tmp_path):
    items = texts()
    items.loc[0, "rewrite"] = items.loc[0, "original"]
    found, encoded = measure(items, tmp_path)
    assert encoded == 23
    assert found["drift"].iloc[0] == pytest.approx(0, abs=1e-6)
    assert found["drift"].iloc[1:].between(0.01, 1).all()
    entry = EmbedderEntry(id="e", backend="wordllama", model="l2_supercat")
    embedder = open_embedder(entry, catalogue_folder=tmp_path, fit_texts=lambda: [])
    vectors = [
        embedder.encode(items[c].tolist(), role="none", manifest=MANIFEST) for c in ("original", "rewrite")
    ]
    assert found["drift"].to_numpy() == pytest.approx(1 - cosine(*vectors), abs=1e-5)
    again, encoded = measure(items, tmp_path)
    assert encoded == 0
    pd.testing.assert_frame_equal(found, again)


def test_rows_of_two_datasets_keep_their_places(tmp_path):
    whole = texts(9)
    alone, _ = measure(whole, tmp_path / "one")
    mixed = whole.assign(dataset=["d", "e", "e"] * 3).set_index(pd.Index(range(100, 109)))
    entry = EmbedderEntry(id="e", backend="wordllama", model="l2_supercat")
    found, encoded = drift(
        mixed, manifests={"d": MANIFEST, "e": {**MANIFEST, "dataset": "e"}}, embedder=entry, identity="x",
        folder=tmp_path, store_root=tmp_path / "two",
    )  # fmt: skip
    assert found["item_id"].tolist() == alone["item_id"].tolist()
    assert found["drift"].tolist() == pytest.approx(alone["drift"].tolist(), abs=1e-6)
    assert encoded == 18


def test_an_embedder_that_is_fitted_on_each_dataset_is_refused(tmp_path):
    with pytest.raises(EmbedError) as caught:
        measure(texts(), tmp_path, backend="tf")
    assert caught.value.message() == (
        "the drift cannot be measured with 'e': it is fitted on each dataset's texts\n"
        "  where: run config, key 'human.drift_embedder'\n"
        "  do: name an embedder with a backend such as sentence-transformers"
    )


def test_roles():
    assert [role_of(f) for f in ("queries.text", "corpus.title", "sentence2")] == [
        "query",
        "document",
        "none",
    ]


def test_a_correlation_with_known_truth():
    rng = np.random.default_rng(1)
    quality = rng.integers(1, 6, 200).astype(float)
    points = pd.DataFrame({"group": "expansion", "axis": "length", "quality": quality,
                           "drift": 1 - quality / 5 + rng.normal(scale=0.5, size=200)})  # fmt: skip
    row = quality_vs_drift(points, resamples=1000).frame.iloc[0]
    assert row["rho"] == pytest.approx(stats.spearmanr(points["quality"], points["drift"]).statistic)
    assert row["low"] < row["rho"] < row["high"] < 0
    assert row["n"] == 200


def test_everything_is_written_and_the_same_twice(tmp_path):
    items = study_items(20)
    ratings = rate(items)
    wide = ratings.set_index(["rater", "item_id", "criterion"])["rating"].unstack()
    files = []
    for rater, part in wide.groupby("rater"):
        path = tmp_path / f"{rater}.csv"
        part.reset_index().drop(columns="rater").to_csv(path, index=False)
        files.append(path)
    pq.write_table(pa.Table.from_pandas(items), tmp_path / "items.parquet")
    held = pd.DataFrame({"item_id": items["item_id"], "drift": np.linspace(0, 1, len(items))})
    pq.write_table(pa.Table.from_pandas(held), tmp_path / "drift.parquet")
    made = []
    for name in ("one", "two"):
        found = analyse_ratings(
            items=tmp_path / "items.parquet", ratings=files, drift=tmp_path / "drift.parquet",
            study=HumanStudy(resamples=200), names=NAMES, folder=tmp_path / name,
        )  # fmt: skip
        made.append({p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")})
    assert made[0] == made[1]
    assert found["rejected"] == ["expansion"]
    assert json.loads((tmp_path / "one" / "summary.json").read_text())["raters"] == 3
    against = pd.read_csv(tmp_path / "one" / "tables" / "quality_vs_drift.csv")
    assert list(against["group"]) == ["paraphrasing", "expansion", POOLED]
    points = quality_and_drift(ratings, items, held, NAMES)
    assert set(points["axis"]) == set(AXES.values())
    for suffix in ("pdf", "svg", "png", "csv"):
        assert (tmp_path / "one" / "figures" / f"quality_vs_drift.{suffix}").stat().st_size
