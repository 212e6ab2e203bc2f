"""Cells: records, reuse, what is dropped, absent, failed, missing or damaged."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eq_chain import Chain, independent
from eq_tasks import changed, data_of, make_task, pairs

from stressbed.config.entries import EmbedderEntry
from stressbed.errors import ScoreError, StoreError
from stressbed.score import provenance
from stressbed.score.cell import _PLACE, fingerprint, written
from stressbed.score.run import stale_cells
from stressbed.score.variant import VariantFacts, read_facts

ENTRY = EmbedderEntry(id="random", backend="random", model="random")
KEYS = [
    "embedder",
    "dataset",
    "generator",
    "transformation",
    "seed",
    "task",
    "task_type",
    "status",
    "error",
    "metric",
    "higher_is_better",
    "score",
    "subsets",
    "n_items",
    "n_texts",
    "fallbacks",
    "flagged",
    "retried",
    "dropped",
    "vectors",
    "zero_vectors",
    "original_matched",
    "items",
    "fingerprint",
    "dataset_hash",
    "texts_hash",
    "embedder_identity",
    "versions",
    "seconds",
    "created",
]


@pytest.fixture
def sts(tmp_path: Path) -> Chain:
    return Chain(tmp_path, "STS", ENTRY)


def expected_sts(chain: Chain, data: dict[str, Any]) -> float:
    task = make_task("STS", data={"default": {"test": data}})
    scores = task.evaluate(independent(ENTRY, chain.manifest, chain.root), "test", encode_kwargs={})
    return float(scores["default"]["main_score"]) * 100


def test_a_record_holds_what_the_contract_says(sts: Chain) -> None:
    ids = sts.texts["text_id"].tolist()
    outcomes = {ids[0]: "fallback", ids[1]: "flagged", ids[2]: "retried", ids[3]: "flagged"}
    variant = sts.add(outcomes=outcomes)
    sts.embed()
    sts.score()
    original, cell = sts.cell(), sts.cell(variant)
    assert set(original) == set(cell) == set(KEYS)
    assert (cell["generator"], cell["transformation"], cell["seed"]) == ("gen", "shuffled", 1)
    assert [cell[k] for k in ("fallbacks", "flagged", "retried", "dropped", "n_texts")] == [1, 2, 1, 0, 100]
    flagged_fallback = sts.add(2, outcomes=outcomes, flagged=ids[:3])
    assert (
        read_facts(sts.variants[flagged_fallback]).flagged,
        read_facts(sts.variants[variant]).flagged,
    ) == (3, 2)
    assert (original["n_texts"], original["texts_hash"], cell["original_matched"]) == (None, "", None)
    assert cell["metric"] == "cosine_spearman"
    assert cell["n_items"] == cell["subsets"][0]["n_items"] == 50
    assert {"python", "mteb", "torch", "scikit-learn", "numpy", "stressbed"} <= set(cell["versions"])
    (items,) = cell["items"]
    assert (items["unit"], items["metric"], items["ids"]) == ("pair", "cosine_similarity", None)
    assert len(items["values"]) == 50


def test_items_of_pairs_are_their_similarities(sts: Chain) -> None:
    from scipy.stats import spearmanr

    sts.embed()
    sts.score()
    (items,) = sts.cell()["items"]
    gold = data_of("STS")["default"]["test"]["score"]
    assert spearmanr(items["values"], gold).statistic * 100 == pytest.approx(sts.cell()["score"], abs=1e-9)


def test_a_second_run_computes_nothing_and_writes_the_same_bytes(sts: Chain) -> None:
    sts.add()
    sts.embed()
    assert sts.score().computed == 2
    before = [j.out.read_bytes() for j in sts.jobs()]
    for job in sts.jobs():
        job.out.unlink()
    stats = sts.score()
    assert (stats.computed, stats.reused) == (0, 2)
    assert [j.out.read_bytes() for j in sts.jobs()] == before


def test_variants_with_the_same_texts_share_an_entry(sts: Chain) -> None:
    first, second = sts.add(seed=1), sts.add(seed=2)
    sts.embed()
    stats = sts.score()
    assert (stats.computed, stats.reused) == (2, 1)
    a, b = sts.cell(first), sts.cell(second)
    assert (a["seed"], b["seed"]) == (1, 2)
    assert a["fingerprint"] == b["fingerprint"] != sts.cell()["fingerprint"]


MANIFEST = {
    "content_hash": "c",
    "main_score": "m",
    "subsets": ["s"],
    "splits": ["test"],
    "stage_version": "1",
}
FACTS = VariantFacts("t", {}, {"ok": 3}, 3)
EMBEDDING = {"fitted_on": "", "contexts": {"query": "Find: ", "document": ""}, "similarity": "cosine"}


@pytest.mark.parametrize(
    "other",
    [
        (MANIFEST | {"content_hash": "d"}, FACTS, "e", EMBEDDING),
        (MANIFEST | {"stage_version": "2"}, FACTS, "e", EMBEDDING),
        (MANIFEST, VariantFacts("u", {}, {"ok": 3}, 3), "e", EMBEDDING),
        (MANIFEST, VariantFacts("t", {"s": "nothing to draw"}, {"ok": 3}, 3), "e", EMBEDDING),
        (MANIFEST, VariantFacts("t", {}, {"ok": 2, "fallback": 1}, 3), "e", EMBEDDING),
        (MANIFEST, FACTS, "f", EMBEDDING),
        (MANIFEST, FACTS, "e", EMBEDDING | {"fitted_on": "texts"}),
        (MANIFEST, FACTS, "e", EMBEDDING | {"contexts": {"query": "Seek: ", "document": ""}}),
        (MANIFEST, FACTS, "e", EMBEDDING | {"similarity": "dot"}),
    ],
)
def test_a_fingerprint_covers_all_that_decides_a_cell(other: tuple[Any, ...]) -> None:
    assert fingerprint(*other) != fingerprint(MANIFEST, FACTS, "e", EMBEDDING)


def test_the_main_score_is_read_off_and_decides_no_metric() -> None:
    same = fingerprint(MANIFEST | {"main_score": "n"}, FACTS, "e", EMBEDDING)
    assert same == fingerprint(MANIFEST, FACTS, "e", EMBEDDING)


def test_a_fingerprint_covers_the_versions_of_the_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    from stressbed import embed
    from stressbed.score import cell

    before = fingerprint(MANIFEST, FACTS, "e", EMBEDDING)
    monkeypatch.setattr(cell, "VERSION", "another")
    second = fingerprint(MANIFEST, FACTS, "e", EMBEDDING)
    monkeypatch.setattr(embed, "VERSION", "another")
    assert len({before, second, fingerprint(MANIFEST, FACTS, "e", EMBEDDING)}) == 3


def test_dropped_rows_leave_a_matched_original(sts: Chain) -> None:
    gone = sts.texts[(sts.texts["row"].isin(["3", "7"])) & (sts.texts["field"] == "sentence1")]["text_id"]
    variant = sts.add(dropped=gone)
    sts.embed()
    sts.score()
    table = {k: [v for i, v in enumerate(c) if i not in {3, 7}] for k, c in pairs(50, 8).items()}
    rewritten = table | {k: [changed(t) for t in table[k]] for k in ("sentence1", "sentence2")}
    cell = sts.cell(variant)
    assert cell["score"] == expected_sts(sts, rewritten)
    assert cell["original_matched"] == expected_sts(sts, table) != sts.cell()["score"]
    assert cell["subsets"][0]["original_matched"] == cell["original_matched"]
    assert (cell["dropped"], cell["n_items"]) == (2, 48)
    (items,) = cell["items"]
    assert items["ids"] == [str(i) for i in range(50) if i not in {3, 7}]


def test_a_dropped_query_is_left_out_on_both_sides(tmp_path: Path) -> None:
    chain = Chain(tmp_path, "Retrieval", ENTRY)
    texts = chain.texts
    gone = texts[(texts["field"] == "queries.text") & (texts["row"] == "q4")]["text_id"]
    variant = chain.add(dropped=gone)
    chain.embed()
    chain.score()
    cell = chain.cell(variant)
    (items,) = cell["items"]
    assert items["ids"] == [f"q{i}" for i in range(12) if i != 4]
    (original,) = chain.cell()["items"]
    left = [v for q, v in zip(original["ids"], original["values"], strict=True) if q != "q4"]
    assert cell["original_matched"] == pytest.approx(np.mean(left) * 100, abs=5e-4)


def test_a_variant_of_which_nothing_is_left_is_a_failed_cell(sts: Chain) -> None:
    variant = sts.add(dropped=sts.texts["text_id"].tolist())
    sts.embed()
    stats = sts.score()
    assert (stats.ok, stats.failed) == (1, 1)
    assert sts.cell(variant)["score"] is None
    assert "too few rows are left" in sts.cell(variant)["error"]


def test_absent_subsets_are_left_out_on_both_sides(tmp_path: Path) -> None:
    chain = Chain(tmp_path, "STSMany", ENTRY)
    some = chain.add(seed=1, absent={"de": "no language left to draw"})
    none = chain.add(seed=2, absent=dict.fromkeys(("en", "de", "en-de"), "no language left to draw"))
    chain.embed()
    stats = chain.score()
    assert (stats.ok, stats.absent, stats.failed) == (2, 1, 0)
    cell, original = chain.cell(some), chain.cell()
    by_subset = {s["subset"]: s for s in original["subsets"]}
    assert cell["status"] == "ok"
    assert cell["original_matched"] == pytest.approx(
        np.mean([by_subset[s]["score"] for s in ("en", "en-de")]), abs=1e-9
    )
    absent = {s["subset"]: s for s in cell["subsets"]}["de"]
    assert (absent["status"], absent["score"], absent["reason"]) == (
        "absent",
        None,
        "no language left to draw",
    )
    assert chain.cell(none)["status"] == "absent"
    assert chain.cell(none)["score"] is None
    assert "no language left to draw" in chain.cell(none)["error"]


def test_data_that_do_not_allow_the_metric_fail_their_cell_alone(tmp_path: Path) -> None:
    constant = pairs(12, 1) | {"score": [2.0] * 12}
    chain = Chain(tmp_path, "STS", ENTRY, {"default": {"test": constant}})
    chain.embed()
    stats = chain.score()
    cell = chain.cell()
    assert (stats.failed, cell["status"], cell["score"], cell["items"]) == (1, "failed", None, [])
    assert "cosine_spearman is undefined" in cell["error"]
    assert chain.score().reused == 1, "it is deterministic, so it is not tried again"


def test_one_class_is_a_failed_cell_with_scikit_learns_words(tmp_path: Path) -> None:
    data = data_of("Classification")
    data["default"]["train"]["label"] = [1] * 80
    chain = Chain(tmp_path, "Classification", ENTRY, data)
    chain.embed()
    chain.score()
    assert chain.cell()["status"] == "failed"
    assert "class" in chain.cell()["error"]


def test_a_missing_vector_fails_the_job_but_keeps_what_is_done(sts: Chain) -> None:
    sts.embed()
    variant = sts.add()
    original, new = sts.jobs()
    manifest = json.loads(original.embedding.read_text()) | {"texts_hash": _hash_of(sts, variant)}
    new.embedding.parent.mkdir(parents=True)
    new.embedding.write_text(json.dumps(manifest))
    with pytest.raises(ScoreError, match="50 of 50 vectors are missing") as caught:
        sts.score()
    for part in ("random/made-sts/gen/shuffled/1", "subset default", "split test", "role none"):
        assert part in caught.value.where
    assert "--forcerun embed" in caught.value.do
    assert not original.out.exists(), "files are written at the end, all together"
    sts.embed()
    stats = sts.score()
    assert (stats.computed, stats.reused) == (1, 1)


def _hash_of(chain: Chain, variant: Any) -> str:
    from stressbed.score.variant import read_facts

    return read_facts(chain.variants[variant]).texts_hash


def _other_texts(record: dict[str, Any]) -> dict[str, Any]:
    return record | {"texts_hash": "another"}


def _other_embedder(record: dict[str, Any]) -> dict[str, Any]:
    return record | {"embedder_identity": "another"}


@pytest.mark.parametrize("spoil", [_other_texts, _other_embedder])
def test_vectors_of_something_else_are_refused(sts: Chain, spoil: Callable[..., Any]) -> None:
    sts.embed()
    path = sts.jobs()[0].embedding
    path.write_text(json.dumps(spoil(json.loads(path.read_text()))))
    with pytest.raises(ScoreError, match="the vectors were made for another"):
        sts.score()


def test_a_damaged_entry_of_the_store_is_named(sts: Chain) -> None:
    sts.embed()
    sts.score()
    (entry,) = (sts.store / "cells").glob("??/*")
    entry.write_bytes(entry.read_bytes()[:-20])
    with pytest.raises(StoreError) as caught:
        sts.score()
    assert str(entry) in caught.value.where


def test_without_the_store_the_cells_are_the_same(sts: Chain) -> None:
    variant = sts.add()
    sts.embed()
    sts.score()
    first = sts.cell(variant)
    shutil.rmtree(sts.store / "cells")
    assert sts.score().computed == 2
    for key in set(KEYS) - {"seconds", "created"}:
        assert sts.cell(variant)[key] == first[key]


def stale(chain: Chain) -> list[str]:
    given = {"embedder_identity": chain.identity, "cells": chain.jobs(), "store_root": chain.store}
    return stale_cells(manifest=chain.manifest, **given)


def test_stale_cells_are_named(sts: Chain) -> None:
    variant = sts.add()
    name = str(variant)
    assert stale(sts) == ["none/original/0", name]
    sts.embed()
    sts.score()
    assert stale(sts) == []
    sts.add(new={int(sts.texts["text_id"][0]): "Something else."})
    assert stale(sts) == [name], "its vectors do not fit its texts any more"
    sts.embed()
    assert stale(sts) == [name]
    sts.score()
    assert stale(sts) == []
    unfrozen = stale_cells(manifest=None, embedder_identity="x", cells=sts.jobs()[:1], store_root=sts.store)
    assert unfrozen == ["none/original/0"]


def test_neither_staleness_nor_scoring_loads_a_model_library(sts: Chain) -> None:
    sts.add()
    sts.embed()
    program = f"""
import sys
from pathlib import Path
import json
from stressbed.paths import Cell
from stressbed.score.run import CellJob, score_cells, stale_cells
root = Path({str(sts.root)!r})
folder = root / "datasets" / "made-sts"
manifest = json.loads((folder / "manifest.json").read_text())
place = Path("random", "made-sts", "none", "original", "0.json")
out = root / "scores" / place
given = {{
    "manifest": manifest, "embedder_identity": {sts.identity!r}, "store_root": root / ".store",
    "cells": [CellJob(Cell.of_path(out), root / "embeddings" / place, None, out)],
}}
assert stale_cells(**given) == ["none/original/0"]
assert not {{"torch", "mteb", "datasets", "sklearn"}} & set(sys.modules)
import pandas
from stressbed.config.entries import EmbedderEntry
stats = score_cells(
    **given, dataset_folder=folder, texts=pandas.read_parquet(folder / "texts.parquet"),
    entry=EmbedderEntry(id="random", backend="random", model="random"),
)
assert stale_cells(**given) == []
assert stats.ok == 1
assert not {{"sentence_transformers", "vllm"}} & set(sys.modules)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "items",
    [
        [],
        [
            {"subset": "s", "ids": None, "values": [1.0, 0.1, 2e-9]},
            {"ids": ['a, "b"', "\u00e9"], "values": [-0.0]},
        ],
        [{"ids": [], "values": []}],
        [{"ids": ["with \0 inside"], "values": [1.0]}],
    ],
)
@pytest.mark.parametrize("error", ["", "a \0 in a text"])
def test_a_cells_file_is_what_json_writes(items: list[Any], error: str) -> None:
    record = {"error": error, "items": items, "fingerprint": None}
    assert written(record) == json.dumps(record, indent=1) + "\n"


def test_a_record_with_the_mark_of_lists_in_a_text_is_written_whole_and_never_with_nan():
    items = [{"subset": "default", "ids": None, "values": [0.5, 0.25]}]
    record = {"error": _PLACE, "score": 1.0, "items": items}
    assert json.loads(written(record)) == record
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(record | {"score": math.nan})


@pytest.mark.parametrize("error", ["", "a \0 in a text"])
def test_a_cells_file_holds_no_nan(error: str) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        written({"error": error, "items": [{"values": [0.5, float("nan")]}]})


def test_a_cell_names_the_commit_that_computed_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "src" / "stressbed"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.setattr("stressbed.__file__", str(package / "__init__.py"))
    assert "commit" not in provenance.versions.__wrapped__()

    def git(*words: str) -> str:
        me = ("-c", "user.name=me", "-c", "user.email=me@here")
        return subprocess.run(
            ["git", *me, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    git("add", "src")
    git("commit", "-q", "-m", "first")
    git("tag", "-a", "v1", "-m", "a name that is not taken")
    commit = git("rev-parse", "HEAD").strip()
    assert len(commit) == 40
    assert provenance.versions.__wrapped__()["commit"] == commit
    (package / "__init__.py").write_text("changed")
    assert provenance.versions.__wrapped__()["commit"] == f"{commit}+"
    (tmp_path / "src" / "COMMIT").write_text("of the copy")
    assert provenance.versions.__wrapped__()["commit"] == "of the copy"
