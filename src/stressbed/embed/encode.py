"""Encoding what is missing: fixed batches, smaller ones when memory runs out, stored as it goes."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from tqdm import tqdm

from stressbed import devices, memory
from stressbed.embed import probe
from stressbed.embed.protocol import Embedder, Manifest
from stressbed.embed.vectors import Floats, VectorStore
from stressbed.errors import EmbedError
from stressbed.stopping import between_batches

log = logging.getLogger("stressbed")

CHUNK = 2048
"""Vectors of a chunk in the store, at most."""

CHUNK_SECONDS = 20.0
"""Seconds after which a chunk is stored even if it is not full: a killed job loses no more than that."""


@dataclass(frozen=True, order=True)
class Item:
    """A string to encode. Items sort by what they are encoded with, then the longest first.

    Attributes:
        context: What the embedder lets decide the vector besides role and string (`Embedder.context`).
        role: `query`, `document` or `none`.
        rank: Minus the string's characters.
        string: The string as mteb hands it over.
        key: Its vector's key in the store.
    """

    context: str
    role: str
    rank: int
    string: str
    key: str

    @classmethod
    def of(cls, context: str, role: str, string: str, key: str) -> Item:
        """Return the item of a string."""
        return cls(context, role, -len(string), string, key)


@dataclass(frozen=True)
class Encoded:
    """What encoding took: vectors, seconds within the embedder, largest batch that went through."""

    encoded: int
    seconds: float
    peak_batch: int


def encode_missing(
    items: Sequence[Item],
    embedder: Embedder,
    *,
    manifest: Manifest,
    store: VectorStore,
    where: str,
    probing: bool = False,
) -> Encoded:
    """Encode items, store their vectors chunk by chunk, and return what it took.

    Items are sorted and cut into batches of `embedder.strings_per_call` strings. What is stored ends at
    the end of a batch, so a run that goes on after a kill sees the batches that it would have seen.
    SIGTERM is obeyed at the end of a batch, after what is encoded was stored.

    Args:
        items: Different strings that are not in the store, in any order.
        embedder: The model.
        manifest: The dataset's manifest.
        store: Where the vectors go.
        where: Embedder and dataset, for messages.
        probing: Whether larger batches than that are tried first (`stressbed.embed.probe`).

    Raises:
        EmbedError: One string alone is too much for the memory, or a vector is unusable.
        StoppedError: The process was asked to end; all that was encoded is stored.
    """
    writer = _Writer(store)
    seconds, peak, size, done = 0.0, 0, embedder.strings_per_call, 0
    bar = tqdm(total=len(items), desc=f"embed {where}", unit="string", mininterval=2, disable=not items)
    with between_batches() as stop, bar:
        try:
            groups = list(_groups(sorted(items)))
            if probing and groups:
                size = _probed(max(groups, key=len), embedder, manifest, where)
            for batch in _batches(groups, embedder, manifest, size=size, where=where):
                writer.add(batch.items, batch.vectors)
                seconds, peak = seconds + batch.seconds, max(peak, len(batch.items))
                done += len(batch.items)
                bar.update(len(batch.items))
                stop.check(f"{done} of {len(items)} strings", where=where)
        finally:
            writer.flush()
    return Encoded(len(items), seconds, peak)


@dataclass(frozen=True)
class _Batch:
    """Items that were encoded together, their vectors, and the seconds within the embedder."""

    items: Sequence[Item]
    vectors: Floats
    seconds: float


def _batches(
    groups: Sequence[Sequence[Item]], embedder: Embedder, manifest: Manifest, *, size: int, where: str
) -> Iterator[_Batch]:
    """Yield the items encoded, `size` of a group at once, and fewer from where memory runs out."""
    for group in groups:
        start = 0
        while start < len(group):
            batch = group[start : start + size]
            clock = time.perf_counter()
            try:
                vectors = _encode(batch, embedder, manifest)
            except (MemoryError, RuntimeError) as e:
                size = _smaller(e, batch, where)
                continue
            seconds = time.perf_counter() - clock
            yield _Batch(batch, _checked(vectors, batch, where), seconds)
            start += len(batch)


class _Writer:
    """Gathers vectors and stores them in chunks that end at the end of a batch."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._items: list[Item] = []
        self._vectors: list[Floats] = []
        self._since = time.perf_counter()

    def add(self, batch: Sequence[Item], vectors: Floats) -> None:
        """Take a batch in; store what has gathered when it is much or long ago."""
        self._items += batch
        self._vectors.append(vectors)
        if len(self._items) >= CHUNK or time.perf_counter() - self._since > CHUNK_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Store what has gathered."""
        if self._items:
            self._store.put_chunk([i.key for i in self._items], np.concatenate(self._vectors))
        self._items, self._vectors = [], []
        self._since = time.perf_counter()


def _groups(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Yield runs of items that are encoded with the same context and role."""
    for _, group in groupby(items, key=lambda i: (i.context, i.role)):
        yield list(group)


def _encode(batch: Sequence[Item], embedder: Embedder, manifest: Manifest) -> Floats:
    return embedder.encode([i.string for i in batch], role=batch[0].role, manifest=manifest)


def _probed(group: Sequence[Item], embedder: Embedder, manifest: Manifest, where: str) -> int:
    """Return how many strings are encoded at once: tried with a group's longest."""
    return probe.largest(
        lambda n: _encode(group[:n], embedder, manifest),
        start=embedder.strings_per_call,
        available=len(group),
        where=where,
    )


def _smaller(error: MemoryError | RuntimeError, batch: Sequence[Item], where: str) -> int:
    """Return half the batch's size if the error says that memory ran out; raise it again if not."""
    if not memory.ran_out(error):
        raise error
    devices.empty_cache()
    if len(batch) == 1:
        raise EmbedError(
            f"memory runs out for a single string of {len(batch[0].string)} characters",
            where=f"{where}, string {batch[0].string[:80]!r}",
            do="set `max_length` for this embedder, take a smaller `dtype`, or a machine with more memory",
        ) from error
    size = len(batch) // 2
    log.warning("%s: memory ran out with %d strings at once; going on with %d", where, len(batch), size)
    return size


def _checked(vectors: Floats, batch: Sequence[Item], where: str) -> Floats:
    """Return the vectors if there is a usable one for each string.

    Raises:
        EmbedError: Wrong shape, no numbers in a vector, NaN or infinities.
    """
    vectors = np.asarray(vectors)
    if vectors.ndim != 2 or len(vectors) != len(batch) or vectors.shape[1] == 0:
        raise EmbedError(
            f"{len(batch)} strings gave vectors of shape {vectors.shape}",
            where=f"{where}, first string {batch[0].string[:80]!r}",
            allowed=f"({len(batch)}, d) with d > 0",
        )
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        item = batch[int(bad[0])]
        raise EmbedError(
            f"{len(bad)} of {len(batch)} vectors hold NaN or an infinity",
            where=f"{where}, role {item.role}, string {item.string[:80]!r}",
            do="check the model with this string; float16 may overflow: try `dtype: float32` or bfloat16",
        )
    return np.asarray(vectors, dtype=np.float32)
