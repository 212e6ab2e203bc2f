"""The strings that are embedded are those that scoring asks for, with rows dropped too."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stressbed.config.entries import DatasetEntry
from stressbed.embed.embedders.sparse import TfidfSvd
from stressbed.embed.run import embed
from stressbed.embed.strings import fit_texts, read_rewrites, strings_of_variant
from stressbed.errors import EmbedError
from stressbed.paths import Cell, Variant
from stressbed.transform.flags import FLAGS

WORDS = ["sea", "wave", "sail", "oven", "flour", "onion", "orbit", "comet", "moon", "soil", "tulip", "hedge"]
VARIANT = Variant("g", "x", 1)
ORIGINAL = Variant("none", "original", 0)


def _sentences(n: int) -> list[str]:
    rng = random.Random(0)
    return [" ".join(rng.choices(WORDS, k=5)) + f" {i}" for i in range(n)]


def _tables(task_type: str) -> dict[str, pd.DataFrame]:
    s = _sentences(120)
    if task_type == "STS":
        return {
            "test": pd.DataFrame(
                {"sentence1": s[:20], "sentence2": s[20:40], "score": [i % 6 for i in range(20)]}
            )
        }
    if task_type == "Classification":
        return {
            "train": pd.DataFrame({"text": s[:60], "label": [i % 3 for i in range(60)]}),
            "test": pd.DataFrame({"text": s[60:90], "label": [i % 3 for i in range(30)]}),
        }
    corpus = pd.DataFrame({"id": [f"d{i}" for i in range(20)], "title": s[:20], "text": s[20:40]})
    queries = pd.DataFrame({"id": [f"q{i}" for i in range(8)], "text": s[40:48]})
    qrels = pd.DataFrame({"query_id": queries["id"], "corpus_id": [f"d{i}" for i in range(8)], "score": 1})
    return {"corpus": corpus, "queries": queries, "qrels": qrels}


METRIC = {"STS": "cosine_spearman", "Classification": "accuracy", "Retrieval": "ndcg_at_10"}


@pytest.fixture(params=list(METRIC))
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    from stressbed.dataset.freeze import freeze
    from stressbed.dataset.record import record

    task_type = request.param
    files = {}
    for name, table in _tables(task_type).items():
        table.to_parquet(tmp_path / f"{name}.parquet")
        files[name] = f"{name}.parquet"
    entry = DatasetEntry(id="small", task_type=task_type, files=files, languages={"default": ["eng-Latn"]},
                         main_score=METRIC[task_type])  # fmt: skip
    folder = tmp_path / "small"
    freeze(entry, tmp_path, folder)
    record(folder)
    return folder


def _load(folder: Path) -> tuple[dict[str, Any], pd.DataFrame, pd.DataFrame]:
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest, pd.read_parquet(folder / "texts.parquet"), pd.read_parquet(folder / "inputs.parquet")


def _transforms(path: Path, texts: pd.DataFrame, dropped: set[int]) -> Path:
    new = {
        i: "" if i in dropped else f"new {t}" for i, t in zip(texts["text_id"], texts["text"], strict=True)
    }
    outcome = ["dropped" if i in dropped else "ok" for i in new]
    flags = {f: [False] * len(new) for f in FLAGS}
    columns = {"text_id": list(new), "text": list(new.values()), "outcome": outcome}
    table = pa.table({**columns, "attempts": [1] * len(new), **flags})
    pq.write_table(table.replace_schema_metadata({"stressbed.content_hash": "h"}), path)
    return path


@pytest.mark.parametrize("dropping", [False, True])
def test_scoring_asks_for_nothing_that_was_not_embedded(frozen, tmp_path, entry_of, dropping) -> None:
    from stressbed.score.run import CellJob, score_cells

    manifest, texts, inputs = _load(frozen)
    test = texts[texts["split"] == "test"]["text_id"].tolist()
    path = _transforms(tmp_path / "x.parquet", texts, {test[0], test[5]} if dropping else set())
    entry = entry_of("random")
    outputs = {v: tmp_path / f"{v.transformation}.json" for v in (ORIGINAL, VARIANT)}
    common = {"manifest": manifest, "texts": texts, "entry": entry, "embedder_identity": "e"}
    embed(
        dataset="small", inputs=inputs, transforms={VARIANT: path}, catalogue_folder=tmp_path,
        store_root=tmp_path / "store", outputs=outputs, dataset_folder=frozen, **common,
    )  # fmt: skip
    cells = [
        CellJob(
            Cell("random", "small", v), outputs[v], path if v == VARIANT else None, tmp_path / f"{n}.score"
        )
        for n, v in enumerate(outputs)
    ]
    stats = score_cells(dataset_folder=frozen, cells=cells, store_root=tmp_path / "store", **common)
    assert (stats.ok, stats.failed) == (2, 0)
    assert (json.loads((tmp_path / "1.score").read_text())["original_matched"] is not None) == dropping


def test_strings_of_a_variant_with_dropped_rows_lack_only_those(frozen, tmp_path) -> None:
    _, texts, inputs = _load(frozen)
    first = int(texts[texts["split"] == "test"]["text_id"].iloc[0])
    whole = read_rewrites(_transforms(tmp_path / "whole.parquet", texts, set()))
    part = read_rewrites(_transforms(tmp_path / "part.parquet", texts, {first}))
    assert part.dropped == {first}
    all_new = {s for _, s in strings_of_variant(whole, texts, inputs, frozen)}
    some = {s for _, s in strings_of_variant(part, texts, inputs, frozen)}
    gone = texts["text"].iloc[first]
    assert any(gone in s for s in all_new)
    assert not any(gone in s for s in some)
    assert len([s for s in some if "new " in s]) < len(all_new)
    assert some - all_new, "the matched original is embedded too"


def test_fitted_embedders_learn_from_corpus_or_training_texts(frozen, entry_of) -> None:
    manifest, texts, inputs = _load(frozen)
    learned = fit_texts(texts, inputs)()
    s = _sentences(120)
    expected = {
        "STS": set(s[:40]),
        "Classification": set(texts[texts["split"] == "train"]["text"]),
        "Retrieval": {f"{t} {b}" for t, b in zip(s[:20], s[20:40], strict=True)},
    }[manifest["task_type"]]
    assert set(learned) == expected
    assert len(learned) == len(expected)
    model = TfidfSvd(entry_of("tfidf-svd"), lambda: learned)
    assert model.encode(["sea wave"], role="none", manifest=manifest).any()


def test_a_transforms_file_without_its_hash_is_refused(tmp_path) -> None:
    pq.write_table(pa.table({"text_id": [0], "text": ["a"], "outcome": ["ok"]}), tmp_path / "x.parquet")
    with pytest.raises(EmbedError, match=r"hash of its contents[\s\S]*x.parquet"):
        read_rewrites(tmp_path / "x.parquet")
