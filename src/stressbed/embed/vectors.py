"""The store of vectors: chunks of rows under `.store/vectors/`, found by the hash of what was embedded.

A chunk is two files. `NAME.npy` holds the rows (`NAME.npz`, where most numbers are zero), `NAME.keys` their
keys and the checksum of the rows.
The keys are written last, so a chunk whose keys are there is complete. A chunk is named by its content:
two jobs that store the same strings at once either write the same files or two chunks that
are both valid; of equal keys the chunk that comes first by name is read, always.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stressbed.embed.sparse_rows import SparseRows, is_sparse
from stressbed.errors import EmbedError, StoreError
from stressbed.fingerprint import LENGTH, file_digest, text_digest
from stressbed.store import seal, unseal, write_atomic, write_bytes

KEY_DTYPE = np.dtype(f"S{LENGTH}")
"""A key as fixed-width ASCII: sortable and searchable by numpy without Python objects."""

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def vector_key(context: str, role: str, string: str) -> str:
    """Return the key of a vector.

    Args:
        context: The instruction, or whatever else the embedder lets decide a vector (`Embedder.context`).
        role: `query`, `document` or `none`.
        string: The string as mteb hands it over, before any instruction is put in front.
    """
    return text_digest(context, role, string)


@dataclass(frozen=True)
class _Chunk:
    """One chunk: where its rows are, and what the keys file says of them."""

    path: Path
    keys: NDArray[np.bytes_]
    dimension: int
    checksum: str


class VectorStore:
    """The vectors of one embedder, by key.

    A store sees what was there when it was opened, what it wrote itself, and after
    `refresh` what other processes wrote since. Lookups cost one binary search per key.

    Args:
        store_root: Folder of the store (`results/.store`).
        embedder_identity: Hash of what decides the embedder's vectors.
        fitted_on: Hash of the texts that the embedder was fitted on, for those that are.
    """

    def __init__(self, store_root: str | Path, embedder_identity: str, fitted_on: str | None = None) -> None:
        name = f"{embedder_identity}-{fitted_on}" if fitted_on else embedder_identity
        self.folder = Path(store_root) / "vectors" / name
        self._chunks: dict[str, _Chunk] = {}
        self._rows: dict[str, Floats | SparseRows] = {}
        self._index: tuple[NDArray[np.bytes_], Ints, list[_Chunk], Ints] | None = None
        self.refresh()

    @classmethod
    def open_for(cls, manifest: Mapping[str, Any], store_root: str | Path) -> VectorStore:
        """Return the store that holds the vectors of an embedding manifest.

        Args:
            manifest: Content of `embeddings/{embedder}/{dataset}/{variant}.json`.
            store_root: Folder of the store (`results/.store`).
        """
        return cls(store_root, manifest["embedder_identity"], manifest.get("fitted_on") or None)

    @property
    def dimension(self) -> int | None:
        """Size of the vectors, None while there are none."""
        return next((c.dimension for c in self._chunks.values()), None)

    def __len__(self) -> int:
        """Return the number of different keys."""
        return len(self._tables()[0])

    def refresh(self) -> None:
        """Take in the chunks that were written since.

        Raises:
            StoreError: A keys file is damaged.
        """
        if not self.folder.is_dir():
            return
        for path in sorted(self.folder.glob("*.keys")):
            if path.stem not in self._chunks and not path.name.startswith("."):
                self._add(_read_keys(path))

    def index(self, keys: Sequence[str] | NDArray[np.bytes_]) -> Ints:
        """Return the position of each key, shape (n,), to be used with `rows`; -1 where it is not stored."""
        wanted = np.asarray(keys, dtype=KEY_DTYPE)
        known, positions, _, _ = self._tables()
        if not len(known) or not len(wanted):
            return np.full(len(wanted), -1)
        at = np.searchsorted(known, wanted)
        at[at == len(known)] = 0
        return np.where(known[at] == wanted, positions[at], -1)

    def has(self, keys: Sequence[str] | NDArray[np.bytes_]) -> Bools:
        """Return whether each key is stored, shape (n,)."""
        return self.index(keys) >= 0

    def rows(self, positions: Ints) -> Floats:
        """Return the vectors at positions that `index` gave, shape (n, d).

        Raises:
            StoreError: A chunk is damaged, or its rows are gone.
        """
        _, _, chunks, starts = self._tables()
        out = np.empty((len(positions), self.dimension or 0), dtype=np.float32)
        owner = np.searchsorted(starts, positions, side="right") - 1
        for number in np.unique(owner):
            mine = np.flatnonzero(owner == number)
            out[mine] = self._load(chunks[number])[positions[mine] - starts[number]]
        return out

    def get_many(self, keys: Sequence[str] | NDArray[np.bytes_]) -> Floats:
        """Return the vectors of keys in their order, shape (n, d), float32.

        Raises:
            StoreError: A vector is not stored, or a chunk is damaged.
        """
        positions = self.index(keys)
        missing = np.flatnonzero(positions < 0)
        if len(missing):
            first = np.asarray(keys, dtype=KEY_DTYPE)[missing[0]].decode()
            raise StoreError(
                f"{len(missing)} of {len(positions)} vectors are not in the store, the first under {first}",
                where=str(self.folder),
                do="delete the embedding manifests that name these vectors and run again: they are made anew",
            )
        return self.rows(positions)

    def put_chunk(self, keys: Sequence[str], vectors: Floats) -> None:
        """Store rows under their keys: the rows first, then the keys, each atomically.

        Args:
            keys: n different keys.
            vectors: Shape (n, d), finite.

        Raises:
            EmbedError: Keys and vectors do not fit together, or not to what is stored.
            OSError: The folder cannot be written or the disk is full.
        """
        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        _check(keys, vectors, self.dimension, self.folder)
        if not len(keys):
            return
        packed = np.asarray(keys, dtype=KEY_DTYPE)
        name = hashlib.sha256(packed.tobytes() + vectors.tobytes()).hexdigest()[:LENGTH]
        if name in self._chunks:
            return
        path = self.folder / f"{name}{'.npz' if is_sparse(vectors) else '.npy'}"
        write_atomic(path, lambda tmp: _save(tmp, vectors))
        chunk = _Chunk(path, packed, vectors.shape[1], file_digest(path))
        write_bytes(path.with_suffix(".keys"), seal(_pack(chunk)))
        self._add(chunk)

    def _add(self, chunk: _Chunk) -> None:
        if self.dimension not in (None, chunk.dimension):
            raise StoreError(
                f"vectors of {chunk.dimension} and of {self.dimension} dimensions lie in one store",
                where=str(chunk.path),
                do=f"delete the folder {self.folder} and run again; its vectors are made anew",
            )
        self._chunks[chunk.path.stem] = chunk
        self._index = None

    def _tables(self) -> tuple[NDArray[np.bytes_], Ints, list[_Chunk], Ints]:
        """Return (sorted keys, position of each, chunks by name, position of each chunk's first row)."""
        if self._index is None:
            chunks = [self._chunks[name] for name in sorted(self._chunks)]
            sizes = np.array([len(c.keys) for c in chunks], dtype=np.int64)
            starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])[: len(chunks)]
            every = np.concatenate([c.keys for c in chunks]) if chunks else np.empty(0, dtype=KEY_DTYPE)
            known, first = np.unique(every, return_index=True)
            self._index = (known, first.astype(np.int64), chunks, starts)
        return self._index

    def _load(self, chunk: _Chunk) -> Floats | SparseRows:
        """Return a chunk's rows, dense ones as a memory map, after its checksum was compared once."""
        rows = self._rows.get(chunk.path.stem)
        if rows is None:
            rows = self._rows[chunk.path.stem] = _map_rows(chunk)
        return rows


def _save(path: Path, vectors: Floats) -> None:
    if is_sparse(vectors):
        SparseRows.of(vectors).save(path)
        return
    whole = io.BytesIO()
    np.save(whole, vectors, allow_pickle=False)
    path.write_bytes(whole.getbuffer())  # np.save itself would hide which error a full disk gave


def _pack(chunk: _Chunk) -> bytes:
    head = {
        "file": chunk.path.name,
        "rows": len(chunk.keys),
        "dimension": chunk.dimension,
        "checksum": chunk.checksum,
    }
    return json.dumps(head).encode() + b"\n" + chunk.keys.tobytes()


def _read_keys(path: Path) -> _Chunk:
    head, _, body = unseal(path.read_bytes(), path).partition(b"\n")
    facts = json.loads(head)
    keys = np.frombuffer(body, dtype=KEY_DTYPE)
    return _Chunk(path.with_name(facts["file"]), keys, int(facts["dimension"]), str(facts["checksum"]))


def _map_rows(chunk: _Chunk) -> Floats | SparseRows:
    if not chunk.path.is_file():
        raise StoreError(
            "the rows of a chunk of vectors are gone, only their keys are left",
            where=str(chunk.path),
            do=f"delete {chunk.path.with_suffix('.keys')} and the embedding manifests of this embedder, "
            "then run again; only these vectors are made anew",
        )
    if file_digest(chunk.path) != chunk.checksum:
        raise StoreError(
            "a chunk of vectors is damaged: its checksum does not fit its content",
            where=str(chunk.path),
            do=f"delete this file, {chunk.path.with_suffix('.keys')} and the embedding manifests of this "
            "embedder, then run again; only these vectors are made anew",
        )
    if chunk.path.suffix == ".npz":
        return SparseRows.load(chunk.path)
    rows: Floats = np.load(chunk.path, mmap_mode="r", allow_pickle=False)
    return rows


def _check(keys: Sequence[str], vectors: Floats, dimension: int | None, folder: Path) -> None:
    problem = ""
    if vectors.ndim != 2 or len(vectors) != len(keys):
        problem = f"{len(keys)} keys came with vectors of shape {vectors.shape}"
    elif len(set(keys)) != len(keys):
        problem = "a key comes twice in one chunk"
    elif any(len(k) != LENGTH for k in keys):
        problem = f"a key does not have {LENGTH} digits"
    elif len(keys) and dimension not in (None, vectors.shape[1]):
        problem = f"vectors of {vectors.shape[1]} dimensions came to a store of {dimension}"
    elif not np.isfinite(vectors).all():
        problem = "a vector holds NaN or an infinity"
    if problem:
        raise EmbedError(
            problem, where=str(folder), allowed="n different keys and n finite vectors of one size"
        )
