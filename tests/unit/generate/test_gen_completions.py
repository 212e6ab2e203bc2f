"""The store of completions and of token counts."""

import multiprocessing
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.errors import StoreError
from stressbed.fingerprint import text_digest
from stressbed.generate import completions as module
from stressbed.generate.completions import CompletionStore
from stressbed.generate.request import Completion
from stressbed.generate.tokens import TokenCounts


def answer(i, text=None):
    return Completion(text_digest("key", str(i)), f"text {i}" if text is None else text, "stop", i, 2 * i)


def fill(folder, start, stop, size=5):
    store = CompletionStore(folder)
    for i in range(start, stop, size):
        store.put_batch([answer(j) for j in range(i, min(i + size, stop))])


def test_what_is_put_is_got(tmp_path):
    store = CompletionStore(tmp_path)
    assert store.get_many(["0" * 32]) == {}
    fill(tmp_path, 0, 23)
    wanted = [answer(i).key for i in (22, 3, 17)]
    found = store.get_many([*wanted, "f" * 32, wanted[0]])
    assert list(found) == wanted
    assert found[wanted[1]] == answer(3)
    fill(tmp_path, 23, 30)  # by another store object: seen at the next look
    assert store.get_many([answer(29).key]) == {answer(29).key: answer(29)}


@settings(deadline=None)
@given(text=st.text(st.characters(codec=None, categories=["L", "Cc", "Cs", "Zl", "Zp", "So"])))
def test_any_text_comes_back(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("store")
    CompletionStore(folder).put_batch([answer(1, text), answer(2, f"\n{text}\x00\ud800\u2028")])
    found = CompletionStore(folder).get_many([answer(1).key, answer(2).key])
    assert found[answer(1).key].text == text
    assert found[answer(2).key].text == f"\n{text}\x00\ud800\u2028"


def test_damage_is_an_error_that_names_the_file(tmp_path):
    fill(tmp_path, 0, 5)
    (batch,) = (tmp_path / "batches").iterdir()
    data = bytearray(batch.read_bytes())
    data[-10] ^= 1
    batch.write_bytes(data)
    with pytest.raises(StoreError, match="delete this file") as e:
        CompletionStore(tmp_path).get_many([answer(0).key])
    assert e.value.where == str(batch)
    batch.unlink()
    assert CompletionStore(tmp_path).get_many([answer(0).key]) == {}


def test_half_written_files_are_ignored(tmp_path):
    fill(tmp_path, 0, 5)
    (tmp_path / "batches" / f".{'a' * 32}.123.tmp").write_bytes(b"stressbed-store-1 half")
    assert len(CompletionStore(tmp_path).get_many([answer(i).key for i in range(5)])) == 5


def test_the_index_is_used_and_may_be_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOOSE", 4)
    fill(tmp_path, 0, 50)
    keys = [answer(i).key for i in range(50)]
    first = CompletionStore(tmp_path).get_many(keys)
    (index,) = (tmp_path / "index").iterdir()
    assert index.name.startswith("10-")

    fill(tmp_path, 50, 60)  # two more batches stay loose beside the index
    scanned = []
    scan = CompletionStore._scan
    monkeypatch.setattr(CompletionStore, "_scan", lambda *a: scanned.append(a[1]) or scan(*a))
    again = CompletionStore(tmp_path).get_many([*keys, answer(55).key])
    assert len(scanned) == 2
    assert {k: again[k] for k in keys} == first
    assert again[answer(55).key] == answer(55)
    index.unlink()
    assert CompletionStore(tmp_path).get_many(keys) == first


def test_a_deleted_batch_is_missing_though_indexed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOOSE", 1)
    fill(tmp_path, 0, 20)
    keys = [answer(i).key for i in range(20)]
    store = CompletionStore(tmp_path)
    assert len(store.get_many(keys)) == 20
    gone = next((tmp_path / "batches").iterdir())
    gone.unlink()
    for one in (store, CompletionStore(tmp_path)):
        assert len(one.get_many(keys)) == 15
    fill(tmp_path, 20, 30)
    assert len(CompletionStore(tmp_path).get_many([answer(i).key for i in range(30)])) == 25


def test_a_damaged_index_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOOSE", 1)
    fill(tmp_path, 0, 5)
    CompletionStore(tmp_path).get_many([answer(0).key])
    (index,) = (tmp_path / "index").iterdir()
    index.write_bytes(index.read_bytes()[:-3])
    with pytest.raises(StoreError) as e:
        CompletionStore(tmp_path).get_many([answer(0).key])
    assert e.value.where == str(index)


def test_keys_that_share_half_their_bits_stay_apart(tmp_path):
    a, b = "ab" * 8 + "00" * 8, "ab" * 8 + "ff" * 8
    store = CompletionStore(tmp_path)
    store.put_batch([Completion(b, "b", "stop", 1, 1), Completion(a, "a", "stop", 1, 1)])
    assert {k: c.text for k, c in store.get_many([a, b, "ab" * 16]).items()} == {a: "a", b: "b"}


def test_jobs_may_write_to_one_folder_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    jobs = [context.Process(target=fill, args=(tmp_path, k * 40, k * 40 + 60, 3)) for k in range(4)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
        assert job.exitcode == 0
    found = CompletionStore(tmp_path).get_many([answer(i).key for i in range(180)])
    assert found == {answer(i).key: answer(i) for i in range(180)}


@pytest.mark.slow
def test_a_hundred_thousand_of_a_million(tmp_path):
    for i in range(0, 1_000_000, 1000):
        CompletionStore(tmp_path).put_batch([answer(j) for j in range(i, i + 1000)])
    CompletionStore(tmp_path).get_many([answer(0).key])  # writes the index
    keys = [answer(i).key for i in range(0, 1_000_000, 10)]
    started = time.process_time()
    found = CompletionStore(tmp_path).get_many(keys)
    seconds = time.process_time() - started
    print(f"100,000 of 1,000,000 completions in {seconds:.2f} s of CPU time")
    assert found[keys[77]] == answer(770)
    assert len(found) == 100_000
    assert seconds < 4


def test_token_counts_are_kept(tmp_path):
    asked = []

    def count(texts):
        asked.extend(texts)
        return [len(t) for t in texts]

    texts = ["", "a", "bb", "a", "x" * 500, "\ud800"]
    assert TokenCounts(tmp_path, count)(texts) == [0, 1, 2, 1, 500, 1]
    assert len(asked) == 5
    many = [f"text {i}" for i in range(2000)]  # some of their hashes end with a zero byte
    TokenCounts(tmp_path, count)(many)
    asked.clear()
    assert TokenCounts(tmp_path, count)([*many, "bb", "new"]) == [*map(len, many), 2, 3]
    assert asked == ["new"]


def test_damaged_token_counts_are_an_error(tmp_path):
    TokenCounts(tmp_path, lambda texts: [1 for _ in texts])(["a"])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(StoreError) as e:
        TokenCounts(tmp_path, lambda texts: [1 for _ in texts])(["a"])
    assert e.value.where == str(path)
