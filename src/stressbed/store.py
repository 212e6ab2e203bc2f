"""The content-addressed store under the cells (`results/.store`).

An entry is written once, atomically, under the hash of everything that decides it: that it
exists means that it is valid. A process that dies leaves at most a temporary file behind.
Every entry carries a checksum; a damaged one is an error that names the file, never a silent miss.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stressbed.errors import StoreError

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = b"stressbed-store-1 "


def write_atomic(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, flush it to disk, then rename it.

    Raises:
        OSError: The folder cannot be written or the disk is full; `path` is then untouched.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    tmp = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write(tmp)
        with tmp.open("rb") as f:
            os.fsync(f.fileno())
        tmp.replace(path)
    except OSError as e:
        if e.errno is not None and e.filename is None:
            e.filename = str(path)  # writing to an open file says what went wrong, but not where
        raise
    finally:
        tmp.unlink(missing_ok=True)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write bytes to `path` atomically."""
    write_atomic(path, lambda tmp: tmp.write_bytes(data))


def write_text(path: str | Path, text: str) -> None:
    """Write text to `path` atomically, as UTF-8."""
    write_bytes(path, text.encode("utf-8"))


@contextlib.contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Context in which a result that cannot be read becomes an error that names it.

    For files that a rule of the workflow makes: one that is not there is made anew.

    Raises:
        StoreError: The file is cut off, or not of its kind. That it is missing stays `FileNotFoundError`.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, OSError) as e:  # parsers' and Arrow's errors are ValueErrors
        raise StoreError(
            f"a file of the results is not readable: {' '.join(str(e).split()):.200}",
            where=str(path),
            do="delete this file and run again: it is made anew",
        ) from e


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the object in a JSON file of the results.

    Raises:
        StoreError: The file is damaged.
    """
    with reading(path):
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        if not isinstance(found, dict):
            raise ValueError("no JSON object")  # for `reading`
        return found


def read_parquet(path: str | Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return a Parquet file of the results, with its metadata.

    Args:
        path: The file.
        columns: Columns to read, all by default.

    Raises:
        StoreError: The file is damaged, or lacks a column.
    """
    import pyarrow.parquet as pq

    with reading(path):
        return pq.read_table(path, columns=None if columns is None else list(columns))


def write_parquet(path: str | Path, table: pa.Table, **options: Any) -> None:
    """Write a table to `path` atomically, as Parquet, with its metadata.

    Args:
        path: The file.
        table: The table.
        options: Of `pyarrow.parquet.write_table`.
    """
    import pyarrow.parquet as pq

    write_atomic(path, lambda tmp: pq.write_table(table, tmp, **options))


def metadata_of(schema: pa.Schema) -> dict[str, str]:
    """Return what a Parquet file says about itself, by name; nothing is an empty mapping."""
    return {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}


def seal(payload: bytes) -> bytes:
    """Return the payload with a checksum in front."""
    return MAGIC + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload


def unseal(data: bytes, path: Path) -> bytes:
    """Return the payload of a sealed file.

    Raises:
        StoreError: The checksum does not fit: the entry is damaged.
    """
    head, _, payload = data.partition(b"\n")
    if head != MAGIC + hashlib.sha256(payload).hexdigest().encode():
        raise StoreError(
            "a store entry is damaged: its checksum does not fit its content",
            where=str(path),
            do="delete this file and run again; what it held is made anew",
        )
    return payload


class Store:
    """Small objects by kind and key (a hash); larger collections have folders of their own."""

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def path(self, kind: str, key: str) -> Path:
        """Return where the object lies or would lie."""
        return self.root / kind / key[:2] / key

    def has(self, kind: str, key: str) -> bool:
        """Return whether the object is there."""
        return self.path(kind, key).is_file()

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the object's bytes, or None if it is not there.

        Raises:
            StoreError: The entry is damaged.
        """
        path = self.path(kind, key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        return unseal(data, path)

    def put(self, kind: str, key: str, payload: bytes) -> None:
        """Write the object under its key, atomically."""
        write_bytes(self.path(kind, key), seal(payload))

    def keys(self, kind: str) -> Iterator[str]:
        """Yield the keys of all objects of a kind."""
        for path in sorted((self.root / kind).glob("??/*")):
            if not path.name.startswith("."):
                yield path.name
