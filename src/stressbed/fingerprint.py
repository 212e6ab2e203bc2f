"""Fingerprints: short hashes of everything that decides a value. Standard library only."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

LENGTH = 32
"""Hexadecimal digits of a digest: 128 bits, so that a collision among 1e9 entries is out of sight."""


def digest(value: object) -> str:
    """Return the hash of a JSON-like value; key order does not matter, list order does.

    Raises:
        TypeError: The value holds something that JSON cannot write.
        ValueError: The value holds NaN or an infinity.
    """
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def text_digest(*parts: str) -> str:
    """Return the hash of strings, each kept apart by its length; lone surrogates are allowed."""
    h = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        h.update(f"{len(data)}:".encode())
        h.update(data)
    return h.hexdigest()[:LENGTH]


def text_digests(parts: Sequence[str], last: Sequence[str]) -> list[str]:
    """Return `text_digest(*parts, text)` for each of many texts; what they share is hashed once."""
    shared = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        shared.update(f"{len(data)}:".encode())
        shared.update(data)
    found = []
    for text in last:
        data = text.encode("utf-8", "surrogatepass")
        h = shared.copy()
        h.update(b"%d:%b" % (len(data), data))
        found.append(h.hexdigest()[:LENGTH])
    return found


def file_digest(path: str | Path) -> str:
    """Return the hash of a file's bytes."""
    with Path(path).open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()[:LENGTH]
