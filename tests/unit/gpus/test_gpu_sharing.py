"""Batches shared over the GPUs of a job: order, equality with one copy, death of a worker, resumption."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_stubs import DyingEngine, SmallMemory, fake_engine, request

from stressbed.embed.embedders.sharded import ShardedEmbedder
from stressbed.embed.encode import Item, encode_missing
from stressbed.embed.vectors import VectorStore
from stressbed.errors import EmbedError, EngineError
from stressbed.generate.asking import LazyEngine, ask_once
from stressbed.generate.completions import CompletionStore
from stressbed.generate.engines.sharded import ShardedEngine
from stressbed.stopping import Stop

TEXTS = [f"{'word ' * (1 + i % 7)}number {i}" for i in range(11)]
KEYS = [f"k{i}" for i in range(11)]


def sharded(opening=fake_engine, *, n=2, size=1, devices=None):
    names = ["cpu"] * n if devices is None else devices
    return ShardedEngine(opening, gpus=n, size=size, where="generator 'fake'", visible=lambda: names)


def embedder(opening=SmallMemory, *, n=2):
    return ShardedEmbedder(opening, gpus=n, where="embedder 'e'", visible=lambda: ["cpu"] * n)


@pytest.mark.parametrize("n", [2, 3])
def test_answers_come_back_in_order_and_are_those_of_one_engine(n):
    engine, requests = sharded(n=n), [request(t) for t in TEXTS]
    expected = fake_engine().complete(requests, KEYS)
    assert engine.complete(requests, KEYS) == expected
    assert engine.complete(requests[:1], KEYS[:1]) == expected[:1]  # fewer requests than workers
    assert engine.complete(requests[5:], KEYS[5:]) == expected[5:]
    engine.close()


def test_tokens_are_counted_without_a_worker():
    engine = sharded(DyingEngine)
    assert engine.count_tokens(["two words"]) == [2]
    assert engine._workers is None


@pytest.mark.parametrize("devices", [[], ["0"]])
def test_one_device_or_none_needs_no_further_process(devices):
    engine = sharded(devices=devices)
    assert engine.complete([request("a b")], ["k"])[0].key == "k"
    assert engine._workers is None


def test_a_copy_over_several_devices_has_a_process_of_its_own():
    engine = sharded(devices=["0", "1"], size=2)
    assert engine.complete([request("a b")], ["k"]) == fake_engine().complete([request("a b")], ["k"])
    assert len(engine._workers) == 1
    engine.close()


def test_too_few_devices_for_a_copy_is_an_error():
    with pytest.raises(EngineError, match="spread over 2 GPUs, but the job sees 1"):
        sharded(devices=["0"], size=2).complete([request("a")], ["k"])


def test_a_worker_that_dies_fails_its_batch_and_what_was_finished_is_resumed(tmp_path):
    """The longest batch first: it is stored; the second one has a request that kills its worker."""
    requests = {f"{i:032x}": request(f"word {i}") for i in range(12)}
    lengths = {r.messages: 100 - i for i, r in enumerate(requests.values())}
    deadly = dict(requests) | {f"{7:032x}": request("die")}
    lengths[request("die").messages] = 93

    def ask(asked, opening, store):
        with_engine = LazyEngine(lambda: sharded(opening))
        try:
            return ask_once(
                asked, store=CompletionStore(store), engine=with_engine, stop=Stop(), batch_size=4,
                length=lambda r: lengths[r.messages], name="g",
            )  # fmt: skip
        finally:
            with_engine.close()

    with pytest.raises(EngineError, match=r"worker 2 of 2 \(device cpu\) died \(SIGKILL\)"):
        ask(deadly, DyingEngine, tmp_path)
    kept = CompletionStore(tmp_path).get_many(requests)
    assert sorted(kept) == [f"{i:032x}" for i in range(4)]
    answers, tally = ask(requests, fake_engine, tmp_path)
    assert (tally.reused, tally.sent, tally.batches) == (4, 8, 2)
    assert list(answers.values()) == fake_engine().complete(list(requests.values()), list(requests))


def test_vectors_come_back_in_order():
    shared = embedder(n=3)
    found = shared.encode(TEXTS, role="none", manifest={})
    np.testing.assert_array_equal(found, SmallMemory().encode(TEXTS, role="none", manifest={}))
    assert shared.encode(TEXTS[:1], role="none", manifest={}).shape == (1, 2)
    assert shared.strings_per_call == 3 * SmallMemory.strings_per_call
    shared.close()


def small() -> SmallMemory:
    return SmallMemory(most=3)


def none_at_all() -> SmallMemory:
    return SmallMemory(most=0)


def items(n):
    return [Item.of("", "none", f"{'x' * i}{i}", f"{i:032x}") for i in range(n)]


def test_memory_that_runs_out_in_a_worker_halves_the_batch(tmp_path):
    shared, store = embedder(small), VectorStore(tmp_path, "id", "")
    done = encode_missing(items(40), shared, manifest={}, store=store, where="e/d")
    assert (done.encoded, done.peak_batch) == (40, 4)  # 32, 16, 8, 4: two strings for each worker
    assert store.has([f"{i:032x}" for i in range(40)]).all()
    shared.close()


def test_a_single_string_that_is_too_much_is_named(tmp_path):
    shared = embedder(none_at_all)
    with pytest.raises(EmbedError, match="single string"):
        encode_missing(
            items(3), shared, manifest={}, store=VectorStore(tmp_path, "id", ""), where="e/d"
        )  # fmt: skip
    shared.close()
