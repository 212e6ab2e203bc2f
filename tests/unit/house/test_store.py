"""Store entries are written whole, found by key, and refused when damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stressbed.errors import DataError, Problems, StoreError
from stressbed.fingerprint import digest, text_digest, text_digests
from stressbed.store import Store, write_atomic, write_text

KEY = "ab" * 16


def test_what_is_put_is_found(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.get("cells", KEY) is None
    store.put("cells", KEY, b"payload\nwith lines")
    assert store.get("cells", KEY) == b"payload\nwith lines"
    assert list(store.keys("cells")) == [KEY]


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b + b"x", lambda b: b"", lambda b: b[5:]])
def test_a_damaged_entry_is_an_error_that_names_the_file(tmp_path: Path, damage) -> None:
    store = Store(tmp_path)
    store.put("cells", KEY, b"payload")
    path = store.path("cells", KEY)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StoreError, match=KEY):
        store.get("cells", KEY)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail(tmp: Path) -> None:
        tmp.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, fail)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_digest_ignores_key_order_and_nothing_else() -> None:
    assert digest({"a": 1, "b": [1, 2]}) == digest({"b": [1, 2], "a": 1})
    assert digest([1, 2]) != digest([2, 1])
    assert digest({"a": 1}) != digest({"a": "1"})
    with pytest.raises(ValueError, match="JSON"):
        digest(float("nan"))


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=4))
def test_digests_of_many_texts_are_those_of_each(shared: list[str], texts: list[str]) -> None:
    assert text_digests(shared, texts) == [text_digest(*shared, t) for t in texts]


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_text_digests_keep_parts_apart(a: list[str], b: list[str]) -> None:
    assert (text_digest(*a) == text_digest(*b)) == (a == b)


def test_lone_surrogates_have_a_digest() -> None:
    assert text_digest("\ud800") != text_digest("\udfff")


def test_errors_say_what_where_allowed_and_do() -> None:
    import pickle

    error = DataError("bad", where="row 3", allowed="good", do="mend it")
    assert str(error) == "bad\n  where: row 3\n  allowed: good\n  do: mend it"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    both = Problems([error, error])
    assert "2 problems found before any work started" in str(both)
    assert len(pickle.loads(pickle.dumps(both)).problems) == 2
