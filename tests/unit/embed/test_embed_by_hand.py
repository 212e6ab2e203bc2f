"""Vectors and counts of the embed stage beside plain arithmetic, cut-offs from both sides."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from stressbed import embed
from stressbed.embed import probe
from stressbed.embed.embedders import open_embedder
from stressbed.embed.embedders.common import EntryEmbedder, normalise
from stressbed.embed.embedders.transformer import _tell_of_prompts as tell_of_prompts
from stressbed.embed.encode import Item
from stressbed.embed.encode import _checked as checked
from stressbed.embed.instructions import instruction_for
from stressbed.embed.sparse_rows import SparseRows, is_sparse
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.errors import EmbedError
from stressbed.fingerprint import digest, text_digest

DOCUMENTS = ["red fish blue fish", "one fish", "two birds sing a song of birds", "red birds", "a blue song"]
MANIFEST = {"dataset": "d", "task": "T", "task_type": "Retrieval", "languages": {"default": ["eng-Latn"]}}


def opened(entry, texts=DOCUMENTS):
    return open_embedder(entry, catalogue_folder=Path(), fit_texts=lambda: list(texts))


@pytest.mark.parametrize("columns", [None, 4])
def test_bm25_by_its_formula(entry_of, columns) -> None:
    """Every weight of every document: idf of the corpus, saturation, length; words without a column share."""
    entry = entry_of(
        "bm25",
        similarity="dot",
        instructions={"document": "red "},
        **({"dimensions": columns} if columns else {}),
    )
    split = [d.split() for d in DOCUMENTS]
    frequency = Counter(w for d in split for w in set(d))
    ranked = sorted(frequency, key=lambda w: (-frequency[w], w))[: columns or 16384]
    mean, n = sum(map(len, split)) / 5, 5
    asked = ["fish fish sing", "red unheard unheard", "birds of blue song"]
    expected = np.zeros((3, len(ranked) + 1024))
    for row, text in zip(expected, asked, strict=True):
        words = ["red", *text.split()]
        for word, count in Counter(words).items():
            df = frequency.get(word, 0)
            idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
            place = ranked.index(word) if word in ranked else len(ranked) + zlib.crc32(word.encode()) % 1024
            row[place] += idf * count / (count + 1.5 * (0.25 + 0.75 * len(words) / mean))
    model = opened(entry)
    assert model.encode(asked, role="document", manifest=MANIFEST) == pytest.approx(expected, abs=1e-6)
    query = model.encode(["fish fish red"], role="query", manifest=MANIFEST)[0]
    assert query[ranked.index("fish")] == 2
    assert query[: len(ranked)].sum() == 2 + ("red" in ranked)
    assert query.sum() == 3


def test_term_frequencies_lie_in_the_buckets_of_their_words(entry_of) -> None:
    for size in (2048, 5):
        entry = entry_of("tf", normalise=False, **({"dimensions": 5} if size == 5 else {}))
        found = opened(entry).encode(["red fish red", "one"], role="none", manifest=MANIFEST)
        expected = np.zeros((2, size))
        for row, text in zip(expected, ("red fish red", "one"), strict=True):
            for word in text.split():
                row[zlib.crc32(word.encode()) % size] += 1
        assert found.tolist() == expected.tolist()


def test_a_planted_vector_is_its_meaning_and_its_noise(entry_of) -> None:
    planted = {"noise": 0.5, "effects": {"expand": 0.75, "expand+sum": 0.25}, "not_english": 0.5}
    model = opened(entry_of("planted", planted=planted, dimensions=6))

    def drawn(*seed):
        generator = np.random.default_rng(int(text_digest("planted", *seed), 16))
        return generator.standard_normal(6) / math.sqrt(6)

    def expected(text, said, noise):
        meaning = sum(drawn("word", w) for w in said)
        whole = meaning / np.linalg.norm(meaning) + noise * drawn("noise", "planted", text)
        return whole / np.linalg.norm(whole)

    german = MANIFEST | {"languages": {"a": ["eng-Latn"], "b": ["deu-Latn"]}}
    for manifest, factor in ((MANIFEST, 1.0), (german, 0.5)):
        cases = {
            "Rain falls": 0.5, "rain falls @expand #1": 0.5 + factor * 0.75,
            "rain falls @expand #1 @sum #2": 0.5 + factor * 0.25, "rain falls @sum #2": 0.5,
        }  # fmt: skip
        vectors = model.encode(list(cases), role="none", manifest=manifest)
        for vector, (text, noise) in zip(vectors, cases.items(), strict=True):
            assert vector == pytest.approx(expected(text, ("rain", "falls"), noise), abs=1e-5)
        assert model.context("none", manifest) == f"{factor:g}"


def test_random_vectors_are_those_of_the_string_alone(entry_of) -> None:
    for settings, size in (({}, 64), ({"dimensions": 3}, 3)):
        found = opened(entry_of("random", **settings)).encode(["x", "y"], role="query", manifest=MANIFEST)
        for vector, string in zip(found, ("x", "y"), strict=True):
            seed = int(text_digest("random", string), 16)
            drawn = np.random.default_rng(seed).standard_normal(size)
            scale = np.linalg.norm(vector) / np.linalg.norm(drawn)
            assert vector == pytest.approx(drawn * scale, abs=1e-6)


@pytest.mark.filterwarnings("ignore:overflow")
def test_lengths_are_one_but_for_zeros() -> None:
    found = normalise(np.array([[3, 4], [0, 0], [1e-30, 0], [3e30, 4e30]], np.float32))
    assert found.tolist() == [pytest.approx(v) for v in ([0.6, 0.8], [0, 0], [1, 0], [0.6, 0.8])]
    assert found.dtype == np.float32


@pytest.mark.parametrize(("filled", "sparse"), [(2, False), (1, True), (0, True)])
def test_rows_are_sparse_below_a_quarter(filled, sparse) -> None:
    rows = np.zeros((2, 4), np.float32)
    rows.ravel()[:filled] = 1
    assert is_sparse(rows) == sparse
    assert not is_sparse(np.zeros((0, 4), np.float32))


def test_sparse_rows_come_back_in_any_order() -> None:
    rows = np.array([[0, 0, 5, 0, 0], [0] * 5, [1, 0, 0, 0, 2], [0, 3, 0, 0, 0]], np.float32)
    kept = SparseRows.of(rows)
    assert kept[np.array([3, 0, 2, 2, 1])].tolist() == rows[[3, 0, 2, 2, 1]].tolist()
    assert kept.dimension == 5


def keys(*names):
    return [text_digest(n) for n in names]


def test_rows_of_several_chunks_come_back_in_the_order_asked(tmp_path) -> None:
    store = VectorStore(tmp_path, "e")
    made = {n: np.array([i, i + 0.5, -i], np.float32) for i, n in enumerate("abcdefgh")}
    for part in ("abc", "d", "efgh"):
        store.put_chunk(keys(*part), np.stack([made[n] for n in part]))
    again = VectorStore(tmp_path, "e")
    for known in (store, again):
        assert len(known) == 8
        assert known.dimension == 3
        order = "hadgbfceah"
        assert known.get_many(keys(*order)).tolist() == [made[n].tolist() for n in order]
        assert known.has(keys("a", "z", "h")).tolist() == [True, False, True]
        assert known.index(keys("z")).tolist() == [-1]
        assert known.get_many([]).shape == (0, 3)


@pytest.mark.parametrize(
    ("available", "fits", "tried", "size"),
    [
        (1000, 1000, [8, 16, 32], 32), (31, 1000, [8, 16], 16), (32, 1000, [8, 16, 32], 32), (7, 1000, [], 4),
        (8, 1000, [8], 8), (1000, 16, [8, 16, 32], 16), (1000, 7, [8], 4),
    ],
)  # fmt: skip
def test_the_largest_batch_is_found_by_doubling(available, fits, tried, size) -> None:
    asked = []

    def encode(n):
        asked.append(n)
        if n > fits:
            raise MemoryError

    assert probe.largest(encode, start=4, available=available, where="x") == size
    assert asked == tried


@pytest.mark.parametrize(("seconds", "tried"), [(5.0, [8, 16, 32]), (5.1, [8])])
def test_a_slow_try_is_the_last(seconds, tried) -> None:
    asked, now = [], iter(np.arange(20) * seconds)
    assert (
        probe.largest(asked.append, start=4, available=99, where="x", clock=lambda: float(next(now)))
        == tried[-1]
    )
    assert asked == tried


@pytest.mark.parametrize(
    ("given", "role", "expected"),
    [
        ({"T:query": "1", "d:query": "2"}, "query", "2"), ({"T": "1", "Retrieval:query": "2"}, "query", "1"),
        ({"Retrieval": "1", "query": "2"}, "query", "1"), ({"query": "2"}, "document", ""),
        ({"T:query": "1", "T": "2"}, "document", "2"), ({"T:none": "1", "none": "2"}, "none", ""),
        ({"Retrieval:query": "1", "Retrieval": "2"}, "none", "2"),
    ],
)  # fmt: skip
def test_the_most_specific_instruction_counts(entry_of, given, role, expected) -> None:
    assert instruction_for(entry_of(instructions=given), MANIFEST, role) == expected


def test_what_a_job_did_is_counted(bench, entry_of) -> None:
    """Ten texts make four documents and two queries; a variant changes two documents, another one of them."""
    entry = entry_of("random")
    first = bench.run(entry, {"one": {0: "A dog", 2: "Birds"}})
    assert (first.strings_naive, first.unique, first.reused, first.encoded) == (12, 8, 0, 8)
    assert (first.dimension, first.peak_batch) == (64, 6)
    assert 0 < first.encode_seconds < first.seconds < 600
    second = bench.run(entry, {"one": {0: "A dog", 2: "Birds"}, "two": {0: "A dog", 2: "Dogs"}})
    assert (second.strings_naive, second.unique, second.reused, second.encoded) == (18, 8, 8, 0)
    assert (second.peak_batch, second.encode_seconds) == (0, 0)
    assert bench.record("one")["n_strings"] == 6
    assert bench.record("one")["keys_hash"] != bench.record()["keys_hash"]


def test_a_manifest_says_what_its_vectors_are_of(bench, entry_of, monkeypatch) -> None:
    """Every value; it names the keys by one hash, and itself by that of all that it says."""
    monkeypatch.setattr(embed, "VERSION", "7")
    bench.run(entry_of("tf", dimensions=9, instructions={"query": "Find: "}), {"one": {0: "A dog"}})
    strings = [("document", "A dog A cat sleeps."), ("document", "Dogs Dogs bark loudly.")]
    strings += [("document", "Rain It rains."), ("document", "Sun The sun shines.")]
    strings += [("query", "Which animal sleeps?"), ("query", "What falls from clouds?")]
    contexts = {"none": "", "query": "Find: ", "document": ""}
    expected = {
        "embedder": "tf", "embedder_identity": "id-tf", "fitted_on": "", "dataset": "small",
        "dataset_hash": "c0", "similarity": "cosine", "contexts": contexts, "dimension": 9,
        "stage_version": "7", "variant": "g/one/1", "n_strings": 6,
        "keys_hash": digest(sorted(vector_key(contexts[r], r, s) for r, s in strings)),
        "texts_hash": digest([[0, "A dog"]]),
    }  # fmt: skip
    assert bench.record("one") == expected | {"fingerprint": digest(expected)}
    assert bench.record()["texts_hash"] == ""


@pytest.mark.parametrize("shape", [(2, 4), (3, 0), (3,), (3, 4, 1)])
def test_vectors_of_another_shape_than_the_strings_are_refused(shape) -> None:
    batch = [Item("", "none", -1, text, "key") for text in "abc"]
    said = f"3 strings gave vectors of shape {re.escape(str(shape))}"
    with pytest.raises(EmbedError, match=said):
        checked(np.ones(shape), batch, "embedder e")
    assert checked(np.ones((3, 4)), batch, "embedder e").shape == (3, 4)


def test_vectors_become_float32_whatever_a_model_gives(entry_of) -> None:
    embedder = EntryEmbedder(entry_of("random"))
    for given in ([[1, 2]], np.ones((1, 2)), np.ones((1, 2), dtype=np.float16)):
        assert embedder.finish(given).dtype == np.float32


def test_the_embedder_is_named_where_its_similarity_is_not_known(entry_of) -> None:
    class Odd(EntryEmbedder):
        def _own_similarity(self):
            return "hamming"

    with pytest.raises(EmbedError, match=r"where: embedder 'odd'") as caught:
        _ = Odd(entry_of("random", id="odd")).similarity
    assert caught.value.where == "embedder 'odd'"


def test_a_model_without_any_prompts_is_not_warned_of(entry_of, caplog) -> None:
    tell_of_prompts(SimpleNamespace(prompts=None), entry_of("random"))
    tell_of_prompts(SimpleNamespace(), entry_of("random"))
    assert not caplog.records
    tell_of_prompts(SimpleNamespace(prompts={"query": "q: ", "document": ""}), entry_of("random"))
    assert "prompts for query, which" in caplog.text
