"""Vectors without a direction are counted and named; another main score scores nothing anew."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eq_chain import Chain
from eq_tasks import data_of

from stressbed.config.entries import EmbedderEntry
from stressbed.embed.embedders.baseline import RandomEmbedder
from stressbed.embed.embedders.sparse import TermFrequency

ENTRY = EmbedderEntry(id="emb", backend="random", model="random", dimensions=8)
WORDS = EmbedderEntry(id="words", backend="tf", model="tf", dimensions=64)


def scored(chain: Chain) -> Any:
    chain.embed()
    return chain.score()


def zeros_for(monkeypatch: pytest.MonkeyPatch, kind: Any, wanted: Any) -> None:
    """Let an embedder give zero vectors to some strings."""
    encode = kind.encode

    def with_zeros(self: Any, strings: Any, **more: Any) -> Any:
        vectors = encode(self, strings, **more)
        vectors[[i for i, s in enumerate(strings) if wanted(s)]] = 0
        return vectors

    monkeypatch.setattr(kind, "encode", with_zeros)


def test_an_embedder_that_gives_only_zeros_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros_for(monkeypatch, RandomEmbedder, lambda _: True)
    chain = Chain(tmp_path, "Classification", ENTRY)
    variant = chain.add()
    assert scored(chain).failed == 2
    for cell in (chain.cell(), chain.cell(variant)):
        assert (cell["status"], cell["score"], cell["items"]) == ("failed", None, [])
        assert cell["error"] == "default/test: every vector of emb is zero"
        assert cell["zero_vectors"] == cell["vectors"] > 100
        assert cell["subsets"][0]["metrics"]["accuracy"] > 0, "mteb's numbers stay"


def test_some_zero_vectors_are_counted_once_each_and_mtebs_number_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = data_of("STS")
    table = data["default"]["test"]
    gone = {table["sentence1"][0], table["sentence2"][4]}
    table["sentence1"][7] = table["sentence1"][0]  # the same text twice is one vector
    zeros_for(monkeypatch, RandomEmbedder, lambda s: s in gone)
    chain = Chain(tmp_path, "STS", ENTRY, data)
    scored(chain)
    cell = chain.cell()
    different = len({*table["sentence1"], *table["sentence2"]})
    assert (cell["status"], cell["zero_vectors"], cell["vectors"]) == ("ok", 2, different)
    (items,) = cell["items"]
    assert [items["values"][i] for i in (0, 4, 7)] == pytest.approx([0.5] * 3), "mteb's convention"


def test_a_rewrite_without_a_known_word_is_no_fault_of_a_lexical_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros_for(monkeypatch, TermFrequency, lambda s: s.startswith("Reportedly"))
    chain = Chain(tmp_path, "Classification", WORDS)
    variant = chain.add()
    scored(chain)
    original, cell = chain.cell(), chain.cell(variant)
    assert (original["status"], original["zero_vectors"]) == ("ok", 0)
    assert (cell["status"], cell["zero_vectors"]) == ("ok", cell["vectors"])
    assert cell["score"] == pytest.approx(cell["subsets"][0]["metrics"]["accuracy"] * 100)


OTHERS = {
    "STS": "euclidean_pearson", "Classification": "f1", "PairClassification": "dot_f1",
    "Retrieval": "mrr_at_10", "Reranking": "recall_at_5", "Summarization": "dot_pearson",
    "BitextMining": "accuracy", "Clustering": "v_measure",
    "MultilabelClassification": "lrap",
}  # fmt: skip


@pytest.mark.parametrize("kind", sorted(OTHERS))
def test_another_main_score_is_read_off_and_is_what_scoring_anew_gives(kind: str, tmp_path: Path) -> None:
    chain = Chain(tmp_path / "a", kind, ENTRY)
    variant = chain.add()
    assert scored(chain).computed == 2
    first = chain.cell(variant)
    chain.manifest["main_score"] = OTHERS[kind]
    stats = chain.score()
    assert (stats.computed, stats.reused) == (0, 2)
    read = chain.cell(variant)
    assert read["metric"] == OTHERS[kind]
    assert read["fingerprint"] == first["fingerprint"]
    assert read["score"] == first["subsets"][0]["metrics"][OTHERS[kind]] * 100
    assert read["subsets"][0]["metrics"]["main_score"] * 100 == read["score"]
    _set_main_score(chain)
    for path in (chain.store / "cells").rglob("*"):
        if path.is_file():
            path.unlink()
    assert chain.score().computed == 2
    anew = chain.cell(variant)
    for key in ("metric", "score", "subsets", "items", "n_items"):
        assert anew[key] == read[key]


def _set_main_score(chain: Chain) -> None:
    import json

    (chain.folder / "manifest.json").write_text(json.dumps(chain.manifest))


@pytest.mark.parametrize("kind", ["Classification", "Retrieval", "Reranking", "Summarization"])
def test_items_follow_the_main_score(kind: str, tmp_path: Path) -> None:
    chain = Chain(tmp_path, kind, ENTRY)
    scored(chain)
    chain.manifest["main_score"] = OTHERS[kind]
    chain.score()
    cell = chain.cell()
    (items,) = cell["items"]
    assert items["metric"] == OTHERS[kind]
    assert np.mean(items["values"]) * 100 == pytest.approx(cell["score"], abs=5e-4)


def test_a_main_score_that_mteb_does_not_give_is_an_error(tmp_path: Path) -> None:
    from stressbed.errors import ScoreError

    chain = Chain(tmp_path, "STS", ENTRY)
    scored(chain)
    chain.manifest["main_score"] = "dot_spearman"
    with pytest.raises(ScoreError, match=r"no score 'dot_spearman'[\s\S]*cosine_spearman"):
        chain.score()


def test_what_was_sent_decides_the_cell(tmp_path: Path) -> None:
    """Two entries with one content whose instructions differ by the dataset's id."""
    import json

    chain = Chain(tmp_path, "STS", ENTRY)
    scored(chain)
    first = chain.cell()["fingerprint"]
    (job,) = chain.jobs()
    manifest = json.loads(job.embedding.read_text())
    for key, other in (("contexts", {"none": "Sent: "}), ("similarity", "dot")):
        job.embedding.write_text(json.dumps(manifest | {key: other}))
        from stressbed.score.run import stale_cells

        given = {"embedder_identity": chain.identity, "cells": [job], "store_root": chain.store}
        assert stale_cells(manifest=chain.manifest, **given) == ["none/original/0"]
    assert first == chain.cell()["fingerprint"]
