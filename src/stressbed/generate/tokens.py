"""Token counts that outlive the process: a rerun with nothing to ask loads no model to plan with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from stressbed.fingerprint import digest, text_digest
from stressbed.store import seal, unseal, write_bytes

_ENTRY = np.dtype([("key", "S16"), ("tokens", "<u4")])


class TokenCounts:
    """Counts of a generator's tokens by text.

    Args:
        folder: `{store}/tokens/{generator_identity}`; one sealed file per call that counted anew.
        count: Counts the tokens of texts; called only for texts never counted before.
    """

    def __init__(self, folder: str | Path, count: Callable[[Sequence[str]], list[int]]) -> None:
        self.folder = Path(folder)
        self._count = count
        self._known: dict[bytes, int] | None = None

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text.

        Raises:
            StoreError: A file of counts is damaged; the message names it.
        """
        known = self._load()
        keys = [bytes.fromhex(text_digest(t)) for t in texts]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in known}
        if missing:
            counts = self._count(list(missing.values()))
            new = dict(zip(missing, counts, strict=True))
            self._save(new)
            known.update(new)
        return [known[k] for k in keys]

    def _load(self) -> dict[bytes, int]:
        if self._known is None:
            self._known = {}
            for path in sorted(self.folder.glob("[0-9a-f]*")):
                data = np.frombuffer(unseal(path.read_bytes(), path), _ENTRY)
                keys = (bytes(k).ljust(16, b"\0") for k in data["key"])  # numpy drops zeros at the end
                self._known.update(zip(keys, data["tokens"].tolist(), strict=True))
        return self._known

    def _save(self, new: dict[bytes, int]) -> None:
        data = np.array(list(new.items()), _ENTRY)
        name = digest([k.hex() for k in new])
        write_bytes(self.folder / name, seal(data.tobytes()))
