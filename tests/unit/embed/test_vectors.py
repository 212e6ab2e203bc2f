"""The store of vectors: order, damage, concurrency, resumption, scale."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stressbed.embed.vectors import VectorStore, vector_key
from stressbed.errors import EmbedError, StoreError


def keys_of(n: int, start: int = 0) -> list[str]:
    return [vector_key("", "none", f"text {i}") for i in range(start, start + n)]


def rows_of(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def test_key_keeps_its_parts_apart() -> None:
    assert len({vector_key("a", "b", "c"), vector_key("ab", "", "c"), vector_key("", "ab", "c")}) == 3
    assert vector_key("query: ", "query", "x") != vector_key("query: ", "document", "x")
    # Vectors that earlier runs stored are found again.
    assert vector_key("query: ", "query", "x") == "011a321bbe532ab63ce229e1fe801a4d"


def test_vectors_come_back_in_the_order_asked(tmp_path: Path) -> None:
    keys, rows = keys_of(50), rows_of(50)
    store = VectorStore(tmp_path, "id")
    store.put_chunk(keys[:20], rows[:20])
    store.put_chunk(keys[20:], rows[20:])
    order = [*np.random.default_rng(1).permutation(50).tolist(), 3, 3]
    for s in (store, VectorStore.open_for({"embedder_identity": "id", "fitted_on": ""}, tmp_path)):
        assert s.get_many([keys[i] for i in order]).tobytes() == rows[order].tobytes()
        assert len(s) == 50
        assert s.dimension == 3


def test_absent_keys_are_known_as_absent(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "id")
    assert store.has(keys_of(2)).tolist() == [False, False]
    store.put_chunk(keys_of(2), rows_of(2))
    assert store.has(keys_of(4)).tolist() == [True, True, False, False]
    assert store.index(keys_of(1, start=3)).tolist() == [-1]
    with pytest.raises(StoreError, match="1 of 3 vectors are not in the store"):
        store.get_many(keys_of(3))


def test_fits_have_stores_of_their_own(tmp_path: Path) -> None:
    VectorStore(tmp_path, "id", "fit-a").put_chunk(keys_of(1), rows_of(1))
    assert not VectorStore(tmp_path, "id", "fit-b").has(keys_of(1)).any()
    assert not VectorStore(tmp_path, "id").has(keys_of(1)).any()
    assert (
        VectorStore.open_for({"embedder_identity": "id", "fitted_on": "fit-a"}, tmp_path)
        .has(keys_of(1))
        .all()
    )


def test_rows_without_keys_do_not_count(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "id")
    store.put_chunk(keys_of(2), rows_of(2))
    next(store.folder.glob("*.keys")).unlink()
    assert len(VectorStore(tmp_path, "id")) == 0


@pytest.mark.parametrize("suffix", [".npy", ".keys"])
@pytest.mark.parametrize("place", [-1, 100])
def test_a_flipped_byte_is_an_error_that_names_file_and_remedy(
    tmp_path: Path, suffix: str, place: int
) -> None:
    VectorStore(tmp_path, "id").put_chunk(keys_of(5), rows_of(5))
    path = next((tmp_path / "vectors" / "id").glob(f"*{suffix}"))
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError) as e:
        VectorStore(tmp_path, "id").get_many(keys_of(5))
    assert str(path) in str(e.value)
    assert "delete this file" in e.value.do


def test_lost_rows_are_an_error(tmp_path: Path) -> None:
    VectorStore(tmp_path, "id").put_chunk(keys_of(5), rows_of(5))
    next((tmp_path / "vectors" / "id").glob("*.npy")).unlink()
    with pytest.raises(StoreError, match="rows of a chunk of vectors are gone"):
        VectorStore(tmp_path, "id").get_many(keys_of(1))


def test_pickled_rows_are_never_loaded(tmp_path: Path) -> None:
    from stressbed.embed.vectors import _Chunk, _map_rows
    from stressbed.fingerprint import file_digest

    path = tmp_path / "x.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Python objects"):
        _map_rows(_Chunk(path, np.array([b"k"]), 1, file_digest(path)))


@pytest.mark.parametrize(
    ("keys", "rows", "message"),
    [
        (keys_of(2), rows_of(3), "2 keys came with vectors"),
        (keys_of(1) * 2, rows_of(2), "comes twice"),
        (["short"], rows_of(1), "32 digits"),
        ([*keys_of(1), "short"], rows_of(2), "32 digits"),
        (keys_of(1), rows_of(1, 4), "4 dimensions"),
        (keys_of(1), np.full((1, 3), np.nan, np.float32), "NaN"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, keys: list[str], rows: np.ndarray, message: str
) -> None:
    store = VectorStore(tmp_path, "id")
    store.put_chunk(keys_of(1, start=9), rows_of(1))
    with pytest.raises(EmbedError, match=message):
        store.put_chunk(keys, rows)
    assert len(VectorStore(tmp_path, "id")) == 1


@pytest.mark.parametrize("density", [0.0, 0.01, 0.5])
def test_rows_of_words_take_little_room_and_come_back_exactly(tmp_path: Path, density: float) -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((40, 500)) * (rng.random((40, 500)) < density)).astype(np.float32)
    VectorStore(tmp_path, "id").put_chunk(keys_of(40), rows)
    store = VectorStore(tmp_path, "id")
    assert store.get_many(keys_of(40)[::-1]).tobytes() == rows[::-1].tobytes()
    assert store.dimension == 500
    size = sum(p.stat().st_size for p in store.folder.iterdir())
    assert (size < rows.nbytes / 10) == (density < 0.25)


def _write(root: Path, seed: int) -> None:
    store = VectorStore(root, "id")
    for i in range(0, 40, 10):
        store.put_chunk(keys_of(10, i), rows_of(10, seed=seed))


def test_two_writers_of_the_same_keys_leave_one_readable_answer(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    jobs = [context.Process(target=_write, args=(tmp_path, seed)) for seed in (0, 1)]
    for j in jobs:
        j.start()
    for j in jobs:
        j.join()
    assert [j.exitcode for j in jobs] == [0, 0]
    first, second = (VectorStore(tmp_path, "id").get_many(keys_of(40)) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    choices = [np.tile(rows_of(10, seed=s), (4, 1)) for s in (0, 1)]
    same = [(first == c).all(axis=1) for c in choices]
    assert (same[0] ^ same[1]).all()


def test_refresh_sees_what_others_wrote(tmp_path: Path) -> None:
    mine, other = VectorStore(tmp_path, "id"), VectorStore(tmp_path, "id")
    other.put_chunk(keys_of(2), rows_of(2))
    assert not mine.has(keys_of(2)).any()
    mine.refresh()
    assert mine.has(keys_of(2)).all()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=5), unique=True, max_size=30), st.integers(1, 7))
def test_store_behaves_like_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], size: int
) -> None:
    root = tmp_path_factory.mktemp("store")
    keys = [vector_key("", "none", t) for t in texts]
    rows = rows_of(len(keys))
    expected = dict(zip(keys, rows, strict=True))
    store = VectorStore(root, "id")
    for i in range(0, len(keys), size):
        store.put_chunk(keys[i : i + size], rows[i : i + size])
    found = store.get_many(keys[::-1])
    assert all((expected[k] == v).all() for k, v in zip(keys[::-1], found, strict=True))


def test_a_million_keys_are_looked_up_in_seconds(tmp_path: Path) -> None:
    import time

    rng = np.random.default_rng(0)
    store = VectorStore(tmp_path, "id")
    for _ in range(4):
        raw = rng.bytes(16 * 250_000).hex()
        store.put_chunk([raw[i : i + 32] for i in range(0, len(raw), 32)], np.zeros((250_000, 1), np.float32))
    start = time.perf_counter()
    reopened = VectorStore(tmp_path, "id")
    assert len(reopened) == 1_000_000
    assert reopened.has([raw[i : i + 32] for i in range(0, 3_200_000, 32)]).all()
    assert time.perf_counter() - start < 20
