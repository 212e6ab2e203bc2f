"""The embed stage: everything once, nothing twice, and nothing lost when a job dies."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from typing import Any

import numpy as np
import pytest

from stressbed.embed import encode
from stressbed.embed.embedders.baseline import RandomEmbedder
from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.errors import EmbedError, StoppedError

CALLS: list[tuple[str, list[str]]] = []


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """What the random embedder is asked, batch by batch."""
    CALLS.clear()
    real = RandomEmbedder.encode

    def encode(self: Any, strings: list[str], *, role: str, manifest: Any) -> Any:
        CALLS.append((role, list(strings)))
        return real(self, strings, role=role, manifest=manifest)

    monkeypatch.setattr(RandomEmbedder, "encode", encode)
    return CALLS


def test_each_string_is_encoded_once(bench, entry_of, calls) -> None:
    stats = bench.run(entry_of(), {"a": {1: "A cat naps."}, "b": {1: "A cat naps.", 8: "Who naps?"}})
    asked = [(role, s) for role, strings in calls for s in strings]
    assert len(asked) == len(set(asked)) == stats.encoded == 8
    assert ("document", "A cat A cat naps.") in asked
    assert ("query", "Who naps?") in asked
    assert (stats.strings_naive, stats.unique, stats.reused, stats.dimension) == (18, 8, 0, 64)


def test_scoring_finds_every_vector_by_the_manifest(bench, entry_of) -> None:
    bench.run(entry_of("tf", instructions={"query": "query: "}), {"a": {8: "Who naps?"}})
    record = bench.record("a")
    store = VectorStore.open_for(record, bench.root / "store")
    keys = [
        vector_key(record["contexts"]["query"], "query", s) for s in ("Who naps?", "What falls from clouds?")
    ]
    assert record["contexts"] == {"none": "", "query": "query: ", "document": ""}
    assert store.get_many(keys).shape == (2, record["dimension"])
    assert not store.has([vector_key("", "query", "Who naps?")]).any()


def test_the_second_run_asks_nothing_and_writes_the_same(bench, entry_of, calls) -> None:
    variants = {"a": {1: "A cat naps."}}
    bench.run(entry_of(), variants)
    before = [p.read_bytes() for p in sorted((bench.root / "embeddings").rglob("*.json"))]
    calls.clear()
    stats = bench.run(entry_of(), variants)
    assert (calls, stats.encoded, stats.reused) == ([], 0, 7)
    assert [p.read_bytes() for p in sorted((bench.root / "embeddings").rglob("*.json"))] == before


def test_no_model_is_opened_when_nothing_is_missing(bench, entry_of) -> None:
    bench.run(entry_of("random"), embedder_identity="same")
    absent = entry_of("sentence-transformers", model="./no-such-folder", similarity="cosine")
    assert bench.run(absent, embedder_identity="same").encoded == 0
    with pytest.raises(EmbedError, match="folder does not exist"):
        bench.run(absent, embedder_identity="other")


def test_a_new_variant_adds_only_its_own(bench, entry_of, calls) -> None:
    bench.run(entry_of(), {"a": {1: "A cat naps."}})
    calls.clear()
    bench.run(entry_of(), {"a": {1: "A cat naps."}, "b": {9: "Water?"}})
    assert calls == [("query", ["Water?"])]


def test_an_instruction_is_part_of_the_key(bench, entry_of) -> None:
    first = bench.run(entry_of("tf"), embedder_identity="tf")
    assert (first.encoded, first.reused) == (6, 0)
    again = bench.run(entry_of("tf", instructions={"query": "find: "}), embedder_identity="tf")
    assert (again.encoded, again.reused) == (2, 4)


def test_manifests_name_what_decides_the_vectors(bench, entry_of) -> None:
    bench.run(entry_of(), {"a": {1: "x"}, "b": {1: "y"}})
    original, a, b = (bench.record(n) for n in ("original", "a", "b"))
    assert original["texts_hash"] == ""
    assert len({r["texts_hash"] for r in (original, a, b)}) == 3
    assert len({r["keys_hash"] for r in (original, a, b)}) == 3
    assert len({r["fingerprint"] for r in (original, a, b)}) == 3
    assert a["n_strings"] == 6
    assert a["embedder_identity"] == "id-random"


def test_batches_hold_strings_of_like_length_and_one_role(bench, entry_of, calls) -> None:
    stats = bench.run(entry_of(batch_size=2))
    lengths = [[len(s) for s in strings] for role, strings in calls if role == "document"]
    assert lengths == [[22, 19], [19, 14]]
    assert [role for role, _ in calls] == ["document", "document", "query"]
    assert stats.peak_batch == 2


class Limited:
    """An embedder whose memory holds `limit` strings."""

    def __init__(self, limit: int, error: Exception) -> None:
        self.limit, self.error, self.sizes = limit, error, []

    strings_per_call = 8
    fitted_on = ""

    def encode(self, strings: list[str], *, role: str, manifest: Any) -> np.ndarray:
        self.sizes.append(len(strings))
        if len(strings) > self.limit:
            raise self.error
        return np.ones((len(strings), 2), np.float32)


def items(n: int) -> list[encode.Item]:
    return [encode.Item.of("", "none", f"text {i}", vector_key("", "none", f"text {i}")) for i in range(n)]


OUT_OF_MEMORY = [
    MemoryError(),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:119] DefaultCPUAllocator: can't allocate memory: you tried"),
]


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=["python", "cuda", "cpu"])
def test_batches_are_halved_when_memory_runs_out(tmp_path, error) -> None:
    store = VectorStore(tmp_path, "id")
    model = Limited(3, error)
    done = encode.encode_missing(items(10), model, manifest={}, store=store, where="m/d")
    assert model.sizes == [8, 4, 2, 2, 2, 2, 2]
    assert (done.encoded, done.peak_batch) == (10, 2)
    assert store.has([i.key for i in items(10)]).all()


@pytest.mark.parametrize(
    ("most", "seconds", "chunks"), [(20, 99, [10]), (10, 99, [10]), (4, 99, [4, 4, 2]), (5, 99, [6, 4]),
                                    (20, -1, [2] * 5)],
)  # fmt: skip
def test_chunks_end_with_a_batch_when_they_are_full_or_old(
    tmp_path, monkeypatch, most, seconds, chunks
) -> None:
    monkeypatch.setattr(encode, "CHUNK", most)
    monkeypatch.setattr(encode, "CHUNK_SECONDS", seconds)
    store, sizes = VectorStore(tmp_path, "id"), []
    put = store.put_chunk
    monkeypatch.setattr(store, "put_chunk", lambda keys, rows: (sizes.append(len(keys)), put(keys, rows)))
    model = Limited(9, MemoryError())
    model.strings_per_call = 2
    encode.encode_missing(items(10), model, manifest={}, store=store, where="m/d")
    assert sizes == chunks


def test_larger_batches_are_tried_with_the_largest_group(tmp_path) -> None:
    """Three strings of one context, forty of another: sixteen at once fit."""
    model = Limited(16, MemoryError())
    two = [
        encode.Item.of(c, "none", f"{c} {i}", vector_key(c, "none", f"{c} {i}"))
        for c, n in (("a", 3), ("b", 40))
        for i in range(n)
    ]
    store = VectorStore(tmp_path, "id")
    done = encode.encode_missing(two, model, manifest={}, store=store, where="m/d", probing=True)
    assert model.sizes == [16, 32, 3, 16, 16, 8]
    assert (done.encoded, done.peak_batch, len(store)) == (43, 16, 43)


@pytest.mark.parametrize(
    ("size", "gpus", "probing"), [("auto", ["0"], True), ("auto", [], False), (4, ["0"], False)]
)
def test_larger_batches_are_tried_on_a_gpu_and_where_the_entry_leaves_it_open(
    bench, entry_of, monkeypatch, size, gpus, probing
) -> None:
    asked = []

    def watched(*given: Any, probing: bool, **more: Any) -> Any:
        asked.append(probing)
        return encode.encode_missing(*given, **more)

    monkeypatch.setattr("stressbed.devices.visible", lambda: gpus)
    monkeypatch.setattr("stressbed.embed.run.encode_missing", watched)
    bench.run(entry_of(batch_size=size))
    assert asked == [probing]


def test_one_string_too_many_is_an_error_that_names_it(tmp_path) -> None:
    store = VectorStore(tmp_path, "id")
    with pytest.raises(
        EmbedError, match=r"single string of 6 characters[\s\S]*m/d, string 'text 0'[\s\S]*max_length"
    ):
        encode.encode_missing(items(1), Limited(0, MemoryError()), manifest={}, store=store, where="m/d")


def test_real_memory_errors_of_torch_are_known(tmp_path) -> None:
    torch = pytest.importorskip("torch")

    class Greedy(Limited):
        def encode(self, strings, *, role, manifest):
            if len(strings) > 2:
                torch.empty(1 << 60, dtype=torch.uint8)
            return np.ones((len(strings), 2), np.float32)

    model = Greedy(0, MemoryError())
    assert (
        encode.encode_missing(
            items(8), model, manifest={}, store=VectorStore(tmp_path, "id"), where=""
        ).peak_batch
        == 2
    )


def test_other_errors_of_a_model_are_not_taken_for_memory(tmp_path) -> None:
    with pytest.raises(RuntimeError, match="size mismatch"):
        encode.encode_missing(
            items(4),
            Limited(0, RuntimeError("size mismatch")),
            manifest={},
            store=VectorStore(tmp_path, "id"),
            where="",
        )


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.array([[1, 2], [np.nan, 1]], np.float32), r"1 of 2 vectors hold NaN[\s\S]*cell[\s\S]*'text 1'"),
        (np.array([[np.inf, 2], [0, 1]], np.float32), r"1 of 2 vectors hold NaN[\s\S]*'text 0'"),
        (
            np.zeros((2, 0), np.float32),
            r"2 strings gave vectors of shape \(2, 0\)[\s\S]*where: cell, first string 'text 0'",
        ),
        (np.zeros((3, 4), np.float32), r"2 strings gave vectors of shape \(3, 4\)"),
        (np.zeros(2, np.float32), r"2 strings gave vectors of shape \(2,\)"),
    ],
)
def test_unusable_vectors_are_refused(tmp_path, vectors, message) -> None:
    class Broken(Limited):
        def encode(self, strings, *, role, manifest):
            return vectors

    store = VectorStore(tmp_path, "id")
    with pytest.raises(EmbedError, match=message):
        encode.encode_missing(items(2), Broken(9, MemoryError()), manifest={}, store=store, where="cell")
    assert len(store) == 0


def test_what_was_encoded_before_an_error_is_kept(bench, entry_of, monkeypatch, calls) -> None:
    counting = RandomEmbedder.encode

    def failing(self, strings, *, role, manifest):
        if len(CALLS) == 2:
            raise EmbedError("gone")
        return counting(self, strings, role=role, manifest=manifest)

    monkeypatch.setattr(RandomEmbedder, "encode", failing)
    with pytest.raises(EmbedError, match="gone"):
        bench.run(entry_of(batch_size=2))
    assert not (bench.root / "embeddings").exists()
    monkeypatch.setattr(RandomEmbedder, "encode", counting)
    calls.clear()
    assert bench.run(entry_of(batch_size=2)).reused == 4
    assert [role for role, _ in calls] == ["query"]


def _killed(bench: Any, entry: Any, number: int, after: int) -> None:
    real = RandomEmbedder.encode
    seen = [0]

    def encode_then_die(self: Any, strings: Any, **more: Any) -> Any:
        seen[0] += 1
        if seen[0] == after:
            os.kill(os.getpid(), number)
        return real(self, strings, **more)

    RandomEmbedder.encode = encode_then_die  # type: ignore[method-assign]
    encode.CHUNK = 1
    try:
        bench.run(entry)
    except StoppedError:
        sys.exit(143)


@pytest.mark.parametrize(("number", "code", "kept"), [(signal.SIGKILL, -9, 2), (signal.SIGTERM, 143, 3)])
def test_a_killed_job_goes_on_with_the_same_batches(bench, entry_of, calls, number, code, kept) -> None:
    entry = entry_of(batch_size=1)
    process = multiprocessing.get_context("fork").Process(target=_killed, args=(bench, entry, number, 3))
    process.start()
    process.join()
    assert process.exitcode == code
    stats = bench.run(entry)
    assert (stats.reused, stats.encoded) == (kept, 6 - kept)
    rest = list(calls)
    calls.clear()
    bench.run(entry, store_root=bench.root / "fresh")
    assert calls[kept:] == rest
    record = bench.record()
    keys = [vector_key("", role, s) for role, strings in calls for s in strings]
    first, second = (VectorStore.open_for(record, bench.root / s).get_many(keys) for s in ("store", "fresh"))
    assert first.tobytes() == second.tobytes()


def test_a_variant_without_a_transforms_file_is_an_error(bench, entry_of) -> None:
    from stressbed.paths import Variant

    with pytest.raises(EmbedError, match="no transforms file was given for the variant g/x/1"):
        bench.run(entry_of(), outputs={Variant("g", "x", 1): bench.root / "x.json"})


def test_fitted_embedders_keep_their_store_while_the_original_stays(bench, entry_of) -> None:
    entry = entry_of("tfidf-svd", dimensions=2)
    bench.run(entry, {"a": {1: "A cat naps."}})
    first = bench.record()["fitted_on"]
    assert first
    assert bench.record("a")["fitted_on"] == first
    bench.run(entry, {"b": {1: "A dog naps."}})
    assert bench.record()["fitted_on"] == first
    bench.texts.loc[1, "text"] = "A lion sleeps."
    stats = bench.run(entry)
    assert bench.record()["fitted_on"] != first
    assert stats.reused == 0


def test_a_task_that_an_embedder_cannot_do_is_refused(bench, entry_of) -> None:
    assert bench.run(entry_of("bm25", similarity="dot")).encoded == 6
    bench.manifest["task_type"] = "STS"
    with pytest.raises(EmbedError, match=r"not defined for STS[\s\S]*Reranking, Retrieval"):
        bench.run(entry_of("bm25", similarity="dot"))


def test_progress_and_signal_handler_leave_no_trace(bench, entry_of) -> None:
    before = signal.getsignal(signal.SIGTERM)
    bench.run(entry_of())
    assert signal.getsignal(signal.SIGTERM) is before
