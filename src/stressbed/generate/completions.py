"""Where answers are kept: batches of completions by the hash of their request.

A folder per generator holds `batches/`, one sealed file per finished batch, written once, and
`index/`, made from them to find one of a million answers without reading all. The index may
be deleted at any time. Any number of jobs may write at once: a file appears whole or not at all.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stressbed.errors import StoreError
from stressbed.fingerprint import LENGTH, digest
from stressbed.generate.request import Completion
from stressbed.store import seal, unseal, write_bytes

LOOSE = 128
"""So many batches may lie outside the index before a new one is written."""

TEXT = len('["",') + LENGTH
"""Where the text begins in a line, after the key."""

_ENTRY = np.dtype([("high", "<u8"), ("low", "<u8"), ("batch", "<u4"), ("start", "<u4"), ("size", "<u4")])


@dataclass(frozen=True)
class _Index:
    """Sorted entries: 128-bit key, number of the batch, first byte and length of its line."""

    names: list[str]
    entries: npt.NDArray[np.void]


_EMPTY = _Index([], np.zeros(0, _ENTRY))


class CompletionStore:
    """The answers of one generator.

    Args:
        folder: `{store}/completions/{generator_identity}`; made when something is put in.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._batches = self.folder / "batches"
        self._index_folder = self.folder / "index"
        self._index = _EMPTY

    def put_batch(self, completions: Sequence[Completion]) -> None:
        """Write a finished batch, atomically, in one file of its own."""
        lines = [json.dumps(_values(c), separators=(",", ":")) for c in completions]
        name = digest([c.key for c in completions])
        write_bytes(self._batches / name, seal("\n".join(lines).encode("ascii")))

    def get_many(self, keys: Iterable[str]) -> dict[str, Completion]:
        """Return the completions that are there, by key, in order of the keys.

        Raises:
            StoreError: A batch or index that is needed is damaged; the message names the file.
        """
        wanted = list(dict.fromkeys(keys))
        names = self._refresh()
        if not wanted or not len(self._index.entries):
            return {}
        found: dict[str, Completion] = {}
        for batch, places in self._locate(wanted).items():
            name = self._index.names[batch]
            if name not in names:  # deleted since the index was made
                continue
            payload = self._payload(name)
            lines = b",".join(payload[start : start + size] for start, size in places)
            for values in json.loads(f"[{lines.decode('ascii')}]"):  # far faster than a call each
                if isinstance(values[1], str):  # an index may be older than the check in `_scan`
                    found[values[0]] = _completion(values)
        return {key: found[key] for key in wanted if key in found}

    def _locate(self, keys: list[str]) -> dict[int, list[tuple[int, int]]]:
        """Return batch number -> (first byte, length) of each wanted line."""
        entries = self._index.entries
        high, low = _halves(keys)
        at = np.searchsorted(entries["high"], high)
        hit = np.full(len(keys), -1, dtype=np.int64)
        open_keys = np.flatnonzero(at < len(entries))
        while len(open_keys):  # a second round only for keys that share 64 bits with another
            here = at[open_keys]
            alike = entries["high"][here] == high[open_keys]
            same = alike & (entries["low"][here] == low[open_keys])
            hit[open_keys[same]] = here[same]
            open_keys = open_keys[alike & ~same]
            at[open_keys] += 1
            open_keys = open_keys[at[open_keys] < len(entries)]
        found = entries[hit[hit >= 0]]
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for batch, start, size in zip(
            found["batch"].tolist(), found["start"].tolist(), found["size"].tolist(), strict=True
        ):
            places[batch].append((start, size))
        return places

    def _refresh(self) -> set[str]:
        """Take in batches that appeared since the last look; return the names of all that are there."""
        names = _files(self._batches)
        if not self._index.names:
            self._index = self._load_index()
        known = set(self._index.names)
        loose = sorted(names - known)
        if loose:
            gone = [n for n in known if n not in names]
            self._index = self._merge(self._index, loose, set(gone))
            saved = max((self._covered(p) for p in self._index_files()), default=0)
            if len(self._index.names) - saved >= LOOSE:
                self._save_index()
        return names

    def _merge(self, index: _Index, loose: list[str], gone: set[str]) -> _Index:
        kept = [n for n in index.names if n not in gone]
        number = {n: i for i, n in enumerate(kept)}
        old = index.entries
        if gone:
            renumber = np.array([number.get(n, -1) for n in index.names], dtype=np.int64)
            new_numbers = renumber[old["batch"]]
            old = old[new_numbers >= 0].copy()
            old["batch"] = new_numbers[new_numbers >= 0]
        parts = [old, *(self._scan(n, len(kept) + i) for i, n in enumerate(loose))]
        entries = np.concatenate(parts)
        order = np.lexsort((entries["batch"], entries["low"], entries["high"]))
        return _Index([*kept, *loose], entries[order])

    def _scan(self, name: str, number: int) -> npt.NDArray[np.void]:
        """Return the index entries of one batch file; a line whose text is none counts as not there.

        Endpoints' answers were once kept as they came, lists among them. They are asked for again.
        """
        lines = [line for line in self._payload(name).split(b"\n") if line] if name else []
        entries = np.zeros(len(lines), _ENTRY)
        if not lines:
            return entries
        entries["high"], entries["low"] = _halves([line[2:34].decode("ascii") for line in lines])
        sizes = np.array([len(line) for line in lines])
        entries["batch"] = number
        entries["size"] = sizes
        entries["start"] = np.concatenate([[0], np.cumsum(sizes[:-1] + 1)])
        return entries[[line[TEXT : TEXT + 1] == b'"' for line in lines]]

    def _payload(self, name: str) -> bytes:
        path = self._batches / name
        try:
            return unseal(path.read_bytes(), path)
        except FileNotFoundError as e:
            raise StoreError(
                "a batch of completions vanished while it was read", where=str(path), do="run again"
            ) from e

    def _index_files(self) -> list[Path]:
        return [self._index_folder / n for n in sorted(_files(self._index_folder))]

    @staticmethod
    def _covered(path: Path) -> int:
        """Return how many batches an index file covers: it stands in its name."""
        return int(path.name.split("-")[0])

    def _load_index(self) -> _Index:
        for path in sorted(self._index_files(), key=self._covered, reverse=True):
            try:
                payload = unseal(path.read_bytes(), path)
            except FileNotFoundError:  # another job has just written a larger one
                continue
            head, _, body = payload.partition(b"\n")
            return _Index(json.loads(head), np.frombuffer(body, _ENTRY))
        return _EMPTY

    def _save_index(self) -> None:
        older = self._index_files()
        names = self._index.names
        path = self._index_folder / f"{len(names)}-{digest(names)}"
        write_bytes(path, seal(json.dumps(names).encode() + b"\n" + self._index.entries.tobytes()))
        for old in older:
            if old != path and self._covered(old) <= len(names):
                old.unlink(missing_ok=True)


def _values(completion: Completion) -> list[object]:
    """Return what is kept of a completion; the sixth value stands only where there are probabilities."""
    c = completion
    values: list[object] = [c.key, c.text, c.finish, c.tokens_in, c.tokens_out]
    return values if c.probabilities is None else [*values, list(c.probabilities)]


def _completion(values: list[Any]) -> Completion:
    """Return the completion of kept values."""
    if len(values) > 5:
        values[5] = tuple(values[5])
    return Completion(*values)


def _files(folder: Path) -> set[str]:
    """Return the names of finished files; a temporary one starts with a dot."""
    try:
        return {p.name for p in folder.iterdir() if not p.name.startswith(".")}
    except FileNotFoundError:
        return set()


def _halves(keys: Sequence[str]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return the first and second 64 bits of each key."""
    both = np.frombuffer(bytes.fromhex("".join(keys)), dtype=">u8").reshape(-1, 2).astype(np.uint64)
    return both[:, 0], both[:, 1]
